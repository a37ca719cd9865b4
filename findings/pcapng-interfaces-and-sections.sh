#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pcapng: a clock and a link type belong to an interface, and interfaces belong to a section. Which readers know that?
#
# Two captures, made here byte by byte: `interfaces` has four interfaces in one section (microseconds, nanoseconds, 2^-20 s, and microseconds
# with an offset of an hour, if_tsoffset); `sections` is what `cat a.pcapng b.pcapng` gives: Ethernet in microseconds, then IPv4 without
# Ethernet in nanoseconds. Packet n was captured at 1700000000.25 + n s. Both are valid (draft-ietf-opsawg-pcapng, sections 3.1, 4.1 and 4.2).
#
# Expected: five readers agree. Seen:
# - dpkt 1.9.8 keeps the clock and link type of the first interface of the file for all packets: times are wrong by factors of up to 1000.
# - scapy 2.8.0 knows the clock of each interface, but keeps the interfaces of the first section: in the second one it reads IPv4 as Ethernet,
#   at 1000 times the time. It and python-pcapng 2.1.1 ignore if_tsoffset: the packet is an hour too early.
# - libpcap 1.10.6 (in cypcap 0.6.3) is right about clocks, and refuses a second link type with an error.
# - tshark 4.0.17 reads both rightly; its mergecap cannot write what tshark reads: "An internal error occurred".
# So: one interface for each capture, or at least one clock and one link type for all of them, and captures are joined by mergecap, not by cat.
. "$(dirname "$0")/packages"

tshark_4_0_17
python3 -m pip install -q --no-deps --target packages dpkt==1.9.8 scapy==2.8.0 python-pcapng==2.1.1 cypcap==0.6.3 2> pip.log || { cat pip.log >&2; exit 3; }
cat >captures.py <<'END'
import struct


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def interface(link, *options):
    return block(1, struct.pack("<HHI", link, 0, 0) + b"".join(options) + (bytes(4) if options else b""))


def packet(number, time, data):
    return block(6, struct.pack("<5I", number, time >> 32, time & 0xFFFFFFFF, len(data), len(data)) + data)


SECTION = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
IP = bytes.fromhex("4500001c000000004011000000000000") [:12] + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + struct.pack(">4H", 1, 2, 8, 0)
FRAME = bytes.fromhex("0200000000020200000000010800") + IP
QUARTERS = [4 * (1_700_000_000 + n) + 1 for n in range(4)]
resolution = lambda value: option(9, bytes([value]))

with open("interfaces.pcapng", "wb") as out:
    out.write(SECTION + interface(1) + interface(1, resolution(9)) + interface(1, resolution(0x80 | 20)))
    out.write(interface(1, resolution(6), option(14, struct.pack("<q", 3600))))
    for n, per_second in enumerate((10**6, 10**9, 2**20, 10**6)):
        out.write(packet(n, (QUARTERS[n] - 4 * 3600 * (n == 3)) * per_second // 4, FRAME))
with open("sections.pcapng", "wb") as out:
    out.write(SECTION + interface(1) + packet(0, QUARTERS[0] * 10**6 // 4, FRAME))
    out.write(SECTION + interface(101, resolution(9)) + packet(0, QUARTERS[1] * 10**9 // 4, IP))
END
cat >readers.py <<'END'
import sys


def dpkt(name):
    import dpkt
    with open(name, "rb") as file:
        reader = dpkt.pcapng.Reader(file)
        for time, _ in reader:
            yield time, reader.datalink()


def scapy(name):
    from scapy.all import PcapNgReader
    for packet in PcapNgReader(name):
        yield packet.time, type(packet).__name__


def python_pcapng(name):
    import pcapng
    with open(name, "rb") as file:
        for block in pcapng.FileScanner(file):
            if hasattr(block, "timestamp"):
                yield block.timestamp, block.interface.link_type


def libpcap(name):
    import cypcap
    reader = cypcap.open_offline(name)
    for header, _ in reader:
        yield header.ts, int(reader.datalink())


for reader in dpkt, scapy, python_pcapng, libpcap:
    for name in "interfaces", "sections":
        seen = []
        try:
            for time, link in reader(f"{name}.pcapng"):
                seen.append(f"{float(time) - 1.7e9:.2f}/{link}")
        except Exception as error:
            seen.append(str(error).split("has a ")[-1].split("'")[0])
        print(reader.__name__, name, *seen)
END
python3 captures.py
PYTHONPATH=packages python3 readers.py >seen 2>/dev/null
for name in interfaces sections; do
    echo "tshark $name" $(root/usr/bin/tshark -r $name.pcapng -T fields -e frame.time_epoch 2>/dev/null)
done >>seen
{ root/usr/bin/mergecap -w merged.pcapng sections.pcapng 2>&1 || true; } | grep -o 'An internal error occurred' | sed 's/^/mergecap sections: /' >>seen
cat >expected <<'END'
dpkt interfaces 0.25/1 1698300001250.00/1 82579202.36/1 -3596.75/1
dpkt sections 0.25/1 1698300001250.00/1
scapy interfaces 0.25/Ether 1.25/Ether 2.25/Ether -3596.75/Ether
scapy sections 0.25/Ether 1698300001250.00/Ether
python_pcapng interfaces 0.25/1 1.25/1 2.25/1 -3596.75/1
python_pcapng sections 0.25/1 1.25/101
libpcap interfaces 0.25/1 1.25/1 2.25/1 3.25/1
libpcap sections 0.25/1 type 101 different from the type of the first interface
tshark interfaces 1700000000.250000000 1700000001.250000000 1700000002.250000000 1700000003.250000000
tshark sections 1700000000.250000000 1700000001.250000000
mergecap sections: An internal error occurred
END
cat seen
diff expected seen && echo "as stated"
