// What each panel draws. A panel has `draw(pen)`, and `near(x, y)`: what was drawn there leads to which event and packet.

/** Draws, and counts what it draws. */
class Pen {
  constructor(context, height) {
    Object.assign(this, { context, height, drawn: 0 });
  }

  line(points, colour, width = 1.3, dash = []) {
    const c = this.context;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.setLineDash(dash);
    c.beginPath();
    let down = false;
    for (const [x, y] of points) {
      if (Number.isNaN(y)) down = false;
      else if (down) c.lineTo(x, y), this.drawn++;
      else c.moveTo(x, y), (down = true);
    }
    c.stroke();
  }

  box(x, y, width, height, colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
    this.drawn++;
  }

  cross(x, y, colour) {
    this.line([[x - 3, y - 3], [x + 3, y + 3], [0, NaN], [x - 3, y + 3], [x + 3, y - 3]], colour, 1.5);
  }

  text(text, x, y, colour, align = "left") {
    const c = this.context;
    c.fillStyle = colour;
    c.textAlign = align;
    c.textBaseline = "middle";
    c.fillText(text, x, y);
  }

  /** Axis with round numbers at the left; the place of a value. */
  axis([lo, hi], unit, theme) {
    const top = 6, bottom = this.height - 5;
    if (!(hi >= lo)) [lo, hi] = [0, 1];
    if (hi === lo) hi = lo + 1;
    const y = (v) => bottom - ((v - lo) / (hi - lo)) * (bottom - top);
    for (const tick of ticks(lo, hi, Math.max(2, this.height / 34))) {
      this.context.fillStyle = theme.line;
      this.context.fillRect(view.left, Math.round(y(tick)), view.width, 1);
      this.text(written(tick, unit, 4, Math.max(Math.abs(hi), Math.abs(lo))), view.left - 6, y(tick), theme.soft, "right");
    }
    return y;
  }
}

/** Of the drawn things near (x, y), the nearest; `each` is called with a function that takes x, y and what it leads to. */
function nearest(x, y, each) {
  let best = null, least = 12 * 12;
  each((px, py, to) => {
    const far = (px - x) ** 2 + Math.min(Math.abs(py - y), 60) ** 2 / 9;
    if (far < least) [best, least] = [to, far];
  });
  return best;
}

/** The elements of sorted times that lie near x, a few thousand at most. */
function* around(times, x) {
  const first = lower(times, timeOf(x - 10)), end = lower(times, timeOf(x + 10));
  const stride = Math.max(1, Math.floor((end - first) / 4000));
  for (let i = first; i < end; i += stride) yield i;
}

/** Curves of several flows or hosts. `from` 0 keeps the axis at zero. */
function curvePanel(title, note, unit, all, colour, visible) {
  let y = () => 0;
  const shown = () => all.filter(visible);
  return {
    title, note, height: 110,
    draw(pen, theme) {
      const ranges = shown().map(inView);
      const low = Math.min(0, ...ranges.map(([lo]) => lo)), high = Math.max(...ranges.map(([, hi]) => hi));
      y = pen.axis([low, high * 1.04], unit, theme);
      for (const series of shown()) {
        pen.line(steps(series).map(([x, v]) => [x, y(v ?? NaN)]), colour(series, theme));
      }
    },
    near: (x, at) => nearest(x, at, (take) => {
      for (const s of shown()) {
        if (s.e.length) for (const i of around(s.t, x)) take(xOf(s.t[i]), y(s.v[i]), { event: s.e[i] });
      }
    }),
    readout: (t, theme) => shown().slice(0, 4).map((series) => {
      const i = lower(series.t, t + 1) - 1;
      return [colour(series, theme), written(i < 0 ? NaN : series.v[i], unit)];
    }),
  };
}

/** Single values as dots; several in a column as a bar from the least to the greatest. */
function dotPanel(title, note, all, colour, visible) {
  let y = () => 0;
  const shown = () => all.filter(visible);
  return {
    title, note, height: 110,
    draw(pen, theme) {
      const high = Math.max(...shown().map((s) => inView(s)[1]));
      y = pen.axis([0, high * 1.04], "time", theme);
      for (const series of shown()) {
        columns(series.t, (x, i, j) => {
          const [lo, hi] = bounds(series.v, i, j);
          pen.box(x - 1, y(hi) - 1, 2.5, y(lo) - y(hi) + 2.5, colour(series, theme));
        });
      }
    },
    near: (x, at) => nearest(x, at, (take) => {
      for (const s of shown()) for (const i of around(s.t, x)) take(xOf(s.t[i]), y(s.v[i]), { event: s.e[i] });
    }),
    readout: (t, theme) => shown().slice(0, 4).map((series) => {
      const i = Math.max(0, lower(series.t, t + 1) - 1);
      return [colour(series, theme), written(series.v[i], "time")];
    }),
  };
}

