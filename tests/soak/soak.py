# SPDX-License-Identifier: MIT
"""Connections to and from a program in the kernel, for as long as is asked: they open, transfer, close, are reset, fall
silent; frames are lost; applications, the daemon and the process of the sockets are killed. What is held after each round
has to be what was held before, and each transfer has to be whole."""
import argparse
import collections
import itertools
import os
import signal
import subprocess
import sys
import time

import counts
from world import CONNECTIONS, OURS, PEER, PORT, World

SETTLED = 40  # s that what was lost, or fell silent, may take to be given up
MEMORY = 4096  # KiB by which a process may grow from its first rounds to the last


def differs(name, before, now):
    """A daemon that has found what another one began holds less."""
    return now[name] > before[name] if name == "descriptors of carrickd" else now[name] != before[name]


class Soak:
    def __init__(self, world, quick):
        self.world, self.quick, self.lost = world, quick, []
        self.transfers, self.memory, self.first_memory, self.grown = collections.Counter(), {}, {}, {}
        self.began, self.seed = time.monotonic(), 0
        self.theirs = world.talk(world.peer, "serve", PEER, PORT, says="serving")
        self.serve()

    def serve(self):
        self.ours = self.world.talk(self.world.ours, "serve", OURS, PORT, says="serving")

    def wrong(self, what):
        self.lost.append(what)
        print(f"  LOST: {what}", flush=True)

    # Transfers.

    def callers(self):
        """One at each end."""
        self.seed += 1
        world, times = self.world, 3 if self.quick else 8
        return [world.talk(ns, "call", to, PORT, self.seed * 2 + n, 4, times)
                for n, (ns, to) in enumerate([(world.ours, PEER), (world.peer, OURS)])]

    def finish(self, callers, excused):
        """Takes what they say; where the sockets' process died, what was not whole is excused, but nothing that was wrong."""
        for caller, where in zip(callers, ("ours", "the peer")):
            if not caller.ended():
                self.wrong(f"a caller at {where} hangs, after {len(caller.lines)} transfers")
                caller.kill()
            for line in caller.lines:
                kind, what, *rest = (line.split() + [""])[:3]
                if what == "ok":
                    self.transfers[kind] += 1
                    self.transfers["octets"] += int(rest[0])
                elif excused and what in ("error", "short"):
                    self.transfers["cut off"] += 1
                else:
                    self.wrong(f"at {where}: {line}")

    def fill(self):
        """All the connections that there may be, but those that take a moment to go, and all their requests."""
        self.seed += 100
        caller = self.world.talk(self.world.peer, "hold", OURS, PORT, self.seed, CONNECTIONS - 2, says="hold")
        caller.child.stdin.write("\n")
        caller.child.stdin.close()
        caller.child.stdin = None
        if not caller.ended():
            self.wrong("a caller that holds all connections hangs")
            caller.kill()
        whole = sum(line.startswith("hold ok") for line in caller.lines)
        self.transfers["hold"] += whole
        if whole != CONNECTIONS - 2:
            self.wrong(f"{whole} of {CONNECTIONS - 2} connections at once were whole: {caller.lines[-3:]}")

    # What happens meanwhile.

    def applications_die(self):
        victims = [self.world.talk(self.world.ours, "call", PEER, PORT, 5, 8, 10_000),
                   self.world.talk(self.world.peer, "call", OURS, PORT, 6, 8, 10_000)]
        for victim in victims:
            victim.wait_for("ok")
            victim.kill()

    def server_dies(self):
        self.ours.kill()
        self.serve()

    def daemon_dies(self, how=signal.SIGKILL):
        self.world.daemon.kill(how)
        self.world.start_daemon()

    def daemon_goes(self):
        self.daemon_dies(signal.SIGUSR1)

    def peer_falls_silent(self):
        self.world.far_away()
        far = self.world.talk(self.world.far, "hold", OURS, PORT, 7, 8, says="holding")
        self.world.silence()
        far.kill()
        subprocess.run(["ip", "netns", "del", self.world.far], check=True)

    def sockets_die(self):
        pid = self.host()
        os.kill(pid, signal.SIGKILL)
        self.ours.kill()
        # What loading takes, the daemon does not give back; it is not more the next time.
        self.first_memory.pop(self.world.daemon.child.pid, None)
        self.until(lambda: self.host() not in (None, pid), "another process of sockets")
        # The file of the dead one is there until the new one takes its place.
        for _ in range(100):
            try:
                return self.serve()
            except RuntimeError:
                time.sleep(0.1)
        raise RuntimeError("nobody can serve after the process of the sockets died")

    # What is held.

    def host(self):
        return self.world.status()["programs"][0]["applications"][0]["process"]

    def until(self, holds, what):
        end = time.monotonic() + SETTLED
        while not holds():
            if time.monotonic() > end:
                raise RuntimeError(f"there never is {what}")
            time.sleep(0.1)

    def held(self):
        """All that is to be as it was, by name."""
        status, pins = self.world.status()["programs"][0], self.world.pins
        there = {f"{of['context']} open": of["open"] for of in status["instances"]}
        there |= counts.indexed(pins)
        there["pins"] = counts.pinned(pins)
        there["programs at the device"] = int(self.world.attached())
        there["devices"] = self.world.devices()
        processes = {"carrickd": self.world.daemon.child.pid}
        if host := status["applications"][0]["process"]:
            processes["the sockets' process"] = host
        for name, pid in processes.items():
            there[f"descriptors of {name}"], self.memory[name] = counts.of_process(pid)
            self.first_memory.setdefault(pid, self.memory[name])
            self.grown[name] = self.memory[name] - self.first_memory[pid]
        return there

    def settle(self, before):
        """Waits for what was before; without one, for what does not change any more."""
        end, now, same = time.monotonic() + SETTLED, None, 0
        while now is None or (same < 10 and time.monotonic() < end):
            time.sleep(0.2)
            last, now = now, self.held()
            if before is None:
                same = same + 1 if now == last else 0
            elif not any(differs(name, before, now) for name in before):
                return now
        for name in now if before else ():
            if differs(name, before, now):
                self.wrong(f"{name}: {before[name]} before, {now[name]} after")
        return now

    # Rounds.

    def round(self, number, loss, events, before):
        what = [event.__name__.replace("_", " ") for event in events]
        what += [f"one frame in {loss} is lost"] if loss else []
        self.world.lose(loss)
        callers, lost = self.callers(), len(self.lost)
        for event in events:
            event()
        self.finish(callers, excused={self.sockets_die.__name__, self.server_dies.__name__} & {e.__name__ for e in events})
        self.fill()
        self.settle(before)
        for name, grown in self.grown.items():
            if grown > MEMORY:
                self.wrong(f"{name} has grown by {grown} KiB")
        if len(self.lost) > lost:
            counted = self.world.status()["programs"][0]["counters"]
            print(f"  counted by then: {({name: count for name, count in counted.items() if count})}", flush=True)
        done = sum(self.transfers.values()) - self.transfers["octets"]
        print(f"{time.monotonic() - self.began:7.1f} s  round {number}: {'; '.join(what) or 'nothing'}; {done} transfers; "
              f"{', '.join(f'{name} {kib} KiB' for name, kib in self.memory.items())}", flush=True)

    # What happens in a round, one frame in how many is lost, and in each of how many turns: what ends processes comes seldom,
    # so that others live long enough to be seen growing.
    HAPPENS = [([], 0, 1), (["applications_die"], 100, 1), (["server_dies"], 0, 1), (["peer_falls_silent"], 50, 1),
               (["daemon_dies"], 0, 4), (["daemon_goes"], 100, 4), (["sockets_die"], 100, 4)]

    def rounds(self, minutes):
        """Until the time is over; in each something else happens, in turn. Gives what was held before, and after."""
        self.fill()
        before, number = self.settle(None), 0
        free, _ = counts.free(self.world.pins)
        for cycle in itertools.count():
            for happens, loss, every in self.HAPPENS:
                if cycle and time.monotonic() >= self.began + 60 * minutes:
                    break
                if cycle % every == 0:
                    number += 1
                    self.round(number, loss, [getattr(self, name) for name in happens], before)
            else:
                continue
            break
        after = self.settle(before)
        free_after, wrong = counts.free(self.world.pins)
        for what in wrong:
            self.wrong(what)
        for name in free:
            if free[name] != free_after[name]:
                self.wrong(f"{name}: {free[name]} before, {free_after[name]} after")
        return before | free, after | free_after


