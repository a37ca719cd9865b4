#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program hides the source address of Ethernet in captured frames, and writes them. Six valid frames with UDP: whole, with checksum 0 (none,
# as VXLAN has it), two fragments, one that the capture cut at 96 of 1042 bytes (snaplen), and one with a VLAN tag and padding to 64 bytes.
# Once the program only sets the address, once it prints the frame before.
#
# Expected by most: six bytes change, in both runs, and with each library. At most checksums are computed again, which were right already.
# Seen: scapy 2.8.0 changes only these bytes. dpkt 1.9.8 leaves out the padding. pypacker 5.4 changes only these bytes if the frame was not
# read before. If it was (str(frame), or a look at any layer above), it also writes lengths and checksums of IP and UDP anew:
# - a later fragment gets a length and a checksum of UDP amid its data, where the header would be in a whole packet;
# - the first fragment gets those of a datagram that ends with it: a receiver takes 24 bytes of 40, with a right checksum, and no error;
# - a cut frame gets lengths of what was captured: traffic measured by them shrinks from 1028 to 82 bytes;
# - padding behind a VLAN tag becomes part of IP (frames of up to 60 bytes are spared), and a checksum of 0 becomes one.
# Why: bin() updates each layer that was parsed if any layer has changed (pypacker/pypacker.py), and UDP's update neither knows of fragments nor
# of cut frames (layer4/udp.py). Layers are parsed when they are first looked at.
# So: frame.bin(update_auto_fields=False), and checksums by hand.
. "$(dirname "$0")/packages"

python3 -m pip install -q --no-deps --target packages pypacker==5.4 dpkt==1.9.8 scapy==2.8.0 2> pip.log || { cat pip.log >&2; exit 3; }
cat >rewritten.py <<'END'
import struct

import dpkt
from pypacker.layer12.ethernet import Ethernet
from scapy.layers.l2 import Ether

ADDRESSES = bytes([192, 0, 2, 1, 192, 0, 2, 2])
MACS, HIDDEN = bytes.fromhex("020000000002020000000001"), "02:00:00:00:00:07"


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)


def ip(payload, fragment=0):
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 7, fragment, 64, 17, 0) + ADDRESSES
    return header[:10] + checksum(header) + header[12:] + payload


def udp(data, sums=True):
    header = struct.pack(">HHHH", 40000, 5001, 8 + len(data), 0)
    pseudo = ADDRESSES + struct.pack(">HH", 17, 8 + len(data))
    return header[:6] + (checksum(pseudo + header + data) if sums else bytes(2)) + data


PLAIN, TAGGED = MACS + b"\x08\x00", MACS + b"\x81\x00\x00\x05\x08\x00"
DATA = bytes(range(200, 240))
FRAMES = {
    "whole": PLAIN + ip(udp(DATA)),
    "no checksum": PLAIN + ip(udp(DATA, sums=False)),
    "first fragment": PLAIN + ip(udp(DATA)[:32], 0x2000),
    "later fragment": PLAIN + ip(udp(DATA)[32:], 4),
    "cut": (PLAIN + ip(udp(bytes(1000))))[:96],
    "tagged": (TAGGED + ip(udp(b"data"))).ljust(64, b"\0"),
}
FIELDS = {16: "IP length", 24: "IP checksum", 38: "UDP length", 40: "UDP checksum"}


def scapy(data):
    frame = Ether(data)
    repr(frame)
    frame.src = HIDDEN
    return bytes(frame)


def with_dpkt(data):
    frame = dpkt.ethernet.Ethernet(data)
    repr(frame)
    frame.src = bytes.fromhex(HIDDEN.replace(":", ""))
    return bytes(frame)


def pypacker(data, printed=False, update=True):
    frame = Ethernet(data)
    if printed:
        str(frame)
    frame.src_s = HIDDEN
    return frame.bin(update_auto_fields=update)


def difference(name, got):
    """What is not as in the frame before, beside the address."""
    wanted = FRAMES[name][:6] + bytes.fromhex(HIDDEN.replace(":", "")) + FRAMES[name][12:]
    if len(got) != len(wanted):
        return f"{len(got) - len(wanted):+} bytes"
    tag = 4 if name == "tagged" else 0
    changed = [(at - tag) & ~1 for at in range(len(got)) if got[at] != wanted[at]]
    words = ["data" if name == "later fragment" and at >= 34 else FIELDS[at] for at in changed]
    return ", ".join(dict.fromkeys(words)) or "nothing"


for name, data in FRAMES.items():
    print(f"{name}: scapy {difference(name, scapy(data))}, dpkt {difference(name, with_dpkt(data))}, "
          f"pypacker {difference(name, pypacker(data))}, without update {difference(name, pypacker(data, True, False))}; "
          f"pypacker, printed before: {difference(name, pypacker(data, True))}")
short = pypacker(FRAMES["first fragment"], True)[34:]
length, = struct.unpack_from(">H", short, 4)
right = checksum(ADDRESSES + struct.pack(">HH", 17, length) + short) == bytes(2)
print(f"what the fragments are together: a datagram of {length - 8} bytes, its checksum is {'right' if right else 'wrong'}")
END
PYTHONPATH=packages python3 rewritten.py >seen
cat seen
cat >expected <<'END'
whole: scapy nothing, dpkt nothing, pypacker nothing, without update nothing; pypacker, printed before: nothing
no checksum: scapy nothing, dpkt nothing, pypacker nothing, without update nothing; pypacker, printed before: UDP checksum
first fragment: scapy nothing, dpkt nothing, pypacker nothing, without update nothing; pypacker, printed before: UDP length, UDP checksum
later fragment: scapy nothing, dpkt nothing, pypacker nothing, without update nothing; pypacker, printed before: data
cut: scapy nothing, dpkt nothing, pypacker nothing, without update nothing; pypacker, printed before: IP length, IP checksum, UDP length, UDP checksum
tagged: scapy nothing, dpkt -14 bytes, pypacker nothing, without update nothing; pypacker, printed before: IP length, IP checksum, UDP length, UDP checksum
what the fragments are together: a datagram of 24 bytes, its checksum is right
END
diff expected seen && echo "as stated: what changed beside the address"
