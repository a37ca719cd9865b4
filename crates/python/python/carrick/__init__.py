# SPDX-License-Identifier: MIT OR Apache-2.0
"""Transport protocols as programs: simulate them, sweep over options, and step through one, from Python.

    import carrick as ck

    program = ck.program("stream.mtp")
    run = ck.simulate(program, loss="1%", delay="5ms")
    run.summary["goodput_bps"]
"""

from carrick._core import Completion, Context, Core
from carrick._errors import (
    CarrickError,
    Diagnostic,
    MissingError,
    OptionError,
    Position,
    ProgramError,
    RunError,
    Span,
)
from carrick._program import Program, program, programs
from carrick._run import Run, Trace, read_trace, simulate
from carrick._sweep import Sweep
from carrick._table import Table

__all__ = [
    "CarrickError",
    "Completion",
    "Context",
    "Core",
    "Diagnostic",
    "MissingError",
    "OptionError",
    "Position",
    "Program",
    "ProgramError",
    "Run",
    "RunError",
    "Span",
    "Sweep",
    "Table",
    "Trace",
    "program",
    "programs",
    "read_trace",
    "simulate",
]
