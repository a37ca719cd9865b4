# SPDX-License-Identifier: MIT
"""Says to a stack's door what no library would: any octets, any descriptors, and leaves in the middle. Prints `said`."""
import array
import os
import random
import socket
import struct
import sys
import tempfile

DOOR, VERSION, SEED = sys.argv[1], int(sys.argv[2]), 11
rng = random.Random(SEED)
file, (out, into), (a, b) = tempfile.TemporaryFile(), os.pipe(), socket.socketpair()
listener = socket.create_server(("127.0.0.1", 0))
DESCRIPTORS = [file.fileno(), out, into, a.fileno(), b.fileno(), listener.fileno(), 0]
held = []
MAPPED = 0xFFFF << 32  # before an address of IPv4

for n in range(2000):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(DOOR)
    s.setblocking(False)
    for _ in range(rng.randrange(4)):
        version, kind = rng.choice([VERSION, VERSION, VERSION, 1]), rng.randrange(13)
        id = rng.choice([0, rng.getrandbits(64), rng.randrange(70000)])
        ask = struct.pack(
            "=IIQQQHHIIIIIIIII",
            version, kind, id, rng.choice([0, 0, 0xFE80 << 48, rng.getrandbits(64)]),
            rng.choice([0, MAPPED | 0x0A4D0001, MAPPED | 0x0A4D0002, rng.getrandbits(64)]), rng.getrandbits(16),
            rng.choice([0, rng.getrandbits(16)]), rng.choice([0, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, rng.getrandbits(32)]), rng.getrandbits(rng.randrange(33)), rng.getrandbits(1), rng.getrandbits(1), *(rng.getrandbits(32) for _ in range(5)),
        )
        ask = rng.choice([ask, ask, ask, ask[: rng.randrange(len(ask))], ask + b"x"])
        passed = rng.sample(DESCRIPTORS, rng.choice([0, 1, 1, 2, 5]))
        try:
            s.sendmsg([ask], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", passed))] if passed else [])
        except OSError:
            break  # the door was shut in our face
    held.append(s)
    if len(held) > rng.randrange(40):
        held.pop(rng.randrange(len(held))).close()
print("said")