/** Time and sequence: which bytes were in packets when, again in red; lines are up to where others have them. */
function sequencePanel({ title, note, verb, segments, lines }, colour, visible) {
  let y = () => 0;
  const shown = () => segments.filter(visible);
  for (const s of segments) s.v = s.offset.map((offset, i) => offset + s.len[i]);
  return {
    title, note, height: 230,
    draw(pen, theme) {
      const drawn = lines.flatMap(([all, dash]) => all.filter(visible).map((series) => [series, dash]));
      const ranges = [...shown(), ...lines[0][0].filter(visible)].map(inView);
      const [low, high] = [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))];
      y = pen.axis([low, high + (high - low) * 0.04], "bytes", theme);
      for (const [series, dash] of drawn) pen.line(steps(series).map(([x, v]) => [x, y(v)]), colour(series, theme), 1, dash);
      for (const series of shown()) {
        const bar = (x, lo, hi, c) => pen.box(x - 1, Math.min(y(hi), y(lo) - 2), 2.5, Math.max(y(lo) - y(hi), 2), c);
        columns(series.t, (x, i, j) => {
          const fresh = [Infinity, -Infinity], again = [Infinity, -Infinity];
          for (; i < j; i++) {
            const range = series.again[i] ? again : fresh;
            range[0] = Math.min(range[0], series.offset[i]);
            range[1] = Math.max(range[1], series.v[i]);
          }
          if (fresh[1] >= 0) bar(x, fresh[0], fresh[1], colour(series, theme));
          if (again[1] >= 0) bar(x, again[0], again[1], theme.bad);
        });
      }
    },
    near: (x, at) => nearest(x, at, (take) => {
      for (const s of shown()) for (const i of around(s.t, x)) take(xOf(s.t[i]), y(s.v[i]), { event: s.e[i] });
      for (const s of lines[0][0].filter(visible)) {
        for (const i of around(s.t, x)) take(xOf(s.t[i]), y(s.v[i]), { event: s.e[i] });
      }
    }),
    readout: (t, theme) => shown().slice(0, 4).map((s) => {
      const i = lower(s.t, t + 1) - 1;
      return [colour(s, theme), verb + " " + written(i < 0 ? 0 : s.v[i], "bytes")];
    }),
  };
}

/** Packets whose fate nobody told, and those that came from where nobody looked on, as the model has them. */
const UNTOLD = -2, FOREIGN = -3;

/** Packets from host to host. In each column one that arrives and one that is lost stand for all of their host. */
function ladderPanel(run) {
  const p = run.packets;
  const rail = (host) => 14 + (host * 142) / Math.max(1, run.hosts - 1);
  const longest = p.t.reduce((most, t, i) => Math.max(most, p.arrival[i] - t, p.copy[i] - t), 0);
  const other = (i) => (p.to[i] >= 0 ? p.to[i] : run.hosts === 2 ? 1 - p.host[i] : p.host[i]);
  const gone = (i) => p.arrival[i] < 0 && p.copy[i] < 0;
  // Of a packet on a real network one end is seen: it is drawn from there, or to there.
  const stub = (pen, i, colours) => {
    const [x, y] = [xOf(p.t[i]), rail(p.host[i])], away = y + (p.host[i] > 0 ? -45 : 45);
    if (p.left[i] === FOREIGN) pen.line([[x - 6, away], [x, y]], colours.foreign, 1);
    else pen.line([[x, y], [x + 6, away]], colours.packet, 1);
  };
  const sides = [...Array(run.hosts).keys()].flatMap((host) => [false, true].map((lost) => {
    const own = [...p.t.keys()].filter((i) => p.host[i] === host && gone(i) === lost);
    return { host, lost, own, t: own.map((i) => p.t[i]) };
  }));
  const rung = (pen, i, colours) => {
    const from = [xOf(p.t[i]), rail(p.host[i])], y = rail(other(i));
    if (p.left[i] < -1) return stub(pen, i, colours);
    for (const at of [p.arrival[i], p.copy[i]]) {
      if (at >= 0) pen.line([from, [xOf(at), y]], at === p.copy[i] ? colours.copy : colours.packet, 1);
    }
    if (gone(i)) {
      const end = p.left[i] < 0 ? p.t[i] : p.left[i];
      const middle = [xOf(end), from[1] + (y - from[1]) * 0.3];
      pen.line([from, middle], colours.lost, 1.2);
      pen.cross(middle[0], middle[1], colours.lost);
    }
  };
  return {
    title: "Packets", height: 170,
    note: "from host to host; red: lost, or the queue was full; short: its other end was not looked at; where packets stand closer than pixels, one of each column is drawn",
    draw(pen, theme) {
      for (let host = 0; host < run.hosts; host++) {
        pen.text("host " + host, view.left - 6, rail(host), theme.soft, "right");
        pen.context.fillStyle = theme.soft;
        pen.context.fillRect(view.left, rail(host), view.width, 1);
      }
      for (const side of sides) {
        const colours = { packet: theme.flows[side.host], copy: theme.timer, lost: theme.bad, foreign: theme.net };
        columns(side.t, (x, i) => rung(pen, side.own[i], colours), view.from - longest);
      }
    },
    near(x, at) {
      return nearest(x, at, (take) => {
        for (const side of sides) {
          const first = lower(side.t, timeOf(x - 10) - longest), end = lower(side.t, timeOf(x + 10));
          const stride = Math.max(1, Math.floor((end - first) / 4000));
          for (let k = first; k < end; k += stride) {
            const i = side.own[k];
            const from = rail(p.host[i]), to = rail(other(i));
            const arrival = side.lost ? Math.max(p.left[i], p.t[i]) : p.arrival[i] >= 0 ? p.arrival[i] : p.copy[i];
            const part = Math.min(Math.max((at - from) / (to - from || 1), 0), 1);
            const late = part > 0.6 && p.event[i] >= 0;
            const place = xOf(p.t[i]) + (xOf(arrival) - xOf(p.t[i])) * part;
            take(place, at, { packet: i, event: late ? p.event[i] : p.by[i] >= 0 ? p.by[i] : p.event[i] });
          }
        }
      });
    },
    readout: () => [],
  };
}

