# SPDX-License-Identifier: MIT
"""Answers who asks by the program asking.mtp, from the third time on; says what comes, and ends with a farewell."""
import socket
import struct

ASK, ANSWER, BYE = 0, 1, 2
PATIENCE = 2


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def answer(packet, to, number):
    source, own = struct.unpack("!HH", packet[22:26])
    body = struct.pack("!BBHHHI", ANSWER, 0, own, source, 0, number)
    pseudo = packet[16:20] + packet[12:16] + struct.pack("!BBH", 0, 206, len(body))
    body = body[:6] + struct.pack("!H", checksum(pseudo + body)) + body[8:]
    wire.sendto(body, to)


wire = socket.socket(socket.AF_INET, socket.SOCK_RAW, 206)
print("ready", flush=True)
what = ASK
while what != BYE:
    packet, sender = wire.recvfrom(2000)
    what, number = packet[20], struct.unpack("!I", packet[28:32])[0]
    print(what, number, flush=True)
    if what == ASK and number > PATIENCE:
        answer(packet, sender, number)
