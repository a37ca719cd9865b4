# SPDX-License-Identifier: MIT
"""An application that has octets echoed, until its input ends but so many pieces at least. Prints `begun`, and in the end `same`."""
import random
import select
import socket
import sys

PEER, PIECES, PIECE = sys.argv[1], int(sys.argv[2]), 20_000
rng = random.Random(31)
s = socket.create_connection((PEER, 1000))
s.settimeout(60)
s.sendall(b"echo\n")
pieces, over = 0, False
while pieces < PIECES or not over:
    piece, back = rng.randbytes(PIECE), b""
    s.sendall(piece)
    while len(back) < PIECE:
        got = s.recv(PIECE - len(back))
        assert got, "it has ended"
        back += got
    assert back == piece, "other octets"
    if pieces == 0:
        print("begun", flush=True)
    pieces += 1
    over = over or bool(select.select([sys.stdin], [], [], 0)[0])
print("same")
