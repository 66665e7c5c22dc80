// Small helpers of the charts that know nothing of a chart.
const NativView = (() => {
  'use strict';

  // A series as a table with ascending X of its own, as uPlot.join wants it: a
  // place without a value goes right behind the one before it.
  const aligned = (xs, ys) => {
    const order = xs.map((x, i) => i).sort((a, b) => xs[a] - xs[b] || a - b);
    const x = [], y = [];
    for (const i of order) {
      let at = xs[i];
      if (x.length && at <= x[x.length - 1]) {
        if (ys[i] !== null) { y[y.length - 1] = ys[i]; continue; } // the same place twice: the later
        at = x[x.length - 1] + Math.max(Math.abs(x[x.length - 1]) * 1e-9, 1e-9);
      }
      x.push(at);
      y.push(ys[i]);
    }
    return [x, y];
  };

  // The index of the nearest value of a series; undefined is a place of other
  // series, null the end of a part, across which nothing is near.
  const nearest = (ys, i) => {
    if (!ys || ys[i] === null) return null;
    for (let d = 0, left = true, right = true; left || right; d++) {
      if (left) {
        if (i - d < 0 || ys[i - d] === null) left = false;
        else if (ys[i - d] !== undefined) return i - d;
      }
      if (right) {
        if (i + d >= ys.length || ys[i + d] === null) right = false;
        else if (ys[i + d] !== undefined) return i + d;
      }
    }
    return null;
  };

  // A name in lines of about so many letters.
  const broken = (s, most) => {
    const lines = [''];
    for (const w of s.split(' ')) {
      const last = lines[lines.length - 1];
      if (last && (last + ' ' + w).length > most) lines.push(w);
      else lines[lines.length - 1] = last ? last + ' ' + w : w;
    }
    return lines.join('\n');
  };

  return { aligned, nearest, broken };
})();
