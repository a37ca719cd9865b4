# SPDX-License-Identifier: MIT
"""The last figures of each contest, in bench/figures/NAME.json: docs/benchmarks.md is made of them. A contest is measured whole, so all its
rows are of one commit and one machine.

Files converted from an earlier page have three values of each row (smallest, median, largest), whatever `runs` says."""

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

from layers import Layers
from measure import Aim, Contest, Row

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "bench/figures"
# Of contests with an older commit of the project, each with its own programs and both with the older ones.
AGAINST, SAME_PROGRAMS = FOLDER / "against", FOLDER / "same-programs"
# What a measurement changes itself.
WRITTEN = ("docs/benchmarks.md", "bench/figures")
OF_ROW = ("name", "unit", "better", "command", "values", "failed")


class Origin(NamedTuple):
    """When, of which commit and where something was measured."""

    date: str
    commit: str
    machine: str

    def beside(self, other):
        """Whether figures of the two may be compared."""
        return (self.commit, self.machine) == (other.commit, other.machine)


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}"


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, check=False).stdout.strip()


def commit():
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{path}" for path in WRITTEN))
    return (git("rev-parse", "--short=7", "HEAD") or "unknown") + (" with changes" if changed else "")


def stamp(contest):
    """Notes where and when a contest has just been measured."""
    contest.origin = Origin(datetime.date.today().isoformat(), commit(), machine())
    contest.load = round(os.getloadavg()[0], 1)
    rows = [row.values for row in contest.rows]
    if isinstance(contest, Layers):
        rows = [values for taken in contest.taken.values() for values in taken.values()]
    contest.runs = max((len(values) for values in rows), default=0)
    return contest


def as_data(contest):
    origin = contest.origin
    data = {"date": origin.date, "commit": origin.commit, "machine": origin.machine, "load": contest.load, "runs": contest.runs,
            "title": contest.title, "wanted": contest.wanted}
    if isinstance(contest, Layers):
        return {**data, "ways": [{"name": name, "taken": taken} for name, taken in contest.taken.items()], "failed": contest.failed}
    rows = [{key: getattr(row, key) for key in OF_ROW} for row in contest.rows]
    return {**data, "rows": rows, "peers": [row.name for row in contest.peers], "aims": [vars(aim) for aim in contest.aims],
            "layers": contest.layers, "change": contest.change}


def of_data(data):
    if "ways" in data:
        contest = Layers(data["title"], {way["name"]: way["taken"] for way in data["ways"]}, data["failed"])
    else:
        rows = [row_of(fields) for fields in data["rows"]]
        contest = Contest(data["title"], data["wanted"], rows, [row for row in rows if row.name in data["peers"]],
                          [Aim(**aim) for aim in data["aims"]], data["layers"], data["change"])
    contest.origin = Origin(data["date"], data["commit"], data["machine"])
    contest.load, contest.runs = data["load"], data["runs"]
    return contest


def row_of(fields):
    row = Row(fields["name"], fields["unit"], fields["command"], None, fields["better"])
    row.values, row.failed = fields["values"], fields["failed"]
    return row


def text(data):
    """JSON with a line for each row, so that a reader of a change sees which rows it changes."""
    def shown(value):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n    " + ",\n    ".join(json.dumps(one) for one in value) + "\n  ]"
        return json.dumps(value)

    return "{\n" + ",\n".join(f"  {json.dumps(key)}: {shown(value)}" for key, value in data.items()) + "\n}\n"


def keep(name, contest, folder=FOLDER):
    """Replaces the figures of this contest."""
    folder.mkdir(parents=True, exist_ok=True)
    # Wherever this tree is: commands and errors name what lies in it.
    (folder / f"{name}.json").write_text(text(as_data(contest)).replace(f"{ROOT}/", ""))


def kept(names, folder=FOLDER):
    """The contests with these names that have figures."""
    files = {name: folder / f"{name}.json" for name in names}
    return {name: of_data(json.loads(file.read_text())) for name, file in files.items() if file.exists()}


def older(names):
    """The contests with these names that have figures beside an older commit, for each way to compare."""
    return [kept(names, folder) for folder in (AGAINST, SAME_PROGRAMS)]