def ended(world, soak):
    """Nothing is left when the daemon has ended."""
    host = soak.host()
    soak.ours.kill()
    if world.daemon.kill(signal.SIGTERM) != 0:
        soak.wrong(f"carrickd did not end in order: {world.daemon.lines[-3:]}")
    left = {"pins": world.pins.exists(), "a program at the device": world.attached(),
            "what was built": (world.folder / "state").exists(), "the sockets' process": os.path.exists(f"/proc/{host}")}
    for what in (what for what, there in left.items() if there):
        soak.wrong(f"{what} is left when carrickd has ended")


def table(soak, before, after, counters):
    print(f"\n{'held':<40} {'before':>10} {'after':>10}")
    for name, count in before.items():
        print(f"{name:<40} {count:>10} {after[name]:>10}")
    print(f"\n{'transfers that were whole':<40}")
    for name, count in sorted(soak.transfers.items()):
        print(f"{name:<40} {count:>10}")
    print(f"\n{'counted since the sockets began':<40}")
    for name, count in counters.items():
        if count:
            print(f"{name:<40} {count:>10}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--quick", action="store_true", help="each round once, with fewer transfers")
    args = parser.parse_args()
    with World() as world:
        soak = Soak(world, args.quick)
        before, after = soak.rounds(0 if args.quick else args.minutes)
        counters = world.status()["programs"][0]["counters"]
        ended(world, soak)
        table(soak, before, after, counters)
    print(f"\n{len(soak.lost)} lost" if soak.lost else "\nnothing is lost")
    for what in soak.lost:
        print(f"  {what}")
    return 1 if soak.lost else 0


if __name__ == "__main__":
    sys.exit(main())
