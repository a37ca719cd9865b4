// What is selected, in words, and the line of the program that reacted.

/** An element with text or children; nothing of a trace is ever taken for HTML. */
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.onclick = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const flowName = (run, n) => {
  const flow = run.flows[n];
  return `host ${flow.host}, ${flow.context} ${flow.number}`;
};

/** The reactions of an event: text, file, line. */
function reactionsOf(run, event) {
  const end = run.events.first[event + 1] ?? run.reactions.length;
  return run.reactions.slice(run.events.first[event], end).map(([text, file, line]) => ({ text: run.texts[text], file, line }));
}

/** The processors that saw to an event. */
function chainOf(run, event) {
  const kind = run.kinds[run.events.kind[event]];
  const chain = run.events.flow[event] < 0 && kind.absent.length ? kind.absent : kind.present;
  return chain.map((n) => run.functions[n]);
}

/** The lines that reacted, the first of which is shown: those of its instructions, else its first processor. */
function linesOf(run, event) {
  const lines = reactionsOf(run, event).filter((r) => r.line > 0);
  return lines.length ? lines : chainOf(run, event).slice(0, 1);
}

/** Marks lines of the program and brings the first into view. */
function point(lines) {
  for (const old of document.querySelectorAll(".now, .also")) old.classList.remove("now", "also");
  lines.forEach(({ file, line }, n) => {
    const found = document.getElementById(`l${file}-${line}`);
    found?.classList.add(n === 0 ? "now" : "also");
  });
  const first = document.querySelector(".source .now");
  const pane = document.getElementById("sources");
  if (first) pane.scrollTop += first.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
}

function reactionList(run, event) {
  const list = element("ol", { class: "mono" });
  for (const { text, file, line } of reactionsOf(run, event)) {
    const at = element("button", { class: "at", onclick: () => point([{ file, line }]) }, `line ${line}`);
    list.append(element("li", {}, ...(line > 0 ? [at] : []), text));
  }
  return list;
}

function packetWords(run, n) {
  const p = run.packets;
  if (p.left[n] === FOREIGN) return `a packet of ${p.octets[n]} bytes that came to host ${p.host[n]} at ${moment(p.t[n])}`;
  const words = [`packet ${n + 1}: ${p.octets[n]} bytes, sent by host ${p.host[n]} at ${moment(p.t[n])}`];
  if (p.left[n] === UNTOLD) return words[0];
  if (p.left[n] < 0) words.push("dropped, as the queue was full");
  else if (p.arrival[n] < 0 && p.copy[n] < 0) words.push("lost");
  else if (p.arrival[n] >= 0) words.push(`${written(p.arrival[n] - p.t[n], "time")} on its way`);
  if (p.copy[n] >= 0) words.push("arrived twice");
  return words.join(", ");
}

/** Fills the pane; `select` selects something else. */
function showDetails(run, selected, select) {
  const pane = document.getElementById("details");
  const { event = -1, packet } = selected;
  const parts = [];
  const carried = packet ?? (event >= 0 && run.events.packet[event] >= 0 ? run.events.packet[event] : undefined);
  if (event >= 0) {
    const kind = run.kinds[run.events.kind[event]], flow = run.events.flow[event];
    const sort = kind.class.replace("_event", "");
    const step = (by, text, title) =>
      element("button", { title, onclick: () => select({ event: Math.min(Math.max(event + by, 0), run.events.t.length - 1) }) }, text);
    parts.push(element("div", { class: "title" },
      element("h2", { class: "mono" }, kind.name),
      element("span", { class: "tag", style: `color: var(--${["refused", "claim"].includes(sort) ? "bad" : sort})` }, sort),
      element("span", { class: "soft" }, `${moment(run.events.t[event])}, ${flow < 0 ? "host " + run.events.host[event] : flowName(run, flow)}`),
      element("span", { class: "steps" }, step(-1, "‹", "the event before (arrow left)"), step(1, "›", "the next event (arrow right)"))));
    if (kind.doc) parts.push(element("p", { class: "soft" }, kind.doc));
    if (carried !== undefined) parts.push(element("p", {}, packetWords(run, carried)));
    parts.push(reactionList(run, event));
    const chain = element("p", { class: "mono" });
    for (const f of chainOf(run, event)) {
      chain.append(element("button", { class: "at", onclick: () => point([f]) }, f.name), " ");
    }
    if (chain.childNodes.length) parts.push(element("h3", {}, "processors"), chain);
    const fields = element("dl", { class: "mono" });
    kind.fields.forEach((name, i) => {
      const value = run.events.fields[event][i];
      const text = typeof value === "object" ? JSON.stringify(value) : String(value);
      fields.append(element("div", {}, element("dt", {}, name), element("dd", {}, text)));
    });
    if (kind.fields.length) parts.push(element("h3", {}, "fields"), fields);
  } else if (carried !== undefined) {
    parts.push(element("h2", {}, "A packet"), element("p", {}, packetWords(run, carried)));
  }
  pane.replaceChildren(...parts);
  pane.scrollTop = 0;
  point(event >= 0 ? linesOf(run, event) : []);
}
