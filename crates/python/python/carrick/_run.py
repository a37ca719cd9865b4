# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs in the simulator."""

from __future__ import annotations

import html
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from carrick import _carrick
from carrick._errors import CarrickError, OptionError
from carrick._options import Options
from carrick._program import Program
from carrick._table import Table

#: Packets of a run at most that a notebook draws by itself.
_DRAWN = 2_000


class _Folder:
    """A folder that is removed with its last user."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="carrick-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Trace:
    """The records of a run, in their order: a dictionary for each. They are read from a file, again each time."""

    def __init__(self, path: Path, wanted: dict[str, Any] | None = None, folder: _Folder | None = None) -> None:
        self.path = path
        self._wanted = wanted or {}
        # It is removed with the last Trace of its run.
        self._folder = folder

    @property
    def header(self) -> dict[str, Any]:
        """What the trace is of: program, version, seed, command."""
        header: dict[str, Any] = json.loads(_carrick.Records(self.path).header)
        return header

    @property
    def cut(self) -> str | None:
        """Where the trace ends, in a sentence, if the run was killed that wrote it. This reads the whole file."""
        records = _carrick.Records(self.path)
        for _ in records:
            pass
        return records.cut

    def filter(self, **wanted: Any) -> Trace:
        """Returns the records that have these values, themselves or in their `detail`: `trace.filter(host=0, what="tx")`."""
        return Trace(self.path, {**self._wanted, **wanted}, self._folder)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for line in _carrick.Records(self.path):
            record = json.loads(line)
            if all(_has(record, name, value) for name, value in self._wanted.items()):
                yield record

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns all records as a list."""
        return list(self)

    def __repr__(self) -> str:
        wanted = "".join(f" {name}={value!r}" for name, value in self._wanted.items())
        return f"<Trace{wanted} in {self.path}>"


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Reads a trace that `carrick sim --trace` or `carrick run --trace` wrote, in either form.

    Raises OptionError if the file is no trace; reading its records raises it if the file is damaged.
    """
    # A file that is no trace is refused here, not when its records are read.
    _carrick.Records(path)
    return Trace(Path(path))


def _has(record: dict[str, Any], name: str, value: Any) -> bool:
    detail = record.get("detail")
    return any(isinstance(part, dict) and name in part and part[name] == value for part in (record, detail))


class Run:
    """A run that is over. What is recorded only on demand (`samples`, `rates`, `trace`, `report`) is made by the same run, again."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._made = _carrick.simulate(options.words, options.texts)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The run as a whole: the columns of `carrick sweep`."""
        return self._made.totals.to_dicts()[0]

    @cached_property
    def results(self) -> dict[str, Any]:
        """All results: what `carrick sim --format json` prints of a run."""
        found: dict[str, Any] = json.loads(self._made.results)
        return found

    @property
    def failures(self) -> list[str]:
        """What failed: a sentence for each flow that did not end, each claim that did not hold, and so on."""
        return self._made.failures

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self._made.failures

    @cached_property
    def flows(self) -> Table:
        """A row for each flow."""
        return Table(self._made.flows)

    @cached_property
    def timeline(self) -> Table:
        """Goodput and queue lengths over time, of a run with a topology."""
        self._of_topology("timeline")
        return Table(self._made.tables["timeline"])

    def rates(self, every: str = "1ms") -> Table:
        """Returns the bytes that each flow delivered in each interval, of a run with a topology."""
        self._of_topology("rates")
        made = self._again([f"--every={every}", "--rates=rates"])
        return Table(made.tables["rates"])

    def samples(self, field: str, every: str = "1ms") -> Table:
        """Returns a field of contexts, `field` or `context.field`, over time, of a run with a topology: its value at the end of
        each interval in which it changed."""
        self._of_topology("samples")
        made = self._again([f"--every={every}", f"--sample={field}"])
        return Table(made.tables["samples"])

    @cached_property
    def trace(self) -> Trace:
        """All that the programs at the hosts did."""
        folder = _Folder()
        path = folder.path / "run.trace"
        self._again([f"--trace={path}"])
        return Trace(path, folder=folder)

    def report(self, *fields: str) -> str:
        """Returns the run as a page of HTML, as `carrick report` draws it, with curves of these fields of contexts."""
        return _carrick.page(self.trace.path, self._options.texts, list(fields))

    def _again(self, words: list[str]) -> _carrick.Simulated:
        """The same run, which records more."""
        kept = [word for word in self._options.words if not word.startswith(("--pcap=", "--trace=", "--trace-format="))]
        return _carrick.simulate([*kept, *words], self._options.texts)

    def _of_topology(self, what: str) -> None:
        if "timeline" not in self._made.tables:
            raise OptionError(f'{what}: only a run with a topology has them; say topology="pair" for two hosts')

    def __repr__(self) -> str:
        state = "ok" if self.ok else f"{len(self.failures)} failures"
        return f"<Run of {self._options.words[0]}: {len(self.flows)} flows, {state}>"

    def _repr_html_(self) -> str:
        cells = ((name, value) for name, value in self.summary.items() if value is not None)
        rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in cells)
        failed = "".join(f"<p><b>FAILED:</b> {html.escape(failure)}</p>" for failure in self.failures)
        page = ""
        if self.summary["packets"] <= _DRAWN:
            try:
                drawn = html.escape(self.report(), quote=True)
                page = f'<iframe srcdoc="{drawn}" style="width: 100%; height: 700px; border: 0"></iframe>'
            except CarrickError as error:
                # Hosts with different programs have no page.
                page = f"<p>{html.escape(str(error))}</p>"
        return f"<table>{rows}</table>{failed}{page}"


def simulate(program: Program | str | os.PathLike[str], **options: Any) -> Run:
    """Runs a program in the simulator.

    The options are those of `carrick sim`, with underscores: `loss="1%"`, `topology="dumbbell:2"`, `core_rate="1Gbps"`,
    `with_=["sack"]`, `set={"name": value}`, `fast=True`. Options that name programs take a Program too.

    Raises OptionError for an option that is unknown or invalid, ProgramError if a program has errors with these features. What
    fails in a run is in its `failures`.
    """
    return Run(Options(program, options))
