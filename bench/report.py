# SPDX-License-Identifier: MIT
"""The table on the terminal and the page docs/benchmarks.md."""

import datetime
import os
import platform
import subprocess

from layers import LAYERS, Layers

# Layers that are named in a sentence.
LARGEST = 3


def figure(value):
    if value is None:
        return "not measured"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def spread(row):
    return f"{figure(min(row.values))} to {figure(max(row.values))}" if row.median is not None else ""


def compared(contest, row):
    return ", ".join(f"{name}: {ratio:.2f}x" for name, ratio in contest.ratios(row))


def table(contests):
    lines = []
    for contest in contests.values():
        lines.append(f"\n{contest.title} (target: {contest.wanted})")
        for row in contest.rows:
            lines.append(f"  {row.name:<44} {figure(row.median):>14} {row.unit:<16} {compared(contest, row)}".rstrip())
        if isinstance(contest, Layers):
            lines += [f"  {'  '.join(f'{cell:>28}' for cell in cells[1:])}  {cells[0]}" for cells in layered(contest)]
        lines += [f"  {line}" for line in judged(contest, contests)]
    return "\n".join(lines)


def layered(contest):
    """The cells of a table: layers, and what each path takes in them."""
    columns = contest.columns()
    yield ["layer", *columns]
    for layer in LAYERS:
        yield [layer, *(f"{figure(column[layer])} ns" for column in columns.values())]
    yield ["all", *(f"{figure(sum(column.values()))} ns" for column in columns.values())]


def verdicts(contest):
    """Of each target: what was reached, and whether that meets it."""
    for aim in contest.aims:
        reached = aim.reached(contest.rows)
        if reached is None:
            continue
        short = aim.times / reached
        yield compared_with_aim(contest, aim, reached), f"missed by {short:.1f}x" if short > 1 else "met"


def compared_with_aim(contest, aim, reached):
    if aim.figure is None:
        return f"{aim.row}: {reached:.2f}x {aim.than}. Target {aim.times:g}x"
    median = next(row.median for row in contest.rows if row.name == aim.row)
    bound = "most" if aim.most is not None else "least"
    return f"{aim.row}: {figure(median)} {contest.rows[0].unit}. Target at {bound} {aim.figure:g}"


def judged(contest, contests):
    """Which targets are met. Of a missed one: by which factor, where the time is spent, and what may improve it."""
    found = list(verdicts(contest))
    lines = [f"{what}: {verdict}." for what, verdict in found]
    if any(verdict != "met" for _, verdict in found):
        lines += time_spent(contests.get(contest.layers))
        lines += [f"Possible improvement: {contest.change}"] if contest.change else []
    return lines


def time_spent(layers):
    """In a sentence, the layers in which processors spend the time."""
    columns = layers.columns() if layers else {}
    said = []
    for name, column in columns.items():
        most = sorted(column, key=column.get, reverse=True)[:LARGEST]
        parts = ", ".join(f"{layer} {figure(column[layer])}" for layer in most)
        said.append(f"{name} {figure(sum(column.values()))} ns ({parts})")
    return [f"Processor time of a request: {'; '.join(said)}. A table below has all layers."] if said else []


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    load = os.getloadavg()[0]
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}, load average {load:.1f} at the end"


def commit():
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def cells_of(contest, row):
    value = f"{figure(row.median)} {row.unit}" if row.median is not None else f"not measured: {row.failed}".replace("\n", " ")
    return [row.name, value, spread(row), compared(contest, row), f"`{row.command}`"]


def rows_of(head, *rows):
    yield f"| {' | '.join(head)} |"
    yield "| --- |" + "".join(" --- |" if name == "command" else " ---: |" for name in head[1:])
    for row in rows:
        yield f"| {' | '.join(row)} |"


def verdict_table(found):
    """A row for each target; `found` has the contest, what was reached and the verdict."""
    yield "| contest | result | verdict |"
    yield "| --- | --- | --- |"
    for row in found:
        yield f"| {' | '.join(row)} |"


def page(contests, left_out, runs):
    today = datetime.date.today().isoformat()
    lines = ["# Benchmarks", "",
             "Written by `make bench`; do not edit. Each figure is the median of "
             f"{runs} runs; programs run alternately. The spread is the smallest and the largest figure.", "",
             f"{today}, commit {commit()}, {machine()}.", "", "## Verdicts", ""]
    lines += verdict_table((contest.title, *found) for contest in contests.values() for found in verdicts(contest))
    for contest in contests.values():
        lines += ["", f"## {contest.title}", "", f"Target: {contest.wanted}.", ""]
        for line in judged(contest, contests):
            lines += [line, ""]
        if isinstance(contest, Layers):
            lines += [contest.how, "", *rows_of(*layered(contest))]
            lines += [line for failed in contest.failures() for line in ("", f"Not measured: {' '.join(failed.split())}")]
        else:
            head = ["what", "median", "spread", "ratio", "command"]
            lines += rows_of(head, *(cells_of(contest, row) for row in contest.rows))
    if left_out:
        lines += ["", "## What was not measured", "", *(f"- {' '.join(line.split())}" for line in left_out)]
    return "\n".join(lines) + "\n"
