# SPDX-License-Identifier: MIT
"""Connections to and from a stack, in the kernel or in a process, for as long as is asked: they open, transfer, close, are
reset, fall silent; frames are lost; applications, the daemon and the process of the sockets are killed. What is held after
each round has to be what was held before, each transfer has to be whole, and no application that survives others may
wait for longer than a retransmission timeout."""
import argparse
import collections
import itertools
import signal
import subprocess
import sys
import time

import counts
from in_kernel import InKernel
from native import Native
from world import CONNECTIONS, OURS, PEER, PORT, SETTLED

WORLDS = {"xdp": InKernel, "native": Native}
SURVIVORS = 3  # connections of each application that survives others
DEATHS = 3  # of applications beside it
STALL = 1.0  # s: a retransmission timeout is no longer (rto_max of SETTINGS; the peer's first one)
LATE = 3  # processes between two ends, each of which a busy machine may stop as long as the survivor was stopped


def differs(name, before, now):
    """A daemon that has found what another one began holds less."""
    return now[name] > before[name] if name == "descriptors of carrickd" else now[name] != before[name]


class Soak:
    def __init__(self, world, quick):
        self.world, self.quick, self.lost = world, quick, []
        self.transfers, self.memory, self.first_memory, self.grown = collections.Counter(), {}, {}, {}
        self.began, self.seed, self.worst = time.monotonic(), 0, 0.0
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
                    self.transfers["bytes"] += int(rest[0])
                elif excused and what in ("error", "short"):
                    self.transfers["cut off"] += 1
                else:
                    self.wrong(f"at {where}: {line}")

    def fill(self):
        """All the connections that there may be, but those that take a moment to go, and all their requests."""
        self.seed += 100
        said = len(self.ours.lines)
        caller = self.world.talk(self.world.peer, "hold", OURS, PORT, self.seed, CONNECTIONS - 2, says="hold")
        caller.tell("")
        if not caller.ended():
            self.wrong("a caller that holds all connections hangs")
            caller.kill()
        whole = sum(line.startswith("hold ok") for line in caller.lines)
        self.transfers["hold"] += whole
        if whole != CONNECTIONS - 2:
            others = [line for line in caller.lines if not line.startswith("hold ok")]
            self.wrong(f"{whole} of {CONNECTIONS - 2} connections at once were whole: {others}; "
                       f"the server: {self.ours.lines[said:]}")

    # What happens meanwhile.

    def applications_die(self):
        victims = [self.world.talk(self.world.ours, "call", PEER, PORT, 5, 8, 10_000),
                   self.world.talk(self.world.peer, "call", OURS, PORT, 6, 8, 10_000)]
        for victim in victims:
            victim.wait_for("ok")
            victim.kill()

    def applications_die_beside_others(self):
        """What is in flight when an application dies must stop nobody else."""
        ends = [(self.world.ours, PEER), (self.world.peer, OURS)]
        survivors = [self.world.talk(ns, "survive", to, PORT, self.seed + n, SURVIVORS, says="surviving")
                     for n, (ns, to) in enumerate(ends)]
        for death in range(DEATHS):
            victims = [self.world.talk(ns, "survive", to, PORT, death, SURVIVORS, says="surviving") for ns, to in ends]
            for victim in victims:
                victim.kill()
        said = []
        for survivor, where in zip(survivors, ("ours", "the peer")):
            survivor.tell("")
            if not survivor.ended():
                self.wrong(f"a survivor at {where} hangs")
                survivor.kill()
            said += [(where, line, line.split()) for line in survivor.lines[1:]]
        # What one of them has waited for, the machine may have withheld from the other.
        lag = max((float(words[3]) for _, _, words in said if words[1] == "ok"), default=0)
        for where, line, words in said:
            if words[1] == "ok" and float(words[2]) <= STALL + LATE * lag:
                self.transfers[words[0]] += 1
                self.worst = max(self.worst, float(words[2]))
            else:
                self.wrong(f"at {where}: {line}; the machine was {lag} s late")

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
        # What loading takes, the daemon does not give back; it is not more the next time.
        for pid in self.world.held_by().values():
            self.first_memory.pop(pid, None)
        self.world.restart_host()
        self.ours.kill()
        # The file of the dead one is there until the new one takes its place.
        for _ in range(100):
            try:
                return self.serve()
            except RuntimeError:
                time.sleep(0.1)
        raise RuntimeError("nobody can serve after the process of the sockets died")

    # What is held.

    def held(self):
        """All that is to be as it was, by name."""
        there = self.world.held()
        for name, pid in self.world.held_by().items():
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
            if grown > self.world.MEMORY:
                self.wrong(f"{name} has grown by {grown} KiB")
        if len(self.lost) > lost:
            counted = {name: count for name, count in self.world.counters().items() if count}
            print(f"  counted by then: {counted}", flush=True)
        done = sum(self.transfers.values()) - self.transfers["bytes"]
        print(f"{time.monotonic() - self.began:7.1f} s  round {number}: {'; '.join(what) or 'nothing'}; {done} transfers; "
              f"{', '.join(f'{name} {kib} KiB' for name, kib in self.memory.items())}", flush=True)

    # What happens in a round, one frame in how many is lost, and in each of how many turns: what ends processes comes seldom,
    # so that others live long enough to be seen growing.
    HAPPENS = [([], 0, 1), (["applications_die"], 100, 1), (["applications_die_beside_others"], 0, 1), (["server_dies"], 0, 1),
               (["peer_falls_silent"], 50, 1), (["daemon_dies"], 0, 4), (["daemon_goes"], 100, 4), (["sockets_die"], 100, 4)]

    def happens(self):
        """Without a daemon none dies."""
        daemon = hasattr(self.world, "daemon")
        return [row for row in self.HAPPENS if daemon or not any(name.startswith("daemon") for name in row[0])]

    def rounds(self, minutes):
        """Until the time is over; in each something else happens, in turn. Gives what was held before, and after."""
        self.fill()
        before, number = self.settle(None), 0
        free, _ = self.world.free()
        for cycle in itertools.count():
            for happens, loss, every in self.happens():
                if cycle and time.monotonic() >= self.began + 60 * minutes:
                    break
                if cycle % every == 0:
                    number += 1
                    self.round(number, loss, [getattr(self, name) for name in happens], before)
            else:
                continue
            break
        after = self.settle(before)
        free_after, wrong = self.world.free()
        for what in wrong:
            self.wrong(what)
        for name in free:
            if free[name] != free_after[name]:
                self.wrong(f"{name}: {free[name]} before, {free_after[name]} after")
        return before | free, after | free_after


