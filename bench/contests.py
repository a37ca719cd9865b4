# SPDX-License-Identifier: MIT
"""What is measured against what. Each function builds what it needs and returns a Contest."""

import json
import os
import re
import subprocess
from pathlib import Path

import circuits
import forwarding
import kernel_target
import key_value
import rates
import simulations
import two_ends
import user_space
from editor import Editor
from kernel_target import Setting
from measure import Aim, Contest, Row, command_json
from wire import CONGESTION_CONTROL, DEVICE, OURS, Wire

# Where the programs are.
programs = Path("protocols")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
BUILT = TARGET / "bench-tcp"
CARRICK = TARGET / "release/carrick"
PEER = TARGET / "release/peer"
SMOLTCP = TARGET / "bench-smoltcp/release/bench-smoltcp"
NS3 = TARGET / "bench-ns3"
TREE, TREE_HOSTS, TREE_OCTETS = 4, 16, 2_000_000
BULK_OCTETS = 500_000_000
# MiB, and bytes of a message, request or write: 64 KiB, but of a protocol whose messages are packets.
LOOPBACK = {"tcp": ["1000"], "homa": ["1000"], "ndp": ["1000"], "netblocks": ["1000", "1400"], "quic-lite": ["1000"],
            "rocev2": ["1000"], "message-transport": ["1000"]}
EDITED_LINES = 2000
open_wires, open_editors = [], []


