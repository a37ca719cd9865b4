# SPDX-License-Identifier: MIT
"""Two network namespaces joined by a veth pair, and processes in them that obey a line at a time."""
# A pair of devices brings a frame that a program sends back only where there is a program too: one that lets all pass.
PASS = """
__attribute__((section("xdp"), used)) int pass(void *ctx) { (void)ctx; return 2; }
char pass_license[] __attribute__((section("license"), used)) = "Dual MIT/GPL";
"""

import os
import subprocess

OURS, PEER, DEVICE = "10.78.0.1", "10.78.0.2", "wire0"


def run(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


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
        run("ip", "-n", peer, "addr", "add", f"{PEER}/24", "dev", DEVICE)
        if self.kernel_on_both:
            run("ip", "-n", ours, "addr", "add", f"{OURS}/24", "dev", DEVICE)
        for name in self.names:
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "link", "set", DEVICE, "up")
        return self

    def let_frames_back(self, folder):
        """Puts PASS on the peer's device, made in a folder."""
        source, made = folder / "pass.c", folder / "pass.o"
        source.write_text(PASS)
        run("clang", "-target", "bpf", "-O2", "-g", "-c", str(source), "-o", str(made))
        run("ip", "-n", self.names[1], "link", "set", "dev", DEVICE, "xdp", "obj", str(made), "sec", "xdp")

    def __exit__(self, *_):
        for child in self.children:
            child.stop()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def start(self, end, command):
        child = Scripted(["ip", "netns", "exec", self.names[end], *command])
        self.children.append(child)
        return child


class Scripted:
    """A process that answers each line with a line."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, bufsize=1)

    def tell(self, line):
        self.process.stdin.write(line + "\n")

    def answer(self):
        return self.process.stdout.readline().strip()

    def ask(self, line):
        self.tell(line)
        answer = self.answer()
        if not answer.startswith("ok"):
            raise RuntimeError(f"`{line}` was answered `{answer}`")
        return [int(word) for word in answer.split()[1:]]

    def stop(self):
        """As a person would: it ends what it has started itself."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
