// What part of the run is in view, and how its numbers are written.

/** Times are nanoseconds; `left` is where the plots begin in their canvas, `width` how wide they are, in CSS pixels. */
const view = { from: 0, to: 1, end: 1, left: 62, width: 800 };

const xOf = (t) => view.left + ((t - view.from) / (view.to - view.from)) * view.width;
const timeOf = (x) => view.from + ((x - view.left) / view.width) * (view.to - view.from);

/** Shows `from` to `to`, moved into the run and not narrower than 10 ns. */
function look(from, to) {
  const span = Math.min(Math.max(to - from, 10), view.end);
  view.from = Math.min(Math.max((from + to - span) / 2, 0), view.end - span);
  view.to = view.from + span;
}

/** About `about` round numbers from `lo` to `hi`. */
function ticks(lo, hi, about) {
  if (!(hi > lo)) return [lo];
  const rough = (hi - lo) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((n) => n * power >= rough) * power;
  const found = [];
  for (let n = Math.ceil(lo / step); n * step <= hi + step * 1e-9; n++) found.push(n * step);
  return found;
}

const UNITS = {
  time: [[1e9, " s"], [1e6, " ms"], [1e3, " µs"], [1, " ns"]],
  bytes: [[1e9, " GB"], [1e6, " MB"], [1e3, " KB"], [1, " B"]],
  rate: [[1e9, " Gbit/s"], [1e6, " Mbit/s"], [1e3, " kbit/s"], [1, " bit/s"]],
  number: [[1e9, " G"], [1e6, " M"], [1e3, " k"], [1, ""]],
};

/** A number with its unit, in `digits` digits; `like` is the number that chooses the unit. */
function written(v, unit, digits = 4, like = v) {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  const [one, name] = UNITS[unit].find(([one]) => Math.abs(like) >= one) ?? UNITS[unit].at(-1);
  return String(Number((v / one).toPrecision(digits))) + name;
}

/** A moment of the run, as exact as the view needs. */
const moment = (t) => written(t, "time", Math.max(4, Math.ceil(Math.log10(view.end / (view.to - view.from))) + 4));