def build(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


def tidy():
    while open_wires:
        open_wires.pop().__exit__()
    while open_editors:
        open_editors.pop().close()


def carrick():
    build("cargo", "build", "--release", "-q", "-p", "carrick-cli")
    return str(CARRICK)


def program(name="tcp"):
    return str(programs / name / f"{name}.mtp")


def native():
    build(carrick(), "build", program(), "--target", "native", "-o", str(BUILT))
    return BUILT


def json_row(name, unit, command, key, better="more"):
    shown = " ".join(str(word) for word in command)
    return Row(name, unit, shown, lambda: command_json([str(word) for word in command])[key], better)


def memory_port():
    build("cargo", "build", "--release", "-q", "--manifest-path", "bench/smoltcp/Cargo.toml",
          "--target-dir", str(TARGET / "bench-smoltcp"))
    ours = [native() / "tcp-bench", "bulk", "1000"]
    rows = [json_row("ours", "Gbit/s", ours, "payload_gbps")]
    for mode in ["checksums", "plain"]:
        what = "with checksums, as ours" if mode == "checksums" else "without checksums, its default"
        rows.append(json_row(f"smoltcp, {what}", "Gbit/s", [SMOLTCP, "1000", "256", mode], "payload_gbps"))
    aims = [Aim("ours", 2, row.name) for row in rows[1:]]
    return Contest("Both ends in one process, MTU 1500, bulk", "at least 2 times smoltcp", rows, aims=aims)


def memory_port_packets():
    contest = memory_port()
    for row in contest.rows:
        command = row.command.split()
        row.sample = lambda command=command: command_json(command)["ns_per_packet"]
        row.unit, row.better = "ns/packet", "less"
    contest.title += ", time of a packet"
    return contest


def wire(offloads, kernel_on_both):
    build("cargo", "build", "--release", "-q", "-p", "carrick-tests")
    opened = Wire(len(open_wires), offloads, kernel_on_both).__enter__()
    open_wires.append(opened)
    return opened


def host(port):
    return [str(native() / "tcp-host"), "--port", f"{port}:{DEVICE}", "--addr", f"{OURS}/24", "--app", "script:-"]


def by_packet_socket():
    return host("packet")


def by_af_xdp():
    return host("xdp")


def in_kernel():
    return [carrick(), "run", program(), "--target", "xdp", "--set", "max_conns=16", "--port", DEVICE, "--addr", f"{OURS}/24", "--app", "script:-"]


def kernel():
    return [str(PEER)]


def behind_xdp():
    """The kernel's own transport, behind an XDP program that passes all: what the device does for any such program."""
    return kernel()


def pair(left, offloads):
    """Two scripted processes on a wire of their own: `left` at our end, the kernel at the other."""
    joined = wire(offloads, left in (kernel, behind_xdp, in_kernel))
    if left in (behind_xdp, in_kernel):
        joined.pass_by_xdp(1)
    if left == behind_xdp:
        joined.pass_by_xdp(0)
    return joined.start(0, left()), joined.start(1, kernel())


def connect(left, right):
    left.ask("listen 80")
    right.ask(f"connect {OURS} 80")
    left.ask("accept")


def bulk(sender, receiver):
    """One bulk transfer: Gbit/s as the receiver sees it."""
    sender.tell(f"blast {BULK_OCTETS}")
    nanoseconds = receiver.ask(f"timed_recv {BULK_OCTETS}")[0]
    if not sender.answer().startswith("ok"):
        raise RuntimeError("the sender failed")
    return BULK_OCTETS * 8 / nanoseconds


def veth(title, wanted, unit, better, shown, sample, times=None):
    """The same script with ours on packet sockets, by AF_XDP and in the kernel, and with Linux's own: behind an XDP program as ours are,
    without offloads, and with them."""
    rows = []
    for name, left, offloads in [("ours, over packet sockets, GSO and GRO", by_packet_socket, True),
                                 ("ours, over packet sockets", by_packet_socket, False), ("ours, over AF_XDP", by_af_xdp, False),
                                 ("ours, in the kernel", in_kernel, False),
                                 ("kernel, no GSO or GRO, behind an XDP program", behind_xdp, False),
                                 ("kernel, no GSO or GRO", kernel, False), ("kernel, GSO and GRO", kernel, True)]:
        command = left.__name__
        try:
            command = " ".join(left())
            ends = pair(left, offloads)
            connect(*ends)
            value = lambda ends=ends: sample(*ends)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            value = lambda error=error: fail(error)
        rows.append(Row(name, unit, f"{command}: {shown}", value, better))
    aims = [Aim(row.name, times, rows[-2].name) for row in rows[1:-3]] if times else []
    if better == "more":
        aims.append(Aim(rows[0].name, 0.6, rows[-1].name))
    return Contest(title, wanted, rows, rows[-3:], aims)


def fail(error):
    raise error


def veth_send():
    return veth(f"Over veth at MTU 1500, {CONGESTION_CONTROL} at both ends, bulk, sending", "at least 0.6 times Linux, both with GSO and GRO", "Gbit/s", "more",
                f"blast {BULK_OCTETS}", bulk)


def veth_receive():
    return veth(f"Over veth at MTU 1500, {CONGESTION_CONTROL} at both ends, bulk, receiving", "at least 0.8 times Linux without GSO and GRO, 0.6 times with them", "Gbit/s", "more",
                f"timed_recv {BULK_OCTETS}", lambda left, right: bulk(right, left), 0.8)


def veth_ping(of=0, what="median"):
    def sample(left, right):
        if not getattr(left, "echoes", False):
            left.tell("echo")
            left.echoes = True
        return right.ask("ping 20000 64")[of] / 1000

    return veth(f"Over veth, 64-byte request and response, {what}", "none; the ratio is information", "us", "less",
                "echo; the peer: ping 20000 64", sample)


def veth_ping_tail():
    return veth_ping(1, "99th percentile")


def simulated_row(name, command, packets):
    """Data packets a second of wall time."""
    command = [str(word) for word in command]
    return Row(name, "data packets/s", " ".join(command), lambda: packets / command_json(command)["wall_seconds"])


def simulator():
    build("make", "-s", "-C", "bench/ns3", f"OUT={NS3.resolve()}")

    def row(name, octets, *engine):
        command = [carrick(), "sim", program(), "--bytes", octets, "--rate", "1Gbps", "--delay", "10ms", "--queue", "1000",
                   "--format", "json", *engine]
        # A run is the same each time; a fast one does not count.
        return simulated_row(name, [*command, "--fast"], command_json(command)["data_packets"])

    rows = [
        # Each runs for some seconds.
        row("ours, compiled", "2GB", "--compiled"),
        row("ours, interpreted", "100MB"),
        json_row("ns-3", "data packets/s", [NS3 / "ns3-bulk", "100000000", "1Gbps", "10ms"], "data_packets_per_s"),
    ]
    aims = [Aim("ours, compiled", 20, "ns-3"), Aim("ours, interpreted", 2, "ns-3")]
    return Contest("Simulated bulk transfer", "compiled at least 20 times ns-3, interpreted 2 times", rows, [rows[2]], aims)


def in_ns3():
    folder = TARGET / "bench-in-ns3"
    build(carrick(), "build", program(), "--target", "ns3", "-o", str(folder))
    base = [str(folder / "build/bulk"), "--bytes=50000000", "--rate=1Gbps", "--delay=5ms"]
    theirs = ["--client=ns3::TcpSocketFactory", "--server=ns3::TcpSocketFactory", "--ns3::TcpSocket::SegmentSize=1448"]

    def row(name, words):
        def sample():
            done = subprocess.run([*base, *words], check=True, capture_output=True, text=True)
            return float(re.search(r"took ([\d.]+) s", done.stderr)[1])
        return Row(name, "s", " ".join([*base, *words]), sample, "less")

    def attributes(names, octets):
        return [f"--ns3::{name}={octets}" for name in names]

    rows, aims = [], []
    # With the first, the buffers limit a transfer to a fifth of the link; with the second, it fills the link.
    for buffers, octets in (("256 KiB", 262144), ("2 MiB", 2097152)):
        for sums, words in (("", []), (" and checksums", ["--ChecksumEnabled=1"])):
            how = f"{buffers} buffers{sums}"
            ours = row(f"ours, {how}", attributes(["CarrickTcp::snd_buf", "CarrickTcp::rcv_buf"], octets) + words)
            peer = row(f"ns-3's TCP, {how}", theirs + attributes(["TcpSocket::SndBufSize", "TcpSocket::RcvBufSize"], octets) + words)
            rows += [ours, peer]
            aims.append(Aim(ours.name, 2, peer.name))
    return Contest("The program in ns-3, 50 MB by BulkSend, 1 Gbit/s, processor time of the simulation",
                   "at least 2 times ns-3's own TCP", rows, [], aims=aims)


def fat_tree_row(path, engine, trace):
    """Packets on links a second of wall time: what is said on standard output, beside figures that are the same each run."""
    command = [carrick(), "sim", path, "--topology", f"fat-tree:{TREE}", "--rate", "10Gbps", "--delay", "1us",
               "--workload", f"trace:{trace}", *engine]

    def sample():
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return int(re.search(r"([\d,]+) links/s", done.stdout)[1])

    how = "compiled" if engine else "interpreted"
    return Row(f"{Path(path).stem}, {how}", "links/s", " ".join(command), sample)


def fat_tree():
    """Each host of a fat tree sends to the one half of all hosts behind it; a packet counts on each link."""
    build("make", "-s", "-C", "bench/ns3", f"OUT={NS3.resolve()}")
    trace = TARGET / "bench-fat-tree.csv"
    flows = (f"0,{host},{(host + TREE_HOSTS // 2) % TREE_HOSTS},{TREE_OCTETS}\n" for host in range(TREE_HOSTS))
    trace.write_text("".join(flows))
    peer = json_row("ns-3, TCP NewReno", "links/s", [NS3 / "ns3-fattree", TREE, TREE_OCTETS, "10Gbps", "1us"], "links_per_s")
    rows = [fat_tree_row(program(), ["--compiled"], trace), fat_tree_row(program(), [], trace)]
    # netblocks is over links: switches have no address to go by.
    rows += [fat_tree_row(program(name), ["--compiled"], trace) for name in there() if name not in ("tcp", "netblocks")]
    title = f"Simulated fat tree of {TREE_HOSTS} hosts, packets on links"
    return Contest(title, "none; the ratio is information", [*rows, peer], [peer])


def there():
    """The protocols that there are: an older commit has fewer."""
    return [name for name in LOOPBACK if Path(program(name)).exists()]


def loopback_rows(unit, better, sample):
    return [loopback_row(name, unit, better, sample) for name in there()]


def loopback_row(name, unit, better, sample):
    """`sample` takes the command of a transfer: its executable, `bulk`, and what LOOPBACK has."""
    bench = TARGET / f"bench-{name}"
    command = [str(bench / f"{name.replace('-', '_')}-bench"), "bulk", *LOOPBACK[name]]
    value = lambda: sample(command)
    try:
        build(carrick(), "build", program(name), "--target", "native", "-o", str(bench))
    except subprocess.CalledProcessError as error:
        value = lambda error=error: fail(error)
    return Row(name, unit, " ".join(command), value, better)


def protocols_octets():
    rows = loopback_rows("Gbit/s", "more", lambda command: command_json(command)["payload_gbps"])
    return Contest("Each protocol, both ends in one process over the memory port, MTU 1500: payload", "none; the figures are information", rows, [])


def protocols_packets():
    rows = loopback_rows("ns/packet", "less", lambda command: command_json(command)["ns_per_packet"])
    return Contest("Each protocol, the same, time of a sender's packet with all that answers it", "none; the figures are information", rows, [])


def instructions(command):
    """Of a packet: what a longer transfer has more than a short one, so that its beginning does not count."""
    begin, size = command[:2], command[3:]
    (packets, taken), (more, all_taken) = (counted([*begin, mib, *size]) for mib in ("10", "50"))
    return (all_taken - taken) / (more - packets)


def counted(command):
    """Packets and instructions of a transfer."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["packets"], int(re.search(r"Collected : (\d+)", done.stderr)[1])


def protocols_instructions():
    rows = loopback_rows("instructions", "less", instructions)
    return Contest("Each protocol, the same, instructions of such a packet as valgrind counts them", "none; the figures are information", rows, [])


def through_a_node():
    def host(path):
        folder = TARGET / "bench-forward"
        build(carrick(), "build", path, "--target", "native", "-o", str(folder))
        return folder / "forward-host"

    return forwarding.contest(carrick, host, open_wires)


def check_time():
    def row(path):
        command = [carrick(), "check", path]
        took = lambda: command_json(command)["command_s"] * 1000
        return Row(Path(path).stem, "ms", f"carrick check {path}", took, "less")

    rows = [row(program(name)) for name in ("quic-lite", "tcp")]
    aims = [Aim(row.name, most=20) for row in rows]
    return Contest("Checking the largest programs, start of the process included", "below 20 ms", rows, [], aims)


def keystroke():
    editor = Editor(carrick(), program(), EDITED_LINES)
    open_editors.append(editor)
    row = Row("carrick lsp", "ms", f"carrick lsp; didChange in {program()}, made {EDITED_LINES} lines long", editor.keystroke, "less")
    aims = [Aim(row.name, most=50)]
    return Contest("A keystroke in an editor, until the diagnostics are there", "below 50 ms", [row], aims=aims)


def memory():
    command = [str(native() / "tcp-bench"), "idle", "100000", "max_conns=131072"]

    def taken():
        # Older commits say octets.
        return next(figure for name, figure in command_json(command).items() if name.endswith("_per_connection"))

    row = Row("an idle connection without its data buffers", "bytes", " ".join(command), taken, "less")
    return Contest("Memory", "at most 1024 bytes", [row], aims=[Aim(row.name, most=1024)])


IN_KERNEL = Setting(carrick, program, str(PEER), wire, TARGET, lambda: native() / "libcarrick-sockets.so")

ALL = {
    "memory-port": memory_port,
    "memory-port-packets": memory_port_packets,
    "veth-send": veth_send,
    "veth-receive": veth_receive,
    "veth-ping": veth_ping,
    "veth-ping-tail": veth_ping_tail,
    "protocols": protocols_octets,
    "protocols-packets": protocols_packets,
    "protocols-instructions": protocols_instructions,
    "simulator": simulator,
    "in-ns3": in_ns3,
    "fat-tree": fat_tree,
    "observed": lambda: simulations.observed(carrick(), program(), TARGET / "bench-observed"),
    "growth": lambda: simulations.growth(carrick(), program(), lambda command: command_json(command)["runs"][0]["packets"]),
    "growth-memory": lambda: simulations.memory(carrick(), program()),
    "two-ends": lambda: two_ends.contest(carrick(), program("stop-and-wait")),
    "forwarding": through_a_node,
    "check": check_time,
    "keystroke": keystroke,
    "memory": memory,
    **kernel_target.contests(IN_KERNEL),
    **key_value.contests(IN_KERNEL),
    **user_space.contests(IN_KERNEL, lambda: native() / "tcp-host"),
    **rates.contests(IN_KERNEL),
    **circuits.contests(carrick),
}
