#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A packet socket with a ring in shared memory (PACKET_RX_RING) gets a frame that is longer than a place of the ring, as offloads make them.
# PACKET_COPY_THRESH asks for the whole of such frames in the socket's queue.
#
# Expected: both versions of the ring do so, or the newer one refuses the option.
# Seen (iproute2 6.1.0, Linux 6.18): version 2 has the beginning in the ring, marked with TP_STATUS_COPY, and recv() gives the whole, behind a
# header of virtio where that was asked for. Version 3 accepts the option and ignores it: the rest of the frame is lost, and no statistics
# count it. In version 2 the mark is missing, too, once the socket's receive buffer is full; that is not counted either.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
debian iproute2=6.1.0-3 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3
cat >rings.py <<'END'
import mmap
import platform
import select
import socket
import struct
import subprocess
import sys
import time

SOL_PACKET, RX_RING, STATISTICS, COPY_THRESH, VERSION, VNET_HDR = 263, 5, 6, 7, 10, 15
USER, COPY = 1, 2
LEN, VIRTIO, BLOCK, PLACE = 60_000, 10, 4096, 2048
subprocess.run(["root/bin/ip", "link", "set", "lo", "up"], check=True)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def ring(version, buffer=None):
    """A socket with a ring of so many blocks, and the ring."""
    capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    if buffer:
        capture.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    for option, value in ((VERSION, version - 1), (VNET_HDR, 1), (COPY_THRESH, 1)):
        capture.setsockopt(SOL_PACKET, option, value)
    request = struct.pack("4I", BLOCK, 64, PLACE, 64 * BLOCK // PLACE) + (struct.pack("3I", 10, 0, 0) if version == 3 else b"")
    capture.setsockopt(SOL_PACKET, RX_RING, request)
    memory = mmap.mmap(capture.fileno(), 64 * BLOCK)
    capture.bind(("lo", 0x0800))
    capture.setblocking(False)
    return capture, memory


def first(version, capture, memory, place=0):
    """Length, bytes in the ring, and status of the frame in a place; of version 3, of the first block that has one."""
    block, until = 0, time.monotonic() + 5
    while time.monotonic() < until:
        select.select([capture], [], [], 0.01)
        if version == 2:
            status, length, there = struct.unpack_from("3I", memory, place * PLACE)
            if status & USER:
                return length, there, status
        else:
            status, frames, at = struct.unpack_from("3I", memory, block * BLOCK + 8)
            if status & USER and frames:
                there, length, status = struct.unpack_from("3I", memory, block * BLOCK + at + 12)
                return length, there, status
            block += status & USER  # this one is empty
    sys.exit("no frame came")


def queued(capture):
    try:
        return len(capture.recv(1 << 17))
    except BlockingIOError:
        return 0


def lost(capture):
    return struct.unpack_from("2I", capture.getsockopt(SOL_PACKET, STATISTICS, 12))[1]


seen = {}
for version in (2, 3):
    capture, memory = ring(version)
    sender.sendto(bytes(LEN), ("127.0.0.1", 9))
    length, there, status = first(version, capture, memory)
    seen[version] = length == LEN + 42, there < PLACE * 2, bool(status & COPY), queued(capture), lost(capture)
    print(f"Linux {platform.release()}, ring {version}: {there} bytes of {length} in the ring, {seen[version][3]} by recv, {seen[version][4]} counted as lost")
capture, memory = ring(2, buffer=1)
marks = []
for place in range(4):
    sender.sendto(bytes(LEN), ("127.0.0.1", 9))
    marks.append(bool(first(2, capture, memory, place)[2] & COPY))
print(f"ring 2, the smallest receive buffer: {marks.count(True)} of {len(marks)} frames marked, {lost(capture)} counted as lost")
whole = VIRTIO + 42 + LEN
expected = {2: (True, True, True, whole, 0), 3: (True, True, False, 0, 0)}
sys.exit(0 if seen == expected and 0 < marks.count(True) < len(marks) else 1)
END
export LD_LIBRARY_PATH=$libraries:$folder/root/lib/$(gcc -print-multiarch)
unshare --net python3 rings.py
