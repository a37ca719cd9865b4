# SPDX-License-Identifier: MIT
"""Has a program in the kernel echo octets without end, and asks the kernel's own stack at the other end of the same wire for all
that it does, each time after more octets have come back. Prints how often each was answered, and `same` if all octets were."""
import random
import socket
import struct
import sys
import threading

OURS, OTHER, DEVICE, ROUNDS, PIECE = sys.argv[1], sys.argv[2], sys.argv[3], 10, 8192
PATIENCE = 30


class Transfer(threading.Thread):
    """Octets to the program and back, until it is told to end."""

    def __init__(self):
        super().__init__(daemon=True)
        self.s = socket.create_connection((OURS, 1000), PATIENCE)
        self.moved, self.over, self.same, self.news = 0, False, None, threading.Condition()

    def run(self):
        rng, same = random.Random(7), True
        while not self.over and same:
            piece, back = rng.randbytes(PIECE), b""
            self.s.sendall(piece)
            while len(back) < PIECE:
                got = self.s.recv(PIECE - len(back))
                if not got:
                    break
                back += got
            same = back == piece
            with self.news:
                self.moved += len(back)
                self.news.notify()
        self.s.shutdown(socket.SHUT_WR)
        self.same = same and self.s.recv(1) == b""

    def go_on(self):
        with self.news:
            before = self.moved
            assert self.news.wait_for(lambda: self.moved > before, PATIENCE), f"it stands still at {before}"


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tcp(n):
    with socket.create_connection((OTHER, 7), PATIENCE) as s:
        s.sendall(b"%06d" % n)
        return s.recv(6, socket.MSG_WAITALL) == b"%06d" % n


def udp(n):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as u:
        u.settimeout(PATIENCE)
        u.sendto(b"%06d" % n, (OTHER, 7))
        return u.recv(100) == b"%06d" % n


def ping(address, n):
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as r:
        r.settimeout(PATIENCE)
        echo = struct.pack("!BBHHH6s", 8, 0, 0, 77, n, b"carrik")
        r.sendto(echo[:2] + struct.pack("!H", checksum(echo)) + echo[4:], (address, 0))
        while True:
            packet = r.recv(100)
            if packet[20] == 0 and packet[24:] == echo[4:] and packet[12:16] == socket.inet_aton(address):
                return True


def arp(n):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806)) as a:
        a.bind((DEVICE, 0x0806))
        a.settimeout(PATIENCE)
        own, nobody = a.getsockname()[4], bytes(6)
        us, other = socket.inet_aton(sys.argv[4]), socket.inet_aton(OTHER)
        ask = struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, own, us, nobody, other)
        a.send(b"\xff" * 6 + own + b"\x08\x06" + ask)
        while True:
            frame = a.recv(100)
            if frame[20:22] == b"\0\x02" and frame[28:32] == other and frame[:6] == own:
                return True


transfer = Transfer()
transfer.start()
asked = {"tcp": tcp, "udp": udp, "ping": lambda n: ping(OTHER, n), "ping ours": lambda n: ping(OURS, n), "arp": arp}
for n in range(ROUNDS):
    for name, ask in asked.items():
        transfer.go_on()
        assert ask(n), name
transfer.over = True
transfer.join(PATIENCE)
print(*(f"{name} {ROUNDS}" for name in asked), "same" if transfer.same else "not the same", sep="\n")
