# SPDX-License-Identifier: MIT
"""The kernel target beside Linux's own transports: both ends of a wire on the same one, as in eTran's evaluation (§6)."""

import re
import subprocess

from measure import Contest, Row
from wire import DEVICE, OURS, PEER

SIZES, ECHOED = (64, 1024, 2048), (32, 64)
CONNECTIONS, AT_ONCE = 100, 64
PINGS, REQUESTS = 20000, 100000
FIGURES = re.compile(r"in ([\d.]+) s, ([\d.]+)/s, median ([\d.]+) us, 99 % ([\d.]+) us")


class Setting:
    """What contests need of the rest: how `carrick` and `peer` are started, and a wire."""

    def __init__(self, carrick, program, peer, wire):
        self.carrick, self.program, self.peer, self.wire = carrick, program, peer, wire

    def ours(self, end, app, *options):
        address = (OURS, PEER)[end]
        return [self.carrick(), "run", self.program, "--target", "xdp", "--set", "max_conns=512", "--port", DEVICE,
                "--addr", f"{address}/24", "--app", app, *options]

    def joined(self, offloads):
        """A wire on which both ends have addresses of the kernel's."""
        return self.wire(offloads, True)


def echo_contests(setting):
    """Round trips of one request at a time; what spins stands still while others are measured."""
    named = {}
    for octets in ECHOED:
        rows = []
        named[f"kernel-echo-{octets}"] = lambda octets=octets, rows=rows: echo_contest(setting, octets, rows)
        named[f"kernel-echo-{octets}-tail"] = lambda octets=octets, rows=rows: echo_tail(octets, rows)
    return named


def echo_contest(setting, octets, rows):
    for spin in (True, False):
        how = "spinning" if spin else "blocking"
        rows.append(ours_row(setting, octets, spin, f"ours, in the kernel, {how}"))
        for name, ways in (("UDP", udp_ways), ("TCP", tcp_ways)):
            rows.append(linux_row(setting, octets, spin, f"Linux {name}, {how}", ways))
    return echoes(octets, "half of them at most", rows)


def echo_tail(octets, medians):
    """The other figure of the same runs."""
    if not medians:
        raise RuntimeError(f"it is of the runs of kernel-echo-{octets}: measure that before")
    def next_of(tails):
        if not tails:
            raise RuntimeError("its run failed")
        return tails.pop(0)

    rows = [Row(row.name, row.unit, row.command, lambda tails=row.tails: next_of(tails), row.better) for row in medians]
    return echoes(octets, "99 % of them at most", rows)


def echoes(octets, what, rows):
    peers = [row for row in rows if row.name.startswith("Linux")]
    wanted = "spinning, at most Linux UDP's"
    return Contest(f"In the kernel, over veth, {octets} octets there and back, {what}", wanted, rows, peers)


def row_of(name, shown, ends, ask):
    """Ends that go on only while they are asked."""
    tails = []
    for end in ends:
        end.pause()

    def sample():
        for end in ends:
            end.go_on()
        try:
            median, tail = ends[1].ask(ask)
            tails.append(tail / 1000)
            return median / 1000
        finally:
            for end in ends:
                end.pause()

    row = Row(name, "us", shown, sample, "less")
    row.tails = tails
    return row


def ours_row(setting, octets, spin, name):
    options = ["--spin"] if spin else []
    joined = setting.joined(False)
    ends = [joined.start(end, setting.ours(end, "script:-", *options)) for end in (0, 1)]
    ends[0].ask("listen 80")
    ends[1].ask(f"connect {OURS} 80")
    ends[0].ask("accept")
    ends[0].tell("echo")
    return row_of(name, f"script: echo; ping {PINGS} {octets}", ends, f"ping {PINGS} {octets}")


def udp_ways(ends, octets, spin):
    ends[0].tell(f"udp_echo 80{spin}")
    return f"udp_ping {OURS} 80 {PINGS} {octets}{spin}"


def tcp_ways(ends, octets, spin):
    ends[0].ask("listen 80")
    ends[1].ask(f"connect {OURS} 80")
    ends[0].ask("accept")
    ends[0].tell(f"echo{spin}")
    return f"ping {PINGS} {octets}{spin}"


def linux_row(setting, octets, spin, name, ways):
    joined = setting.joined(True)
    ends = [joined.start(end, [setting.peer]) for end in (0, 1)]
    ask = ways(ends, octets, " spin" if spin else "")
    return row_of(name, f"peer: {ask}", ends, ask)


def load_row(setting, name, ends_of, connections, octets, messages, requests):
    """Requests a second of a server that stays, of a client that comes for each sample."""
    given = (connections, min(AT_ONCE, connections), octets, messages, requests)
    joined, client = ends_of(setting)

    def sample():
        return client(joined, given)

    return Row(name, "requests/s", "load:IP:80:" + ":".join(str(n) for n in given), sample)


def ours_ends(setting):
    joined = setting.joined(False)
    joined.start(0, setting.ours(0, "echo:80"))

    def client(joined, given):
        app = f"load:{OURS}:80:" + ":".join(str(n) for n in given)
        done = subprocess.run(["ip", "netns", "exec", joined.names[1], *setting.ours(1, app)], check=True,
                              capture_output=True, text=True, timeout=120)
        return float(FIGURES.search(done.stdout)[2])

    return joined, client


def linux_ends(offloads):
    def ends(setting):
        joined = setting.wire(offloads, True)
        server = joined.start(0, [setting.peer])
        server.ask("listen 80 4096")
        server.tell("serve")
        asked = joined.start(1, [setting.peer])

        def client(_, given):
            nanoseconds = asked.ask(f"load {OURS} 80 " + " ".join(str(n) for n in given))[0]
            return given[-1] * 1e9 / nanoseconds

        return joined, client

    return ends


WAYS = (("ours, in the kernel", ours_ends), ("Linux TCP, no GSO or GRO", linux_ends(False)),
        ("Linux TCP, GSO and GRO", linux_ends(True)))


def load_contest(setting, title, wanted, *given):
    rows = [load_row(setting, name, ends, *given) for name, ends in WAYS]
    return Contest(f"In the kernel, over veth, {title}", wanted, rows)


def contests(setting):
    """All, by name."""
    named = echo_contests(setting)
    for octets in SIZES:
        wanted = "at least 2.4 times Linux TCP" if octets == 1024 else "a ratio to look at"
        named[f"kernel-requests-{octets}"] = lambda octets=octets, wanted=wanted: load_contest(
            setting, f"{octets} octets there and back, {CONNECTIONS} connections, {AT_ONCE} requests at a time", wanted,
            CONNECTIONS, octets, 0, REQUESTS)
    for connections in (1, 16, 256):
        named[f"kernel-connections-{connections}"] = lambda connections=connections: load_contest(
            setting, f"64 octets there and back, {connections} connections", "a ratio to look at", connections, 64, 0,
            REQUESTS // 5 if connections == 1 else REQUESTS)
    for messages in (1, 4, 16, 256):
        wanted = "at least 5 times Linux TCP" if messages == 16 else "a ratio to look at"
        named[f"kernel-short-{messages}"] = lambda messages=messages, wanted=wanted: load_contest(
            setting, f"connections of {messages} requests of 64 octets, 16 at a time", wanted, 16, 64, messages,
            1000 * min(messages, 100))
    return named
