# SPDX-License-Identifier: MIT
"""The table on the terminal and the page docs/benchmarks.md."""

import datetime
import os
import platform
import subprocess


def figure(value):
    if value is None:
        return "not measured"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def spread(row):
    return f"{figure(min(row.values))} to {figure(max(row.values))}" if row.median is not None else ""


def compared(contest, row):
    return ", ".join(f"{name}: {ratio:.2f} times" for name, ratio in contest.ratios(row))


def table(contests):
    lines = []
    for contest in contests:
        lines.append(f"\n{contest.title} (wanted: {contest.wanted})")
        for row in contest.rows:
            lines.append(f"  {row.name:<44} {figure(row.median):>14} {row.unit:<16} {compared(contest, row)}".rstrip())
    return "\n".join(lines)


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


def page(contests, runs):
    today = datetime.date.today().isoformat()
    lines = ["# Benchmarks", "",
             "Written by `make bench`; do not edit. Each figure is the median of "
             f"{runs} runs, the contestants taking turns; beside it the smallest and the largest.", "",
             f"{today}, commit {commit()}, {machine()}."]
    for contest in contests:
        lines += ["", f"## {contest.title}", "", f"Wanted: {contest.wanted}.", "",
                  "| what | median | spread | against it | command |", "| --- | ---: | ---: | ---: | --- |"]
        for row in contest.rows:
            value = f"{figure(row.median)} {row.unit}" if row.median is not None else f"not measured: {row.failed}".replace("\n", " ")
            lines.append(f"| {row.name} | {value} | {spread(row)} | {compared(contest, row)} | `{row.command}` |")
    return "\n".join(lines) + "\n"
