# SPDX-License-Identifier: MIT
"""A program in the kernel, under carrickd."""
import json
import os
import signal

import counts
from world import CONNECTIONS, DEVICE, OURS, PEER, ROOT, SETTINGS, World, run


class InKernel(World):
    """The stack is in the kernel; carrickd keeps it there, and the process of its sockets alive."""

    MEMORY = 4096  # KiB by which a process may grow from its first rounds to the last

    def __init__(self):
        super().__init__()
        self.bpf = self.folder / "bpf"
        self.pins = self.bpf / "carrick/tcp"

    def begin(self):
        run("ip", "-n", self.ours, "addr", "add", f"{OURS}/24", "dev", DEVICE)
        run("ip", "-n", self.ours, "route", "add", "default", "via", PEER)
        self.bpf.mkdir()
        run("mount", "-t", "bpf", "bpf", self.bpf)
        settings = json.dumps([f"max_conns={CONNECTIONS}", *SETTINGS])
        (self.folder / "carrickd.toml").write_text(
            f'[[program]]\nfile = "{ROOT}/protocols/tcp/tcp.mtp"\ndevice = "{DEVICE}"\naddress = "{OURS}/24"\n'
            f'app = "sockets:{self.door}"\nset = {settings}\n')
        self.start_daemon()

    def give_back(self):
        run("ip", "netns", "exec", self.ours, *self.carrickd("clean"), check=False)
        run("umount", "--lazy", self.bpf, check=False)

    def carrickd(self, verb):
        return [os.environ["CARRICKD"], verb, "--pins", self.pins.parent, "--state", self.folder / "state"]

    def start_daemon(self):
        self.daemon = self.start(self.ours, [*self.carrickd("run"), self.folder / "carrickd.toml"], "info: ready")

    def status(self):
        said = run("ip", "netns", "exec", self.ours, *self.carrickd("status"), "--format", "json")
        return json.loads(said)["programs"][0]

    def library(self):
        return next((self.folder / "state").rglob("libcarrick-sockets.so"))

    def host(self):
        """The process of the sockets; None: there is none now."""
        return self.status()["applications"][0]["process"]

    def restart_host(self):
        """The daemon starts another one, which takes the place of the dead one's file."""
        pid = self.host()
        os.kill(pid, signal.SIGKILL)
        self.until(lambda: self.host() not in (None, pid), "another process of sockets")

    def counters(self):
        return self.status()["counters"]

    def attached(self):
        return "prog/xdp" in run("ip", "-n", self.ours, "link", "show", DEVICE)

    # What is held.

    def held(self):
        there = {f"{of['context']} open": of["open"] for of in self.status()["instances"]}
        there |= counts.indexed(self.pins)
        there["pins"] = counts.pinned(self.pins)
        there["programs at the device"] = int(self.attached())
        there["devices"] = len(run("ip", "-n", self.ours, "-o", "link").splitlines())
        return there

    def held_by(self):
        """Processes, by what they are."""
        host = self.host()
        return {"carrickd": self.daemon.child.pid} | ({"the sockets' process": host} if host else {})

    def free(self):
        return counts.free(self.pins)

    def end(self):
        """Ends it in order. Gives what went wrong, and what is left."""
        host = self.host()
        wrong = [] if self.daemon.kill(signal.SIGTERM) == 0 else [
            f"carrickd did not end in order: {self.daemon.lines[-3:]}"]
        left = {"pins": self.pins.exists(), "a program at the device": self.attached(),
                "what was built": (self.folder / "state").exists(), "the sockets' process": counts.runs(host)}
        return wrong + [f"{what} is left when carrickd has ended" for what, there in left.items() if there]
