// What is drawn into the charts beside uPlot's lines: markers, intervals, bars, and
// what phases, limits and drops look like.
const NativMarks = (() => {
  'use strict';

  const marker = (ctx, shape, x, y, r) => {
    ctx.beginPath();
    switch (shape) {
      case 'square': ctx.rect(x - r, y - r, 2 * r, 2 * r); break;
      case 'triangle': ctx.moveTo(x, y - r * 1.2); ctx.lineTo(x + r * 1.1, y + r * 0.8); ctx.lineTo(x - r * 1.1, y + r * 0.8); ctx.closePath(); break;
      case 'diamond': ctx.moveTo(x, y - r * 1.3); ctx.lineTo(x + r * 1.1, y); ctx.lineTo(x, y + r * 1.3); ctx.lineTo(x - r * 1.1, y); ctx.closePath(); break;
      case 'cross': ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r); ctx.moveTo(x - r, y + r); ctx.lineTo(x + r, y - r); ctx.stroke(); return;
      case 'plus': ctx.moveTo(x - r, y); ctx.lineTo(x + r, y); ctx.moveTo(x, y - r); ctx.lineTo(x, y + r); ctx.stroke(); return;
      default: ctx.arc(x, y, r, 0, 2 * Math.PI);
    }
    ctx.fill();
  };

  // Within the field only, and with nothing left set afterwards.
  const inside = (u, draw) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx, bbox);
    ctx.restore();
  };

  // The bands behind everything: phases, pauses, margins.
  const below = (u, view, first) => inside(u, (ctx, box) => {
    const c = view.colours;
    for (const m of view.chart.marks || []) {
      const a = u.valToPos(view.x.to(m.f), 'x', true), b = u.valToPos(view.x.to(m.t), 'x', true);
      if (m.k === 'phase') {
        line(ctx, a, box.top, a, box.top + box.height, c.line, [], devicePixelRatio * 1.5);
        if (first) label(ctx, view, m, Math.max(a, box.left), Math.min(b, box.left + box.width), box.top);
      } else if (m.k === 'cool-down' || m.k === 'margin') {
        ctx.fillStyle = c.band;
        ctx.fillRect(a, box.top, b - a, box.height);
      }
    }
  });

  // A name within its span, its short form where that is too narrow, or nothing.
  const label = (ctx, view, m, a, b, top) => {
    ctx.font = view.font(11);
    ctx.fillStyle = view.colours.muted;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'top';
    for (const s of [m.l, m.s]) {
      if (s && ctx.measureText(s).width < b - a - 6) {
        ctx.fillText(s, a + 3, top + 3);
        return;
      }
    }
  };

  // The lines in front: limits, drops, "no difference", and what says simulated.
  const above = (u, view, panel, first) => inside(u, (ctx, box) => {
    const c = view.colours, dpr = devicePixelRatio;
    ctx.font = view.font(11);
    let above = null; // the label before, which the next one must not cover
    for (const m of [...(panel.marks || [])].sort((a, b) => b.f - a.f)) {
      const y = u.valToPos(panel.y.to(m.f), 'y', true);
      if (!(y >= box.top && y <= box.top + box.height)) continue;
      line(ctx, box.left, y, box.left + box.width, y, c.mark, [6 * dpr, 4 * dpr], dpr);
      ctx.fillStyle = c.mark;
      ctx.textAlign = 'right';
      ctx.textBaseline = y - box.top < 16 * dpr ? 'top' : 'bottom';
      let right = box.left + box.width - 4 * dpr;
      if (above && y - above.y < 13 * dpr * view.rem) right = above.left - 10 * dpr;
      ctx.fillText(m.l || m.s || '', right, y);
      above = { y, left: right - ctx.measureText(m.l || m.s || '').width };
    }
    let right = -Infinity;
    for (const m of view.chart.marks || []) {
      const x = u.valToPos(view.x.to(m.f), 'x', true);
      if (m.k === 'none') line(ctx, x, box.top, x, box.top + box.height, c.ink, [], dpr);
      if (m.k !== 'drop' || x < box.left || x > box.left + box.width) continue;
      line(ctx, x, box.top, x, box.top + box.height, c.mark, [3 * dpr, 3 * dpr], dpr);
      // Numbers that would lie on each other are left out; the table has all.
      if (first && m.s && x > right) {
        ctx.fillStyle = c.mark;
        ctx.textAlign = 'left';
        ctx.textBaseline = 'bottom';
        ctx.fillText(m.s, x + 2 * dpr, box.top + box.height - 2 * dpr);
        right = x + ctx.measureText(m.s).width + 6 * dpr;
      }
    }
    if (first && view.chart.simulated) {
      ctx.font = view.font(11, 'bold');
      ctx.fillStyle = c.mark;
      ctx.textAlign = 'right';
      // Where the curve is not: percentiles end on top.
      const low = view.x.a.scale === 'nines';
      ctx.textBaseline = low ? 'bottom' : 'top';
      ctx.fillText(view.chart.simulated, box.left + box.width - 4 * dpr, low ? box.top + box.height - 4 * dpr : box.top + (hasPhases(view) ? 17 : 3) * dpr);
    }
  });

  const hasPhases = (view) => (view.chart.marks || []).some((m) => m.k === 'phase');

  const line = (ctx, x0, y0, x1, y1, colour, dash, width) => {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
    ctx.setLineDash([]);
  };

  // A line for each part. uPlot's own would be one line with gaps cut out of it, of
  // which a pixel stays at each end.
  const path = (u, s) => {
    const stroke = new Path2D(), { min, max } = u.scales.x;
    for (const part of s.parts) {
      if (part.to < min || part.from > max) continue;
      part.points.forEach(([x, y], i) => {
        const px = u.valToPos(x, 'x', true), py = u.valToPos(y, 'y', true);
        if (i === 0) stroke.moveTo(px, py); else stroke.lineTo(px, py);
      });
    }
    return { stroke };
  };

  // Points alone: all of a scatter, else those that no line joins.
  const points = (u, view, panel) => inside(u, (ctx) => {
    const dpr = devicePixelRatio, scatter = view.chart.kind === 'scatter';
    panel.series.forEach((s, k) => {
      if (!u.series[k + 1].show) return;
      const style = view.style(s);
      ctx.fillStyle = ctx.strokeStyle = style.colour;
      ctx.lineWidth = dpr;
      ctx.globalAlpha = scatter ? 0.65 : 1;
      const all = scatter ? s.points : s.lonely, r = (scatter ? 1.8 : all.length > 40 ? 1.2 : 3.2) * dpr;
      for (const [x, y] of all) {
        marker(ctx, style.marker, u.valToPos(x, 'x', true), u.valToPos(y, 'y', true), r);
      }
      ctx.globalAlpha = 1;
    });
  });

  // Rows: intervals of a forest plot, or bars.
  const rows = (u, view, panel) => inside(u, (ctx, box) => {
    const dpr = devicePixelRatio, bars = view.chart.kind === 'bars';
    const shown = panel.series.map((s, k) => u.series[k + 1].show ? k : -1).filter((k) => k >= 0);
    const row = Math.abs(u.valToPos(1, 'y', true) - u.valToPos(0, 'y', true));
    const step = row * (bars ? 0.8 : 0.62) / Math.max(shown.length, 1);
    ctx.font = view.font(11);
    ctx.textBaseline = 'middle';
    shown.forEach((k, n) => {
      const s = panel.series[k], style = view.style(s);
      for (const p of s.rows) {
        const y = u.valToPos(p.row, 'y', true) + (n - (shown.length - 1) / 2) * step;
        const x = u.valToPos(p.x, 'x', true);
        ctx.fillStyle = ctx.strokeStyle = style.colour;
        let end = x;
        if (bars) {
          const zero = u.valToPos(Math.max(0, u.scales.x.min), 'x', true);
          ctx.fillRect(Math.min(zero, x), y - step * 0.4, Math.abs(x - zero), step * 0.8);
        } else {
          if (p.low !== undefined) {
            const a = p.low === null ? box.left : u.valToPos(p.low, 'x', true);
            const b = p.high === null ? box.left + box.width : u.valToPos(p.high, 'x', true);
            const cap = 4 * dpr;
            line(ctx, a, y, b, y, style.colour, style.dash.map((d) => d * dpr / 2), 2 * dpr);
            if (p.low !== null) line(ctx, a, y - cap, a, y + cap, style.colour, [], 2 * dpr);
            if (p.high !== null) line(ctx, b, y - cap, b, y + cap, style.colour, [], 2 * dpr);
            end = Math.max(x, b);
          }
          marker(ctx, style.marker, x, y, 4.5 * dpr);
        }
        if (!p.label || step < 11 * dpr) continue;
        const width = ctx.measureText(p.label).width, gap = 7 * dpr;
        let at = end + gap;
        if (at + width > box.left + box.width) {
          at = Math.min(x, bars ? x : p.low == null ? x : u.valToPos(p.low, 'x', true)) - gap - width;
        }
        if (at < box.left) continue; // the table below has it
        ctx.fillStyle = view.colours.ink;
        if (bars && at < end) ctx.fillStyle = view.colours.page;
        ctx.textAlign = 'left';
        ctx.fillText(p.label, at, y);
      }
    });
  });

  // A sample of a line or marker for the legend, as SVG.
  const swatch = (kind, style) => {
    const ns = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(ns, 'svg');
    const add = (name, attrs) => {
      const e = document.createElementNS(ns, name);
      for (const a in attrs) e.setAttribute(a, attrs[a]);
      svg.append(e);
    };
    svg.setAttribute('viewBox', '0 0 30 12');
    svg.setAttribute('aria-hidden', 'true');
    if (kind === 'bars') {
      add('rect', { x: 6, y: 1, width: 18, height: 10, fill: style.colour });
      return svg;
    }
    if (kind !== 'scatter') {
      add('path', { d: 'M0 6H30', stroke: style.colour, 'stroke-width': 2.5, 'stroke-dasharray': style.dash.join(' ') || 'none', fill: 'none' });
    }
    if (kind !== 'lines') {
      const shapes = {
        square: 'M11 2h8v8h-8z', triangle: 'M15 1l5 9h-10z', diamond: 'M15 0l5 6-5 6-5-6z',
        cross: 'M11 2l8 8M11 10l8-8', plus: 'M10 6h10M15 1v10', circle: 'M11 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z',
      };
      const open = style.marker === 'cross' || style.marker === 'plus';
      add('path', { d: shapes[style.marker] || shapes.circle, fill: open ? 'none' : style.colour, stroke: style.colour, 'stroke-width': open ? 2 : 0 });
    }
    return svg;
  };

  return { below, above, path, points, rows, swatch };
})();
