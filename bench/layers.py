# SPDX-License-Identifier: MIT
"""What a request costs the processors, by layer: samples of perf, put together by the function in which each was taken.

The samples are of the processor's clock (a virtual machine may not count cycles), so figures are in ns. What holds
interrupts off is seen where it lets them on again."""

import collections
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERTZ, PATIENCE = 4999, 60
# Who works for a request: the hosts, what they are compared with, and the kernel on nobody's behalf.
WORKERS = re.compile(r"(.*-host|peer|bench-kv|swapper|ksoftirqd/\d+)$")
SAMPLE = re.compile(r"\s*(?P<who>.*?)\s+[0-9a-f]+\s+(?P<function>.+?) \((?P<where>[^()]*)\)$")
APPLICATIONS = re.compile(r"(load|kvload|kv|echo|script|server)_|carrick_server_")
IDLE = re.compile(r"(pv_)?native_safe_halt|default_idle|mwait_idle|intel_idle|acpi_idle|cpu_idle|do_idle|cpuidle|poll_idle")
# The first that fits what a function of the kernel is called.
KERNEL = [
    ("transport", r"bpf_prog_(?!.*_dispatch$)|_*(tcp|udp|bbr|cubictcp|dctcp|inet|ip|ipv4|neigh|fib|xfrm|nf|rt|sk_stream|sk_forced|sk_filter)_"),
    ("copies and checksums", r".*(memcpy|memmove|memset|csum|checksum|nofault|copy_(to|from)_(iter|user)|datagram_iter|pp_cow_data)"),
    ("maps and helpers", r"_*(bpf_(?!prog_)|htab|array_map|ringbuf|lookup_nulls)"),
    ("AF_XDP", r"_*(xsk|xp|xdp_umem)_"),
    ("device", r"_*(bpf_prog_|tun_|veth|napi|net_rx|net_tx|netif|netdev|dev_|xdp|eth_|process_backlog|enqueue_to_backlog|passthru|"
               r"validate_xmit|handle_softirqs|do_softirq|raise_softirq|qdisc|local_bh|generic_xdp|bq_)"),
    ("memory and socket buffers", r".*(skb|slab|kmem|kfree|kmalloc|page|memcg|partial|sock_wfree|sock_rfree|sk_free|folio|obj_cgroup|pfnblock)"),
    ("calls and sockets", r".*(syscall|entry_SYSCALL|entry_64|sys_|sock|poll|fdget|fput|send|recv|security|import_ubuf|user|"
                          r"object_size|virt_addr|vmalloc_addr)|ep_|eventfd"),
    ("scheduling and locks", r".*(sched|task|wake|spin|lock|mutex|irq|msr|ipi|apic|timer|tick|ktime|tsc|rcu|switch|"
                             r"pick_|futex|cpu|load_avg|entity|hypercall|idle)"),
]
REST = "rest of the kernel"
LAYERS = ["application", "host and libraries", *(name for name, _ in KERNEL), REST]
KERNEL = [(name, re.compile(pattern)) for name, pattern in KERNEL]


def layer_of(function, where):
    """None: nobody's."""
    if where.startswith(("[", "bpf_prog_")) and where != "[vdso]":
        if IDLE.match(function):
            return None
        return next((name for name, pattern in KERNEL if pattern.match(function)), REST)
    ours = where.endswith("-host")
    if ours and APPLICATIONS.match(function) or not ours and where.endswith(("/peer", "bench-kv")):
        return LAYERS[0]
    return LAYERS[1]


def layers_of(script):
    """Samples of each layer, in what `perf script` says."""
    found = collections.Counter()
    for line in script.splitlines():
        sample = SAMPLE.match(line)
        if sample and WORKERS.match(sample["who"]):
            found[layer_of(sample["function"], sample["where"])] += 1
    del found[None]
    return found


