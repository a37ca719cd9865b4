# SPDX-License-Identifier: MIT OR Apache-2.0
"""Values of options, as the command line has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from carrick import _carrick
from carrick._errors import OptionError
from carrick._program import Program, program


class Options:
    """Words of a command line, and the programs that they name."""

    def __init__(self, source: Any, options: Mapping[str, Any], *, sweep: bool = False) -> None:
        self.texts: dict[str, str] = {}
        several = sweep and isinstance(source, (list, tuple))
        files = [self._program(one) for one in (source if several else [source])]
        given = {name: self._value(name, value) for name, value in options.items() if value is not None}
        self.words: list[str] = [*files, *_carrick.words(sweep, given)]

    def _program(self, source: Any) -> str:
        if isinstance(source, (list, tuple)):
            raise OptionError("a list of programs where one is needed: simulate() makes one run, and Sweep takes lists")
        one = source if isinstance(source, Program) else program(source)
        for file, text in one.texts.items():
            if self.texts.setdefault(file, text) != text:
                raise OptionError(f"two programs are called {file}: give one of them another name, program(text, name=...)")
        return one.file if not one.file.startswith("-") else f"./{one.file}"

    def _value(self, name: str, value: Any) -> Any:
        """A boolean, a text, a list or a dictionary of these."""
        if isinstance(value, (bool, str)):
            return value
        if isinstance(value, Program):
            return self._program(value)
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if isinstance(value, float):
            return repr(float(value))
        if isinstance(value, Mapping):
            return {str(key): self._value(name, one) for key, one in value.items()}
        if hasattr(value, "__index__"):
            return str(int(value))
        if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
            return [self._value(name, one) for one in value]
        raise OptionError(f"{name}: a value of type {type(value).__name__} is no option")
