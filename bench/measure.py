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
        self.values, self.failed, self.tails = [], None, []

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


class Aim:
    """What a row is to be: so many times better than another one, or at most a figure, or at least one."""

    def __init__(self, row, times=1, than=None, most=None, least=None):
        self.row, self.times, self.than, self.most, self.least = row, times, than, most, least

    @property
    def figure(self):
        """The figure that it is compared with, if it is not another row."""
        return self.most if self.most is not None else self.least

    def reached(self, rows):
        """How many times better it is than the other one, or than the figure; None: not measured."""
        one, other = (next((row for row in rows if row.name == name), None) for name in (self.row, self.than))
        if not one or not one.median or self.figure is None and (not other or not other.median):
            return None
        return better(one, self.figure if self.figure is not None else other.median)


def tails_of(rows, before):
    """Rows of the other figure of the runs of rows, which each have put aside in `tails`; those were measured `before`."""
    if not rows:
        raise RuntimeError(f"it is of the runs of {before}: measure that before")

    def next_of(tails):
        if not tails:
            raise RuntimeError("its run failed")
        return tails.pop(0)

    return [Row(row.name, row.unit, row.command, lambda tails=row.tails: next_of(tails), row.better) for row in rows]


def better(row, figure):
    return row.median / figure if row.better == "more" else figure / row.median


class Contest:
    """Rows that are compared. A ratio says how many times better ours is than a peer; peers are `peers`, all rows but the
    first unless given, and what is not a peer is ours. Without peers, rows only stand beside each other. `layers` is the
    name of the contest that shows where the time goes, `change` says what would change it, if an aim is missed."""

    def __init__(self, title, wanted, rows, peers=None, aims=(), layers=None, change=None):
        self.title, self.wanted, self.rows = title, wanted, rows
        self.peers = rows[1:] if peers is None else peers
        self.aims, self.layers, self.change = aims, layers, change

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
        return [(row.name, better(row, peer.median)) for row in ours]
