# SPDX-License-Identifier: MIT
"""Asks a key-value store with room for three keys, over the kernel's sockets; says `all` when each answer was right."""

import socket
import sys

KEYS = [bytes([octet]) * 32 for octet in b"abcd"]
OLD, NEW = b"o" * 64, bytes(range(64))


def opened():
    return socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=20)


def told(stream, octets):
    got = b""
    while len(got) < octets and (piece := stream.recv(octets - len(got))):
        got += piece
    return got


def asks(stream, request, wanted):
    stream.sendall(request)
    got = told(stream, len(wanted))
    assert got == wanted, (request, got, wanted)


with opened() as first, opened() as second:
    asks(first, b"G" + KEYS[0], b"N")
    asks(first, b"S" + KEYS[0] + OLD, b"D")
    asks(second, b"G" + KEYS[0], b"V" + OLD)
    asks(second, b"S" + KEYS[0] + NEW, b"D")
    asks(first, b"G" + KEYS[0], b"V" + NEW)
    # Many at once, in order; and one in pieces.
    asks(first, b"".join(b"S" + KEYS[1] + bytes([n]) * 64 + b"G" + KEYS[1] for n in range(200)),
         b"".join(b"DV" + bytes([n]) * 64 for n in range(200)))
    for octet in b"S" + KEYS[2] + OLD[:-1]:
        first.sendall(bytes([octet]))
    asks(second, b"G" + KEYS[2], b"N")
    asks(first, OLD[-1:], b"D")
    # It is full: what is there can still be set.
    asks(first, b"S" + KEYS[3] + OLD, b"F")
    asks(first, b"S" + KEYS[2] + NEW + b"G" + KEYS[3], b"DN")
    # What is no request ends its own connection, and what came before it is answered.
    asks(second, b"G" + KEYS[2] + b"get what" + b"G" + KEYS[2], b"V" + NEW + b"E")
    assert second.recv(1) == b"", "it goes on"
    asks(first, b"G" + KEYS[1], b"V" + bytes([199]) * 64)
print("all")
