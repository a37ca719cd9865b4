# SPDX-License-Identifier: MIT
"""A device by hand: each line that is read is a frame to send, each line that is written a frame that arrived, in hexadecimal."""
import select
import socket
import struct
import sys

ALL = 3  # ETH_P_ALL
PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC, PACKET_IGNORE_OUTGOING = 1, 1, 23
device = sys.argv[1]
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
wire.bind((device, ALL))
promiscuous = struct.pack("iHH8s", socket.if_nametoindex(device), PACKET_MR_PROMISC, 0, b"")
wire.setsockopt(263, PACKET_ADD_MEMBERSHIP, promiscuous)  # SOL_PACKET
wire.setsockopt(263, PACKET_IGNORE_OUTGOING, 1)
print("here", flush=True)
while True:
    ready, _, _ = select.select([wire, sys.stdin.buffer], [], [])
    if wire in ready:
        print(wire.recv(65536).hex(), flush=True)
    if sys.stdin.buffer in ready:
        line = sys.stdin.buffer.raw.readline()
        if not line:
            break
        wire.send(bytes.fromhex(line.decode().strip()))
