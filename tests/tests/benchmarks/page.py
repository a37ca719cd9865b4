# SPDX-License-Identifier: MIT
"""What the page of the benchmarks says of made-up figures; says `all` when that is right."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, "bench")

import circuits  # noqa: E402
import figures  # noqa: E402
import layers  # noqa: E402
import report  # noqa: E402
from contests import ALL  # noqa: E402
from measure import Aim, Contest, Row  # noqa: E402

SCRIPT = """
 tcp-host         ffffffff81 bpf_prog_5cd2ce42a2d2f0e3_tcp__tcb_rx_take (bpf_prog_5cd2ce42a2d2f0e3_tcp__tcb_rx_take)
 tcp-host         ffffffff81 bpf_prog_a1631138b18e7758_dispatch (bpf_prog_a1631138b18e7758_dispatch)
 tcp-host         ffffffff82 tcp_v4_rcv ([kernel.kallsyms])
 tcp-host             7f0001 load_begin (/root/.cache/carrick/hosts/1/tcp-host)
 tcp-host             7f0002 core_ask (/root/.cache/carrick/hosts/1/tcp-host)
 tcp-host             7f0003 __memmove_avx512_unaligned_erms (/usr/lib/x86_64-linux-gnu/libc.so.6)
 tcp-host         ffffffff83 copy_from_kernel_nofault ([kernel.kallsyms])
 tcp-host         ffffffff84 __bpf_ringbuf_reserve ([kernel.kallsyms])
 tcp-host         ffffffff85 xsk_sendmsg ([kernel.kallsyms])
 peer                 7f0004 <std::net::tcp::TcpStream as std::io::Write>::write (/src/target/release/peer)
 peer                 7f0005 __vdso_clock_gettime ([vdso])
 ksoftirqd/1      ffffffff86 veth_poll ([veth])
 ksoftirqd/1      ffffffff87 __netif_receive_skb_core.constprop.0 ([kernel.kallsyms])
 ksoftirqd/1      ffffffff88 napi_build_skb ([kernel.kallsyms])
 swapper          ffffffff89 pv_native_safe_halt ([kernel.kallsyms])
 swapper          ffffffff8a _raw_spin_unlock_irqrestore ([kernel.kallsyms])
 somebody else        7f0006 compile (/usr/bin/cc)
