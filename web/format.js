// Numbers, units and places on axes: everything of the charts that draws nothing.
const NativFormat = (() => {
  'use strict';
  const lang = document.documentElement.lang || 'en';
  const four = new Intl.NumberFormat(lang, { maximumSignificantDigits: 4 });
  const plain = new Intl.NumberFormat(lang, { maximumFractionDigits: 3 });
  const compact = new Intl.NumberFormat(lang, { notation: 'compact', maximumSignificantDigits: 3 });
  const two = (n) => String(n).padStart(2, '0');

  // "1:02:03", "2:03", "0:01.5" of seconds.
  const clock = (s) => {
    const sign = s < 0 ? '−' : '';
    s = Math.abs(s);
    const rest = s % 60;
    const sec = rest % 1 < 0.05 || rest % 1 > 0.95 ? two(Math.round(rest)) : (rest < 10 ? '0' : '') + rest.toFixed(1);
    const m = Math.floor(s / 60);
    return sign + (m < 60 ? m + ':' + sec : Math.floor(m / 60) + ':' + two(m % 60) + ':' + two(Math.round(rest)));
  };

  // "68.1 µs" of nanoseconds.
  const duration = (ns) => {
    const units = ['ns', 'µs', 'ms', 's'];
    let i = 0;
    while (Math.abs(ns) >= 999.5 && i < 3) { ns /= 1000; i++; }
    return new Intl.NumberFormat(lang, { maximumSignificantDigits: 3 }).format(ns) + '\u00a0' + units[i];
  };

  // What an axis does to a value in base units before it is drawn. A unit for each
  // block needs the size of one; without it there is no value.
  const axis = (a, unit, block) => {
    const seconds = a.q === 'time';
    const factor = seconds ? 1e-9 : unit ? unit.f : 1;
    return {
      a, unit, seconds,
      // The place on a linear or logarithmic axis of uPlot.
      to(v, bs) {
        if (v == null) return null;
        if (a.scale === 'nines') return -Math.log10(Math.max(1 - v, 1e-12));
        if (unit && unit.b) return bs || block ? v * factor / (bs || block) : null;
        return v * factor;
      },
      label: a.label + (unit && unit.n ? (a.label ? ' (' + unit.n + ')' : unit.n) : ''),
      // A place as a reader says it, with its unit.
      say(v) {
        if (v == null) return '–';
        if (seconds) return clock(v);
        if (a.q === 'latency' && !unit) return duration(v);
        if (a.scale === 'nines') return plain.format((1 - 10 ** -v) * 100) + '\u00a0%';
        return four.format(v) + (unit && unit.n ? '\u00a0' + unit.n : '');
      },
      // A place beside a tick, where the axis names the unit.
      tick(v) {
        if (v == null) return '';
        if (seconds) return clock(v);
        if (a.q === 'latency' && !unit) return duration(v);
        return Math.abs(v) >= 1e5 ? compact.format(v) : four.format(v);
      },
    };
  };

  return { axis, clock };
})();
