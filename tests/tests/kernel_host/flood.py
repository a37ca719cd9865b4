# SPDX-License-Identifier: MIT
"""Sends as much as goes, as the user whose number comes first: `to:ADDRESS:PORT:COUNT` on so many connections, `on:PORT:COUNT` to
so many that come, for which it waits once it has said `ready`."""
import encodings.idna  # names are looked up by it, when its folder may be closed to us
import os
import socket
import sys
import threading

PIECE = bytes(1 << 16)
if int(sys.argv[1]):
    os.setgroups([])
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))


def flood(s):
    try:
        while True:
            s.sendall(PIECE)
    except OSError:
        pass


threads = []


def begin(s):
    threads.append(threading.Thread(target=flood, args=(s,)))
    threads[-1].start()


waiting = []
for word in sys.argv[2:]:
    kind, *rest = word.split(":")
    if kind == "on":
        waiting.append((socket.create_server(("", int(rest[0])), backlog=128), int(rest[1])))
print("ready", flush=True)
for word in sys.argv[2:]:
    kind, *rest = word.split(":")
    if kind == "to":
        for _ in range(int(rest[2])):
            begin(socket.create_connection((rest[0], int(rest[1]))))
for door, count in waiting:
    for _ in range(count):
        begin(door.accept()[0])
for thread in threads:
    thread.join()
