# SPDX-License-Identifier: MIT
"""An application of a user of its own, with a socket that is bound, a connection that fails, and one that stays. Prints the
id of the failed one and why it failed, and when its input ends `same` if all else is as it was."""
import encodings.idna  # names are looked up by it, when its folder may be closed to us
import errno
import os
import socket
import sys
import time

OURS, PEER, UID, ENDED = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]


def id_of(s):
    inode = str(os.fstat(s.fileno()).st_ino)
    with open("/proc/net/unix") as names:
        return next(line.split()[7].split("/")[2] for line in names if "@carrick/c/" in line and line.split()[6] == inode)


def echoed(s, what):
    s.sendall(what)
    back = b""
    while len(back) < len(what):
        back += s.recv(len(what) - len(back))
    return back == what


os.setgroups([])
os.setgid(UID)
os.setuid(UID)
bound = socket.socket()
bound.bind((OURS, 0))
stays = socket.create_connection((PEER, 1000), 60)
stays.sendall(b"echo\n")
assert echoed(stays, b"before")
fails = socket.create_connection((PEER, 1000), 60)
failed = id_of(fails)
fails.sendall(b"reset 1\n")
fails.recv(1)
fails.sendall(b"x")
time.sleep(0.5)
print(failed, flush=True)
sys.stdin.readline()
try:
    fails.recv(1)
    print("ended", flush=True)
except OSError as e:
    print(errno.errorcode[e.errno], flush=True)
sys.stdin.read()
bound.listen()
assert echoed(stays, b"behind")
print("same")
