// The interactive charts of the report: uPlot draws fields, lines and axes; what
// several charts do in step, units, keys and touch are here.
(() => {
  'use strict';
  const element = document.getElementById('data');
  if (!element || !self.uPlot) return;
  const { texts, charts, styles } = JSON.parse(element.textContent);
  const said = document.getElementById('said');
  const chosen = {}; // unit by quantity
  const views = [];

  const make = (tag, attrs, ...children) => {
    const e = document.createElement(tag);
    for (const a in attrs) {
      if (a.startsWith('on')) e.addEventListener(a.slice(2), attrs[a]);
      else e.setAttribute(a, attrs[a]);
    }
    e.append(...children);
    return e;
  };

  const unitOf = (a) => (a.units || []).find((u) => u.n === chosen[a.q]) || (a.units || [])[0];

  const isDark = () => {
    const forced = document.documentElement.dataset.theme;
    return forced ? forced === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  };

  class View {
    constructor(chart, figure) {
      this.chart = chart;
      this.figure = figure;
      this.live = figure.querySelector('.live');
      this.rows = chart.kind === 'forest' || chart.kind === 'bars';
      this.hidden = new Set();
      this.plots = [];
      // What is the same on X moves together.
      this.group = [chart.x.q, chart.x.label].join('|');
      this.zoom = null; // [the whole range, the part of it] in the unit of then; null is all
      this.live.dataset.group = this.group;
      this.build();
    }

    // Everything anew: after a change of unit or theme.
    build() {
      const css = getComputedStyle(document.documentElement);
      const v = (name) => css.getPropertyValue(name).trim();
      this.rem = parseFloat(css.fontSize) / 16;
      this.dark = isDark();
      this.colours = {
        page: v('--page'), ink: v('--ink'), muted: v('--muted'), line: v('--line'), mark: v('--mark'),
        band: this.dark ? '#ffffff1a' : '#00000014',
      };
      this.font = (size, weight = '') => `${weight} ${size * this.rem * devicePixelRatio}px system-ui, sans-serif`;
      this.destroy();
      this.x = NativFormat.axis(this.chart.x, unitOf(this.chart.x));
      this.panels = this.chart.panels.map((p) => this.panel(p));
      const plots = make('div', { class: 'plots', tabindex: '0', role: 'application', 'aria-label': this.chart.title + '. ' + texts.keys, onkeydown: (e) => this.key(e) });
      this.at = make('p', { class: 'at' }, texts.hint);
      this.live.replaceChildren(this.tools(), plots);
      this.box = plots;
      this.panels.forEach((p, i) => {
        plots.append(this.legend(p));
        const holder = make('div', {});
        plots.append(holder);
        this.plots.push(new uPlot(this.options(p, i), p.data, holder));
      });
      const falls = (this.chart.marks || []).filter((m) => m.k === 'drop' && m.s);
      this.live.append(this.at, make('ul', { class: 'falls' }, ...falls.map((m) => make('li', {}, make('b', {}, m.s), ' ' + m.l))));
      this.touch(plots);
      this.apply();
    }

    destroy() {
      for (const u of this.plots) u.destroy();
      this.plots = [];
    }

    style(s) {
      const st = styles[s.style];
      return { colour: this.dark ? st.dark : st.light, dash: st.dash || [], marker: st.marker };
    }

    // A panel with its numbers in the units that are chosen.
    panel(p) {
      const y = NativFormat.axis(p.y, unitOf(p.y));
      const out = { y, marks: p.marks, series: [], data: [[]] };
      const tables = [];
      for (const s of p.series) {
        const x = NativFormat.axis(this.chart.x, this.x.unit, s.bs);
        const o = { name: s.name, style: s.style, points: [], lonely: [], rows: [], parts: [] };
        const xs = [], ys = [];
        for (const part of s.parts) {
          const bs = part.bs || s.bs;
          if (this.rows) {
            part.x.forEach((v, i) => {
              const at = x.to(v, bs), iv = part.i && part.i[i];
              if (at == null) return;
              o.rows.push({
                row: part.y[i], x: at, label: this.rowLabel(part, i, at),
                low: iv ? iv[0] === null ? null : x.to(iv[0], bs) : undefined, high: iv ? iv[1] === null ? null : x.to(iv[1], bs) : undefined,
              });
            });
            continue;
          }
          const from = xs.length;
          part.x.forEach((v, i) => {
            const px = this.x.to(v, bs), py = y.to(part.y[i], bs);
            if (px == null || py == null) return;
            xs.push(px); ys.push(py);
            o.points.push([px, py]);
          });
          const n = xs.length - from;
          if (n === 1) o.lonely.push([xs[from], ys[from]]);
          if (n) {
            o.parts.push({ from: xs[from], to: xs[xs.length - 1], name: part.n, points: o.points.slice(-n) });
            // A gap is a place without a value between two parts.
            xs.push(xs[xs.length - 1]); ys.push(null);
          }
        }
        out.series.push(o);
        tables.push(NativView.aligned(xs, ys));
      }
      if (this.rows) {
        const ends = [this.x.to(this.chart.x.min), this.x.to(this.chart.x.max)];
        out.data = [ends, ...p.series.map(() => [null, null])];
      } else {
        // 2: a gap lasts until the next value of its series, across the places of others.
        out.data = tables.length ? uPlot.join(tables, tables.map(() => [1, 2])) : [[]];
      }
      return out;
    }

    rowLabel(part, i, at) {
      // The finished text is in the first unit.
      const first = !this.x.unit || this.x.unit === this.chart.x.units[0];
      return first && part.l && part.l[i] ? part.l[i] : this.x.say(at);
    }

    range(axis, values) {
      const { a, unit } = axis;
      if (!unit || !unit.b) return [axis.to(a.min), axis.to(a.max)];
      let low = Infinity, high = -Infinity;
      for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
      if (!(high >= low)) return [0, 1];
      return a.scale === 'log' ? [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))] : [Math.min(0, low), high * 1.08];
    }

    limits() {
      const values = [];
      if (this.x.unit && this.x.unit.b) for (const p of this.panels) for (const s of p.series) for (const r of s.rows) values.push(r.x);
      return this.range(this.x, values);
    }

    options(p, index) {
      const last = index === this.panels.length - 1, { rem, colours } = this, narrow = this.live.clientWidth < 520 * rem;
      const [ymin, ymax] = this.rows ? [-0.5, p.y.a.ticks.length - 0.5] : this.range(p.y, p.series.flatMap((s) => s.points.map((q) => q[1])));
      const rowsHeight = this.rows ? p.y.a.ticks.length * Math.max(40, 26 * p.series.length) + 60 : 0;
      const axis = { stroke: colours.muted, font: `${12 * rem}px system-ui, sans-serif`, grid: { stroke: colours.line, width: 1 }, ticks: { stroke: colours.line, width: 1, size: 4 } };
      const xa = { ...axis, label: last ? this.x.label : undefined, labelFont: `600 ${12 * rem}px system-ui, sans-serif`, labelSize: 18 * rem, size: last ? 26 * rem : 8, space: (narrow ? 48 : 68) * rem,
        values: (u, splits) => splits.map((s) => last ? this.x.tick(s) : '') };
      if (this.x.seconds) xa.incrs = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
      if (this.x.a.scale === 'nines') {
        const ticks = this.x.a.ticks.map((t) => ({ at: this.x.to(t.v), l: t.l }));
        xa.splits = (u) => ticks.map((t) => t.at).filter((t) => t >= u.scales.x.min && t <= u.scales.x.max);
        xa.values = (u, splits) => {
          // Labels that would lie on each other are left out, not their lines.
          let free = -Infinity;
          return splits.map((s) => {
            const text = last ? (ticks.find((t) => t.at === s) || { l: '' }).l : '', x = u.valToPos(s, 'x'), half = text.length * 3.6 * rem;
            if (!text || x - half < free) return '';
            free = x + half + 4 * rem;
            return text;
          });
        };
      }
      const ya = { ...axis, size: 62 * rem, values: (u, splits) => splits.map((s) => p.y.tick(s)) };
      if (this.rows) {
        ya.splits = () => p.y.a.ticks.map((t) => t.v);
        const names = p.y.a.ticks.map((t) => NativView.broken(t.l, narrow ? 14 : 26));
        ya.values = () => names;
        const ctx = document.createElement('canvas').getContext('2d');
        ctx.font = ya.font;
        ya.size = Math.max(...names.flatMap((n) => n.split('\n')).map((n) => ctx.measureText(n).width)) + 16 * rem;
        ya.grid = { show: false };
      }
      return {
        width: this.live.clientWidth, height: (this.rows ? rowsHeight : (index === 0 ? (narrow ? 240 : 320) : (narrow ? 150 : 180)) + (last ? 36 : 0)) * rem,
        padding: [10 * rem, (this.x.seconds || this.x.a.scale === 'nines' ? 28 : 14) * rem, 0, 0],
        scales: {
          x: { time: false, distr: this.x.a.scale === 'log' ? 3 : 1, range: (u, a, b) => [a, b] },
          y: { dir: this.rows ? -1 : 1, distr: p.y.a.scale === 'log' ? 3 : 1, range: () => [ymin, ymax] },
        },
        axes: [xa, ya],
        legend: { show: false },
        cursor: {
          y: false, points: { size: 7 * rem, show: !this.rows },
          drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => this.setZoom(null) },
          dataIdx: (u, s, i) => NativView.nearest(u.data[s], i),
          sync: { key: this.group, setSeries: false, scales: ['x', null], filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' } },
        },
        series: [{}, ...p.series.map((s) => {
          const st = this.style(s);
          // Dashes of hundreds of short parts are noise.
          const dash = s.parts.length > 60 ? [] : st.dash;
          return {
            label: s.name, show: !this.hidden.has(s.name), stroke: st.colour, width: 1.75 * rem, dash: dash.map((d) => d * rem), points: { show: false },
            paths: this.chart.kind === 'lines' ? (u) => NativMarks.path(u, s) : () => null,
          };
        })],
        hooks: {
          drawClear: [(u) => NativMarks.below(u, this, index === 0)],
          draw: [(u) => {
            if (this.rows) NativMarks.rows(u, this, p); else NativMarks.points(u, this, p);
            NativMarks.above(u, this, p, index === 0);
            this.figure.dataset.drawn = '1';
          }],
          setSelect: [(u) => {
            if (u.select.width < 4) return;
            this.setZoom([u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')]);
            u.setSelect({ width: 0, height: 0 }, false);
          }],
          setCursor: [(u) => this.moved(u)],
        },
      };
    }

    // Shows a part of X here and in all charts of the group.
    setZoom(range) {
      for (const v of views) {
        if (v.group !== this.group) continue;
        const [min, max] = v.limits();
        if (!range) { v.zoom = null; v.apply(); continue; }
        const a = Math.max(min, range[0]), b = Math.min(max, range[1]);
        if (!(b > a)) continue; // nothing of this chart is in it
        v.zoom = a === min && b === max ? null : [v.limits(), [a, b]];
        v.apply();
      }
    }

    // The part that is shown, in today's unit.
    shown() {
      const all = this.limits();
      if (!this.zoom) return all;
      const [[min, max], [a, b]] = this.zoom;
      const k = (all[1] - all[0]) / (max - min);
      return [all[0] + (a - min) * k, all[0] + (b - min) * k];
    }

    apply() {
      const [min, max] = this.shown();
      for (const u of this.plots) u.setScale('x', { min, max });
      this.live.dataset.from = min;
      this.live.dataset.until = max;
      this.live.dataset.zoomed = this.zoom ? '1' : '';
    }

    // Makes the range shown so many times as wide, around a place on X.
    scaleBy(k, around) {
      const u = this.plots[0], log = u.scales.x.distr === 3;
      const to = log ? Math.log10 : (v) => v, from = log ? (v) => 10 ** v : (v) => v;
      const [a, b] = this.shown().map(to), [min, max] = this.limits().map(to), c = around == null ? (a + b) / 2 : to(around);
      if (k > 1 && (b - a) * k >= max - min) return this.setZoom(null);
      let x = c - (c - a) * k, y = c + (b - c) * k;
      if (x < min) { y += min - x; x = min; }
      if (y > max) { x -= y - max; y = max; }
      this.setZoom([from(Math.max(x, min)), from(Math.min(y, max))]);
    }

    // What stands at the cursor; in rows the nearest row.
    moved(u) {
      if (this.rows) return;
      const i = u.cursor.idx, p = this.panels[this.plots.indexOf(u)];
      if (!p) return;
      const out = u.cursor.left < 0 || i == null;
      p.series.forEach((s, k) => {
        const idx = out ? null : u.cursor.idxs[k + 1];
        s.value.textContent = out ? '' : idx == null ? '–' : p.y.say(u.data[k + 1][idx]);
      });
      const x = out ? null : u.posToVal(u.cursor.left, 'x');
      this.live.dataset.at = out ? '' : x;
      if (out) { this.at.textContent = texts.hint; return; }
      const part = p.series.flatMap((s) => s.parts).find((q) => q.name && q.from <= x && x <= q.to);
      this.at.textContent = [this.x.label + ': ' + this.x.say(x), part && part.name].filter(Boolean).join(' · ');
    }

    tools() {
      const units = new Map();
      for (const a of [this.chart.x, ...this.chart.panels.map((p) => p.y)]) {
        if ((a.units || []).length > 1) units.set(a.q, a.units);
      }
      const bar = make('div', { class: 'tools' });
      for (const [q, list] of units) {
        const now = unitOf({ q, units: list });
        bar.append(make('div', { role: 'group', 'aria-label': texts.units }, ...list.map((u) => make('button', {
          type: 'button', class: 'unit', 'aria-pressed': String(u === now || u.n === now.n), onclick: () => choose(q, u.n),
        }, u.n))));
      }
      const button = (name, text, act) => make('button', { type: 'button', 'aria-label': text, title: text, onclick: act }, name);
      bar.append(make('div', { class: 'end' }, button('+', texts.zoomIn, () => this.scaleBy(0.5)), button('−', texts.zoomOut, () => this.scaleBy(2)),
        make('button', { type: 'button', class: 'reset', onclick: () => this.setZoom(null) }, texts.reset)));
      return bar;
    }

    legend(p) {
      const head = make('div', { class: 'panel-head', role: 'group', 'aria-label': texts.show });
      if (!this.rows) head.append(make('span', { class: 'y' }, p.y.label));
      for (const s of p.series) {
        s.value = make('span', { class: 'val' });
        const b = make('button', { type: 'button', class: 'series', 'aria-pressed': String(!this.hidden.has(s.name)) }, NativMarks.swatch(this.chart.kind, this.style(s)), make('span', {}, s.name));
        if (!this.rows) b.append(s.value);
        b.addEventListener('click', () => {
          const hide = !this.hidden.has(s.name);
          if (hide) this.hidden.add(s.name); else this.hidden.delete(s.name);
          b.setAttribute('aria-pressed', String(!hide));
          this.panels.forEach((q, n) => q.series.forEach((o, k) => { if (o.name === s.name) this.plots[n].setSeries(k + 1, { show: !hide }); }));
          for (const o of head.parentElement.querySelectorAll('.series')) {
            if (o.children[1].textContent === s.name) o.setAttribute('aria-pressed', String(!hide));
          }
        });
        head.append(b);
      }
      return head;
    }

    key(e) {
      if (e.target !== this.box || e.ctrlKey || e.metaKey || e.altKey) return;
      const u = this.plots[0], width = u.over.clientWidth;
      const go = (left) => {
        u.setCursor({ left: Math.max(0, Math.min(width - 1, left)), top: u.over.clientHeight / 2 }, true, true);
        said.textContent = [this.at.textContent, ...this.panels.flatMap((p) => p.series.filter((s) => s.value && s.value.textContent).map((s) => s.name + ' ' + s.value.textContent))].join(', ');
      };
      const now = u.cursor.left < 0 ? 0 : u.cursor.left, step = e.shiftKey ? width / 10 : width / 100;
      const act = {
        ArrowLeft: () => go(now - step), ArrowRight: () => go(now + step), Home: () => go(0), End: () => go(width),
        '+': () => this.scaleBy(0.5, u.posToVal(now || width / 2, 'x')), '=': () => this.scaleBy(0.5), '-': () => this.scaleBy(2), '−': () => this.scaleBy(2),
        0: () => this.setZoom(null), Escape: () => this.setZoom(null),
      }[e.key];
      if (act) { e.preventDefault(); act(); }
    }

    // Wheel and fingers. The page must still scroll: a wheel zooms with Ctrl, as a
    // pinch on a touchpad is reported, or where the chart has the focus.
    touch(box) {
      const at = (x) => this.plots[0].posToVal(x - this.plots[0].over.getBoundingClientRect().left, 'x');
      box.addEventListener('wheel', (e) => {
        if (!e.ctrlKey && !e.metaKey && document.activeElement !== box) return;
        e.preventDefault();
        this.scaleBy(e.deltaY < 0 ? 0.8 : 1.25, at(e.clientX));
      }, { passive: false });
      let start = null;
      box.addEventListener('touchstart', (e) => {
        if (e.touches.length === 2) start = { d: Math.abs(e.touches[0].clientX - e.touches[1].clientX) || 1, shown: this.shown(), at: at((e.touches[0].clientX + e.touches[1].clientX) / 2) };
      }, { passive: true });
      box.addEventListener('touchmove', (e) => {
        if (e.touches.length === 2 && start) {
          e.preventDefault();
          const k = start.d / (Math.abs(e.touches[0].clientX - e.touches[1].clientX) || 1), [a, b] = start.shown;
          this.setZoom([start.at - (start.at - a) * k, start.at + (b - start.at) * k]);
        } else if (e.touches.length === 1 && e.target.closest('.u-over')) {
          const u = this.plots[0], r = u.over.getBoundingClientRect();
          u.setCursor({ left: e.touches[0].clientX - r.left, top: r.height / 2 }, true, true);
        }
      }, { passive: false });
      box.addEventListener('touchend', (e) => { if (e.touches.length < 2) start = null; });
    }

    resize() {
      const width = this.live.clientWidth;
      this.plots.forEach((u) => { if (width > 0 && u.width !== width) u.setSize({ width, height: u.height }); });
    }
  }

  const choose = (quantity, name) => {
    chosen[quantity] = name;
    const focused = document.activeElement;
    const figure = focused && focused.closest('figure.chart');
    for (const v of views) v.build();
    if (!figure) return;
    for (const b of figure.querySelectorAll('.unit')) if (b.textContent === name) b.focus();
  };

  for (const figure of document.querySelectorAll('figure.chart')) {
    const chart = charts[Number(figure.dataset.chart)];
    if (chart) views.push(new View(chart, figure));
  }
  let width = 0;
  new ResizeObserver(() => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const v of views) v.resize();
  }).observe(document.body);
  document.addEventListener('nativ-theme', () => { for (const v of views) v.build(); });
})();