/** Events as marks, a row for each class at each host. */
function eventPanel(run) {
  const order = ["app_event", "net_event", "flow_event", "timer_event", "sent_event", "refused", "claim"];
  const rows = new Map();
  run.events.t.forEach((t, i) => {
    const host = run.events.host[i], sort = run.kinds[run.events.kind[i]].class;
    const key = host * 10 + order.indexOf(sort);
    if (!rows.has(key)) rows.set(key, { host, sort, own: [], t: [] });
    rows.get(key).own.push(i);
    rows.get(key).t.push(t);
  });
  const list = [...rows].sort(([a], [b]) => a - b).map(([, row]) => row);
  list.forEach((row, n) => (row.y = 4 + n * 15 + (row.host - list[0].host) * 6));
  const height = (list.at(-1)?.y ?? 0) + 18;
  return {
    title: "Events", height, note: "one mark for each pixel column in which there are any",
    draw(pen, theme) {
      for (const row of list) {
        const colour = theme[row.sort.replace("_event", "")] ?? theme.bad;
        pen.text(`${row.host} ${row.sort.replace("_event", "")}`, view.left - 6, row.y + 6, theme.soft, "right");
        columns(row.t, (x) => pen.box(x - 0.7, row.y, 1.6, 11, colour));
      }
    },
    near(x, at) {
      const rowsNear = list.filter((row) => Math.abs(row.y + 6 - at) < 11);
      return nearest(x, at, (take) => {
        for (const row of rowsNear) {
          for (const k of around(row.t, x)) take(xOf(row.t[k]), row.y + 6, { event: row.own[k] });
        }
      });
    },
    readout: () => [],
  };
}

/** Transfers: begun when, and how long they took. */
function transferPanel(run, colour, visible) {
  let y = () => 0;
  const done = run.transfers.filter((t) => t.end !== null).map((t) => ({ ...t, of: t.flow, took: t.end - t.begin }));
  const times = done.map((t) => t.begin), took = done.map((t) => t.took);
  return {
    title: "Flow completion times", height: 110, empty: done.length === 0,
    note: "from the first byte to send until the other application has all; at the left of each bar it began",
    draw(pen, theme) {
      const high = done.length ? Math.max(...done.filter(visible).map((t) => t.took)) : 1;
      y = pen.axis([0, high * 1.08], "time", theme);
      columns(times, (x, i, j) => {
        const [lo, hi] = bounds(took, i, j);
        const one = done[i];
        if (!visible(one)) return;
        const right = Math.min(xOf(one.end), view.left + view.width);
        pen.box(x, y(hi) - 2, 2, y(lo) - y(hi) + 4, colour(one, theme));
        if (j - i === 1) pen.box(x, y(hi) - 1, Math.max(right - x, 2), 2, colour(one, theme));
      }, 0);
    },
    near: (x, at) => nearest(x, at, (take) => {
      for (const one of done) {
        const place = Math.min(Math.max(x, xOf(one.begin)), xOf(one.end));
        const end = Math.abs(xOf(one.end) - x) < Math.abs(xOf(one.begin) - x);
        take(place, y(one.took), { event: one.events[end ? 1 : 0] });
      }
    }),
    readout: () => [],
  };
}
