#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Loss is often emulated with a firewall rule: drop one in a hundred TCP segments. The rule is at one of four places: the sender's output
# hook (as `iptables -A OUTPUT -m statistic ... -j DROP` does), the egress of its device, the ingress of the receiver's, or the
# receiver's input hook. TCP sends 3 MB over the loopback device, one segment a packet, with congestion control reno.
#
# Expected by most: a lost segment is a lost segment. In all four cases TCP retransmits it and reduces its window.
# Seen (nftables 1.0.6, iproute2 6.1.0, Linux 6.18): only behind the device. A drop in the output hook is an error of the send call inside
# the kernel: the segment stays at the head of the queue as not yet sent, and the next ACK sends it. No retransmission is counted, and the
# window is never reduced: congestion control sees a perfect link. Where each third segment is dropped, 150 kB take some milliseconds,
# at ingress some seconds. A drop at egress is not retransmitted either, but reduces the window, as a full queue of the device does.
# Why: tcp_write_xmit() moves the head of the queue only if tcp_transmit_skb() returned 0; a positive code (NET_XMIT_DROP, from egress)
# calls tcp_enter_cwr(), a negative one (EPERM, from netfilter) does not (net/ipv4/tcp_output.c).
# So: drop at the receiver or on a router in between. What is measured with losses on the sender's host is not TCP's behaviour on loss.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
debian nftables=1.0.6-2+deb12u2 libnftables1=1.0.6-2+deb12u2 libnftnl11=1.2.4-2 libxtables12=1.8.9-2 libjansson4=2.14-2 \
    libedit2=3.1-20221030-2 libbsd0=0.11.7-2 libmd0=1.0.4-2 libgmp10=2:6.2.1+dfsg1-1.1 libmnl0=1.0.4-3 \
    iproute2=6.1.0-3 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1
cat >drops.py <<'END'
import json
import platform
import socket
import struct
import subprocess
import sys
import threading
import time

INFINITE = 0x7FFFFFFF
PLACES = {
    "output hook": ("inet", "output"),
    "egress": ("netdev", 'egress device "lo"'),
    "ingress": ("netdev", 'ingress device "lo"'),
    "input hook": ("inet", "input"),
}
# One segment in each packet, so that packets and segments can be compared.
subprocess.run("root/bin/ip link set lo up mtu 1500 gso_max_segs 1".split(), check=True)


def nft(*arguments, rules=None):
    return subprocess.run(["root/usr/sbin/nft", *arguments], input=rules, text=True, check=True, stdout=subprocess.PIPE).stdout


def drop(family, hook, port, every):
    nft("-f", "-", rules=f"""
        flush ruleset
        table {family} losses {{
            chain data {{
                type filter hook {hook} priority 0
                tcp dport {port} meta length > 1000 numgen inc mod {every} == {every // 2} counter drop
            }}
        }}
    """)


def dropped():
    for item in json.loads(nft("-j", "list", "ruleset"))["nftables"]:
        for part in item.get("rule", {}).get("expr", []):
            if "counter" in part:
                return part["counter"]["packets"]
    sys.exit("no counter")


def transfer(family, hook, size, every):
    """Packets that the rule dropped, segments that TCP retransmitted, whether it reduced its window, and seconds."""
    server = socket.create_server(("127.0.0.1", 0))
    drop(family, hook, server.getsockname()[1], every)
    client = socket.socket()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    client.connect(server.getsockname())
    peer = server.accept()[0]
    arrived = []

    def read():
        while data := peer.recv(1 << 16):
            arrived.append(len(data))

    reader = threading.Thread(target=read)
    reader.start()
    begin = time.monotonic()
    client.sendall(bytes(size))
    client.shutdown(socket.SHUT_WR)
    reader.join()
    seconds = time.monotonic() - begin
    assert sum(arrived) == size, sum(arrived)
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    threshold, = struct.unpack_from("I", info, 8 + 4 * 17)
    retransmitted, = struct.unpack_from("I", info, 8 + 4 * 23)
    return dropped(), retransmitted, threshold != INFINITE, seconds


seen = {}
for place, (family, hook) in PLACES.items():
    lost, retransmitted, reduced, _ = transfer(family, hook, 3_000_000, 100)
    print(f"Linux {platform.release()}, {place}: {lost} dropped, {retransmitted} retransmitted, window {'' if reduced else 'never '}reduced")
    # A retransmission too many is possible where the machine is slow.
    seen[place] = lost > 10, retransmitted * 2 > lost, reduced
expected = {
    "output hook": (True, False, False),
    "egress": (True, False, True),
    "ingress": (True, True, True),
    "input hook": (True, True, True),
}
local, remote = (transfer(*PLACES[place], 150_000, 3)[3] for place in ("output hook", "ingress"))
print(f"150 kB, each third segment dropped: {local:.3f} s at the output hook, {remote:.3f} s at ingress")
sys.exit(seen != expected or local * 5 > remote)
END
export LD_LIBRARY_PATH=$libraries:$folder/root/lib/$(gcc -print-multiarch)
unshare --net python3 drops.py
