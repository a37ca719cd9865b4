# SPDX-License-Identifier: MIT
"""Two network namespaces with a stack in one of them, and a third one behind the other."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TALK = ROOT / "tests/soak/talk.py"
DEVICE, OURS, PEER, FAR, PORT = "wire0", "10.79.0.1", "10.79.0.2", "10.79.1.2", 4000
# Connections that there may be; each has two requests with bytes at most.
CONNECTIONS = 64
# Short enough that what is silent is given up within a round, and long enough that no loss looks like silence.
SETTINGS = ["peer_share=0", "msl=100ms", "rto_max=1s", "data_retries=6", "fin_wait_2_time=5s", "keepalive_time=3s",
            "keepalive_interval=1s", "keepalive_probes=4"]
PATIENCE = 300  # s, on a busy machine
SETTLED = 40  # s that what was lost, or fell silent, may take to be given up


def run(*words, check=True):
    return subprocess.run([str(word) for word in words], check=check, capture_output=True, text=True).stdout


class Process:
    """A process whose lines are kept."""

    def __init__(self, words, says=None, environment=None):
        self.child = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, env=environment)
        self.lines, self.silent, self.changed = [], False, threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if says:
            self.wait_for(says)

    def read(self):
        for line in self.child.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.silent = True
            self.changed.notify_all()

    def tell(self, line):
        """Tells it a line, the last one."""
        self.child.stdin.write(line + "\n")
        self.child.stdin.close()
        self.child.stdin = None

    def wait_for(self, says):
        with self.changed:
            self.changed.wait_for(lambda: self.silent or any(says in line for line in self.lines), PATIENCE)
            if not any(says in line for line in self.lines):
                raise RuntimeError(f"never said `{says}`: {self.lines[-20:]}")

    def kill(self, how=signal.SIGKILL):
        self.child.send_signal(how)
        return self.child.wait(PATIENCE)

    def ended(self, within=PATIENCE):
        """Whether it has ended, and all that it said is there."""
        try:
            self.child.wait(within)
        except subprocess.TimeoutExpired:
            return False
        self.reader.join(within)
        return True


class World:
    """Use as a context manager: all is taken away at its end."""

    def __init__(self):
        stem = f"carrick-soak-{os.getpid()}"
        self.ours, self.peer, self.far = (f"{stem}-{end}" for end in "abc")
        self.temporary = tempfile.TemporaryDirectory(prefix="carrick-soak-")
        self.folder = pathlib.Path(self.temporary.name)
        self.door = self.folder / "door"
        self.processes = []

    def __enter__(self):
        try:
            self.wire()
            self.lose(0)
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.child.poll() is None:
                process.kill()
        self.give_back()
        for name in (self.ours, self.peer, self.far):
            run("ip", "netns", "del", name, check=False)
        self.temporary.cleanup()

    def give_back(self):
        """What else there is that outlives processes."""

    def wire(self):
        for name in (self.ours, self.peer):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", self.ours, "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", self.peer)
        for name in (self.ours, self.peer):
            run("ip", "netns", "exec", name, "ethtool", "-K", DEVICE, *"tso off gso off gro off tx off rx off".split())
            run("ip", "-n", name, "link", "set", DEVICE, "up")
        # A container's end takes frames in batches.
        run("ip", "netns", "exec", self.peer, "ethtool", "-K", DEVICE, "gro", "on")
        run("ip", "-n", self.peer, "addr", "add", f"{PEER}/24", "dev", DEVICE)
        run("ip", "netns", "exec", self.peer, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")

    def lose(self, one_in):
        """So many frames, either way. 0: none, and the peer's device is as a container's is, without a program."""
        if one_in:
            run("ip", "netns", "exec", self.peer, ROOT / "scripts/enable-veth-redirect", DEVICE, one_in, "both")
        else:
            run("ip", "-n", self.peer, "link", "set", DEVICE, "xdp", "off")
            run("ip", "netns", "exec", self.peer, "tc", "qdisc", "del", "dev", DEVICE, "clsact", check=False)

    def until(self, holds, what):
        end = time.monotonic() + SETTLED
        while not holds():
            if time.monotonic() > end:
                raise RuntimeError(f"there never is {what}")
            time.sleep(0.1)

    # Programs.

    def start(self, namespace, words, says=None, environment=None):
        process = Process(["ip", "netns", "exec", namespace, *words], says, environment)
        self.processes.append(process)
        return process

    def talk(self, namespace, *words, says=None):
        """The program in a namespace; in ours its sockets are the stack's."""
        environment = dict(os.environ)
        if namespace == self.ours:
            environment |= {"LD_PRELOAD": str(self.library()), "CARRICK_SOCKETS": str(self.door)}
        return self.start(namespace, [sys.executable, "-u", TALK, *words], says, environment)

    def far_away(self):
        """A namespace behind the peer."""
        run("ip", "netns", "add", self.far)
        run("ip", "-n", self.far, "link", "add", DEVICE, "type", "veth", "peer", "name", "far0", "netns", self.peer)
        run("ip", "-n", self.peer, "addr", "add", "10.79.1.1/24", "dev", "far0")
        run("ip", "-n", self.peer, "link", "set", "far0", "up")
        run("ip", "-n", self.far, "addr", "add", f"{FAR}/24", "dev", DEVICE)
        run("ip", "-n", self.far, "link", "set", DEVICE, "up")
        run("ip", "-n", self.far, "route", "add", "default", "via", "10.79.1.1")

    def silence(self):
        """Whatever is far away says nothing any more."""
        run("ip", "-n", self.peer, "link", "del", "far0")
