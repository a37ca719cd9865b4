// Puts the page together: panels, chips, and what hands do.

const run = JSON.parse(document.getElementById("run").textContent);
const state = { hidden: new Set(), selected: null, cross: null };
const byId = (id) => document.getElementById(id);
const flowsDrawn = [...new Set([...run.segments, ...run.received, ...run.rtt, ...run.curves.flatMap((c) => c.series)].map((s) => s.of))]
  .sort((a, b) => a - b);
const flowPlace = new Map(flowsDrawn.map((flow, n) => [flow, n]));
const ofFlow = (series, theme) => theme.flows[(flowPlace.get(series.of) ?? 0) % theme.flows.length];
const ofHost = (series, theme) => theme.flows[series.of % theme.flows.length];
const visible = (series) => !state.hidden.has(series.of);
view.end = Math.max(run.end, 10);
look(0, view.end);

const known = (series) => series.t.length > 0;
const hostNote = "one line for each host that sends";
const fields = run.curves.map((c) => ({ ...curvePanel(c.field, c.doc, c.unit, c.series, ofFlow, visible), field: c, off: !c.shown }));
const sent = {
  title: "Time and sequence", verb: "sent", segments: run.segments, lines: [[run.edges, []], [run.delivered, [3, 3]]],
  note: "each bar: bytes in a packet; red: retransmitted; line: acknowledged; dashed: the application at the other end has them",
};
const received = {
  title: "Received", verb: "received", segments: run.received, lines: [[run.taken, [3, 3]]],
  note: "each bar: bytes in a packet that arrived; red: some had arrived before; dashed: the application has them",
};
const panels = [
  eventPanel(run),
  ladderPanel(run),
  { ...sequencePanel(sent, ofFlow, visible), empty: run.segments.length === 0 },
  { ...sequencePanel(received, ofFlow, visible), empty: run.received.length === 0 },
  ...fields,
  { ...dotPanel("Round-trip time", "from sending bytes (once) to their acknowledgement", run.rtt, ofFlow, visible), empty: run.rtt.length === 0 },
  { ...curvePanel("Queue length", "packets that wait for a host's link; " + hostNote, "number", run.queues, ofHost, () => true), empty: !run.queues.some(known) },
  { ...curvePanel("Packets in flight", hostNote, "number", run.in_flight, ofHost, () => true), empty: !run.in_flight.some(known) },
  transferPanel(run, ofFlow, visible),
].filter((panel) => !panel.empty);

function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue("--" + name).trim();
  const names = ["ink", "soft", "line", "bad", "app", "net", "timer", "sent", "flow"];
  return { ...Object.fromEntries(names.map((n) => [n, colour(n)])), flows: [...Array(8).keys()].map((n) => colour("f" + n)) };
}

for (const panel of panels) {
  panel.readouts = element("span", { class: "readout" });
  panel.canvas = element("canvas", { role: "img", "aria-label": `${panel.title}: ${panel.note}` });
  panel.canvas.style.height = panel.height + "px";
  const head = element("p", {}, element("b", {}, panel.title), element("span", { class: "soft note", title: panel.note }, panel.note), panel.readouts);
  panel.box = element("div", { class: "panel" }, head, panel.canvas);
  byId("panels").append(panel.box);
}
const axis = { height: 20, canvas: element("canvas", { "aria-hidden": "true" }) };
axis.canvas.style.height = axis.height + "px";
byId("tools").append(axis.canvas);
for (const id of ["cross", "marker", "drag"]) byId("panels").append(element("div", { id }));

/** A context to draw on, as sharp as the screen. */
function penOf({ canvas, height }) {
  const sharp = window.devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * sharp);
  canvas.height = Math.round(height * sharp);
  const context = canvas.getContext("2d");
  context.scale(sharp, sharp);
  context.font = "11px system-ui, sans-serif";
  return new Pen(context, height);
}

function drawAxis(colours) {
  const pen = penOf(axis);
  for (const tick of ticks(view.from, view.to, view.width / 110)) {
    pen.text(moment(tick), xOf(tick), 8, colours.soft, "center");
    pen.box(xOf(tick), 15, 1, 5, colours.soft);
  }
}

function draw() {
  const colours = theme();
  view.width = Math.max(50, axis.canvas.clientWidth - view.left - 10);
  drawAxis(colours);
  for (const panel of panels) {
    panel.box.hidden = Boolean(panel.off);
    if (panel.off) continue;
    const pen = penOf(panel);
    pen.context.save();
    panel.draw(clipped(pen), colours);
    pen.context.restore();
    panel.drawn = pen.drawn;
  }
  byId("window").textContent = `${moment(view.from)} to ${moment(view.to)}`;
  drawOver();
}

/** What is outside of the plot is cut, but for the numbers at its left. */
function clipped(pen) {
  const text = pen.text.bind(pen), c = pen.context;
  c.beginPath();
  c.rect(view.left, 0, view.width + 1, pen.height);
  c.save();
  c.clip();
  pen.text = (...given) => {
    c.restore();
    text(...given);
    c.save();
    c.beginPath();
    c.rect(view.left, 0, view.width + 1, pen.height);
    c.clip();
  };
  return pen;
}

function place(id, x, width) {
  const mark = byId(id);
  const inside = x !== null && x + (width ?? 0) >= view.left && x <= view.left + view.width;
  mark.style.display = inside ? "block" : "none";
  mark.style.left = x + "px";
  if (width !== undefined) mark.style.width = width + "px";
}

