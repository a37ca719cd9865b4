# SPDX-License-Identifier: MIT OR Apache-2.0
"""What goes wrong, as exceptions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


class CarrickError(Exception):
    """The base of all exceptions of this package."""


class OptionError(CarrickError, ValueError):
    """An option is unknown, has an invalid value, or does not go together with another one."""


class MissingError(CarrickError, OSError):
    """A tool that is needed is not installed, such as a C compiler."""


class RunError(CarrickError, RuntimeError):
    """A run ended without a result."""


@dataclass(frozen=True)
class Position:
    """A position in a file."""

    #: bytes from the start of the file
    offset: int
    #: from 1
    line: int
    #: characters, from 1
    column: int


@dataclass(frozen=True)
class Span:
    """A part of a file."""

    file: str
    start: Position
    end: Position

    @staticmethod
    def _of(found: dict[str, Any]) -> Span:
        return Span(found["file"], Position(**found["start"]), Position(**found["end"]))


@dataclass(frozen=True)
class Diagnostic:
    """An error or a warning about a program."""

    #: for example MTP0201, which `carrick explain` explains
    code: str
    #: `error` or `warning`
    severity: str
    message: str
    span: Span
    #: about the span
    label: str
    #: other spans, each with what it has to do with it
    causes: tuple[tuple[Span, str], ...]
    note: str | None
    #: what to change
    fix: str | None

    @staticmethod
    def _all(text: str) -> tuple[Diagnostic, ...]:
        return tuple(
            Diagnostic(
                code=found["code"],
                severity=found["severity"],
                message=found["message"],
                span=Span._of(found["span"]),
                label=found["label"],
                causes=tuple((Span._of(cause["span"]), cause["text"]) for cause in found["causes"]),
                note=found["note"],
                fix=found["fix"]["text"] if found["fix"] else None,
            )
            for found in json.loads(text)
        )


class ProgramError(CarrickError):
    """A program has errors. As a text, it is what `carrick check` prints."""

    def __init__(self, rendered: str, diagnostics: str) -> None:
        super().__init__(rendered, diagnostics)
        self.rendered = rendered
        self.diagnostics = Diagnostic._all(diagnostics)

    def __str__(self) -> str:
        # Below the name of the exception, as columns of the text are aligned.
        return "\n" + self.rendered.rstrip()
