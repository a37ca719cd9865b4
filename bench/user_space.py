# SPDX-License-Identifier: MIT
"""The native target, over AF_XDP and over packet sockets, beside the kernel target: the same program at both ends."""

import kernel_target
from kernel_target import AT_ONCE, CONNECTIONS, FEW, NO_OFFLOADS, REQUESTS, SPARE, Setting
from measure import Contest
from wire import DEVICE, OURS, PEER, run

PORTS = (("xdp", "AF_XDP"), ("packet", "packet sockets"))
ECHOED, ASKED = 64, 1024


class UserSpace(Setting):
    """A setting whose ends are stacks in processes."""

    def __init__(self, of, host, port):
        self.__dict__.update(vars(of))
        self.host, self.port = host, port

    def ours(self, end, app, *options, connections=FEW + SPARE):
        address, slots = (OURS, PEER)[end], connections + connections // 4  # one client has no more than its share of them
        return [self.host, "--port", f"{self.port}:{DEVICE}", "--addr", f"{address}/24", "--set", f"max_conns={slots}",
                "--app", app, *options]

    def joined(self, offloads):
        """A wire without addresses of the kernel's, which would answer in the stacks' place."""
        joined = self.wire(offloads, False)
        run("ip", "-n", joined.names[1], "addr", "flush", "dev", DEVICE)
        return joined


def settings(setting, host):
    """Those of the kernel target and of each port, by the name of their rows."""
    built = str(host())
    return [("ours, in the kernel", setting), *((f"ours, over {what}", UserSpace(setting, built, port)) for port, what in PORTS)]


def echo(setting, host):
    rows = []
    for spin in (True, False):
        how = "spinning" if spin else "blocking"
        waits = kernel_target.ours_waits(spin)
        rows += [kernel_target.ours_row(one, ECHOED, spin, f"{name}, {waits}") for name, one in settings(setting, host)]
        rows.append(kernel_target.linux_row(setting, ECHOED, spin, f"Linux UDP, {how}", kernel_target.udp_ways))
    title = f"In user space and in the kernel, over veth, {ECHOED} bytes there and back, median"
    return Contest(title, "none; the ratio is information", rows, [row for row in rows if row.name.startswith("Linux")])


def requests(setting, host):
    given = (CONNECTIONS, ASKED, 0, REQUESTS)
    rows = [kernel_target.load_row(one, name, kernel_target.ours_ends(), *given) for name, one in settings(setting, host)]
    rows.append(kernel_target.load_row(setting, NO_OFFLOADS, kernel_target.linux_ends(False), *given))
    title = f"In user space and in the kernel, over veth, {ASKED} bytes there and back, {CONNECTIONS} connections, {AT_ONCE} requests at a time"
    return Contest(title, "none; the ratio is information", rows, rows[-1:])


def contests(setting, host):
    """All, by name; `host` builds the native target's executable."""
    return {f"native-echo-{ECHOED}": lambda: echo(setting, host), f"native-requests-{ASKED}": lambda: requests(setting, host)}
