# SPDX-License-Identifier: MIT
"""Opens so many connections to an echo server, on the kernel's stack, sends over each as often as is asked while all are open, and
compares what comes back. Prints `same`."""
import resource
import socket
import sys

SERVER, COUNT, ROUNDS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
connections = [socket.create_connection((SERVER, 80), 60) for _ in range(COUNT)]
for turn in range(ROUNDS):
    said = [f"{turn} {n:6}".encode() for n in range(COUNT)]
    for s, what in zip(connections, said):
        s.sendall(what)
    for s, what in zip(connections, said):
        back = b""
        while len(back) < len(what):
            piece = s.recv(100)
            assert piece, "it has ended"
            back += piece
        assert back == what, (back, what)
print("same")
