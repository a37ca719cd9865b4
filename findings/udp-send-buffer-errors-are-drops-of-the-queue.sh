#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A UDP socket sends 40 datagrams of 1000 bytes into a queue (tbf) that has space for ten. Its send buffer has space for all.
#
# Expected by most: send succeeds 40 times, as UDP learns nothing of the network. What is lost, tc counts as dropped. UdpSndbufErrors in
# /proc/net/snmp counts sends that found no space in the socket's send buffer: a larger SO_SNDBUF ends them.
# Seen (iproute2 6.1.0, Linux 6.18): send succeeds, and UdpSndbufErrors counts the 30 that the queue dropped, with any send buffer. With
# IP_RECVERR, an option that is about ICMP errors, the same 30 sends fail with ENOBUFS. (send(2): "Normally, this does not occur in Linux.")
# A packet socket gets ENOBUFS always. With UDP_SEGMENT, 40 datagrams in one send, 31 are dropped, and no socket learns of it: the send
# succeeds with IP_RECVERR, too, and only tc counts them.
# Why: udp_send_skb() (net/ipv4/udp.c, net/ipv6/udp.c) turns the queue's ENOBUFS into success if the socket has no IP_RECVERR, and counts it as
# an error of the send buffer. tbf_segment() (net/sched/sch_tbf.c) cuts long packets, and reports a drop only if it drops all of them.
# So: where UdpSndbufErrors grows, look at `tc -s qdisc` before you raise wmem_max; IP_RECVERR tells a sender of drops on its own host.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
debian iproute2=6.1.0-3 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3
cat >sends.py <<'END'
import errno
import json
import platform
import socket
import subprocess
import sys

IP_RECVERR, IPV6_RECVERR, UDP_SEGMENT, SO_SNDBUFFORCE = 11, 25, 103, 32
LEN, DATAGRAMS = 1000, 40


def run(command):
    return subprocess.run(command.split(), check=True, stdout=subprocess.PIPE, text=True).stdout


def counters():
    dropped = json.loads(run("root/sbin/tc -j -s qdisc show dev lo root"))[0]["drops"]
    with open("/proc/net/snmp") as four, open("/proc/net/snmp6") as six:
        names, values = (line.split() for line in four if line.startswith("Udp:"))
        udp = int(values[names.index("SndbufErrors")])
        udp += sum(int(line.split()[1]) for line in six if line.startswith("Udp6SndbufErrors"))
    return dropped, udp


def sends(sender, together, *where):
    """Errors of the sends, what the queue dropped, and what counts as error of the send buffer."""
    # Empty, and so slow that nothing leaves it here but what its bucket has at once.
    run("root/sbin/tc qdisc replace dev lo root pfifo")
    run("root/sbin/tc qdisc replace dev lo root handle 1: tbf rate 8bit burst 1600 limit 10000")
    before, failed = counters(), []
    for _ in range(DATAGRAMS // together):
        try:
            sender.sendto(bytes(LEN * together), *where)
        except OSError as error:
            failed.append(errno.errorcode[error.errno])
    dropped, udp = (now - then for now, then in zip(counters(), before))
    return {name: failed.count(name) for name in failed}, dropped, udp


def udp(family, *options):
    sender = socket.socket(family, socket.SOCK_DGRAM)
    for level, option, value in ((socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 20), *options):
        sender.setsockopt(level, option, value)
    return sender


run("root/bin/ip link set lo up mtu 1500")
four, six = (socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6))
four.bind(("127.0.0.1", 0))
six.bind(("::1", 0))
to_four, to_six = four.getsockname(), six.getsockname()[:2]
larger, segment = (socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 24), (socket.IPPROTO_UDP, UDP_SEGMENT, LEN)
told, told_six = (socket.IPPROTO_IP, IP_RECVERR, 1), (socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
packet = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
seen = {
    "IPv4": sends(udp(socket.AF_INET), 1, to_four),
    "IPv4, send buffer of 32 MB": sends(udp(socket.AF_INET, larger), 1, to_four),
    "IPv4, IP_RECVERR": sends(udp(socket.AF_INET, told), 1, to_four),
    "IPv6": sends(udp(socket.AF_INET6), 1, to_six),
    "IPv6, IPV6_RECVERR": sends(udp(socket.AF_INET6, told_six), 1, to_six),
    "packet socket": sends(packet, 1, ("lo", 0x88B5)),
    "IPv4, UDP_SEGMENT": sends(udp(socket.AF_INET, segment), DATAGRAMS, to_four),
    "IPv4, UDP_SEGMENT, IP_RECVERR": sends(udp(socket.AF_INET, segment, told), DATAGRAMS, to_four),
}
for name, (failed, dropped, counted) in seen.items():
    print(f"Linux {platform.release()}, {name}: {failed or 'all sends succeed'}; dropped {dropped}, UdpSndbufErrors {counted}")
full = {"ENOBUFS": 30}
sys.exit(seen != {
    "IPv4": ({}, 30, 30),
    "IPv4, send buffer of 32 MB": ({}, 30, 30),
    "IPv4, IP_RECVERR": (full, 30, 30),
    "IPv6": ({}, 30, 30),
    "IPv6, IPV6_RECVERR": (full, 30, 30),
    "packet socket": (full, 30, 0),
    "IPv4, UDP_SEGMENT": ({}, 31, 0),
    "IPv4, UDP_SEGMENT, IP_RECVERR": ({}, 31, 0),
})
END
export LD_LIBRARY_PATH=$libraries:$folder/root/lib/$(gcc -print-multiarch)
unshare --net python3 sends.py
