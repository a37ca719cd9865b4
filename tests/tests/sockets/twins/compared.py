# SPDX-License-Identifier: MIT
"""Makes the calls of cases on the stack beneath it and prints what each says: `case: line -> said`. A test compares two such runs.

    compared.py OURS PEER CONTROL [--seeds FIRST-LAST | --case NAME]"""
import os
import pathlib
import select
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
import calls  # noqa: E402
import sequences  # noqa: E402

PATIENCE = 8  # s: a case that has not ended by then hangs
CASES = pathlib.Path(__file__).with_name("cases.txt")


def cases(of):
    found = {}
    for line in of.read_text().splitlines():
        if line.startswith("= "):
            name = line[2:]
            found[name] = []
        elif line and not line.startswith("#"):
            found[name].append(line)
    return found


def run(name, lines, arguments):
    """In a process of its own, which begins with no sockets, and can be ended."""
    child = os.fork()
    if child == 0:
        world = calls.World(*arguments)
        world.do("peer forget")
        for line in lines:
            print(f"{name}: {line} -> ", end="", flush=True)
            print(world.do(line), flush=True)
        os._exit(0)
    over = select.poll()
    over.register(os.pidfd_open(child), select.POLLIN)
    if not over.poll(PATIENCE * 1000):
        print("hangs", flush=True)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if status:
        print(f"{name}: ended with {status}", flush=True)


def main(of, draw):
    """Runs cases of a file, or sequences that `draw` makes of seeds."""
    arguments, options = sys.argv[1:4], sys.argv[4:]
    if options[:1] == ["--seeds"]:
        first, _, last = options[1].partition("-")
        chosen = {f"seed {n}": draw(n) for n in range(int(first), int(last or first) + 1)}
    elif options[:1] == ["--case"]:
        chosen = {options[1]: cases(of)[options[1]]}
    else:
        chosen = cases(of)
    for name, lines in chosen.items():
        run(name, lines, arguments)
    print("all")


if __name__ == "__main__":
    main(CASES, sequences.draw)
