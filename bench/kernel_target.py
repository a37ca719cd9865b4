# SPDX-License-Identifier: MIT
"""The kernel target beside Linux's own transports: both ends of a wire on the same one, as in eTran's evaluation (§6)."""

import re
import time

from layers import Recorded
from measure import Aim, Contest, Row, tails_of
from wire import DEVICE, OURS, PEER

SIZES, LAYERED, ECHOED = (64, 1024, 2048), 1024, (32, 64)
CONNECTIONS, AT_ONCE = 100, 64
PINGS, REQUESTS = 20000, 100000
# Connections at once. A program has room for FEW unless a contest wants more, and for SPARE beside them, which end; the buffers
# of more than MANY are small, since the kernel takes the memory of all when the program is loaded.
AT_A_TIME = (1, 16, 256, 1000, 10000)
FEW, MANY, SMALL, SPARE = 256, 4096, "16KiB", 256
OURS_SPINNING, UDP_SPINNING, NO_OFFLOADS = "ours, in the kernel, spinning", "Linux UDP, spinning", "Linux TCP, no GSO or GRO"
CHANGE_ECHO = ("fewer frames of the host's for a request, since to send it and to wait for its answer are calls of their own where a "
               "datagram of Linux's is one; and fewer copies, since application, host, program and packet have each their own.")
CHANGE_REQUESTS = ("fewer copies of a request's bytes (by the host to where the program sees them, from there to the unit, and into the "
                   "packet), fewer frames of the host's for a request, and chains that look into maps less often.")
CHANGE_SHORT = ("fewer frames of the host's for a connection: it is accepted, opened and closed by calls, which go the way that requests "
                "go; and fewer copies.")
FIGURES = re.compile(r"in ([\d.]+) s, ([\d.]+)/s, median ([\d.]+) us, 99 % ([\d.]+) us")


class Setting:
    """What contests need of the rest: how `carrick` and `peer` are started, where the program is, a wire, where what is built goes, and where a
    library is that programs get by LD_PRELOAD."""

    def __init__(self, carrick, program, peer, wire, built, preload):
        self.carrick, self.program, self.peer, self.wire, self.built, self.preload = carrick, program, peer, wire, built, preload

    def ours(self, end, app, *options, connections=FEW + SPARE):
        buffers = [f"snd_buf={SMALL}", f"rcv_buf={SMALL}", f"rcv_max={SMALL}"] if connections > MANY else []
        slots = connections + connections // 4  # one client has no more than its share of them
        sets = [word for value in (f"max_conns={slots}", *buffers) for word in ("--set", value)]
        return [self.carrick(), "run", self.program(), "--target", "xdp", *sets, "--port", DEVICE,
                "--addr", f"{(OURS, PEER)[end]}/24", "--app", app, *options]

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


def ours_waits(spin):
    """By default a stack polls before it sleeps, where that has helped: it is not like a peer that blocks."""
    return "spinning" if spin else "by default"


def echo_contest(setting, octets, rows):
    made = []
    for spin in (True, False):
        how = "spinning" if spin else "blocking"
        made.append(ours_row(setting, octets, spin, f"ours, in the kernel, {ours_waits(spin)}"))
        for name, ways in (("UDP", udp_ways), ("TCP", tcp_ways)):
            made.append(linux_row(setting, octets, spin, f"Linux {name}, {how}", ways))
    rows[:] = made
    return echoes(octets, "median", made)


def echo_tail(octets, medians):
    return echoes(octets, "99th percentile", tails_of(medians, f"kernel-echo-{octets}"))


def echoes(octets, what, rows):
    peers = [row for row in rows if row.name.startswith("Linux")]
    wanted = "spinning, at most Linux UDP's"
    return Contest(f"In the kernel, over veth, {octets} bytes there and back, {what}", wanted, rows, peers,
                   [Aim(OURS_SPINNING, 1, UDP_SPINNING)], "kernel-layers-echo", CHANGE_ECHO)