/** The lines over all panels, and the values at the pointer. */
function drawOver() {
  const event = state.selected?.event ?? -1;
  const at = event >= 0 ? run.events.t[event] : state.selected?.packet !== undefined ? run.packets.t[state.selected.packet] : null;
  place("marker", at === null ? null : xOf(at) - 1);
  place("cross", state.cross === null ? null : state.cross);
  const colours = theme();
  for (const panel of panels.filter((p) => !p.off)) {
    const values = state.cross === null ? [] : panel.readout(timeOf(state.cross), colours);
    panel.readouts.replaceChildren(...values.map(([colour, text]) => element("span", { style: `color: ${colour}` }, text)));
  }
}

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => ((asked = false), draw()));
}

function zoom(factor, around = (view.from + view.to) / 2) {
  look(around - (around - view.from) * factor, around + (view.to - around) * factor);
  redraw();
}

function pan(part) {
  const by = (view.to - view.from) * part;
  const moved = Math.min(Math.max(by, -view.from), view.end - view.to);
  look(view.from + moved, view.to + moved);
  redraw();
}

function all() {
  look(0, view.end);
  redraw();
}

function select(what) {
  state.selected = what;
  showDetails(run, what, select);
  const at = what.event >= 0 ? run.events.t[what.event] : null;
  if (at !== null && (at < view.from || at > view.to)) {
    const half = (view.to - view.from) / 2;
    look(at - half, at + half);
    redraw();
  }
  drawOver();
}

/** Drag to zoom, click to select. */
function hands(panel) {
  const canvas = panel.canvas;
  let begin = null;
  const inPlot = (x) => Math.min(Math.max(x, view.left), view.left + view.width);
  canvas.onpointerdown = (e) => {
    begin = e.offsetX;
    canvas.setPointerCapture(e.pointerId);
  };
  canvas.onpointermove = (e) => {
    state.cross = inPlot(e.offsetX);
    if (begin !== null) place("drag", Math.min(inPlot(begin), state.cross), Math.abs(state.cross - inPlot(begin)));
    drawOver();
  };
  canvas.onpointerup = (e) => {
    const from = begin;
    begin = null;
    place("drag", null);
    if (from === null) return;
    if (Math.abs(e.offsetX - from) > 4) {
      const times = [timeOf(inPlot(from)), timeOf(inPlot(e.offsetX))].sort((a, b) => a - b);
      look(...times);
      redraw();
      return;
    }
    const found = panel.near(e.offsetX, e.offsetY);
    if (found && (found.event >= 0 || found.packet !== undefined)) select(found);
  };
  canvas.onpointercancel = () => ((begin = null), place("drag", null));
  canvas.onpointerleave = () => ((state.cross = null), drawOver());
  canvas.ondblclick = all;
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.25 : 0.8, timeOf(inPlot(e.offsetX)));
  }, { passive: false });
}
panels.forEach(hands);

const actions = { in: () => zoom(0.5), out: () => zoom(2), left: () => pan(-0.4), right: () => pan(0.4), all };
for (const [id, action] of Object.entries(actions)) byId(id).onclick = action;
const keys = { "+": actions.in, "=": actions.in, "-": actions.out, 0: all };
document.addEventListener("keydown", (e) => {
  const arrow = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (e.ctrlKey || e.metaKey || e.altKey || (!arrow && !keys[e.key])) return;
  e.preventDefault();
  if (!arrow) keys[e.key]();
  else if (e.shiftKey) pan(0.4 * arrow);
  else select({ event: Math.min(Math.max((state.selected?.event ?? -1) + arrow, 0), run.events.t.length - 1) });
});

/** Buttons that turn flows and fields on and off. */
const CHIPS_MAX = 16;
function chip(text, className, on, toggle, title = "") {
  const made = element("button", { class: "chip " + className, "aria-pressed": String(on), title }, text);
  made.onclick = () => {
    made.setAttribute("aria-pressed", String(toggle()));
    redraw();
  };
  return made;
}
for (const flow of flowsDrawn.slice(0, CHIPS_MAX)) {
  const id = run.flows[flow].id.map(([name, value]) => `${name} ${value}`).join(", ");
  const made = chip(flowName(run, flow), "flow", true, () => {
    if (!state.hidden.delete(flow)) state.hidden.add(flow);
    return !state.hidden.has(flow);
  }, id);
  made.prepend(element("i", { style: `background: var(--f${flowPlace.get(flow) % 8})` }));
  byId("chips").append(made);
}
const rest = flowsDrawn.slice(CHIPS_MAX);
if (rest.length) {
  byId("chips").append(chip(`${rest.length} more`, "flow", true, () => {
    const hide = !state.hidden.has(rest[0]);
    for (const flow of rest) if (hide) state.hidden.add(flow); else state.hidden.delete(flow);
    return !hide;
  }));
}
for (const panel of fields) {
  const { context, field, doc } = panel.field;
  byId("chips").append(chip(`${context}.${field}`, "field", !panel.off, () => {
    const own = panels.find((p) => p.field === panel.field);
    own.off = !own.off;
    return !own.off;
  }, doc));
}

new ResizeObserver(redraw).observe(byId("panels"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
draw();
/** For tests and the curious. */
window.carrick = { run, view, panels, select, look: (from, to) => (look(from, to), draw()) };
