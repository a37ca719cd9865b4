# SPDX-License-Identifier: MIT
"""Makes calls on datagram sockets of the stack beneath it and prints what each says, as compared.py does of streams.

    datagrams.py OURS PEER CONTROL [--seeds FIRST-LAST | --case NAME]"""
import ctypes
import pathlib
import random
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
import calls  # noqa: E402
import compared  # noqa: E402
from calls import FLAGS, Iovec, Mmsghdr, Msghdr, call, error, libc  # noqa: E402

CASES = pathlib.Path(__file__).with_name("datagrams.txt")
FLAGS["one"] = 0x10000  # MSG_WAITFORONE
calls.OPTIONS |= {
    "protocol": (socket.SOL_SOCKET, socket.SO_PROTOCOL), "domain": (socket.SOL_SOCKET, socket.SO_DOMAIN),
    "broadcast": (socket.SOL_SOCKET, socket.SO_BROADCAST),
}  # fmt: skip


def pattern(count):
    return bytes(i % 251 for i in range(count))


@call
def socket_(w, s, *words):
    return w.add(s, libc.socket(socket.AF_INET, socket.SOCK_DGRAM | calls.flags(words), 0))


def message_to(w, to, data, keep):
    """A message; what it points to is kept in `keep`."""
    buffer = ctypes.create_string_buffer(data, max(len(data), 1))
    iov = Iovec(ctypes.addressof(buffer), len(data))
    name = None if to == "-" else ctypes.create_string_buffer(w.address(to), 16)
    keep += [buffer, iov, name]
    return Msghdr(ctypes.addressof(name) if name else None, 16 if name else 0, ctypes.pointer(iov), 1, None, 0, 0)


def sending(name):
    def send(w, s, to, count, *words):
        """`to` is `-`, or an address."""
        fd, data, keep = w.fds[s], pattern(int(count)), []
        if name == "write":
            done = libc.write(fd, data, len(data))
        elif name == "writev":
            pieces = [ctypes.create_string_buffer(part, max(len(part), 1)) for part in (data[:3], data[3:])]
            iov = (Iovec * 2)(Iovec(ctypes.addressof(pieces[0]), len(data[:3])), Iovec(ctypes.addressof(pieces[1]), len(data[3:])))
            done = libc.writev(fd, iov, 2)
        elif name == "sendmsg":
            done = libc.sendmsg(fd, ctypes.byref(message_to(w, to, data, keep)), calls.flags(words))
        elif name == "sendmmsg":
            many = (Mmsghdr * 3)(*[Mmsghdr(message_to(w, to, pattern(int(count) + i), keep), 0) for i in range(3)])
            done = libc.sendmmsg(fd, many, 3, calls.flags(words))
            return f"{done} {[m.len for m in many[:done]]}" if done >= 0 else error()
        elif to == "-":
            done = libc.send(fd, data, len(data), calls.flags(words))
        else:
            done = libc.sendto(fd, data, len(data), calls.flags(words), w.address(to), 16)
        return str(done) if done >= 0 else error()

    calls.CALLS[name] = send


def right(done, room, count):
    got = room[: min(done, count)]
    return "right" if got == pattern(len(got)) else "wrong"


def receiving(name):
    def receive(w, s, count, *words):
        fd, count, more = w.fds[s], int(count), ""
        room, raw, length = ctypes.create_string_buffer(max(count, 1)), ctypes.create_string_buffer(128), ctypes.c_uint(16)
        iov = Iovec(ctypes.addressof(room), count)
        if name == "read":
            done = libc.read(fd, room, count)
        elif name == "readv":
            done = libc.readv(fd, ctypes.byref(iov), 1)
        elif name == "recvfrom":
            done = libc.recvfrom(fd, room, count, calls.flags(words), raw, ctypes.byref(length))
            more = f" from {w.name(raw.raw, length.value)}" if done >= 0 else ""
        elif name == "recvmsg":
            message = Msghdr(ctypes.addressof(raw), 16, ctypes.pointer(iov), 1, None, 0, 0)
            done = libc.recvmsg(fd, ctypes.byref(message), calls.flags(words))
            cut = " cut" if message.flags & socket.MSG_TRUNC else ""
            more = f" from {w.name(raw.raw, message.namelen)}{cut}" if done >= 0 else ""
        else:
            done = libc.recv(fd, room, count, calls.flags(words))
        return f"{done} {right(done, room.raw, count)}{more}" if done >= 0 else error()

    calls.CALLS[name] = receive


