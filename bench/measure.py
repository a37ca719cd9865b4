# SPDX-License-Identifier: MIT
"""Interleaved runs and their medians."""

import json
import statistics
import subprocess
import sys
import time


def command_json(command, **kwargs):
    """The object that a command prints as its last line, with the wall time of the whole in `command_s`."""
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, **kwargs)
    elapsed = time.perf_counter() - begin
    lines = done.stdout.strip().splitlines()
    result = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    result["command_s"] = elapsed
    return result


class Row:
    """One figure: what is measured, in which unit, by which command, and how to get one value."""

    def __init__(self, name, unit, command, sample, better="more"):
        self.name, self.unit, self.command, self.sample, self.better = name, unit, command, sample, better
        self.values, self.failed = [], None

    def take(self):
        if self.failed:
            return
        try:
            self.values.append(self.sample())
        except (subprocess.CalledProcessError, OSError, KeyError, ValueError, RuntimeError) as error:
            detail = getattr(error, "stderr", "") or ""
            self.failed = (str(error) + " " + detail.strip()[-200:]).strip()
            print(f"  {self.name}: {self.failed}", file=sys.stderr)

    @property
    def median(self):
        return statistics.median(self.values) if self.values and not self.failed else None


class Contest:
    """Rows that are compared: ratios are of the first row's median to each other row's."""

    def __init__(self, title, wanted, rows):
        self.title, self.wanted, self.rows = title, wanted, rows

    def run(self, runs):
        print(f"{self.title}", file=sys.stderr)
        for row in self.rows:  # one that does not count: caches, page tables
            row.take()
            row.values.clear()
        for _ in range(runs):
            for row in self.rows:
                row.take()

    def ratio(self, row):
        """How many times better the first row is than this one."""
        first = self.rows[0].median
        if row is self.rows[0] or not first or not row.median:
            return None
        return first / row.median if row.better == "more" else row.median / first
