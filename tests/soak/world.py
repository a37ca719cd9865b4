# SPDX-License-Identifier: MIT
"""Two network namespaces with a program in the kernel in one of them, under carrickd, and a third one behind the other."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
TALK = ROOT / "tests/soak/talk.py"
DEVICE, OURS, PEER, FAR, PORT = "wire0", "10.79.0.1", "10.79.0.2", "10.79.1.2", 4000
# Connections that there may be; each has two requests with octets at most.
CONNECTIONS = 64
# Short enough that what is silent is given up within a round, and long enough that no loss looks like silence.
SETTINGS = ["msl=100ms", "rto_max=1s", "data_retries=6", "fin_wait_2_time=5s", "keepalive_time=3s",
            "keepalive_interval=1s", "keepalive_probes=4"]
PATIENCE = 90  # s


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
        self.bpf, self.door, self.log = self.folder / "bpf", self.folder / "door", []
        self.pins = self.bpf / "carrick/tcp"
        self.processes = []

    def __enter__(self):
        try:
            self.wire()
            self.bpf.mkdir()
            run("mount", "-t", "bpf", "bpf", self.bpf)
            self.lose(0)
            settings = json.dumps([f"max_conns={CONNECTIONS}", *SETTINGS])
            (self.folder / "carrickd.toml").write_text(
                f'[[program]]\nfile = "{ROOT}/protocols/tcp/tcp.mtp"\ndevice = "{DEVICE}"\naddress = "{OURS}/24"\n'
                f'app = "sockets:{self.door}"\nset = {settings}\n')
            self.start_daemon()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.child.poll() is None:
                process.kill()
        run("ip", "netns", "exec", self.ours, *self.carrickd("clean"), check=False)
        for name in (self.ours, self.peer, self.far):
            run("ip", "netns", "del", name, check=False)
        run("umount", "--lazy", self.bpf, check=False)
        self.temporary.cleanup()

    def wire(self):
        for name in (self.ours, self.peer):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", self.ours, "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", self.peer)
        for name, address in ((self.ours, OURS), (self.peer, PEER)):
            run("ip", "netns", "exec", name, "ethtool", "-K", DEVICE, *"tso off gso off gro off tx off rx off".split())
            run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", DEVICE)
            run("ip", "-n", name, "link", "set", DEVICE, "up")
        run("ip", "-n", self.ours, "route", "add", "default", "via", PEER)
        run("ip", "netns", "exec", self.peer, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")

    def lose(self, one_in):
        """So many frames, either way; 0: none."""
        run("ip", "netns", "exec", self.peer, ROOT / "scripts/let-frames-back", DEVICE, one_in, "both")

    # The daemon.

    def carrickd(self, verb):
        return [os.environ["CARRICKD"], verb, "--pins", self.pins.parent, "--state", self.folder / "state"]

    def start_daemon(self):
        self.daemon = self.start(self.ours, [*self.carrickd("run"), self.folder / "carrickd.toml"], "info: ready")

    def status(self):
        said = run("ip", "netns", "exec", self.ours, *self.carrickd("status"), "--format", "json")
        return json.loads(said)

    def library(self):
        return next((self.folder / "state").rglob("libcarrick-sockets.so"))

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

    def devices(self):
        return len(run("ip", "-n", self.ours, "-o", "link").splitlines())

    def attached(self):
        return "prog/xdp" in run("ip", "-n", self.ours, "link", "show", DEVICE)
