#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# UDP sockets set a DSCP (IP_TOS, IPV6_TCLASS): none, LE, AF41, AF42, AF11, AF12, EF, CS6. All send into a queue that waits for a slow device.
# The queue is pfifo_fast, the kernel's default (some distributions set another one).
#
# Expected by most: EF and CS6 leave first, AF before none, AF41 not after AF42 (RFC 4594, 2597); or all in order, as pfifo_fast knows no DSCP.
# IPv6 as IPv4.
# Seen (iproute2 6.1.0, Linux 6.18): in IPv4, first AF42 and AF12, which may be dropped earlier than AF41 and AF11; then EF and CS6 together
# with what has no DSCP and LE, in the order of sending; last AF41 and AF11, behind best effort. In IPv6 the DSCP changes nothing.
# And IP_TOS replaces a priority that SO_PRIORITY has set before, IPV6_TCLASS does not.
# Why: IP_TOS also sets the priority of the socket, by the four "type of service" bits of RFC 1349 (rt_tos2priority, include/net/route.h), which
# are now the lower three bits of the DSCP and one of ECN: AF41 (100010) reads as "throughput", AF42 (100100) as "delay", EF (101110) as both,
# CS6 (110000) as nothing. tc-prio(8) has the table, for TOS. IPv6 has no such step. All queues that go by priority are concerned.
# So: SO_PRIORITY after IP_TOS, and for both versions; or filters of tc that go by the DSCP.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
debian iproute2=6.1.0-3 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3
cat >order.py <<'END'
import platform
import socket
import subprocess
import sys

IPV6_TCLASS = 67
DSCPS = {"none": 0, "LE": 1, "AF41": 34, "AF42": 36, "AF11": 10, "AF12": 12, "EF": 46, "CS6": 48}
for command in (
    "root/bin/ip link set lo up",
    # The first filler passes at once, each further one takes half a second.
    "root/sbin/tc qdisc add dev lo root handle 1: tbf rate 20kbit burst 1600 limit 100000",
    "root/sbin/tc qdisc add dev lo parent 1:1 handle 10: pfifo_fast",
):
    subprocess.run(command.split(), check=True)
seen = {}
for name, family, address, level, option in (
    ("IPv4", socket.AF_INET, "127.0.0.1", socket.IPPROTO_IP, socket.IP_TOS),
    ("IPv6", socket.AF_INET6, "::1", socket.IPPROTO_IPV6, IPV6_TCLASS),
):
    receiver = socket.socket(family, socket.SOCK_DGRAM)
    receiver.bind((address, 0))
    receiver.settimeout(20)
    senders = {}
    for dscp, value in DSCPS.items():
        senders[dscp] = socket.socket(family, socket.SOCK_DGRAM)
        senders[dscp].setsockopt(level, option, value << 2)
    filler = socket.socket(family, socket.SOCK_DGRAM)
    for _ in range(2):  # The second one waits for about 0.35 s, and with it all others.
        filler.sendto(b"filler".ljust(1200), receiver.getsockname()[:2])
    for dscp, sender in senders.items():
        sender.sendto(dscp.encode(), receiver.getsockname()[:2])
    arrived = [receiver.recv(1500).decode().strip() for _ in range(len(DSCPS) + 2)]
    order = [dscp for dscp in arrived if dscp != "filler"]
    priorities = {dscp: sender.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY) for dscp, sender in senders.items()}
    filler.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 6)
    filler.setsockopt(level, option, DSCPS["EF"] << 2)
    seen[name] = order, filler.getsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY)
    print(f"Linux {platform.release()}, {name}: arrived {' '.join(order)}; priorities {priorities}; 6 and then EF: {seen[name][1]}")
sys.exit(seen != {
    "IPv4": (["AF42", "AF12", "none", "LE", "EF", "CS6", "AF41", "AF11"], 4),
    "IPv6": (list(DSCPS), 6),
})
END
export LD_LIBRARY_PATH=$libraries:$folder/root/lib/$(gcc -print-multiarch)
unshare --net python3 order.py
