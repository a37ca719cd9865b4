#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A sender asks how much it has handed over that has not left yet (SIOCOUTQ, also called TIOCOUTQ), to keep its queue short.
#
# Expected by most: bytes of data. udp(7): "Returns the number of data bytes in the local send queue." For TCP it is so.
# Seen (Linux 6.18, iproute2 6.1.0): for UDP, Unix and packet sockets it is the memory of the buffers. 10 datagrams of 1 byte that wait in
# a device's queue are 8320, not 10: 832 each; 10 of 1400 bytes are 23040, not 14000. With UDP_SEGMENT, 10 datagrams of 100 bytes in one
# send are 1832, not 1000. A Unix stream socket says 768 after 1 byte was written. TCP says 1 after 1 byte, and 1000 after 1000.
# So a sender over UDP that allows itself 64 KB in the queue by this figure has 78 small datagrams there, or 28 full ones of 1400 bytes.
# Why: udp_ioctl() (net/ipv4/udp.c), unix_outq_len() and packet_ioctl() return what sk_wmem_alloc counts, which limits the memory of a
# socket (SO_SNDBUF): skb->truesize. tcp_ioctl() (net/ipv4/tcp.c) subtracts sequence numbers.
# So: for datagrams, compare it with SO_SNDBUF, which counts in the same way; count data yourself.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
debian iproute2=6.1.0-3 libbpf1=1:1.1.2-0+deb12u1 libelf1=0.188-2.1 libmnl0=1.0.4-3
cat >waits.py <<'END'
import fcntl
import platform
import socket
import struct
import subprocess
import sys

SIOCOUTQ, UDP_SEGMENT, ETH_P_IP = 0x5411, 103, 0x0800
LEN = 100


def run(command):
    subprocess.run(command.split(), check=True)


def waits(sender):
    return struct.unpack("i", fcntl.ioctl(sender, SIOCOUTQ, bytes(4)))[0]


def queue():
    """Empty, and so slow that nothing leaves it but what its bucket has at once."""
    run("root/sbin/tc qdisc replace dev lo root pfifo")
    run("root/sbin/tc qdisc replace dev lo root handle 1: tbf rate 8bit burst 2000 limit 1000000")


def fill(sender, to):
    """From here on nothing leaves."""
    queue()
    for _ in range(4):
        sender.sendto(bytes(LEN * 10), to)


def datagrams(sender, size, count, to):
    """What waits of so many more."""
    fill(sender, to)
    before = waits(sender)
    for _ in range(count):
        sender.sendto(bytes(size), to)
    return waits(sender) - before


def udp(receiver, size, count, segment=0):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, segment)
        return datagrams(sender, size, count, receiver.getsockname())


def packets(size, count):
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM) as sender:
        return datagrams(sender, size, count, ("lo", ETH_P_IP, 0, 0, bytes(6)))


def unix(size):
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with one, other:
        one.sendall(bytes(size))
        return waits(one)


def tcp(receiver, size):
    run("root/sbin/tc qdisc replace dev lo root pfifo")
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client, other:
        fill(other, receiver.getsockname())
        client.sendall(bytes(size))
        return waits(client)


run("root/bin/ip link set lo up mtu 1500")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
    receiver.bind(("127.0.0.1", 0))
    rows = {
        "UDP, 10 of 1 byte": (10, udp(receiver, 1, 10)),
        "UDP, 10 of 1400 bytes": (14000, udp(receiver, 1400, 10)),
        "UDP, 10 of 100 bytes in one send": (1000, udp(receiver, 10 * LEN, 1, LEN)),
        "packet socket, 10 of 100 bytes": (1000, packets(LEN, 10)),
        "Unix stream, 1 byte": (1, unix(1)),
        "TCP, 1 byte": (1, tcp(receiver, 1)),
        "TCP, 1000 bytes": (1000, tcp(receiver, 1000)),
    }
print(f"Linux {platform.release()}: bytes of data that wait, and what SIOCOUTQ says:")
for name, (data, said) in rows.items():
    print(f"  {name}: {data}, {said}")
# The memory of a buffer differs between kernels and processors.
good = all(said == data if name.startswith("TCP") else said > 1.5 * data for name, (data, said) in rows.items())
sys.exit(not good)
END
export LD_LIBRARY_PATH=$libraries:$folder/root/lib/$(gcc -print-multiarch)
unshare --net python3 waits.py
