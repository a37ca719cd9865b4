# SPDX-License-Identifier: MIT
"""What a simulation costs: when it is observed, and as its network grows."""

import os
import subprocess

from measure import Aim, Contest, Row

# Hosts of the fat trees, with the number of ports of their switches.
TREES = {16: 4, 128: 8, 1024: 16}
# Flows of each host, and their bytes.
FLOWS, OCTETS = 10, "10KB"
# The most that there are in one network: flows, their bytes, and what it may take.
MANY, LARGER, MOST = 100_000, "50KB", 2 << 30
OBSERVED = "600MB"


def used(command):
    """The processor time and the memory of a command: seconds, bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=said.decode())
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def observed(carrick, program, folder):
    """A bulk transfer, alone, with samples of a field, and with a trace; interpreted ones are shorter."""
    folder.mkdir(parents=True, exist_ok=True)
    network = ["--topology", "pair", "--workload", "all-to-all@h0:h1", "--rate", "1Gbps", "--delay", "10ms"]
    more = {
        "plain": [],
        "with --sample": ["--sample", "cwnd", "--every", "100ms", "--samples", str(folder / "samples.csv")],
        "with --trace": ["--trace", str(folder / "trace.run")],
    }
    rows, aims = [], []
    for engine, octets in ((["--compiled"], OBSERVED), ([], "40MB")):
        how = "compiled" if engine else "interpreted"
        for name, words in more.items():
            command = [carrick, "sim", program, *network, "--bytes", octets, *engine, *words]
            rows.append(Row(f"{how}, {name}", "s", " ".join(command), lambda command=command: used(command)[0], "less"))
        aims.append(Aim(f"{how}, with --sample", 1 / 1.2, f"{how}, plain"))
    aims.append(Aim("compiled, with --trace", 1 / 3, "compiled, plain"))
    peers = [row for row in rows if row.name.endswith("plain")]
    title = "Processor time of a simulated transfer that is observed, start of the process included"
    return Contest(title, "with --sample at most 1.2 times the plain run, with --trace at most 3 times", rows, peers, aims)


def network(carrick, program, hosts, octets=OCTETS, flows=None):
    return [carrick, "sim", program, "--topology", f"fat-tree:{TREES[hosts]}", "--rate", "10Gbps", "--delay", "1us", "--workload", "poisson:40%",
            "--sizes", octets, "--flows", str(flows or hosts * FLOWS), "--compiled", "--fast", "--format", "json"]


def growth(carrick, program, packets_of):
    """Packets a second of processor time; `packets_of` runs a command, and returns how many packets it says."""
    def row(hosts):
        command = network(carrick, program, hosts)
        packets = packets_of(command)
        return Row(f"{hosts} hosts", "packets/s", " ".join(command), lambda: packets / used(command)[0])

    return Contest("Simulated fat trees of 16 to 1,024 hosts", "none; the figures are information", [row(hosts) for hosts in TREES], [])


def memory(carrick, program):
    def row(name, hosts, *flows):
        command = network(carrick, program, hosts, *flows)
        return Row(name, "bytes/host", " ".join(command), lambda: used(command)[1] / hosts, "less")

    most = max(TREES)
    many = f"{most} hosts, {MANY} flows of {LARGER}"
    rows = [row(f"{hosts} hosts", hosts) for hosts in TREES] + [row(many, most, LARGER, MANY)]
    return Contest("Simulated fat trees of 16 to 1,024 hosts, memory", f"{MANY} flows of {LARGER} in at most 2 GiB", rows, [],
                   [Aim(many, most=MOST / most)])
