# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs: from a file, among those of the package, or as a text."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrick import _carrick
from carrick._errors import Diagnostic

if TYPE_CHECKING:
    from carrick._core import Core


@dataclass(frozen=True)
class Program:
    """A transport program with all files that it is made of. It can be pickled, and needs no file where it is used."""

    #: the name of its file
    file: str
    #: by the name of a file, its text
    texts: dict[str, str] = field(repr=False, hash=False)
    #: warnings
    diagnostics: tuple[Diagnostic, ...] = field(repr=False, compare=False)

    def core(self, address: str = "10.0.0.1", **options: Any) -> Core:
        """Returns one instance of the program, which is driven step by step.

        `options` are those of `simulate` that a core has: `with_`, `without`, `over`, `set`, `seed` and `mtu`.
        """
        from carrick._core import Core

        return Core(self, address, **options)


def _shipped() -> dict[str, str]:
    """By the name of a program in the package, that of its file."""
    files = (name.split("/") for name in _carrick.shipped())
    return {parts[0]: "/".join(parts) for parts in files if parts[1:] == [f"{parts[0]}.mtp"]}


def programs() -> list[str]:
    """Returns the names of the programs that the package holds."""
    return sorted(_shipped())


def program(source: str | os.PathLike[str], *, name: str = "program.mtp") -> Program:
    """Reads and checks a program.

    `source` is the name of one that the package holds (`programs()` lists them), the path of a file (.mtp, or its table .json), or
    the text of a program. `name` is what diagnostics call the file of a text.

    Raises ProgramError if the program has errors, FileNotFoundError if there is no such program.
    """
    text = os.fspath(source)
    if isinstance(source, str) and ("\n" in text or "{" in text):
        return _loaded(name, {name: text})
    shipped = _shipped()
    if isinstance(source, str) and text in shipped:
        return _loaded(shipped[text], _carrick.shipped())
    if not Path(text).is_file():
        known = ", ".join(sorted(shipped))
        raise FileNotFoundError(f"there is no program {text!r}: name a file that ends in .mtp, or one of {known}")
    return _loaded(text, None)


def _loaded(file: str, texts: dict[str, str] | None) -> Program:
    found, diagnostics = _carrick.load(file, texts)
    return Program(file, found, Diagnostic._all(diagnostics))
