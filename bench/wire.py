# SPDX-License-Identifier: MIT
"""Two network namespaces joined by a veth pair, and processes in them that obey a line at a time."""

import os
import select
import signal
import subprocess

# Seconds for which an answer is waited for.
PATIENCE = 120
OURS, PEER, NETWORK, DEVICE = "10.78.0.1", "10.78.0.2", "10.78.0.0/24", "wire0"
# What Linux's TCP uses at both ends, whatever this machine's own default is. Ours uses the same.
CONGESTION_CONTROL = "cubic"


def run(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


def ended(process):
    """Ends it as a person would: it ends what it has started itself."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Wire:
    """Use as a context manager; everything is removed at its end."""

    def __init__(self, number, offloads, kernel_on_both):
        stem = f"carrick-bench-{os.getpid()}-{number}"
        self.names = [f"{stem}-a", f"{stem}-b"]
        self.offloads, self.kernel_on_both, self.children = offloads, kernel_on_both, []

    def __enter__(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
            run("ip", "netns", "add", name)
        ours, peer = self.names
        run("ip", "-n", ours, "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", peer)
        if not self.offloads:
            for name in self.names:
                run("ip", "netns", "exec", name, "ethtool", "-K", DEVICE,
                    *"tso off gso off gro off tx off rx off".split())
        for name in self.names:
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "link", "set", DEVICE, "up")
            # As any network card has: what the ring of 256 packets has no room for waits, in place of getting lost.
            run("tc", "-n", name, "qdisc", "replace", "dev", DEVICE, "root", "pfifo", "limit", "1000")
            # All runs of a contest call from ports of their own, those of the last minute too.
            run("ip", "netns", "exec", name, "sysctl", "-q", "net.ipv4.ip_local_port_range=1024 65535")
        for name, address in [(ours, OURS), (peer, PEER)] if self.kernel_on_both else [(peer, PEER)]:
            run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", DEVICE)
            # By the route: in a namespace not every machine lets all of them be the default.
            run("ip", "-n", name, "route", "replace", NETWORK, "dev", DEVICE, "src", address, "congctl", CONGESTION_CONTROL)
        return self

    def pass_by_xdp(self, end):
        """An XDP program at that end passes all: the other end can send frames back to it (XDP_TX), or redirect them."""
        run("ip", "netns", "exec", self.names[end], "scripts/enable-veth-redirect", DEVICE)

    def __exit__(self, *_):
        for child in self.children:
            child.stop()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def inside(self, end, command):
        return ["ip", "netns", "exec", self.names[end], *command]

    def start(self, end, command, says=None):
        """With `says`, once it has said that."""
        child = Scripted(self.inside(end, command), subprocess.STDOUT if says else subprocess.DEVNULL)
        self.children.append(child)
        if says and not any(says in line for line in child.process.stdout):
            raise RuntimeError(f"it ended before it said `{says}`")
        return child

    def output(self, end, command):
        """What a command prints that ends by itself, or is ended."""
        process = subprocess.Popen(self.inside(end, command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            printed, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"it had not ended after {PATIENCE} s") from error
        finally:
            ended(process)
        if process.returncode:
            raise RuntimeError(f"it failed: {said.strip()[-200:]}")
        return printed


class Scripted:
    """A process that answers each line with a line."""

    def __init__(self, command, errors=subprocess.DEVNULL):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=errors, text=True, bufsize=1, start_new_session=True)

    def tell(self, line):
        self.process.stdin.write(line + "\n")

    def answer(self):
        """The next line: there is none before what is told is done, so nothing of it has been read yet."""
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise RuntimeError(f"no answer came for {PATIENCE} s")
        return self.process.stdout.readline().strip()

    def ask(self, line):
        self.tell(line)
        answer = self.answer()
        if not answer.startswith("ok"):
            raise RuntimeError(f"`{line}` was answered `{answer}`")
        return [int(word) for word in answer.split()[1:]]

    def pause(self):
        """With all that it has started."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def stop(self):
        if self.process.poll() is None:
            self.go_on()
        ended(self.process)
