# SPDX-License-Identifier: MIT
"""Calls on sockets as a program makes them, each with its name: cases and random sequences are written with these. Each returns
what can be seen of its result as a word: a value, or the name of its errno, `+SIGPIPE` behind it where that signal came."""
import ast
import ctypes
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import time

libc = ctypes.CDLL(None, use_errno=True)
for wide in ("recv", "recvfrom", "recvmsg", "read", "readv", "preadv2", "splice", "send", "sendto", "sendmsg", "write", "writev", "fread", "sendfile"):
    getattr(libc, wide).restype = ctypes.c_ssize_t
libc.fdopen.restype = ctypes.c_void_p
SECOND = 1000
PATIENCE = 3 * SECOND

FLAGS = {
    "peek": socket.MSG_PEEK, "all": socket.MSG_WAITALL, "now": socket.MSG_DONTWAIT, "trunc": socket.MSG_TRUNC,
    "errqueue": socket.MSG_ERRQUEUE, "quiet": socket.MSG_NOSIGNAL, "more": socket.MSG_MORE, "oob": socket.MSG_OOB,
    "fastopen": 0x20000000, "cloexec": socket.SOCK_CLOEXEC, "nonblock": socket.SOCK_NONBLOCK,
}  # fmt: skip
EVENTS = {"IN": 1, "PRI": 2, "OUT": 4, "ERR": 8, "HUP": 16, "NVAL": 32, "RDHUP": 0x2000}
OPTIONS = {
    "error": (socket.SOL_SOCKET, socket.SO_ERROR), "acceptconn": (socket.SOL_SOCKET, socket.SO_ACCEPTCONN),
    "type": (socket.SOL_SOCKET, socket.SO_TYPE), "keepalive": (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    "linger": (socket.SOL_SOCKET, socket.SO_LINGER), "nodelay": (socket.IPPROTO_TCP, socket.TCP_NODELAY),
    "cork": (socket.IPPROTO_TCP, socket.TCP_CORK), "tos": (socket.IPPROTO_IP, socket.IP_TOS),
    "zerocopy": (socket.SOL_SOCKET, 60), "info": (socket.IPPROTO_TCP, socket.TCP_INFO), "unknown": (99, 1),
    "reuse": (socket.SOL_SOCKET, socket.SO_REUSEADDR), "rcvlowat": (socket.SOL_SOCKET, socket.SO_RCVLOWAT),
    "ttl": (socket.IPPROTO_IP, socket.IP_TTL), "keepidle": (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
}  # fmt: skip


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Msghdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.POINTER(Iovec)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int)]  # fmt: skip


class Mmsghdr(ctypes.Structure):
    _fields_ = [("message", Msghdr), ("len", ctypes.c_uint)]


def pattern(begin, count):
    return bytes((begin + i) % 251 for i in range(count))


def mask(bits):
    return "|".join(name for name, bit in EVENTS.items() if bits & bit) or "none"


def bits(text):
    return sum(EVENTS[name] for name in text.split("|"))


def flags(words):
    return sum(FLAGS[word] for word in words)


class World:
    """The sockets of a case by their names, and what has gone over them."""

    def __init__(self, ours, peer, control):
        self.ours, self.peer = ours, peer
        self.fds, self.sent, self.got = {}, {}, {}
        self.spare, self.pipes = [], 0
        self.told = socket.socket(socket.AF_UNIX)
        self.told.connect(control)
        self.lines = self.told.makefile("r")
        signal.signal(signal.SIGPIPE, self.on_pipe)

    def on_pipe(self, *_):
        self.pipes += 1

    def do(self, line):
        """Makes the call that a line names."""
        name, *arguments = line.split()
        self.pipes = 0
        said = CALLS[name](self, *arguments)
        return said + ("+SIGPIPE" if self.pipes else "")

    def add(self, name, fd):
        if fd < 0:
            return error()
        self.fds[name] = fd
        self.sent[fd], self.got[fd] = 0, 0
        return "ok"

    def address(self, word):
        """`peer`, `nobody` (a port that nobody serves), `silent` (no such host), `own:PORT`, `zero`, `group`, `unspec`."""
        if word == "unspec":
            return struct.pack("=H14x", 0)
        host, _, port = word.partition(":")
        hosts = {"peer": self.peer, "nobody": self.peer, "silent": self.peer.rsplit(".", 1)[0] + ".77", "own": self.ours,
                 "any": "0.0.0.0", "group": "224.0.0.1"}  # fmt: skip
        number = int(port) if port else {"nobody": 9}.get(host, 1000)
        return struct.pack("=H", socket.AF_INET) + struct.pack("!H", number) + socket.inet_aton(hosts[host]) + bytes(8)

    def name(self, raw, length):
        if length != 16 or struct.unpack_from("=H", raw)[0] != socket.AF_INET:
            return f"length {length} family {struct.unpack_from('=H', raw)[0]}"
        host, port = socket.inet_ntoa(raw[4:8]), struct.unpack_from("!H", raw, 2)[0]
        hosts = {self.ours: "own", self.peer: "peer", "0.0.0.0": "any"}
        return f"{hosts.get(host, host)}:{port if port < 30000 else 'some'}"


