# SPDX-License-Identifier: MIT
"""Interleaved runs and their medians."""

import json
import statistics
import subprocess
import sys
import time


def command_json(command, **kwargs):
    """The JSON object that a command prints, with the wall time of the whole in `command_s`."""
    begin = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, **kwargs)
    elapsed = time.perf_counter() - begin
    text = done.stdout.strip()
    result = json.loads(text) if text.startswith("{") else {}
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
    """Rows that are compared. A ratio says how many times better ours is than a peer; peers are `peers`, all rows but the
    first unless given, and what is not a peer is ours. Without peers, rows only stand beside each other."""

    def __init__(self, title, wanted, rows, peers=None):
        self.title, self.wanted, self.rows = title, wanted, rows
        self.peers = rows[1:] if peers is None else peers

    def run(self, runs):
        print(f"{self.title}", file=sys.stderr)
        for row in self.rows:  # one that does not count: caches, page tables
            row.take()
            row.values.clear()
        for _ in range(runs):
            for row in self.rows:
                row.take()

    def ratios(self, peer):
        """Pairs of the name of one of ours and how many times better it is than this peer."""
        if peer not in self.peers or not peer.median:
            return []
        ours = [row for row in self.rows if row not in self.peers and row.median]
        return [(row.name, row.median / peer.median if row.better == "more" else peer.median / row.median) for row in ours]
