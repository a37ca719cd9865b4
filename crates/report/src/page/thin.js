// Thinning: however many values there are, no more is drawn than pixel columns can show.

/** Index of the first element of sorted `a` that is not below `t`. */
function lower(a, t) {
  let lo = 0, hi = a.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (a[mid] < t) lo = mid + 1; else hi = mid;
  }
  return lo;
}

/** Calls `each(x, i, j)` for each pixel column in view in which elements i to j (without j) of the sorted times lie. */
function columns(times, each, begin = view.from) {
  const end = lower(times, view.to + 1);
  for (let i = lower(times, begin); i < end;) {
    const column = Math.floor(xOf(times[i]));
    const j = Math.min(end, Math.max(i + 1, lower(times, timeOf(column + 1))));
    each(xOf(times[i]), i, j);
    i = j;
  }
}

/** Least and greatest of v[i] to v[j] (without j); what is no number does not count. */
function bounds(v, i, j) {
  let lo = Infinity, hi = -Infinity;
  for (; i < j; i++) {
    if (v[i] < lo) lo = v[i];
    if (v[i] > hi) hi = v[i];
  }
  return [lo, hi];
}

/** A curve in steps as points [x, value], four a column at most; a value that is no number breaks it. */
function steps(series) {
  const { t, v } = series;
  const before = lower(t, view.from) - 1;
  let last = before >= 0 ? v[before] : NaN;
  const points = [[view.left, last]];
  columns(t, (x, i, j) => {
    points.push([x, last]);
    const [lo, hi] = bounds(v, i, j);
    if (j - i > 1 && hi >= lo) points.push([x, lo], [x, hi]);
    last = v[j - 1];
    points.push([x, last]);
  });
  points.push([Math.min(xOf(view.end), view.left + view.width), last]);
  return points;
}

/** What a series ranges over in view, the value that it comes in with among it. */
function inView(series) {
  const first = Math.max(0, lower(series.t, view.from) - 1);
  return bounds(series.v, first, lower(series.t, view.to + 1));
}