CALLS = {}


def call(f):
    CALLS[f.__name__.rstrip("_")] = f
    return f


def error():
    return errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno()))


def result(value):
    return "ok" if value >= 0 else error()


@call
def socket_(w, s, *words):
    return w.add(s, libc.socket(socket.AF_INET, socket.SOCK_STREAM | flags(words), 0))


@call
def bind(w, s, to):
    return result(libc.bind(w.fds[s], w.address(to), 16))


@call
def listen(w, s, backlog="5"):
    return result(libc.listen(w.fds[s], int(backlog)))


@call
def accept(w, s, t, *words):
    raw, length = ctypes.create_string_buffer(16), ctypes.c_uint(16)
    said = w.add(t, libc.accept4(w.fds[s], raw, ctypes.byref(length), flags(words)))
    return said if said != "ok" else f"ok from {w.name(raw.raw, length.value)}"


@call
def connect(w, s, to):
    return result(libc.connect(w.fds[s], w.address(to), 16))


@call
def shutdown(w, s, how):
    return result(libc.shutdown(w.fds[s], {"rd": 0, "wr": 1, "both": 2}[how]))


@call
def close(w, s):
    return result(libc.close(w.fds.pop(s)))


@call
def dup(w, s, t):
    fd = libc.dup(w.fds[s])
    said = w.add(t, fd)
    w.sent[fd], w.got[fd] = w.sent[w.fds[s]], w.got[w.fds[s]]
    return said


@call
def names(w, s):
    said = []
    for get in (libc.getsockname, libc.getpeername):
        raw, length = ctypes.create_string_buffer(16), ctypes.c_uint(16)
        done = get(w.fds[s], raw, ctypes.byref(length))
        said.append(w.name(raw.raw, length.value) if done == 0 else error())
    return " ".join(said)


@call
def nonblock(w, s, on="1"):
    os.set_blocking(w.fds[s], on == "0")
    return "ok"


def halves(room, count):
    """Two messages of half of the bytes each; of one byte a single one."""
    half, at = count // 2, ctypes.addressof(room)
    iovs = [Iovec(at, half), Iovec(at + half, count - half)] if half else [Iovec(at, count)]
    return (Mmsghdr * len(iovs))(*[Mmsghdr(Msghdr(None, 0, ctypes.pointer(iov), 1, None, 0, 0), 0) for iov in iovs])


def sending(call_name):
    def send(w, s, count, *words):
        fd, data = w.fds[s], pattern(w.sent[w.fds[s]], int(count))
        if call_name == "write":
            done = libc.write(fd, data, len(data))
        elif call_name == "writev":
            half = len(data) // 2
            pieces = [ctypes.create_string_buffer(part, len(part)) for part in (data[:half], data[half:])]
            iov = (Iovec * 2)(*[Iovec(ctypes.addressof(p), len(p)) for p in pieces])
            done = libc.writev(fd, iov, 2)
        elif call_name == "sendto":
            done = libc.sendto(fd, data, len(data), flags(words), w.address("peer"), 16)
        elif call_name == "sendmsg":
            buffer = ctypes.create_string_buffer(data, len(data))
            iov = Iovec(ctypes.addressof(buffer), len(data))
            done = libc.sendmsg(fd, ctypes.byref(Msghdr(None, 0, ctypes.pointer(iov), 1, None, 0, 0)), flags(words))
        elif call_name == "sendmmsg":
            many = halves(ctypes.create_string_buffer(data, len(data)), len(data))
            done = libc.sendmmsg(fd, many, len(many), flags(words))
            done = done if done < 0 else sum(message.len for message in many[:done])
        else:
            done = libc.send(fd, data, len(data), flags(words))
        w.sent[fd] += max(done, 0)
        return str(done) if done >= 0 else error()

    CALLS[call_name] = send


for call_name in ("send", "write", "writev", "sendto", "sendmsg", "sendmmsg"):
    sending(call_name)


