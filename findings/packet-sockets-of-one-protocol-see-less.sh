#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A filter at the ingress of a device (tc, clsact) drops packets. Which packet sockets on that device still get them?
#
# Expected: all or none of the receivers; a socket for IPv4 (ETH_P_IP) gets what a socket for all protocols (ETH_P_ALL) gets of IPv4.
# Seen (scapy 2.8.0, iproute2 6.1.0, Linux 6.18): the socket for all protocols gets each packet before the filter, the one for IPv4 only what
# the filter leaves. So a capture shows packets that the host never received, and a tool that "only" narrows its socket to one protocol
# loses exactly those that it was to watch.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
debian iproute2=6.1.0-3 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3
python3 -m pip install -q --no-deps --target packages scapy==2.8.0 2> pip.log || { cat pip.log >&2; exit 3; }
cat >receivers.py <<'END'
import platform
import socket
import subprocess
import sys

from scapy.config import conf
from scapy.data import ETH_P_ALL, ETH_P_IP
from scapy.layers.inet import UDP
from scapy.arch.linux import L2ListenSocket

PACKETS = 20
subprocess.run(["root/bin/ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["root/sbin/tc", "qdisc", "add", "dev", "lo", "clsact"], check=True)
# UDP to port 9 is dropped: bytes 12 (type), 23 (protocol) and 36 (port) of the frame.
code = "8,40 0 0 12,21 0 5 2048,48 0 0 23,21 0 3 17,40 0 0 36,21 0 1 9,6 0 0 2,6 0 0 0"
subprocess.run(["root/sbin/tc", "filter", "add", "dev", "lo", "ingress", "bpf", "direct-action", "bytecode", code], check=True)
conf.verb = 0
receivers = {name: L2ListenSocket(iface="lo", type=kind, promisc=False) for name, kind in (("ETH_P_ALL", ETH_P_ALL), ("ETH_P_IP", ETH_P_IP))}
host = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
host.bind(("127.0.0.1", 10))
host.settimeout(5)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for port in (9, 10):
    for _ in range(PACKETS):
        sender.sendto(b"x", ("127.0.0.1", port))
for _ in range(PACKETS):
    host.recv(1)
seen = {}
for name, receiver in receivers.items():
    # Where a socket also gets what is on its way out, that is the second copy of each.
    receiver.ins.setblocking(False)
    ports = []
    while True:
        try:
            frame, where = receiver.ins.recvfrom(2048)
        except BlockingIOError:
            break
        if where[2] != socket.PACKET_OUTGOING:
            ports.append(int.from_bytes(frame[36:38], "big"))
    seen[name] = ports.count(9), ports.count(10)
    print(f"Linux {platform.release()}: {name}: {seen[name][0]} of {PACKETS} that the filter drops, {seen[name][1]} of {PACKETS} others")
sys.exit(0 if seen == {"ETH_P_ALL": (PACKETS, PACKETS), "ETH_P_IP": (0, PACKETS)} else 1)
END
export LD_LIBRARY_PATH=$libraries:$folder/root/lib/$(gcc -print-multiarch)
PYTHONPATH=packages unshare --net python3 receivers.py
