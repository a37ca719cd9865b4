# SPDX-License-Identifier: MIT
"""How far from its rate a flow in the kernel is that always has something to send, as in eTran's evaluation (§6.3.2)."""

import subprocess
import tempfile
import time
from pathlib import Path

from measure import Aim, Contest, Row
from wire import DEVICE, OURS

RATES = (100, 200, 500)  # Mbit/s
WARM, SECONDS, OCTETS = 1.0, 3.0, 1 << 34
ETHERNET = 14


def counted(joined):
    """Octets with network header that the peer's device has taken, before anything joins packets, and when that was."""
    shown = subprocess.run(["ip", "netns", "exec", joined.names[1], "cat", "/proc/net/dev"], check=True,
                           capture_output=True, text=True)
    now = time.monotonic()
    fields = next(line for line in shown.stdout.splitlines() if f"{DEVICE}:" in line).split(":")[1].split()
    return int(fields[0]) - ETHERNET * int(fields[1]), now


def sent(setting, options):
    """Mbit/s of one connection of which the kernel's own stack takes as much as comes."""
    # In memory: a disk that reads ahead would hold the flow back before the rate does.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        with open(Path(folder) / "all", "wb") as file:
            file.truncate(OCTETS)
        joined = setting.joined(False)
        joined.pass_by_xdp(1)
        process = joined.start(0, ["nice", "-n", "-20", *setting.ours(0, f"http:{folder}"), *options], "listening")
        try:
            taken = joined.start(1, ["curl", "-s", "-o", "/dev/null", f"http://{OURS}/all"])
            time.sleep(WARM)
            before, began = counted(joined)
            time.sleep(SECONDS)
            after, ended = counted(joined)
            taken.stop()
        finally:
            process.stop()
        return (after - before) * 8 / (ended - began) / 1e6


def row(setting, rate):
    options = ["--flow-rate", f"{rate}Mbps"]
    off = lambda: abs(sent(setting, options) / rate - 1) * 100
    return Row(f"{rate} Mbit/s", "% off", f"{setting.program()} --app http:DIR {' '.join(options)}", off, "less")


def deviation(setting):
    most = sent(setting, [])
    largest = int(most * 0.9) // 100 * 100
    rates = [rate for rate in sorted({*RATES, largest}) if 0 < rate <= most]
    rows = [row(setting, rate) for rate in rates]
    return Contest(f"In the kernel, over veth, rates that are held, where {most:.0f} Mbit/s go without one",
                   "at most 1 % off", rows, [], [Aim(row.name, most=1) for row in rows])


def contests(setting):
    """All, by name."""
    return {"kernel-rates": lambda: deviation(setting)}
