# SPDX-License-Identifier: MIT
"""Packets a second through a node between two hosts: a program in the network natively and in the kernel, Linux's
bridge, an XDP program by hand."""

import os
import subprocess
import sys
import tempfile
import time

from measure import Contest, Row
from wire import PEER, Scripted, ended, run

PROGRAM = "bench/forward.mtp"
DEVICES = ("west0", "east0")
CLIENT = "10.78.0.3"
OCTETS, PORT, SECONDS = 18, 9, 2
# One call sends a batch, which the kernel cuts into packets (UDP_SEGMENT): one sender outruns any node.
SEND = f"""
import socket, sys, time
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.connect(("{PEER}", {PORT}))
end.setsockopt(socket.IPPROTO_UDP, 103, {OCTETS})
batch = b"x" * {OCTETS * 64}
for line in sys.stdin:
    begin = time.monotonic_ns()
    while time.monotonic_ns() - begin < {SECONDS * 10**9}:
        end.send(batch)
    print("ok", time.monotonic_ns() - begin, flush=True)
"""
# Nobody reads what it receives, so that the kernel drops it, and answers nothing.
HOLD = f"""
import socket, sys
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.bind(("{PEER}", {PORT}))
for line in sys.stdin:
    print("ok", flush=True)
"""
# What arrives at a device goes to the other one, as it is.
REDIRECT = """
struct frame { unsigned data, end; };
static long (*const redirect)(unsigned device, unsigned long flags) = (void *)23;
__attribute__((section("xdp"), used)) int pass(struct frame *ctx) { return redirect(TO, 0); }
char pass_license[] __attribute__((section("license"), used)) = "Dual MIT/GPL";
"""


class Between:
    """Three namespaces in a row, the node in the middle."""

    def __init__(self, number):
        stem = f"carrick-node-{os.getpid()}-{number}"
        self.names = [f"{stem}-{place}" for place in ("client", "node", "server")]
        self.children, self.forwarder = [], None
        client, node, server = self.names
        for name in self.names:
            run("ip", "netns", "add", name)
            self.within(name, "sysctl", "-q", "net.ipv6.conf.all.disable_ipv6=1")
        for name, device, address in ((client, DEVICES[0], CLIENT), (server, DEVICES[1], PEER)):
            run("ip", "-n", node, "link", "add", device, "type", "veth", "peer", "name", "wire0", "netns", name)
            for where, which in ((node, device), (name, "wire0")):
                self.within(where, "ethtool", "-K", which, *"tso off gso off gro off tx off rx off".split())
                run("ip", "-n", where, "link", "set", which, "up")
            run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "wire0")

    def within(self, name, *words):
        run("ip", "netns", "exec", name, *words)

    def scripted(self, name, script):
        child = Scripted(["ip", "netns", "exec", name, sys.executable, "-c", script])
        self.children.append(child)
        return child

    def start(self, command):
        """A process at the node, which forwards once it has said so. What else it says is little."""
        self.forwarder = subprocess.Popen(["ip", "netns", "exec", self.names[1], *command], stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, text=True)
        said = self.forwarder.stdout.readline()
        if " between " not in said:
            raise RuntimeError(f"the node does not start: {said.strip()}")

    def take_redirected(self):
        """A pair of devices takes redirected frames only where the other end has a queue of its own: with GRO."""
        for end in (self.names[0], self.names[2]):
            self.within(end, "ethtool", "-K", "wire0", "gro", "on")

    def __exit__(self, *_):
        for child in self.children:
            child.stop()
        if self.forwarder:
            ended(self.forwarder)
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


class Node(Between):
    """With a sender and a receiver at its ends."""

    def __init__(self, number):
        super().__init__(number)
        self.sender, receiver = self.scripted(self.names[0], SEND), self.scripted(self.names[2], HOLD)
        receiver.ask("hold")

    def arrived(self):
        read = ["ip", "netns", "exec", self.names[2], "cat", "/sys/class/net/wire0/statistics/rx_packets"]
        return int(subprocess.run(read, check=True, capture_output=True, text=True).stdout)

    def rate(self):
        """Packets a second that arrived of those that were sent as fast as one sender can."""
        before = self.arrived()
        took = self.sender.ask("send")[0]
        return (self.arrived() - before) / took * 1e9


def bridged(node):
    name = node.names[1]
    run("ip", "-n", name, "link", "add", "bridge0", "type", "bridge")
    for device in DEVICES:
        run("ip", "-n", name, "link", "set", device, "master", "bridge0")
    run("ip", "-n", name, "link", "set", "bridge0", "up")


def redirected(node):
    name = node.names[1]
    node.take_redirected()
    with tempfile.TemporaryDirectory() as folder:
        for device, other in (DEVICES, DEVICES[::-1]):
            index = subprocess.run(["ip", "netns", "exec", name, "cat", f"/sys/class/net/{other}/ifindex"], check=True,
                                   capture_output=True, text=True).stdout.strip()
            with open(f"{folder}/pass.c", "w", encoding="utf-8") as file:
                file.write(REDIRECT)
            run("clang", "-target", "bpf", "-O2", "-g", "-c", f"-DTO={index}", f"{folder}/pass.c", "-o", f"{folder}/pass.o")
            node.within(name, "ip", "link", "set", "dev", device, "xdp", "obj", f"{folder}/pass.o", "sec", "xdp")


def contest(carrick, host, opened):
    """`carrick` builds the command, `host` the native target's executable of a program; nodes are added to `opened`, to be closed later."""
    forward = str(host(PROGRAM))

    def row(name, shown, begin):
        state = {}

        def sample():
            if "node" not in state:
                state["node"] = Node(len(opened))
                opened.append(state["node"])
                begin(state["node"])
                time.sleep(0.2)  # a bridge's ports listen first
            return state["node"].rate()

        return Row(name, "packets/s", shown, sample)

    def ours(kind):
        command = [forward, *(word for device in DEVICES for word in ("--port", f"{kind}:{device}"))]
        return " ".join(command), lambda node: node.start(command)

    def in_kernel(node):
        node.take_redirected()
        node.start(kernel)

    kernel = [str(carrick()), "run", PROGRAM, "--target", "xdp", *(word for device in DEVICES for word in ("--port", device))]
    rows = [row("ours, over packet sockets", *ours("packet")), row("ours, over AF_XDP", *ours("xdp")),
            row("ours, in the kernel", " ".join(kernel), in_kernel),
            row("Linux bridge", "ip link add bridge0 type bridge", bridged),
            row("XDP by hand, bpf_redirect", "ip link set dev west0 xdp obj pass.o", redirected)]
    title = f"Through a node, over veth, UDP packets of {OCTETS + 28} bytes"
    return Contest(title, "none; the ratio is information", rows, rows[3:])
