# SPDX-License-Identifier: MIT
"""Packets of `relay` over IPv6, by a raw socket of the kernel, which makes and checks their checksums (IPV6_CHECKSUM). Says
`ready`, then obeys lines: `say KIND N LENGTH` and `hear`, whose answer is KIND, N, the hop limit and the length of an intact payload."""
import socket
import struct
import sys

PEER, PROTOCOL = sys.argv[1], 212
s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, PROTOCOL)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_CHECKSUM, 2)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
s.settimeout(60)
print("ready", flush=True)


def payload(length):
    return bytes(n * 7 % 251 for n in range(length))


for line in sys.stdin:
    what, *numbers = line.split()
    if what == "say":
        kind, n, length = map(int, numbers)
        s.sendto(struct.pack("!BBHI", kind, 0, 0, n) + payload(length), (PEER, 0))
        print("ok", flush=True)
        continue
    data, [(_, _, hops)], _, (source, *_) = s.recvmsg(2000, 64)
    kind, _, _, n = struct.unpack("!BBHI", data[:8])
    intact = source == PEER and data[8:] == payload(len(data) - 8)
    print(kind, n, *struct.unpack("i", hops), len(data) - 8 if intact else "damaged", flush=True)
