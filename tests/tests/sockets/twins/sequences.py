# SPDX-License-Identifier: MIT
"""Random sequences of the calls of calls.py on one connection: the same for the same seed. Each line's result is the same on every
right stack: what the peer does is waited for before the next call."""
import random

SENDS = ["send", "write", "writev", "sendto", "sendmsg", "sendmmsg"]
RECEIVES = ["recv", "recvfrom", "recvmsg", "recvmmsg"]
PLAIN = ["read", "readv", "preadv2", "splice"]
FLAGS = ["now", "now", "now peek", "now trunc", "now peek trunc", "errqueue", "now all"]


WAITING = ["", "", "peek all", "all", "trunc"]


class Sequence:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.port = 2000 + seed % 20000  # one that no other sequence has used shortly before
        self.lines = []
        self.a = "a"  # the descriptor that is used, and how many there have been
        self.copies = 0
        self.watched = self.waits = False
        self.open = ["a"]
        self.ours_over = self.peer_over = self.broken = self.unread = self.deaf = 0

    def say(self, *words):
        self.lines.append(" ".join(str(word) for word in words))

    def refusals(self):
        """A connection that is refused, and what tells of it, before the one that is not."""
        self.say("connect", self.a, "nobody")
        self.say("await", self.a, "HUP|ERR")
        tells = ["get A error", "connect A nobody", "recv A 10 now", "send A 10", "poll A"]
        for _ in range(self.draw.randrange(4)):
            told = self.draw.choice(tells)
            self.say(told.replace("A", self.a))
            if told.startswith("connect"):  # a new attempt, if it told that the last one failed
                self.say("await", self.a, "HUP|ERR")
        self.say("connect", self.a, "nobody")
        self.say("close", self.a)

    def begin(self):
        before = self.draw.random()
        if self.draw.random() < 0.2:
            self.say("socket a nonblock")
            self.refusals()
        if self.draw.random() < 0.5:
            self.say("socket a nonblock")
            if before < 0.2:
                self.copy()
            elif before < 0.4:
                self.watch()
            elif before < 0.6:
                self.say("bind a own:0")
            self.say("connect", self.a, "peer")
            self.say("await", self.a, "OUT")
            self.say("peer accept p service")
        else:
            self.say("socket l")
            self.say(f"bind l own:{self.port}")
            self.say("listen l")
            self.say("peer connect p own", self.port)
            self.say("await l IN")
            self.say("accept l a nonblock")

    def mode(self):
        """From now on calls wait, for a short time."""
        if not self.waits and not self.watched:
            self.say("nonblock", self.a, 0)
            self.say("time", self.a, "rcv", 30)
            self.waits = True

    def interrupted(self):
        if self.unread or self.broken or self.peer_over or self.deaf or not self.waits:
            return
        self.say("time", self.a, "rcv", 0)
        self.say("alarm", 20)
        self.say(self.draw.choice(RECEIVES), self.a, 10)
        self.say("time", self.a, "rcv", 30)

    def full(self):
        self.say("full")
        call = self.draw.choice(["dup A z", "accept A z", "poll A"])
        if not (self.broken and call == "poll A"):  # which needs a descriptor to learn of it
            self.say(call.replace("A", self.a))
        self.say("free")

    def end(self):
        """How it looks from the other end that all its descriptors are closed."""
        if self.draw.random() < 0.3:
            self.say("set", self.a, "linger", 1, self.draw.choice([0, 1]))
        for name in self.open:
            self.say("close", name)
        if self.peer_over != 2 and not self.broken:
            self.say("peer rest p")

    def child(self):
        """The last call again was a process of its own."""
        if not self.lines[-1].startswith(("peer", "close", "dup", "epoll", "add", "alarm", "full", "free", "child", "events")):
            self.lines[-1] = "child " + self.lines[-1]

    def send(self):
        count = self.draw.choice([1, 10, 500, 3000])
        self.say(self.draw.choice(SENDS), self.a, count)
        if self.draw.random() < 0.1:
            self.child()
        if not (self.ours_over or self.broken):
            if self.peer_over == 2:  # nobody is there to take it: a reset comes back
                self.broken = 1
                self.say("await", self.a, "ERR|HUP")
            else:
                self.say("peer recv p", count)

    def receive(self):
        count = self.draw.choice([1, 10, 2000])
        if self.unread and self.draw.random() < 0.3:
            self.say(self.draw.choice(PLAIN), self.a, count)
            self.unread = max(0, self.unread - count)
            return
        flags = self.draw.choice(FLAGS + (WAITING if self.waits else []))
        self.say(self.draw.choice(RECEIVES), self.a, count, flags)
        if "peek" not in flags and "errqueue" not in flags:
            self.unread = max(0, self.unread - count)

    def peer_sends(self):
        if self.peer_over or self.broken or self.deaf:
            return
        count = self.draw.choice([1, 10, 900])
        self.say("peer send p", count)
        self.unread += count
        self.say("have", self.a, self.unread)

    def peer_ends(self):
        if self.broken or self.peer_over:
            return
        if self.deaf or self.draw.random() < 0.6:
            self.say("peer fin p")
            self.peer_over = 1
            self.say("await", self.a, "RDHUP")
        else:
            self.say("peer reset p")
            self.peer_over, self.broken = 2, 1
            self.say("await", self.a, "ERR|HUP")

    def ends(self):
        how = self.draw.choice(["wr", "wr", "both"])
        if self.ours_over or self.broken:
            return
        self.say("shutdown", self.a, how)
        self.ours_over, self.deaf = 1, how == "both"
        self.say("peer awaits p", 1)

    def looks(self):
        self.say(self.draw.choice(["poll A", "get A error", "get A acceptconn", "get A type", "get A linger 8", "queued A in"]).replace("A", self.a))

    def refused(self):
        if self.broken or (self.ours_over and self.peer_over):  # Linux lets it be bound again
            return
        self.say(self.draw.choice(["connect A peer", "bind A own:0", "accept A z", "listen A", "set A nodelay byte", "get A unknown"]).replace("A", self.a))

    def options(self):
        option = self.draw.choice(["nodelay", "keepalive"])
        if not self.broken and not (self.ours_over and (self.peer_over or self.deaf)):
            self.say("set", self.a, option, self.draw.choice([0, 1]))
            self.say("get", self.a, option)

    def copy(self):
        self.copies += 1
        other = f"c{self.copies}"
        self.say("dup", self.a, other)
        self.open.append(other)
        if self.draw.random() < 0.5:
            self.say("close", self.a)
            self.open.remove(self.a)
            self.watched = False
        self.a = other

    def watch(self):
        if self.watched:
            self.say("events e")
            return
        self.say("epoll e")
        self.say("add e", self.a, self.draw.choice(["IN", "IN|RDHUP", "IN et", "IN|RDHUP et"]))
        self.watched = True

    def go(self):
        self.begin()
        weights = [(self.send, 5), (self.receive, 6), (self.peer_sends, 5), (self.peer_ends, 1), (self.ends, 1), (self.looks, 4),
                   (self.refused, 2), (self.options, 1), (self.copy, 1), (self.mode, 1), (self.interrupted, 1), (self.full, 0.3)]  # fmt: skip
        for _ in range(self.draw.randrange(5, 20)):
            self.draw.choices([f for f, _ in weights], [n for _, n in weights])[0]()
        self.end()
        return self.lines


def draw(seed):
    return Sequence(seed).go()
