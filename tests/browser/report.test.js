// SPDX-License-Identifier: MIT
// Pages of `carrick report`, made by tests/tests/report.rs, in a browser without a network.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const { after, before, test } = require("node:test");
const { chromium } = require("playwright-core");

const pages = process.env.PAGES;
let browser;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});
after(() => browser?.close());

/** Opens a page; what it complains of, and what it asks the network for, is collected. */
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, offline: true, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => request.url().startsWith("file:") || faults.push(`asks for ${request.url()}`));
  await page.goto("file://" + path.join(pages, name));
  return { page, faults };
}

const drawn = (page) => page.evaluate(() => carrick.panels.filter((p) => !p.off).map((p) => [p.title, p.drawn]));

for (const colorScheme of ["light", "dark"]) {
  test(`every panel of a run with losses is drawn, ${colorScheme}`, async () => {
    const { page, faults } = await open("lossy.html", { colorScheme });
    const panels = new Map(await drawn(page));
    const expected = ["Events", "Packets", "Time and sequence", "Received", "cwnd", "Round-trip time", "Queue length", "Packets in flight", "Flow completion times"];
    for (const title of expected) assert.ok(panels.get(title) > 0, `${title}: ${JSON.stringify([...panels])}`);
    await page.screenshot({ path: path.join(pages, `lossy-${colorScheme}.png`), fullPage: true });
    assert.deepStrictEqual(faults, []);
  });
}

test("a receiver's own trace shows what it received", async () => {
  const { page, faults } = await open("receiver.html");
  const panels = new Map(await drawn(page));
  assert.ok(panels.get("Received") > 0, JSON.stringify([...panels]));
  assert.ok(!panels.has("Time and sequence"));
  assert.deepStrictEqual(faults, []);
});

test("an event leads to the line that reacted", async () => {
  const { page, faults } = await open("lossy.html");
  // The first event with a reaction in the second half of the run, so that the view has to move when zoomed in elsewhere.
  const event = await page.evaluate(() => {
    const { first, t } = carrick.run.events;
    const middle = carrick.run.end / 2;
    return t.findIndex((at, n) => at > middle && first[n + 1] > first[n]);
  });
  await page.evaluate((event) => (carrick.look(0, 1e6), carrick.select({ event })), event);
  const [, file, line] = await page.evaluate((event) => carrick.run.reactions[carrick.run.events.first[event]], event);
  await page.locator("#details .at").first().click();
  assert.ok(await page.locator(`#l${file}-${line}`).isVisible());
  const view = await page.evaluate(() => [carrick.view.from, carrick.view.to]);
  const at = await page.evaluate((event) => carrick.run.events.t[event], event);
  assert.ok(view[0] <= at && at <= view[1], `${at} in ${view}`);
  assert.deepStrictEqual(faults, []);
});

test("dragging zooms, double-clicking shows all, keys go from event to event", async () => {
  const { page, faults } = await open("lossy.html");
  const canvas = page.locator(".panel canvas").nth(2);
  const box = await canvas.boundingBox();
  const width = () => page.evaluate(() => carrick.view.to - carrick.view.from);
  const whole = await width();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 20);
  await page.mouse.up();
  const zoomed = await width();
  assert.ok(zoomed < whole / 3, `${zoomed} of ${whole}`);
  await canvas.dblclick({ position: { x: box.width / 2, y: 20 } });
  assert.strictEqual(await width(), whole);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#details").innerText(), /host/);
  assert.deepStrictEqual(faults, []);
});

test("of a long run no more is drawn than pixels can show", async () => {
  const { page, faults } = await open("long.html");
  const events = await page.evaluate(() => carrick.run.events.t.length);
  assert.ok(events > 100_000, `${events} events`);
  for (const part of [1, 0.5, 0.05]) {
    await page.evaluate((part) => carrick.look(carrick.run.end * 0.3 * (1 - part), carrick.run.end * (0.3 * (1 - part) + part)), part);
    for (const [title, marks] of await drawn(page)) assert.ok(marks < 20_000, `${title} at ${part}: ${marks}`);
  }
  await page.screenshot({ path: path.join(pages, "long.png"), fullPage: true });
  assert.deepStrictEqual(faults, []);
});
