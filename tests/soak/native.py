# SPDX-License-Identifier: MIT
"""A stack in a process of its own."""
import os
import signal

from world import CONNECTIONS, DEVICE, OURS, PEER, ROOT, SETTINGS, World, run


class Native(World):
    """The stack is in a process with its sockets; our end's kernel has no address."""

    # KiB by which it may grow from its first rounds to the last: the units of each connection are touched only when they fill.
    MEMORY = 4096 + 528 * CONNECTIONS

    def begin(self):
        run(os.environ["CARRICK"], "build", ROOT / "protocols/tcp/tcp.mtp", "--target", "native", "-o", self.folder / "built")
        self.start_host()

    def start_host(self):
        settings = [word for setting in [f"max_conns={CONNECTIONS}", *SETTINGS] for word in ("--set", setting)]
        self.process = self.start(self.ours, [
            self.folder / "built/tcp-host", "--port", f"packet:{DEVICE}", "--addr", f"{OURS}/24", "--gateway", PEER,
            "--app", f"sockets:{self.door}", *settings], "serving sockets")

    def library(self):
        return self.folder / "built/libcarrick-sockets.so"

    def host(self):
        return self.process.child.pid

    def restart_host(self):
        self.process.kill()
        self.start_host()

    def counters(self):
        """A process prints them when it ends."""
        words = [line.split() for line in self.process.lines] if self.process.child.poll() is not None else []
        return {line[0]: int(line[1]) for line in words if len(line) == 2 and line[1].isdigit()}

    # What is held.

    def held(self):
        return {}

    def held_by(self):
        return {"the stack's process": self.host()}

    def free(self):
        return {}, []

    def end(self):
        """Ends it in order. Gives what went wrong, and what is left."""
        code = self.process.kill(signal.SIGTERM)
        self.process.reader.join()
        wrong = [] if code == 0 else [f"the stack did not end in order: {self.process.lines[-3:]}"]
        open_contexts = self.counters().get("open_contexts", 0)
        wrong += [f"{open_contexts} contexts were open at the end"] if open_contexts else []
        return wrong + (["the sockets' file is left"] if self.door.exists() else [])