for name in ("send", "sendto", "sendmsg", "sendmmsg", "write", "writev"):
    sending(name)
for name in ("recv", "read", "readv", "recvfrom", "recvmsg"):
    receiving(name)


@call
def recvmmsg(w, s, count, *words):
    """Up to three messages."""
    rooms = [ctypes.create_string_buffer(int(count)) for _ in range(3)]
    names = [ctypes.create_string_buffer(128) for _ in range(3)]
    iovs = [Iovec(ctypes.addressof(room), int(count)) for room in rooms]
    many = (Mmsghdr * 3)(*[Mmsghdr(Msghdr(ctypes.addressof(n), 16, ctypes.pointer(i), 1, None, 0, 0), 0) for n, i in zip(names, iovs)])
    done = libc.recvmmsg(w.fds[s], many, 3, calls.flags(words), None)
    if done < 0:
        return error()
    return " ".join(f"{m.len} from {w.name(n.raw, m.message.namelen)}" for m, n in list(zip(many, names))[:done])


@call
def foreign(w, s):
    """Sends to an address of another family."""
    to = struct.pack("=H", socket.AF_INET6) + bytes(26)
    done = libc.sendto(w.fds[s], b"x", 1, 0, to, len(to))
    return str(done) if done >= 0 else error()


class Sequence:
    """A random sequence of calls on one socket, whose results are the same on every right stack."""

    def __init__(self, seed):
        self.draw, self.lines = random.Random(seed), []
        self.port = 2000 + seed % 20000
        self.waiting, self.connected, self.a, self.copies = [], False, "a", 0

    def say(self, *words):
        self.lines.append(" ".join(str(word) for word in words))

    def begin(self):
        self.say("peer open p 1000")
        self.say("peer open q 1001")
        self.say("socket a nonblock" if self.draw.random() < 0.7 else "socket a")
        if self.lines[-1].endswith("a"):
            self.say("time a rcv 30")
        self.say(f"bind a own:{self.port}" if self.draw.random() < 0.5 else f"bind a any:{self.port}")

    def send(self):
        count = self.draw.choice([1, 10, 500, 1472])
        to = "-" if self.connected and self.draw.random() < 0.5 else self.draw.choice(["peer:1000", "peer:1001"])
        how = self.draw.choice(["send", "write", "writev", "sendmsg"] if to == "-" else ["sendto", "sendmsg"])
        self.say(how, self.a, to, count)
        self.say("peer recv", "q" if to == "peer:1001" else "p")

    def arrive(self):
        count, of = self.draw.choice([1, 20, 700, 1472]), self.draw.choice("pq")
        if self.waiting or (self.connected and of == "q"):  # of two that wait, nothing tells that the second is there
            return
        self.say("peer send", of, "own", self.port, count)
        self.say("await", self.a, "IN")
        self.waiting.append(count)
        self.say("have", self.a, count)

    def receive(self):
        how = self.draw.choice(["recv", "recvfrom", "recvmsg", "read", "readv"])
        words = "" if how.startswith("read") else self.draw.choice(["", "now", "peek", "trunc", "peek trunc", "errqueue"])
        self.say(how, self.a, self.draw.choice([1, 10, 2000]), words)
        if self.waiting and "peek" not in words and "errqueue" not in words:
            self.waiting.pop(0)

    def look(self):
        looks = ["names A", "poll A", "get A error", "get A type", "queued A in", "sendto A peer:0 1"]
        self.say(self.draw.choice(looks).replace("A", self.a))

    def peer(self):
        if self.waiting:
            return
        self.connected = self.draw.random() < 0.6
        self.say("connect", self.a, "peer:1000" if self.connected else "unspec")

    def copy(self):
        self.copies += 1
        self.say("dup", self.a, f"a{self.copies}")
        if self.draw.random() < 0.5:
            self.say("close", self.a)
            self.a = f"a{self.copies}"

    def child(self):
        if self.lines[-1].startswith(("recv", "read", "send", "write", "names")):
            self.lines[-1] = "child " + self.lines[-1]

    def run(self):
        self.begin()
        for _ in range(self.draw.randrange(5, 30)):
            steps = [self.send, self.send, self.arrive, self.arrive, self.receive, self.receive, self.look, self.peer, self.copy]
            self.draw.choice(steps)()
            if self.draw.random() < 0.05:
                self.child()
        return self.lines


if __name__ == "__main__":
    compared.main(CASES, lambda seed: Sequence(seed).run())