def received(w, fd, done, raw, words):
    """How many bytes, and whether they are the next ones."""
    if done < 0:
        return error()
    if "trunc" in words:
        right = raw[:done] == b"\xaa" * min(done, len(raw))
    else:
        right = raw[:done] == pattern(w.got[fd], done)
    w.got[fd] += 0 if "peek" in words else done
    return f"{done} {'right' if right else 'wrong'}"


def receiving(call_name):
    def receive(w, s, count, *words):
        fd, count = w.fds[s], int(count)
        room = ctypes.create_string_buffer(b"\xaa" * count, max(count, 1))
        iov, more = Iovec(ctypes.addressof(room), count), ""
        if call_name == "read":
            done = libc.read(fd, room, count)
        elif call_name == "readv":
            done = libc.readv(fd, ctypes.byref(iov), 1)
        elif call_name == "preadv2":
            done = libc.preadv2(fd, ctypes.byref(iov), 1, ctypes.c_long(-1), 0)
        elif call_name == "splice":
            r, to = os.pipe()
            done = libc.splice(fd, None, to, None, ctypes.c_size_t(count), 2 if "now" in words else 0)
            noted = ctypes.get_errno()
            data = os.read(r, done) if done > 0 else b""
            ctypes.memmove(room, data, len(data))
            os.close(r), os.close(to)
            ctypes.set_errno(noted)
        elif call_name == "recvfrom":
            raw, length = ctypes.create_string_buffer(b"\xaa" * 128, 128), ctypes.c_uint(16)
            done = libc.recvfrom(fd, room, count, flags(words), raw, ctypes.byref(length))
            more = f" address {length.value} {'untouched' if raw.raw == bytes([0xaa]) * 128 else 'written'}" if done >= 0 else ""
        elif call_name == "recvmsg":
            raw = ctypes.create_string_buffer(128)
            message = Msghdr(ctypes.addressof(raw), 16, ctypes.pointer(iov), 1, None, 0, 0)
            done = libc.recvmsg(fd, ctypes.byref(message), flags(words))
            more = f" address {message.namelen}" if done >= 0 else ""
        else:
            done = libc.recv(fd, None if "nowhere" in words else room, count, flags(set(words) - {"nowhere"}))
        return received(w, fd, done, room.raw, words) + more

    CALLS[call_name] = receive


for call_name in ("recv", "read", "readv", "preadv2", "splice", "recvfrom", "recvmsg"):
    receiving(call_name)