class Recording:
    """`perf record` of all processors, from `with` to its end."""

    def __init__(self, folder):
        self.data = str(Path(folder) / "data")
        self.control, self.acknowledged = Path(folder) / "control", Path(folder) / "acknowledged"

    def __enter__(self):
        os.mkfifo(self.control)
        os.mkfifo(self.acknowledged)
        self.perf = subprocess.Popen(["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(HERTZ), "-D", "-1", "-o", self.data,
                                      f"--control=fifo:{self.control},{self.acknowledged}"],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # Both stay open: perf ends with whoever commands it.
        self.commands, self.answers = (open(path, "r+b", buffering=0) for path in (self.control, self.acknowledged))
        self.commands.write(b"enable\n")
        until = time.monotonic() + PATIENCE
        while not select.select([self.answers], [], [], 0.1)[0]:
            if self.perf.poll() is not None or time.monotonic() > until:
                said = self.end()
                raise RuntimeError(f"perf does not record: {said}")
        return self

    def end(self):
        if self.perf.poll() is None:
            self.perf.send_signal(signal.SIGINT)
        said = self.perf.communicate(timeout=PATIENCE)[1]
        self.commands.close()
        self.answers.close()
        return said.strip()[-200:]

    def __exit__(self, *_):
        said = self.end()
        if self.perf.returncode not in (0, -signal.SIGINT):
            raise RuntimeError(f"perf failed: {said}")

    def layers(self):
        done = subprocess.run(["perf", "script", "-i", self.data, "-F", "comm,ip,sym,dso"], check=True, capture_output=True, text=True)
        return layers_of(done.stdout)


def lacking():
    """Why nothing can be told here; None: it can."""
    if not shutil.which("perf"):
        return "perf is missing (Debian's package linux-perf)"
    for name, wanted in (("net/core/bpf_jit_kallsyms", "1"), ("kernel/kptr_restrict", "01")):
        if Path("/proc/sys", name).read_text().strip() not in wanted:
            return f"programs and functions of the kernel have no names: sysctl -w {name.replace('/', '.')}={wanted[-1]}"
    return None


class Layers:
    """What a request costs. `taken`: of each way, the nanoseconds of a request in each layer, a figure a run; `failed`: why ways are missing."""

    rows, peers, aims, wanted, layers, change = [], [], (), "none; the figures are information", None, None
    how = ("The time of all processors that a request takes, both ends together, by location, sampled "
           f"({HERTZ} times a second, perf's cpu-clock); what holds interrupts off is seen where it lets them on again. The transport is its "
           "programs, or Linux's TCP, UDP and IP; its maps and helpers are separate. Scheduling is with interrupts and clocks.")

    def __init__(self, title, taken, failed=()):
        self.title, self.taken, self.failed = title, taken, list(failed)

    def columns(self):
        """Of each way that was measured: nanoseconds of a request, by layer."""
        return {name: {layer: statistics.median(values) for layer, values in taken.items()}
                for name, taken in self.taken.items() if taken}


class Recorded(Layers):
    """The same, of rows of other contests. `ways`: a name, what gives a row, and how many requests a sample of it is."""

    def __init__(self, title, ways):
        if lacking():
            raise RuntimeError(lacking())
        super().__init__(title, {name: collections.defaultdict(list) for name, _, _ in ways})
        self.ways = [(name, make(), requests) for name, make, requests in ways]

    def run(self, runs):
        print(self.title, file=sys.stderr)
        for count in range(1 + runs):
            for name, row, requests in self.ways:
                self.take(name, row, requests, count == 0)
        self.failed = [f"{name}: {row.failed}" for name, row, _ in self.ways if row.failed]

    def take(self, name, row, requests, warming):
        if warming:
            row.take()
        if row.failed or warming:
            return
        with tempfile.TemporaryDirectory() as folder:
            with Recording(folder) as recording:
                row.take()
            found = recording.layers()
        if row.failed:
            return
        for layer in LAYERS:
            self.taken[name][layer].append(found[layer] * 1e9 / HERTZ / requests)
