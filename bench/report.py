# SPDX-License-Identifier: MIT
"""The table on the terminal and the page docs/benchmarks.md."""

import collections

import against
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
        lines += time_spent(contest, contests.get(contest.layers))
        lines += [f"Possible improvement: {contest.change}"] if contest.change else []
    return lines


def time_spent(contest, layers):
    """In a sentence, the layers in which processors spend the time, if that was measured with the contest."""
    columns = layers.columns() if layers and layers.origin.beside(contest.origin) else {}
    said = []
    for name, column in columns.items():
        most = sorted(column, key=column.get, reverse=True)[:LARGEST]
        parts = ", ".join(f"{layer} {figure(column[layer])}" for layer in most)
        said.append(f"{name} {figure(sum(column.values()))} ns ({parts})")
    return [f"Processor time of a request: {'; '.join(said)}. A table below has all layers."] if said else []


def cells_of(contest, row):
    value = f"{figure(row.median)} {row.unit}" if row.median is not None else f"not measured: {row.failed}".replace("\n", " ")
    return [row.name, value, spread(row), compared(contest, row), f"`{row.command}`"]


def rows_of(head, *rows):
    yield f"| {' | '.join(head)} |"
    yield "| --- |" + "".join(" --- |" if name == "command" else " ---: |" for name in head[1:])
    for row in rows:
        yield f"| {' | '.join(row)} |"


def verdict_table(found):
    """A row for each target; `found` has the contest, what was reached, the verdict, and of when and which commit they are."""
    yield "| contest | result | verdict | measured |"
    yield "| --- | --- | --- | --- |"
    for row in found:
        yield f"| {' | '.join(row)} |"


def verdicts_of_all(contests):
    for contest in contests.values():
        for found in verdicts(contest):
            yield contest.title, *found, f"{contest.origin.date}, {contest.origin.commit}"


def measured(origin, runs):
    return f"on {origin.date} at commit {origin.commit}, {runs} {'run' if runs == 1 else 'runs'}, {origin.machine}"


def section(name, contest, contests, usual):
    """`usual`: the origin and the runs of most contests. A section of others states its own."""
    yield from ("", f"## {contest.title}", "", f"Contest `{name}`. Target: {contest.wanted}.", "")
    if (contest.origin, contest.runs) != usual:
        yield from (f"Measured {measured(contest.origin, contest.runs)}.", "")
    for line in judged(contest, contests):
        yield from (line, "")
    if isinstance(contest, Layers):
        yield from (contest.how, "", *rows_of(*layered(contest)))
        for failed in contest.failed:
            yield from ("", f"Not measured: {' '.join(failed.split())}")
    else:
        head = ["what", "median", "spread", "ratio", "command"]
        yield from rows_of(head, *(cells_of(contest, row) for row in contest.rows))


def introduction(contests, usual):
    loads = [contest.load for contest in contests.values() if (contest.origin, contest.runs) == usual]
    newest = max(contest.origin.date for contest in contests.values())
    return ("Written by `make bench`; do not edit. Each figure is the median of some runs; programs run alternately. The spread is the "
            "smallest and the largest figure. `bench/run --only NAME` measures one contest again and replaces its figures "
            "(`bench/figures/NAME.json`) and its section. What is ours polls \"by default\" for up to 64 us before it sleeps, where that has "
            "helped; a peer that is \"blocking\" sleeps at once; what is \"spinning\" never sleeps.", "",
            f"Measured {measured(*usual)}, unless a section states otherwise; the load average was at most {max(loads)} when a contest ended. "
            f"The newest figures are of {newest}.")


def beside_older(older):
    """Tables of this project beside itself, one for each older commit and way to compare."""
    rows = collections.defaultdict(list)
    for contest in (contest for contests in older for contest in contests.values()):
        for now, before, times in against.pairs(contest):
            measured_at = f"{contest.origin.date}, {contest.origin.commit}"
            values = (f"{figure(row.median)} {row.unit}" for row in (now, before))
            if times:
                rows[against.label_of(before)].append([f"{contest.title}: {now.name}", *values, f"{times:.2f}x", measured_at])
    for label, found in sorted(rows.items()):
        commit, _, same = label.partition(",")
        programs = f"Both run the programs of {commit}" if same else "Each runs its own programs, which do more in the newer one"
        yield from ("", f"## Beside {label}", "",
                    f"{programs}; on one machine, alternately. `bench/run --against {commit}{' --same-programs' if same else ''}` measures it again.",
                    "", *rows_of(["what", "now", "then", "ratio", "measured"], *found))


def page(contests, names, older):
    """The page of all contests that have figures; `names` are those of all there are, `older` those with an older commit."""
    usual, _ = collections.Counter((contest.origin, contest.runs) for contest in contests.values()).most_common(1)[0]
    lines = ["# Benchmarks", "", *introduction(contests, usual), "", "## Verdicts", "", *verdict_table(verdicts_of_all(contests))]
    for name, contest in contests.items():
        lines += section(name, contest, contests, usual)
    missing = [f"`{name}`" for name in names if name not in contests]
    if missing:
        lines += ["", "## Without figures", "", f"Not measured yet: {', '.join(missing)}."]
    lines += beside_older(older)
    return "\n".join(lines) + "\n"
