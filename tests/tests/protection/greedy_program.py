# SPDX-License-Identifier: MIT
"""An application that takes all that it can have of what users share, and asks of others' sockets. Prints what came of it, then
`holding`, and holds it until its input ends."""
import encodings.idna  # names are looked up by it, when its folder may be closed to us
import errno
import os
import socket
import sys

from door import LISTEN, SET, WHY, asked

OURS, PEER, PORT = sys.argv[1], sys.argv[2], 1000
# The id of a connection that was another's, and has failed.
FAILED = int(sys.argv[3], 16)


def names():
    """The ids of all sockets of programs, which everybody can read, by kind and the inode of the program's end."""
    with open("/proc/net/unix") as names:
        lines = [line.split() for line in names if "@carrick/" in line]
    return {(line[7].split("/")[1], int(line[6])): int(line[7].split("/")[2], 16) for line in lines}


def ask(kind, id, end):
    """What the relay answers to one who shows this as the program's end."""
    error = asked(kind, id, end)
    return errno.errorcode[error] if error else "ok"


def taken(make):
    """How many can be had, and what says that it is enough."""
    for count in range(2000):
        try:
            held.append(make())
        except OSError as e:
            return count, errno.errorcode[e.errno]
    return count + 1, "ok"


def bound():
    s = socket.socket()
    s.bind((OURS, 0))
    return s


def listening(s):
    try:
        s.listen()
    except OSError as e:
        return errno.errorcode[e.errno]
    return "ok"


held = []
others = names()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
pair = socket.socketpair()[0]
print("listen", *{ask(LISTEN, id, pair) for (kind, _), id in others.items() if kind == "b"})
print("set", *{ask(SET, id, pair) for (kind, _), id in others.items() if kind == "c" and id != FAILED})
print("why", ask(WHY, FAILED, pair))
print("connections", *taken(lambda: socket.create_connection((PEER, PORT))))
ids = sorted(id >> 16 for (kind, _), id in names().items() if kind == "c")
print("near", sum(b - a < 1 << 16 for a, b in zip(ids, ids[1:])))
print("sockets", *taken(bound))
print("listening", listening(held[-1]))
print("holding", flush=True)
sys.stdin.read()
