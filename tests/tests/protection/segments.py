# SPDX-License-Identifier: MIT
"""Segments of TCP as octets, and what may be wrong with them."""
import random
import socket
import struct

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def address(text):
    return socket.inet_aton(text)


class Wire:
    """Frames from here to there, from whatever address they say."""

    def __init__(self, device, own, there):
        self.own, self.there = address(own), address(there)
        self.s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.s.bind((device, 0x0800))
        with open("/proc/net/arp") as f:
            known = [line.split() for line in f]
        mac = next(bytes.fromhex(line[3].replace(":", "")) for line in known if line[0] == there)
        self.ethernet = mac + self.s.getsockname()[4] + b"\x08\x00"

    def send(self, packet):
        self.s.send(self.ethernet + packet)

    def packet(self, body, source=None, version=4, header=20, total=None, fragment=0, protocol=6, wrong=0):
        total = 20 + len(body) if total is None else total
        ip = struct.pack("!BBHHHBBH", version << 4 | header // 4, 0, total, 1, fragment, 64, protocol, 0)
        ip += (source or self.own) + self.there
        sum = checksum(ip) ^ wrong
        return ip[:10] + struct.pack("!H", sum) + ip[12:] + body

    def segment(self, ports, seq, ack, flags, options=b"", data=b"", source=None, offset=None, wrong=0):
        offset = (20 + len(options)) // 4 if offset is None else offset
        head = struct.pack("!HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, offset << 4, flags, 1000, 0, 0)
        whole = head + options + data
        pseudo = (source or self.own) + self.there + struct.pack("!HH", 6, len(whole))
        sum = checksum(pseudo + whole) ^ wrong
        return whole[:16] + struct.pack("!H", sum) + whole[18:]


def broken(wire, rng):
    """Packets without end that cannot be, each with the counter that it belongs to."""
    ports = (4000, 1000)

    def whole():
        return wire.segment(ports, rng.getrandbits(32), rng.getrandbits(32), ACK, data=rng.randbytes(rng.randrange(1, 900)))

    def options(octets):
        return wire.packet(wire.segment(ports, 1, 1, ACK, options=octets))

    def shorter():
        body = whole()
        return wire.packet(body)[: rng.randrange(20, 20 + len(body))]

    def cut():
        body = whole()
        return wire.packet(body[: rng.randrange(20)])

    makers = {
        # With less the kernel does not see whose it is.
        "ip_short": [lambda: wire.packet(whole())[: rng.randrange(10, 20)]],
        "ip_version": [lambda: wire.packet(whole(), version=rng.choice([0, 1, 3, 5, 6, 15]))],
        "ip_length": [
            shorter,
            lambda: wire.packet(whole(), header=rng.randrange(0, 20, 4)),
            lambda: wire.packet(whole(), total=rng.randrange(20)),
            lambda: wire.packet(b"", header=60),
            lambda: wire.packet(whole(), total=65535),
        ],
        "ip_checksum": [lambda: wire.packet(whole(), wrong=rng.randrange(1, 65535))],
        "ip_fragment": [lambda: wire.packet(whole(), fragment=rng.choice([0x2000, rng.randrange(1, 0x2000)]))],
        "short": [cut, lambda: wire.packet(b"")],
        "bad_checksum": [
            lambda: wire.packet(wire.segment(ports, 1, 1, ACK, data=rng.randbytes(99), wrong=rng.randrange(1, 65535))),
            lambda: wire.packet(wire.segment(ports, 1, 1, rng.getrandbits(8), wrong=rng.randrange(1, 65535))),
        ],
        "bad_options": [
            lambda: options(b"\x02\x00" + rng.randbytes(2)),
            lambda: options(b"\x02\x01" + rng.randbytes(2)),
            lambda: options(b"\x02\x03\x05\x01"),
            lambda: options(b"\x08\x0a" + rng.randbytes(6)),
            lambda: options(b"\x01\x01\xfe\x29"),
            lambda: options(b"\x01\x01\x01" + rng.choice([b"\x02", b"\x03", b"\x08", b"\xfe"])),
            lambda: wire.packet(wire.segment(ports, 1, 1, ACK, offset=rng.randrange(6, 16))),
            lambda: wire.packet(wire.segment(ports, 1, 1, ACK, offset=rng.randrange(5))),
        ],
        "ip_address": [lambda: wire.packet(whole_from(address("224.0.0.1")), source=address("224.0.0.1"))],
    }

    def whole_from(source):
        return wire.segment(ports, 1, 1, ACK, source=source)

    while True:
        counter = rng.choice(list(makers))
        yield counter, rng.choice(makers[counter])()
