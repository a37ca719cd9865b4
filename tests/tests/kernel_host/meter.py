# SPDX-License-Identifier: MIT
"""Says at which rate the packets of paced.mtp came, in bits per second, by the times at which the kernel took them."""
import socket
import struct
import sys

OCTETS, STAMPS, FORCED = 40, 35, 33  # of a packet; SO_TIMESTAMPNS, SO_RCVBUFFORCE

wire = socket.socket(socket.AF_INET, socket.SOCK_RAW, 207)
wire.setsockopt(socket.SOL_SOCKET, STAMPS, 1)
wire.setsockopt(socket.SOL_SOCKET, FORCED, 1 << 26)
wire.settimeout(120)  # the host may have to be compiled first
print("ready", flush=True)
first, last = None, None
while not last or last[0] < int(sys.argv[1]):
    packet, stamps, *_ = wire.recvmsg(2000, 64)
    number = struct.unpack("!I", packet[24:28])[0]
    seconds, nanoseconds = struct.unpack("qq", stamps[0][2])
    last = number, seconds * 10**9 + nanoseconds
    first = first or last
print((last[0] - first[0]) * OCTETS * 8 * 10**9 // (last[1] - first[1]), flush=True)
