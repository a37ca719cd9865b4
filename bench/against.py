# SPDX-License-Identifier: MIT
"""The same contests with the programs and the compiler of another commit, on the same machine and in the same run.

The contests are those of this tree; the other commit is what is built and run, in a tree of its own (target/against/COMMIT)."""

import os
import subprocess
import sys
from pathlib import Path

import contests
from measure import Contest, Row, better

TREES = Path("target/against")
# The part of the other commit's figure that is to be reached.
WANTED = 0.97


class Tree:
    """A commit that has been checked out; what is done `inside` has its paths."""

    def __init__(self, commit):
        found = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], capture_output=True, text=True, check=False)
        if found.returncode:
            raise RuntimeError(f"there is no commit `{commit}`")
        self.commit = found.stdout.strip()[:7]
        self.folder = (TREES / self.commit).resolve()
        if not self.folder.exists():
            # Not a worktree, which the repository would go on to list.
            subprocess.run(["git", "clone", "-q", "--no-checkout", "--shared", ".", str(self.folder)], check=True)
            subprocess.run(["git", "-C", str(self.folder), "checkout", "-q", "--detach", found.stdout.strip()], check=True)

    def inside(self, do):
        left = os.getcwd()
        os.chdir(self.folder)
        try:
            return do()
        finally:
            os.chdir(left)


def beside(make, tree, label):
    """The rows of a contest that are ours, each followed by that of the other commit."""
    here, there = make(), tree.inside(make)
    before = {row.name: row for row in there.rows if row not in there.peers}
    rows = []
    for row in here.rows:
        if row in here.peers or row.name not in before:
            continue
        other = before[row.name]
        rows += [row, Row(f"{row.name}, at {label}", row.unit, row.command, lambda other=other: tree.inside(other.sample), row.better)]
    if not rows:
        raise RuntimeError("it has no rows that both commits have")
    return Contest(here.title, f"at least {WANTED:g} times {label}", rows, [])


def makers(made, commit, same_programs):
    """What makes each of these contests with that commit as the only peer."""
    if contests.TARGET.is_absolute():
        raise RuntimeError("both commits would build in CARGO_TARGET_DIR: unset it")
    tree = Tree(commit)
    label = tree.commit
    if same_programs:
        contests.programs = tree.folder / contests.programs
        label += ", its programs"
    return {name: lambda make=make: beside(make, tree, label) for name, make in made.items() if not name.endswith("-tail")}


def label_of(row):
    """What a row is called that is the other commit's."""
    return row.name.rpartition(", at ")[2]


def pairs(contest):
    """Each row beside that of the other commit, and how many times better it is; None: one of them was not measured."""
    for now, before in zip(contest.rows[::2], contest.rows[1::2]):
        both = now.median and before.median
        yield now, before, better(now, before.median) if both else None


def reasons(commit):
    """Why the commits since then may cost more: the lines `Cost: REASON` at the end of their messages."""
    log = subprocess.run(["git", "log", "--format=%(trailers:key=Cost,valueonly)", f"{commit}..HEAD"],
                         check=True, capture_output=True, text=True)
    return [line for line in log.stdout.splitlines() if line]


def gate(done, commit):
    """The exit code: 1 if a figure is worse than is wanted without a reason, or if one could not be compared."""
    compared = [(now, times) for contest in done.values() for now, _, times in pairs(contest)]
    missing = [now.name for now, times in compared if times is None]
    worse = [f"{now.name}: {times:.3f} times" for now, times in compared if times is not None and times < WANTED]
    why = reasons(commit)
    for name in missing:
        print(f"{name}: not measured at both commits", file=sys.stderr)
    for line in worse:
        print(f"worse than {WANTED:g} times {commit}: {line}", file=sys.stderr)
    if worse and why:
        print("the reasons: " + "; ".join(why), file=sys.stderr)
    elif worse:
        print("If it is worth that, say why in the message of a commit, in a line at its end: `Cost: REASON`.", file=sys.stderr)
    return 1 if missing or worse and not why else 0
