# SPDX-License-Identifier: MIT
"""An application of nobody's that tries what it may not. Prints what came of each attempt, then `holding`, and holds what it has,
reading nothing, until its input ends."""
import array
import ctypes
import encodings.idna  # names are looked up by it, when its folder may be closed to us
import errno
import os
import platform
import random
import socket
import sys

from door import SET, asked

OURS, PEER, PORT = sys.argv[1], sys.argv[2], 1000
HOST = int(sys.argv[3])
OBJECTS = [word.split("=") for word in sys.argv[4:]]
BPF, PIDFD_OPEN, PIDFD_GETFD = (321 if platform.machine() == "x86_64" else 280), 434, 438
# The commands of bpf(2) that open what is loaded, by its number.
BY_ID = {"prog_id": 13, "map_id": 14, "link_id": 30}
SEED, STALLED, IDLE = 29, 8, 60
libc = ctypes.CDLL(None, use_errno=True)
rng = random.Random(SEED)


def of(call):
    try:
        call()
        return "ok"
    except OSError as e:
        return errno.errorcode[e.errno]


def syscall(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def opened(kind, id):
    attr = ctypes.create_string_buffer(int(id).to_bytes(4, sys.byteorder), 128)
    syscall(BPF, BY_ID[kind], attr, 128)


def bind(port):
    held.append(socket.socket())
    held[-1].bind((OURS, port))
    held[-1].listen()


def ask(line):
    s = socket.create_connection((PEER, PORT))
    s.sendall(line + b"\n")
    held.append(s)
    return s


def names():
    """The ids of all connections of programs, which everybody can read, by the inodes of the programs' ends."""
    with open("/proc/net/unix") as names:
        lines = [line.split() for line in names if "@carrick/c/" in line]
    return {int(line[6]): int(line[7].split("/")[2], 16) for line in lines}


def reset(id, end):
    """Asks that a connection be reset when it closes, which only those may ask who have the program's end."""
    error = asked(SET, id, end)
    if error:
        raise OSError(error, "refused")


def crowd():
    """Stands at the door, and asks nothing."""
    for _ in range(100):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(os.environ["CARRICK_SOCKETS"])
        held.append(s)


def descriptors():
    """What its descriptors and its memory are of."""
    links = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{n}")]
    with open("/proc/self/maps") as maps:
        return links + maps.read().splitlines()


def garbage():
    """Writes to what it was given, as no library would: to listeners, to connections, with descriptors, and from the end of them."""
    out, into = os.pipe()
    for s in list(held):
        with socket.socket(fileno=os.dup(s.fileno())) as raw:
            raw.setblocking(False)
            for _ in range(50):
                passed = array.array("i", [out, into][: rng.randrange(3)])
                control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, passed)] if passed else []
                of(lambda: raw.sendmsg([rng.randbytes(rng.randrange(1, 5000))], control))
    for _ in range(STALLED):
        ask(b"send 1000000").shutdown(socket.SHUT_WR)


held = []
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
print("objects", *sorted({of(lambda: opened(kind, id)) for kind, id in OBJECTS}))
print("load", of(lambda: syscall(BPF, 5, ctypes.create_string_buffer(128), 128)))
print("descriptors", of(lambda: os.listdir(f"/proc/{HOST}/fd")))
print("memory", of(lambda: open(f"/proc/{HOST}/mem", "rb")))
pidfd = libc.syscall(PIDFD_OPEN, HOST, 0)
print("taken", *sorted({of(lambda: syscall(PIDFD_GETFD, pidfd, n, 0)) for n in range(32)}))
another = next(iter(names().values()))
print("reset", of(lambda: reset(another, socket.socketpair()[0])))
print("ports", *(of(lambda: bind(port)) for port in (80, 8000, 8099, 8100, 0)))
for _ in range(IDLE):
    ask(b"echo")
print("held", sum("bpf" in what for what in descriptors()))
print("reset own", of(lambda: reset(names()[os.fstat(held[-1].fileno()).st_ino], held[-1])))
print("reset", of(lambda: reset(another, held[-1])))
garbage()
for _ in range(STALLED):
    ask(b"send 5000000")
print("held", sum("bpf" in what for what in descriptors()))
crowd()
print("holding", flush=True)
sys.stdin.read()