"""
FOUND = {"transport": 2, "device": 4, "application": 2, "host and libraries": 3, "copies and checksums": 1, "maps and helpers": 1,
         "AF_XDP": 1, "scheduling and locks": 1}


def row(name, unit, better, *values):
    """What is kept of its command does not say where this tree is."""
    made = Row(name, unit, f"{figures.ROOT}/command", None, better)
    made.values = list(values)
    return made


def contests():
    taken = {name: [0, 0, 0] for name in layers.LAYERS}
    taken.update({"device": [300, 400, 500], "AF_XDP": [90], "transport": [800], "application": [5]})
    rows = [row("ours", "requests/s", "more", 90, 100, 110), row("theirs", "requests/s", "more", 200)]
    aimed = Contest("Requests", "2.4 times", rows, aims=[Aim("ours", 2.4, "theirs")], layers="costs", change="more frames.")
    limits = [Aim("it", most=20), Aim("nobody", most=1)]
    return {"aimed": aimed, "costs": layers.Layers("Costs", {"ours": taken}, ["theirs: no perf"]),
            "limited": Contest("Time", "below 20 ms", [row("it", "ms", "less", 14)], aims=limits),
            "least": Contest("Clock", "above 80 MHz", [row("it", "MHz", "more", 60)], aims=[Aim("it", least=80)])}


def made_page(origins):
    """The page of these contests, kept as measured then and read again."""
    with tempfile.TemporaryDirectory() as folder:
        for name, contest in contests().items():
            figures.stamp(contest)
            contest.origin = origins.get(name, FIRST)
            figures.keep(name, contest, Path(folder))
        names = [*contests(), "none of it yet"]
        return report.page(figures.kept(names, Path(folder)), names, [])


def aimed_now():
    contest = figures.stamp(contests()["aimed"])
    contest.origin = FIRST
    return contest


def compared(page, present, absent=()):
    for said in present:
        assert said in page, (said, page)
    for said in absent:
        assert said not in page, (said, page)


FIRST = figures.Origin("2026-01-01", "aaaaaaa", "a machine")
LATER = figures.Origin("2026-02-02", "bbbbbbb", "another machine")
COSTS = "Processor time of a request: ours 1,295 ns (transport 800.0, device 400.0, AF_XDP 90.0). "

assert layers.layers_of(SCRIPT) == FOUND, layers.layers_of(SCRIPT)
compared(made_page({}), (
    "ours: 0.50x theirs. Target 2.4x: missed by 4.8x.\n", COSTS, "Possible improvement: more frames.\n",
    "it: 14.0 ms. Target at most 20: met.\n", "it: 60.0 MHz. Target at least 80: missed by 1.3x.\n", "| device | 400.0 ns |\n",
    "| ours | 100.0 requests/s | 90.0 to 110.0 |  | `command` |\n", "\nNot measured: theirs: no perf\n",
    "Measured on 2026-01-01 at commit aaaaaaa, 3 runs, a machine, unless a section states otherwise",
    "Measured on 2026-01-01 at commit aaaaaaa, 1 run, a machine.\n", "Not measured yet: `none of it yet`.\n"), ("2026-02-02",))
# A contest that was measured again states so, and has no figures of another machine beside its own.
compared(made_page({"aimed": LATER}), (
    "Measured on 2026-02-02 at commit bbbbbbb, 3 runs, another machine.\n", "| missed by 4.8x | 2026-02-02, bbbbbbb |\n",
    "| met | 2026-01-01, aaaaaaa |\n", "The newest figures are of 2026-02-02."), (COSTS,))
# Beside an older commit: of two figures that are to be large, of two that are to be small, and of one that was not measured.
pair = [row("ours", "requests/s", "more", 90), row("ours, at ccccccc", "requests/s", "more", 100)]
pair += [row("time", "us", "less", 2), row("time, at ccccccc", "us", "less", 3), row("gone", "us", "less", 2), row("gone, at ccccccc", "us", "less")]
older = figures.stamp(Contest("Requests", "none", pair, []))
older.origin = FIRST
compared(report.page({"aimed": aimed_now()}, ["aimed"], [{"aimed": older}]), (
    "## Beside ccccccc\n", "| Requests: ours | 90.0 requests/s | 100.0 requests/s | 0.90x | 2026-01-01, aaaaaaa |\n",
    "| Requests: time | 2 us | 3 us | 1.50x | 2026-01-01, aaaaaaa |\n"), ("gone",))
# The page in the documentation is that of the figures in the repository.
assert Path("docs/benchmarks.md").read_text() == report.page(figures.kept(ALL), ALL, figures.older(ALL)), "it differs from bench/figures: bench/run --page"
assert {file.stem for file in figures.FOLDER.rglob("*.json")} <= set(ALL), "figures of a contest that is not there"

# A circuit in a frame of four pins, and its cells as both versions of Yosys print them.
MODULE = """module top #(
    parameter int ID = 96
) (
    input  logic clk,
    input  logic rst,
    input  logic [ID-1:0] id,
    input  logic go,
    output logic [4:0] out
);
endmodule
"""
assert list(circuits.ports(MODULE, "top")) == [("input", 1, "clk"), ("input", 1, "rst"), ("input", 96, "id"), ("input", 1, "go"),
                                               ("output", 5, "out")]
frame = circuits.frame(MODULE, "top")
for said in ("logic [96:0] fed;", "top design (.clk(clk), .rst(rst), .id(fed[0 +: 96]), .go(fed[96 +: 1]), .out(l0[0 +: 5]));",
             "assign l0[7:5] = '0;", "for (int n = 0; n < 2; n++) l1[n] <= ^l0[n * 4 +: 4];", "q <= ^l1["):
    assert said in frame, (said, frame)
for stat in ("     FDRE   7\n     LUT6   5\n     RAM64M   2\n     RAMB18E1   3\n",
             "        7   FDRE\n        5   LUT6\n        2   RAM64M\n        3   RAMB18E1\n"):
    assert circuits.summary(circuits.kinds(stat)) == (13, 7, 1.5, 0), circuits.kinds(stat)
print("all")
