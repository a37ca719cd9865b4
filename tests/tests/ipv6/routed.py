# SPDX-License-Identifier: MIT
"""Datagrams with the routes of Linux (RFC 8754), which makes and checks their checksums. Says `ready`, then obeys lines: `say N TO VIA`,
of which VIA may be absent, and `hear`, whose answer is N, and of a route the segments left and the list."""
import socket
import struct
import sys

PORT, SEGMENT_ROUTING = 7, 4
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVRTHDR, 1)
s.bind(("::", PORT))
s.settimeout(60)
print("ready", flush=True)


def route(via):
    """The list begins with the destination, which Linux fills in."""
    first = socket.inet_pton(socket.AF_INET6, via)
    return struct.pack("!BBBBBBH", 0, 4, SEGMENT_ROUTING, 1, 1, 0, 0x1234) + bytes(16) + first


def shown(header):
    entries = [header[at:at + 16] for at in range(8, len(header), 16)]
    return [header[3], *(socket.inet_ntop(socket.AF_INET6, entry) for entry in entries)]


for line in sys.stdin:
    what, *words = line.split()
    if what == "say":
        n, to, *via = words
        if via:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RTHDR, route(*via))
        s.sendto(struct.pack("!I", int(n)) + bytes(range(100)), (to, PORT))
        print("ok", flush=True)
        continue
    data, headers, _, _ = s.recvmsg(2000, 400)
    n, = struct.unpack("!I", data[:4])
    intact = data[4:] == bytes(range(100))
    print(n if intact else "damaged", *(word for _, _, header in headers for word in shown(header)), flush=True)