def row_of(name, shown, ends, ask):
    """Ends that go on only while they are asked."""
    for end in ends:
        end.pause()

    def sample():
        for end in ends:
            end.go_on()
        try:
            median, tail = ends[1].ask(ask)
            row.tails.append(tail / 1000)
            return median / 1000
        finally:
            for end in ends:
                end.pause()

    row = Row(name, "us", shown, sample, "less")
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
    # It answers nothing, not even when it is there.
    for _ in range(100):
        try:
            ends[1].ask(f"udp_ping {OURS} 80 1 {octets}")
            break
        except RuntimeError:
            time.sleep(0.05)
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


def ours_ends(connections=FEW):
    def ends(setting):
        joined = setting.joined(False)
        joined.start(0, setting.ours(0, "echo:80", connections=connections + SPARE), "listening")

        def client(joined, given):
            app = f"load:{OURS}:80:" + ":".join(str(n) for n in given)
            printed = joined.output(1, setting.ours(1, app, connections=connections + SPARE))
            return float(FIGURES.search(printed)[2])

        return joined, client

    return ends


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


def ways(connections=FEW):
    return (("ours, in the kernel", ours_ends(connections)), (NO_OFFLOADS, linux_ends(False)), ("Linux TCP, GSO and GRO", linux_ends(True)))


def load_contest(setting, title, wanted, *given, **more):
    rows = [load_row(setting, name, ends, *given) for name, ends in ways(max(FEW, given[0]))]
    return Contest(f"In the kernel, over veth, {title}", wanted, rows, **more)


def layers_of_load(setting, what, *given):
    made = [(name, lambda name=name, ends=ends: load_row(setting, name, ends, *given), given[-1]) for name, ends in ways()]
    return Recorded(f"In the kernel, over veth, what a request costs: {what}", made)


def layers_of_echo(setting, octets):
    """What spins is never idle: its time is that of a round trip, at both ends."""
    made = [(OURS_SPINNING, lambda: ours_row(setting, octets, True, OURS_SPINNING), PINGS)]
    for name, how in ((UDP_SPINNING, udp_ways), ("Linux TCP, spinning", tcp_ways)):
        made.append((name, lambda name=name, how=how: linux_row(setting, octets, True, name, how), PINGS))
    return Recorded(f"In the kernel, over veth, what a request costs: {octets} bytes there and back, spinning", made)


def size_contest(setting, octets):
    aims = [Aim("ours, in the kernel", 2.4, NO_OFFLOADS)] if octets == LAYERED else []
    wanted = "at least 2.4 times Linux TCP" if aims else "none; the ratio is information"
    title = f"{octets} bytes there and back, {CONNECTIONS} connections, {AT_ONCE} requests at a time"
    return load_contest(setting, title, wanted, CONNECTIONS, octets, 0, REQUESTS, aims=aims, layers="kernel-layers-requests", change=CHANGE_REQUESTS)


def short_contest(setting, messages):
    aims = [Aim("ours, in the kernel", 5, NO_OFFLOADS)] if messages == 16 else []
    wanted = "at least 5 times Linux TCP" if aims else "none; the ratio is information"
    return load_contest(setting, f"connections of {messages} requests of 64 bytes, 16 at a time", wanted, 16, 64, messages,
                        1000 * min(messages, 100), aims=aims, layers="kernel-layers-short", change=CHANGE_SHORT)


def connections_contest(setting, connections):
    requests = REQUESTS // 5 if connections == 1 else REQUESTS
    return load_contest(setting, f"64 bytes there and back, {connections} connections", "none; the ratio is information", connections, 64, 0, requests)


def contests(setting):
    """All, by name."""
    named = echo_contests(setting)
    for prefix, contest, numbers in (("requests", size_contest, SIZES), ("connections", connections_contest, AT_A_TIME),
                                     ("short", short_contest, (1, 4, 16, 256))):
        for number in numbers:
            named[f"kernel-{prefix}-{number}"] = lambda contest=contest, number=number: contest(setting, number)
    named["kernel-layers-echo"] = lambda: layers_of_echo(setting, ECHOED[-1])
    named["kernel-layers-requests"] = lambda: layers_of_load(
        setting, f"{LAYERED} bytes there and back, {CONNECTIONS} connections", CONNECTIONS, LAYERED, 0, REQUESTS)
    named["kernel-layers-short"] = lambda: layers_of_load(setting, "connections of 16 requests of 64 bytes", 16, 64, 16, REQUESTS)
    return named