def table(soak, before, after, counters):
    print(f"\n{'held':<40} {'before':>10} {'after':>10}")
    for name, count in before.items():
        print(f"{name:<40} {count:>10} {after[name]:>10}")
    print(f"\n{'transfers that were whole':<40}")
    for name, count in sorted(soak.transfers.items()):
        print(f"{name:<40} {count:>10}")
    print(f"{'the longest wait of a survivor (s)':<40} {soak.worst:>10.3f}")
    print(f"\n{'counted since the sockets began':<40}")
    for name, count in counters.items():
        if count:
            print(f"{name:<40} {count:>10}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--target", choices=WORLDS, default="xdp", help="where the stack is (default: xdp)")
    parser.add_argument("--quick", action="store_true", help="each round once, with fewer transfers")
    args = parser.parse_args()
    with WORLDS[args.target]() as world:
        soak = Soak(world, args.quick)
        before, after = soak.rounds(0 if args.quick else args.minutes)
        counters = world.counters()
        soak.ours.kill()
        for what in world.end():
            soak.wrong(what)
        table(soak, before, after, counters or world.counters())
    print(f"\n{len(soak.lost)} lost" if soak.lost else "\nnothing is lost")
    for what in soak.lost:
        print(f"  {what}")
    return 1 if soak.lost else 0


if __name__ == "__main__":
    sys.exit(main())
