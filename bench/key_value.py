# SPDX-License-Identifier: MIT
"""A key-value store on the kernel target and on Linux's TCP, with keys, values and requests as in eTran's evaluation (§6.2)."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from kernel_target import FEW, FIGURES, NO_OFFLOADS
from measure import Contest, Row, tails_of
from wire import OURS

KEYS = 100000
# Connections, requests at a time of each, requests: as many as there can be, and few, to see how long one takes.
LOADED, LIGHT = (100, 32, 1000000), (4, 1, 20000)
TITLE = f"In the kernel, over veth, a key-value store of {KEYS:,} keys, nine of ten requests a GET"
PATIENCE = 60


def load_words(given):
    connections, at_once, requests = given
    return [OURS, "80", str(connections), str(at_once), str(KEYS), str(requests)]


class Store:
    """A server that stays; a client comes for each sample. `client` gives its command."""

    def __init__(self, joined, client):
        self.joined, self.client = joined, client

    def figures(self, given):
        """Requests a second, and of a request in us: median, 99th percentile."""
        return [float(figure) for figure in FIGURES.search(self.joined.output(1, self.client(load_words(given)))).groups()[1:]]


def applications(setting, _):
    """The applications `kv` and `kvload`, each in the process of its host."""
    joined = setting.joined(False)
    joined.start(0, setting.ours(0, "kv:80"), "listening")
    return Store(joined, lambda words: setting.ours(1, ":".join(["kvload", *words])))


def door(joined, end, setting):
    """The path of a host's socket at which unmodified programs reach it, once it is there."""
    path = Path(tempfile.gettempdir(), f"{joined.names[end]}.door")
    # It serves all runs, and what has ended keeps its place for a minute.
    joined.start(end, setting.ours(end, f"sockets:{path}", connections=4 * FEW))
    until = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > until:
            raise RuntimeError(f"no door came in {PATIENCE} s")
        time.sleep(0.05)
    return path


def unmodified(setting, program):
    """A program over sockets, which are the host's by LD_PRELOAD."""
    joined = setting.joined(False)
    library = os.path.abspath(setting.preload())

    def over(path, *words):
        return ["env", f"LD_PRELOAD={library}", f"CARRICK_SOCKETS={path}", program, *words]

    doors = [door(joined, end, setting) for end in (0, 1)]
    joined.start(0, over(doors[0], "serve", "80"), "listening")
    return Store(joined, lambda words: over(doors[1], "load", *words))


def linux(offloads):
    def store(setting, program):
        joined = setting.wire(offloads, True)
        joined.start(0, [program, "serve", "80"], "listening")
        return Store(joined, lambda words: [program, "load", *words])

    return store


WAYS = (("ours, in the kernel", applications), ("ours, in the kernel, by LD_PRELOAD", unmodified), (NO_OFFLOADS, linux(False)),
        ("Linux TCP, GSO and GRO", linux(True)))


def stores(setting):
    program = os.path.abspath(setting.built / "bench-kv")
    subprocess.run(["make", "-s", "-C", "bench/kv", f"OUT={program}"], check=True, capture_output=True, text=True)
    for name, way in WAYS:
        yield name, way(setting, program)


def shown(given):
    return "kvload:" + ":".join(["IP", *load_words(given)[1:]])


def contest(title, rows):
    """What is not Linux's is ours."""
    return Contest(title, "none; the ratio is information", rows, [row for row in rows if row.name.startswith("Linux")])


def loaded(setting):
    rows = [Row(name, "requests/s", shown(LOADED), lambda store=store: store.figures(LOADED)[0]) for name, store in stores(setting)]
    return contest(f"{TITLE}, {LOADED[0]} connections, {LOADED[1]} requests at a time on each", rows)


def light_row(name, store):
    def sample():
        _, median, tail = store.figures(LIGHT)
        row.tails.append(tail)
        return median

    row = Row(name, "us", shown(LIGHT), sample, "less")
    return row


def light(setting, rows):
    made = [light_row(name, store) for name, store in stores(setting)]
    rows[:] = made
    return contest(f"{TITLE}, {LIGHT[0]} connections, one request at a time on each, median", made)


def light_tail(rows):
    title = f"{TITLE}, {LIGHT[0]} connections, one request at a time on each, 99th percentile"
    return contest(title, tails_of(rows, "kernel-kv-light"))


def contests(setting):
    rows = []
    return {"kernel-kv": lambda: loaded(setting), "kernel-kv-light": lambda: light(setting, rows),
            "kernel-kv-light-tail": lambda: light_tail(rows)}
