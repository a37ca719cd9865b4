# SPDX-License-Identifier: MIT
"""All that two ends can do over a bad channel: the program itself, and a model of it in TLA+ (bench/tlc/StopAndWait.tla) by TLC."""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from measure import Aim, Contest, Row, command_json

MODEL = Path(__file__).parent / "tlc/StopAndWait.tla"
MESSAGES, LOSE, DUPLICATE, REORDER, RESENDS = 8, 6, 5, 5, 10
# Of a model with one message and no fault: what is left of its time is that of Java's start.
LEAST = (1, 0, 0, 0, RESENDS)
JOBS = 2


def ours(carrick, program):
    command = [carrick, "verify", program, "--peers", "--bytes", MESSAGES, "--lose", LOSE, "--dup", DUPLICATE, "--reorder", REORDER,
               "-j", JOBS, "--expect", "all,once,order", "--format", "json"]
    command = [str(word) for word in command]

    def states():
        found = command_json(command)
        return found["states"] / found["seconds"]

    return Row("carrick verify --peers, the program", "states/s", " ".join(command), states)


def config(messages, lose, duplicate, reorder, resends):
    return f"""SPECIFICATION Spec
INVARIANTS InTurn Arrived
CONSTANTS Messages = {messages} Lose = {lose} Duplicate = {duplicate} Reorder = {reorder} ResendsMax = {resends}
"""


def checked(jar, constants):
    """The distinct states that TLC finds, and the seconds that it takes."""
    # It writes beside the model.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, MODEL.name).write_text(MODEL.read_text())
        Path(folder, MODEL.name).with_suffix(".cfg").write_text(config(*constants))
        words = ["java", "-XX:+UseParallelGC", "-cp", os.path.abspath(jar), "tlc2.TLC", "-workers", str(JOBS), MODEL.name]
        begin = time.perf_counter()
        done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
        took = time.perf_counter() - begin
    found = re.search(r"([\d,]+) distinct states found, 0 states left", done.stdout)
    if "No error has been found" not in done.stdout or not found:
        raise RuntimeError("TLC does not say that the model holds")
    return int(found[1].replace(",", "")), took


def tlc(jar):
    shown = f"java -XX:+UseParallelGC -cp $TLC tlc2.TLC -workers {JOBS} {MODEL.name}"

    def states():
        if not jar:
            raise RuntimeError("TLC= names no tla2tools.jar")
        (few, start), (all_of_them, took) = checked(jar, LEAST), checked(jar, (MESSAGES, LOSE, DUPLICATE, REORDER, RESENDS))
        return (all_of_them - few) / (took - start)

    return Row("TLC, a model of it", "states/s", shown, states)


def contest(carrick, program):
    rows = [ours(carrick, program), tlc(os.environ.get("TLC"))]
    title = f"Two ends of stop-and-wait, {MESSAGES} messages, {LOSE} lost, {DUPLICATE} duplicated and {REORDER} reordered: states a second"
    return Contest(title, "10 times TLC", rows, aims=[Aim(rows[0].name, 10, rows[1].name)])
