# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps: many runs, and one table of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from functools import lru_cache
from typing import Any

from carrick import _carrick
from carrick._errors import RunError
from carrick._options import Options
from carrick._program import Program
from carrick._table import Table

#: Runs of one task at most: a task that is lost is small.
_RUNS_OF_A_TASK = 32
#: Tasks for each worker, so that all end at about the same time.
_TASKS_OF_A_WORKER = 8
#: How often workers may die without a run that ends.
_DEATHS = 3

#: Seconds between two lines of progress.
_INTERVAL = 0.2

#: The runs that are done, and all: called whenever some end.
Progress = Callable[[int, int], None]


@lru_cache(maxsize=4)
def _plan(words: tuple[str, ...], texts: tuple[tuple[str, str], ...]) -> _carrick.Plan:
    return _carrick.Plan(list(words), dict(texts))


def _make(words: tuple[str, ...], texts: tuple[tuple[str, str], ...], numbers: Sequence[int]) -> list[str]:
    """What a worker does: returns the lines of these runs."""
    plan = _plan(words, texts)
    return [plan.make(number)[0] for number in numbers]


class Sweep:
    """Runs over all combinations of values, with each seed.

    The options are those of `carrick sweep`: an option of a simulation takes one value, a list of values, or a range
    ("1ms..50ms:log5"). `with_` takes a list of lists of features, `set` a dictionary whose values may be lists. `program` may be a
    list of programs. `rows` says what a row of the table is about: "runs" or "flows".
    """

    def __init__(self, program: Program | str | os.PathLike[str] | Sequence[Any], *, rows: str = "runs", **options: Any) -> None:
        given = Options(program, options, sweep=True)
        self._spec = ((*given.words, f"--rows={rows}"), tuple(sorted(given.texts.items())))
        self._plan = _carrick.Plan(list(self._spec[0]), dict(self._spec[1]))
        self._keys = self._plan.keys()
        self._head = self._plan.head
        #: by number of a run, its lines
        self._made: dict[int, str] = {}

    def __len__(self) -> int:
        """The number of runs."""
        return len(self._keys)

    @property
    def done(self) -> int:
        """The number of runs that are made."""
        return len(self._made)

    @property
    def csv(self) -> str:
        """The runs that are made as a text, as `carrick sweep` writes it."""
        return self._head + "".join(self._made[number] for number in sorted(self._made))

    @property
    def table(self) -> Table:
        """The runs that are made."""
        return Table(_carrick.table(self.csv))

    def run(self, executor: Any = None, *, jobs: int | None = None, progress: bool | Progress = False) -> Table:
        """Makes the runs that are not made yet, and returns the table of all.

        `executor` is any `concurrent.futures.Executor`, or a client of Dask. Without one, `jobs` threads of this process make the
        runs (as many as there are processors). The table does not depend on it. `progress` shows how many runs are done, or is a
        function that is called with this number and that of all runs.

        After an exception, such as an interrupt, the runs that are made are kept, and `run` makes the others. The runs of a
        worker process that dies are made again. Raises RunError if workers die again and again.
        """
        todo = [number for number in range(len(self)) if number not in self._made]
        show = _shown(progress, self.done) if isinstance(progress, bool) else progress
        if executor is None:
            self._run_here(todo, jobs or os.cpu_count() or 1, show)
        else:
            # A client of Dask has an executor. Its tasks are not pure: one that failed is to run again.
            wrapped = getattr(executor, "get_executor", None)
            self._run_by(wrapped(pure=False) if wrapped else executor, todo, jobs, show)
        return self.table

    def _run_here(self, todo: list[int], jobs: int, show: Progress) -> None:
        def make(numbers: Sequence[int]) -> list[str]:
            return [self._plan.make(number)[0] for number in numbers]

        with ThreadPoolExecutor(jobs) as threads:
            tasks = {threads.submit(make, [number]): [number] for number in todo}
            try:
                self._collect(tasks, show)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                self._plan.stop()
                # It ends all runs from now on.
                self._plan = _carrick.Plan(list(self._spec[0]), dict(self._spec[1]))
                raise

    def _run_by(self, executor: Executor, todo: list[int], jobs: int | None, show: Progress) -> None:
        workers = jobs or getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        size = max(1, min(_RUNS_OF_A_TASK, len(todo) // (workers * _TASKS_OF_A_WORKER)))
        own: ProcessPoolExecutor | None = None
        deaths = 0
        try:
            while todo:
                before = self.done
                tasks: dict[Future[list[str]], list[int]] = {}
                try:
                    for first in range(0, len(todo), size):
                        numbers = todo[first : first + size]
                        tasks[executor.submit(_make, *self._spec, numbers)] = numbers
                    self._collect(tasks, show)
                except BrokenExecutor as broken:
                    self._keep(tasks)
                    deaths = deaths + 1 if self.done == before else 0
                    if deaths == _DEATHS or not isinstance(executor, ProcessPoolExecutor):
                        raise RunError(f"workers died: {self.done} of {len(self)} runs are made, and run() makes the others") from broken
                    executor = _another(executor, own)
                    own = executor
                except BaseException:
                    for task in tasks:
                        task.cancel()
                    raise
                todo = [number for number in todo if number not in self._made]
        finally:
            if own is not None:
                own.shutdown(wait=False, cancel_futures=True)

    def _collect(self, tasks: dict[Future[list[str]], list[int]], show: Progress) -> None:
        """Takes the lines of runs as their tasks end."""
        left = set(tasks)
        while left:
            ended, left = wait(left, return_when=FIRST_COMPLETED)
            for task in ended:
                self._take(tasks[task], task.result())
            show(self.done, len(self))

    def _keep(self, tasks: dict[Future[list[str]], list[int]]) -> None:
        """Takes what ended before a worker died."""
        for task, numbers in tasks.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                self._take(numbers, task.result())

    def _take(self, numbers: Sequence[int], made: list[str]) -> None:
        for number, lines in zip(numbers, made):
            if not lines.startswith(self._keys[number] + ","):
                raise RunError("a worker made another run: its version of carrick differs, or a file that the runs depend on")
            self._made[number] = lines

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} runs, {self.done} of them made>"

    def _repr_html_(self) -> str:
        return f"<p>{self.done} of {len(self)} runs</p>{self.table._repr_html_()}"


def _another(executor: ProcessPoolExecutor, own: ProcessPoolExecutor | None) -> ProcessPoolExecutor:
    """An executor like one that is broken, which takes no more tasks."""
    if own is not None:
        own.shutdown(wait=False)
    known: Any = executor
    return ProcessPoolExecutor(
        max_workers=known._max_workers,
        mp_context=known._mp_context,
        initializer=known._initializer,
        initargs=known._initargs,
    )


def _shown(wanted: bool, before: int) -> Progress:
    """Shows progress on standard error."""
    begin = last = time.monotonic()

    def show(done: int, count: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done < count and now - last < _INTERVAL:
            return
        last = now
        rate = (done - before) / max(now - begin, 1e-9)
        end = "\n" if done == count else ""
        print(f"\r{done}/{count} runs, {rate:.1f}/s, {(count - done) / rate:.0f} s left   ", end=end, file=sys.stderr, flush=True)

    return show if wanted else lambda done, count: None
