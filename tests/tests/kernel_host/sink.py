# SPDX-License-Identifier: MIT
"""Takes all that comes: `listen:PORT:COUNT` waits for so many connections, `fetch:ADDRESS:PORT:COUNT` makes them. Says `ready`
once those are made, and then for each word at which rate packets came, in bits per second, by the octets and segments that the kernel counted:
a line for each of so many windows of time, one after the other. A stall of the machine moves packets from one window into the next, and so do
gaps: octets behind one count when it is filled. With WARM 0, each line is for all of the time since the first connection."""
import socket
import struct
import sys
import threading
import time

WARM, SECONDS, WINDOWS = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
TIMESTAMPS, HEADER, STAMPED = 1, 40, 12  # a bit of the options; bytes


def octets(s):
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    received, segments = struct.unpack_from("=Q", info, 128)[0], struct.unpack_from("=I", info, 140)[0]
    return received + segments * (HEADER + (STAMPED if info[5] & TIMESTAMPS else 0))


def drain(s):
    memory = bytearray(1 << 18)
    try:
        while s.recv_into(memory):
            pass
    except OSError:
        pass


def begin(s):
    threading.Thread(target=drain, args=(s,), daemon=True).start()
    return s


doors = {}
for word in sys.argv[4:]:
    kind, *rest = word.split(":")
    if kind == "listen":
        doors[word] = socket.create_server(("", int(rest[0])), backlog=1024)
groups, began = {}, time.monotonic()
for word in sys.argv[4:]:
    kind, *rest = word.split(":")
    if kind == "fetch":
        groups[word] = [begin(socket.create_connection((rest[0], int(rest[1])), 30)) for _ in range(int(rest[2]))]
print("ready", flush=True)
for word, door in doors.items():
    groups[word] = [begin(door.accept()[0]) for _ in range(int(word.split(":")[2]))]
groups = [groups[word] for word in sys.argv[4:]]
before = [0] * len(groups)
if WARM:
    time.sleep(WARM)
    before, began = [sum(map(octets, group)) for group in groups], time.monotonic()
for _ in range(WINDOWS):
    time.sleep(SECONDS)
    after, ended = [sum(map(octets, group)) for group in groups], time.monotonic()
    print(*(int((b - a) * 8 / (ended - began)) for a, b in zip(before, after)), flush=True)
    if WARM:
        before, began = after, ended
