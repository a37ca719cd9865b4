# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs step by step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, SupportsBytes

from carrick import _carrick
from carrick._errors import OptionError
from carrick._options import Options


@dataclass(frozen=True)
class Completion:
    """A request that is over."""

    #: what `call` returned
    token: int
    #: `OK`, or the name of an error
    status: str
    #: bytes, or the handle of a context: what the call says
    value: int
    #: the bytes that were delivered, of a call with `space`
    data: bytes | None


@dataclass(frozen=True)
class Context:
    """An instance of a context."""

    #: its type
    name: str
    #: names it in calls
    handle: int
    #: by name; those of timers are their deadlines, 0 where they do not run
    fields: dict[str, Any]

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]


class Core:
    """One instance of a program, on the interpreter. It has no clock and no network: both are yours. Times are in nanoseconds."""

    def __init__(self, program: Any, address: str = "10.0.0.1", **options: Any) -> None:
        given = Options(program, options)
        self._core = _carrick.Core(given.words, given.texts, address)

    def rx(self, packet: SupportsBytes, now: int, *, interface: int = 0) -> str | None:
        """Receives a packet, which begins with its network header: bytes, or what can be made bytes, such as a packet of scapy.

        Returns None, or why the packet was dropped.
        """
        return self._core.rx(bytes(packet), interface, now)

    def call(
        self, name: str, now: int = 0, *, context: int | Context = 0, data: bytes | None = None, space: int | None = None, **fields: Any
    ) -> int:
        """Makes a call of the program's interface, and returns its token, which its completion has.

        `fields` are those of the call's event: numbers, or quantities such as "10ms" and "10.0.0.2". A call that sends takes
        `data`, one that receives the `space` for so many bytes. A call on a context takes its handle.
        """
        if data is not None and space is not None:
            raise OptionError(f"{name}: say data or space, not both")
        handle = context.handle if isinstance(context, Context) else context
        texts = [(field, str(value).lower() if isinstance(value, bool) else str(value)) for field, value in fields.items()]
        return self._core.call(name, handle, texts, (data, space), now)

    def advance(self, now: int) -> None:
        """Lets time pass: fires the timers that are due."""
        self._core.advance(now)

    def tx(self, now: int = 0) -> bytes | None:
        """Returns the next packet, with its network header; None if there is none."""
        return self._core.tx(now)

    def packets(self, now: int = 0) -> list[bytes]:
        """Returns all packets that there are."""
        return list(iter(lambda: self._core.tx(now), None))

    def completions(self) -> list[Completion]:
        """Returns the requests that are over since the last time."""

        def all_of_them() -> Iterator[Completion]:
            while (done := self._core.completion()) is not None:
                yield Completion(*done)

        return list(all_of_them())

    @property
    def deadline(self) -> int | None:
        """When a timer is due next, or a packet that waits for its time; None if nothing waits."""
        return self._core.deadline

    @property
    def contexts(self) -> list[Context]:
        """The contexts that there are."""
        return [Context(found["name"], found["context"], found["fields"]) for found in json.loads(self._core.contexts())]

    def records(self) -> list[dict[str, Any]]:
        """Returns what the program did since the last time, as in a trace: events, instructions, contexts, dropped packets, claims."""
        found: list[dict[str, Any]] = json.loads(self._core.records())
        return found

    @property
    def counters(self) -> dict[str, int]:
        """The counters that are not 0, such as `claims_failed`."""
        found: dict[str, int] = json.loads(self._core.counters())
        return found
