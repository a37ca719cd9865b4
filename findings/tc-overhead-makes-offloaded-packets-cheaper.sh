#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A shaper in front of a slow line must count what the line adds to each packet: `tc qdisc add ... stab overhead 38` (a size table).
# 400 UDP datagrams of 100 bytes pass it: one for each send, or 40 for each send (UDP_SEGMENT, as QUIC stacks do). Then TCP sends 1 MB.
#
# Expected by most: the table adds 38 bytes for each datagram, so 142 bytes with headers become 180; at worst, 38 bytes for 40 of them.
# Seen (iproute2 6.1.0, ethtool 6.1, Linux 6.18): without a table, tc counts 142 bytes for each datagram, however they were sent. With the
# table, a packet that is segmented later counts less than without: 40 datagrams are 4080 bytes, 102 each, as the headers of 39 of them
# are no longer counted either. So a shaper that was made slower on purpose lets this traffic through faster: 400 datagrams pass 1 Mbit/s
# in 0.26 s in place of 0.51 s, and without a table in 0.39 s. TCP's 1 MB also counts as less than without a table.
# The remedy of tc-stab(8), `ethtool -K DEV tso off gso off`, changes nothing for UDP and little for TCP, as the packets above the device
# are as long as before. `ip link set DEV gso_max_segs 1` ends it for TCP, and not for UDP.
# Why: qdisc_pkt_len_init() (net/core/dev.c) adds the headers of all segments, and then __qdisc_calculate_pkt_len() (net/sched/sch_api.c),
# which only runs if there is a table, begins again from skb->len.
# So: gso_max_segs 1, and no UDP_SEGMENT, or a queue that splits packets before it counts them (cake; not run here).
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
debian iproute2=6.1.0-3 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3 ethtool=1:6.1-1
cat >shaped.py <<'END'
import json
import platform
import socket
import subprocess
import sys
import time

UDP_SEGMENT, SO_SNDBUFFORCE, SO_RCVBUFFORCE = 103, 32, 33
LEN, DATAGRAMS, TOGETHER, OVERHEAD = 100, 400, 40, 38
HEADERS = 14 + 20 + 8


def run(command):
    return subprocess.run(command.split(), check=True, stdout=subprocess.PIPE, text=True).stdout


def queue(table, kind):
    run("root/sbin/tc qdisc replace dev lo root pfifo")
    run("root/sbin/tc qdisc del dev lo root")
    run(f"root/sbin/tc qdisc add dev lo root handle 1: {f'stab overhead {OVERHEAD} linklayer ethernet' if table else ''} {kind}")


def counted():
    return json.loads(run("root/sbin/tc -j -s qdisc show dev lo root"))[0]["bytes"]


def udp(together):
    """Sends all datagrams, and returns when all have arrived: after how many seconds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(20)
        receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 22)
        sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 22)
        sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, LEN)
        begin = time.monotonic()
        for _ in range(DATAGRAMS // together):
            sender.sendto(bytes(LEN * together), receiver.getsockname())
        for _ in range(DATAGRAMS):
            assert len(receiver.recv(LEN + 1)) == LEN
        return time.monotonic() - begin


def tcp():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        with server.accept()[0] as peer:
            for _ in range(16):
                client.sendall(bytes(1 << 16))
                left = 1 << 16
                while left:
                    left -= len(peer.recv(left))


run("root/bin/ip link set lo up mtu 1500")
seen = {}
for table in (False, True):
    for name, send in (("alone", lambda: udp(1)), ("together", lambda: udp(TOGETHER)), ("TCP", tcp)):
        queue(table, "pfifo limit 10000")
        send()
        seen[name, table] = counted()
    for name, together in (("alone", 1), ("together", TOGETHER)):
        seconds = []
        for _ in range(3):
            queue(table, "tbf rate 1mbit burst 8000 limit 1000000")
            seconds.append(udp(together))
        seen[name, table, "seconds"] = min(seconds)
for setting, command in (("offloads off", "root/sbin/ethtool -K lo tso off gso off"), ("gso_max_segs 1", "root/bin/ip link set lo gso_max_segs 1")):
    run(command)
    for name, send in (("together", lambda: udp(TOGETHER)), ("TCP", tcp)):
        queue(True, "pfifo limit 10000")
        send()
        seen[name, setting] = counted()
print(f"Linux {platform.release()}: bytes that tc counted without a size table, with it, and with it where offloads are off or gso_max_segs is 1:")
for name in ("alone", "together", "TCP"):
    timed = f" (at 1 Mbit/s: {seen[name, False, 'seconds']:.2f} s, {seen[name, True, 'seconds']:.2f} s)" if name != "TCP" else ""
    print(f"  {name}:", *(seen[key] for key in seen if key[0] == name and len(key) == 2), timed)
bare, slow, fast = seen["together", False, "seconds"], seen["alone", True, "seconds"], seen["together", True, "seconds"]
together = DATAGRAMS // TOGETHER * (HEADERS + LEN * TOGETHER + OVERHEAD)
good = (
    seen["alone", False] == seen["together", False] == DATAGRAMS * (HEADERS + LEN)
    and seen["alone", True] == DATAGRAMS * (HEADERS + LEN + OVERHEAD)
    and seen["together", True] == seen["together", "offloads off"] == seen["together", "gso_max_segs 1"] == together
    and seen["TCP", True] <= seen["TCP", "offloads off"] < seen["TCP", False] < seen["TCP", "gso_max_segs 1"]
    and fast < bare < slow
)
sys.exit(not good)
END
export LD_LIBRARY_PATH=$libraries:$folder/root/lib/$(gcc -print-multiarch)
unshare --net python3 shaped.py
