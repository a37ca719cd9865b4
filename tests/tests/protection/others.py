# SPDX-License-Identifier: MIT
"""The kernel's own stack, at another address of the device: answers TCP and UDP at port 7. Says `ready` when it serves."""
import socket
import sys
import threading


def stream(s):
    while piece := s.recv(65536):
        s.sendall(piece)
    s.close()


def datagrams(u):
    while True:
        u.sendto(*u.recvfrom(65536))


listener = socket.create_server((sys.argv[1], 7))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind((sys.argv[1], 7))
threading.Thread(target=datagrams, args=(u,), daemon=True).start()
print("ready", flush=True)
while True:
    threading.Thread(target=stream, args=(listener.accept()[0],), daemon=True).start()
