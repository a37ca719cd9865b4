# SPDX-License-Identifier: MIT
"""A peer that has a connection which is echoed, beside which it sends what nobody honest would. Each part begins with its name.
Prints for each counter what belongs to it, what was answered, and at the end `same` if the connection has carried its octets."""
import collections
import random
import socket
import struct
import sys

from segments import ACK, FIN, PSH, RST, SYN, Wire, address, broken

OWN, OURS, DEVICE, SEED = sys.argv[1], sys.argv[2], sys.argv[3], 23
PATIENCE = 30
rng = random.Random(SEED)


class Honest:
    """The connection, and where its sequence numbers are."""

    def __init__(self):
        self.s = socket.create_connection((OURS, 1000), PATIENCE)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.ports = (self.s.getsockname()[1], 1000)

    def watch(self):
        """Looks at what passes from now on; what is long past would leave no room."""
        self.seen = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        self.seen.bind((DEVICE, 0x0003))
        self.seen.settimeout(PATIENCE)

    def echoes(self, octets=3000):
        piece, back = rng.randbytes(octets), b""
        self.s.sendall(piece)
        while len(back) < octets:
            got = self.s.recv(octets - len(back))
            assert got, "it has ended"
            back += got
        assert back == piece, "other octets"

    def look(self, wanted):
        """The first packet that is seen of which this is true: a field of the header, or octets."""
        while True:
            frame, (_, _, way, *_) = self.seen.recvfrom(65536)
            packet = frame[14:]
            if frame[12:14] != b"\x08\x00" or len(packet) < 40 or packet[9] != 6:
                continue
            ports, seq, ack = struct.unpack("!HH", packet[20:24]), *struct.unpack("!II", packet[24:32])
            found = (way == socket.PACKET_OUTGOING, ports, seq, ack, packet[33], packet[40 : 20 + (packet[32] >> 4) * 4])
            if wanted(*found):
                return found

    def state(self):
        """Its next sequence number, what it acknowledges next, and its timestamps: as its last segment said."""
        self.watch()
        self.echoes(1)
        _, _, seq, ack, _, options = self.look(lambda out, ports, seq, ack, flags, _: out and ports == self.ports and flags & PSH)
        return seq + 1, ack + 1, options


def malformed(honest, wire):
    """Packets that cannot be."""
    counted, packets = collections.Counter(), broken(wire, rng)
    for _ in range(40):
        for _ in range(25):
            counter, packet = next(packets)
            wire.send(packet)
            counted[counter] += 1
        honest.echoes()
    for counter, count in sorted(counted.items()):
        print(counter, count)


def strangers(honest, wire):
    """Segments of connections that there are not (RFC 9293 §3.10.7.1): each is reset, but for resets."""
    for port in range(5000, 5020):
        wire.send(wire.packet(wire.segment((port, 1000), 1, port, RST)))
        wire.send(wire.packet(wire.segment((port, 1000), 7, port, ACK, data=rng.randbytes(100))))
        honest.look(lambda out, ports, seq, ack, flags, _: not out and ports == (1000, port) and flags & RST and seq == port)
        wire.send(wire.packet(wire.segment((port, 9), 7, 0, SYN)))
        honest.look(lambda out, ports, seq, ack, flags, _: not out and ports == (9, port) and flags & RST and ack == 8)
    honest.echoes()
    print("answered 40")


def forged(honest, wire):
    """Segments of the connection that are not of its window, or have sequence numbers that only the peer does not know: an
    acknowledgement comes of the first of them (RFC 5961), of the others as long as there are not too many a second."""
    for far in (2**20, 2**30, 2**31, -(2**20), -(2**30)):
        seq, ack, options = honest.state()
        for flags, data in ((ACK, b"x" * 500), (RST, b""), (RST | ACK, b""), (SYN, b""), (SYN | ACK, b""), (FIN | ACK, b"y")):
            wire.send(wire.packet(wire.segment(honest.ports, seq + far, ack, flags, options, data)))
        wire.send(wire.packet(wire.segment(honest.ports, seq, ack + far, ACK, options, b"z" * 500)))
        # In the window, and yet not the next byte.
        wire.send(wire.packet(wire.segment(honest.ports, seq + 100, ack, RST, options)))
        wire.send(wire.packet(wire.segment(honest.ports, seq + 100, ack, SYN, options)))
        if far == 2**20:
            expected = (honest.ports[::-1], ack % 2**32, seq % 2**32, ACK)
            honest.look(lambda out, ports, s, a, flags, _: not out and (ports, s, a, flags) == expected)
        honest.echoes()
    print("forged 45")


def flood(honest, wire):
    """More connections begun than there is room for, from addresses that nobody has. A new one is served all the same."""
    for n in range(200):
        source = address(f"10.77.1.{n}")
        wire.send(wire.packet(wire.segment((6000 + n, 1000), n, 0, SYN, source=source), source=source))
        if n % 25 == 24:
            honest.echoes()
    late = Honest()
    late.echoes()
    late.s.close()
    print("begun 200")


honest = Honest()
honest.echoes()
wire = Wire(DEVICE, OWN, OURS)
for part in (malformed, strangers, forged, flood):
    honest.watch()
    part(honest, wire)
    honest.echoes(20_000)
honest.s.shutdown(socket.SHUT_WR)
print("same" if honest.s.recv(1) == b"" else "not the same")