@call
def recvmmsg(w, s, count, *words):
    """Two messages of half of the bytes each."""
    fd, count = w.fds[s], int(count)
    room = ctypes.create_string_buffer(b"\xaa" * count, count)
    many = halves(room, count)
    done = libc.recvmmsg(fd, many, len(many), flags(words), None)
    if done < 0:
        return error()
    lens = [message.len for message in many[:done]]
    data = b"".join(room.raw[i * (count // 2) :][:n] for i, n in enumerate(lens))
    return "+".join(map(str, lens)) + " " + received(w, fd, len(data), data, words)


@call
def fread(w, s, count):
    """By a stream of stdio, until its end or an error."""
    stream, room = libc.fdopen(os.dup(w.fds[s]), b"r"), ctypes.create_string_buffer(int(count))
    done = libc.fread(room, 1, ctypes.c_size_t(int(count)), ctypes.c_void_p(stream))
    noted = error()
    broke, ended = libc.ferror(ctypes.c_void_p(stream)), libc.feof(ctypes.c_void_p(stream))
    libc.fclose(ctypes.c_void_p(stream))
    return f"{done} {noted if broke else 'end' if ended else 'more'}"


@call
def poll(w, s, milliseconds="0", events="IN|OUT|RDHUP|PRI"):
    p = select.poll()
    p.register(w.fds[s], bits(events))
    return mask(p.poll(int(milliseconds))[0][1] if p.poll(0) or int(milliseconds) else 0) if p.poll(int(milliseconds)) else "none"


@call
def await_(w, s, events):
    """Waits until all of these are reported, and gives what is reported then."""
    wanted, begin = bits(events), time.monotonic()
    p = select.poll()
    p.register(w.fds[s], wanted | bits("IN|OUT|RDHUP|PRI"))
    while True:
        ready = p.poll(0)
        reported = ready[0][1] if ready else 0
        if reported & wanted == wanted or time.monotonic() - begin > PATIENCE / SECOND:
            return mask(reported)
        time.sleep(0.001)


@call
def epoll(w, e):
    w.fds[e] = libc.epoll_create1(0)
    return result(w.fds[e])


def registered(operation):
    def register(w, e, s, events="IN", *words):
        edges = {"et": 1 << 31, "oneshot": 1 << 30}
        event = struct.pack("=IQ", bits(events) | sum(edges[word] for word in words), w.fds[s])
        return result(libc.epoll_ctl(w.fds[e], operation, w.fds[s], event))

    return register


CALLS["add"], CALLS["del"], CALLS["mod"] = registered(1), registered(2), registered(3)


@call
def events(w, e, wanted="none"):
    """What an epoll set reports, waiting for these events if they are named."""
    raw, begin, found = ctypes.create_string_buffer(12 * 8), time.monotonic(), {}
    while True:
        n = libc.epoll_wait(w.fds[e], raw, 8, 20 if wanted == "none" else 0)
        for i in range(max(n, 0)):
            got, fd = struct.unpack_from("=IQ", raw, 12 * i)
            found[fd] = found.get(fd, 0) | got
        enough = wanted == "none" or any(got & bits(wanted) == bits(wanted) for got in found.values())
        if enough or time.monotonic() - begin > PATIENCE / SECOND:
            by_fd = {fd: s for s, fd in w.fds.items()}
            return " ".join(f"{by_fd.get(fd, '?')}={mask(got)}" for fd, got in sorted(found.items())) or "none"


@call
def get(w, s, option, room="4"):
    level, number = OPTIONS[option]
    raw, length = ctypes.create_string_buffer(512), ctypes.c_uint(int(room))
    if libc.getsockopt(w.fds[s], level, number, raw, ctypes.byref(length)) != 0:
        return error()
    if option == "error":
        (value,) = struct.unpack_from("i", raw.raw)
        return errno.errorcode.get(value, str(value))
    if option == "info":  # its state alone has a value that is the same everywhere
        return f"{length.value} state {raw.raw[0]}"
    return f"{length.value} {' '.join(str(n) for n in struct.unpack_from(f'{length.value // 4}i', raw.raw))}"


@call
def set_(w, s, option, *values):
    """A value of `byte` is a single byte."""
    level, number = OPTIONS[option]
    raw = b"\1" if values == ("byte",) else struct.pack(f"{len(values)}i", *map(int, values))
    return result(libc.setsockopt(w.fds[s], level, number, raw, len(raw)))


@call
def time_(w, s, which, milliseconds):
    option = {"rcv": socket.SO_RCVTIMEO, "snd": socket.SO_SNDTIMEO}[which]
    return result(libc.setsockopt(w.fds[s], socket.SOL_SOCKET, option, struct.pack("ll", int(milliseconds) // 1000, int(milliseconds) % 1000 * 1000), 16))


@call
def queued(w, s, which):
    raw = ctypes.create_string_buffer(4)
    done = libc.ioctl(w.fds[s], ctypes.c_ulong({"in": 0x541B, "out": 0x5411, "unsent": 0x894B}[which]), raw)
    return str(struct.unpack("i", raw.raw)[0]) if done == 0 else error()


@call
def have(w, s, count):
    """Waits until so many bytes can be read, and says how many can."""
    begin = time.monotonic()
    while (there := queued(w, s, "in")) != count and time.monotonic() - begin < PATIENCE / SECOND:
        time.sleep(0.001)
    return there


@call
def alarm(w, milliseconds, restarts="0"):
    """A signal that long from now; `restarts`: its handler restarts calls."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, restarts == "0")
    signal.setitimer(signal.ITIMER_REAL, int(milliseconds) / SECOND)
    return "ok"


@call
def full(w):
    """Takes every descriptor that is free."""
    while (fd := libc.dup(0)) >= 0:
        w.spare.append(fd)
    return error()


@call
def free(w):
    while w.spare:
        libc.close(w.spare.pop())
    return "ok"


@call
def sigpipe(w, what):
    """Whether the next calls may kill: `ignored`, or `counted` again."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN if what == "ignored" else w.on_pipe)
    return "ok"


@call
def child(w, *line):
    """The call, made by a process that is forked for it."""
    r, to = os.pipe()
    number = os.fork()
    if number == 0:
        said = w.do(" ".join(line))
        os.write(to, repr((said, w.sent, w.got)).encode())
        os._exit(0)
    os.close(to)
    said, w.sent, w.got = ast.literal_eval(os.read(r, 65536).decode())
    os.close(r)
    os.waitpid(number, 0)
    return said


@call
def peer(w, *words):
    words = [w.ours if word == "own" else word for word in words]
    w.told.sendall(" ".join(words).encode() + b"\n")
    return w.lines.readline().strip()
