# SPDX-License-Identifier: MIT
"""What a program in the kernel and the processes about it hold, from outside."""
import ctypes
import errno
import os
import pathlib
import platform
import struct

BPF = 321 if platform.machine() == "x86_64" else 280
UPDATE, NEXT_KEY, GET, INFO, TAKE = 2, 4, 7, 15, 21  # enum bpf_cmd
LIBC = ctypes.CDLL(None, use_errno=True)


def bpf(command, attr):
    attr = ctypes.create_string_buffer(attr, 128)
    got = LIBC.syscall(BPF, command, attr, 128)
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got


def at(buffer):
    return ctypes.addressof(buffer)


class Map:
    """A pinned map."""

    def __init__(self, path):
        name = ctypes.create_string_buffer(str(path).encode())
        self.fd = bpf(GET, struct.pack("=QII", at(name), 0, 0))
        info = ctypes.create_string_buffer(88)
        bpf(INFO, struct.pack("=IIQ", self.fd, 88, at(info)))
        _, _, self.key, self.value, self.entries = struct.unpack("=5I", info.raw[:20])

    def close(self):
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def keys(self):
        """How many there are of a hash."""
        key, following = (ctypes.create_string_buffer(self.key) for _ in range(2))
        count, from_ = 0, 0
        try:
            while True:
                bpf(NEXT_KEY, struct.pack("=IIQQQ", self.fd, 0, from_, at(following), 0))
                key.raw, from_, count = following.raw, at(key), count + 1
        except OSError as e:
            if e.errno != errno.ENOENT:
                raise
        return count

    def elements(self):
        """Those of a stack; they are taken and put back, so nobody may use it meanwhile."""
        value, taken = ctypes.create_string_buffer(self.value), []
        try:
            while True:
                bpf(TAKE, struct.pack("=IIQQQ", self.fd, 0, 0, at(value), 0))
                taken.append(value.raw)
        except OSError as e:
            if e.errno != errno.ENOENT:
                raise
        for raw in reversed(taken):
            value.raw = raw
            bpf(UPDATE, struct.pack("=IIQQQ", self.fd, 0, 0, at(value), 0))
        return [struct.unpack("=I", raw)[0] for raw in taken]


def maps(pins, kind):
    """The maps of each context, of a kind: what is behind `kind_` in their names, and the map."""
    for path in sorted((pathlib.Path(pins) / "maps").glob(f"{kind}_*")):
        with Map(path) as found:
            yield path.name.removeprefix(f"{kind}_"), found


def indexed(pins):
    """Ids that are known, of each context."""
    return {f"ids of context {n}": found.keys() for n, found in maps(pins, "index")}


def free(pins):
    """Free slots of each context; what is wrong with them. Nothing may happen meanwhile."""
    counts, wrong = {}, []
    for n, found in maps(pins, "free"):
        slots = found.elements()
        counts[f"free slots of context {n}"] = len(slots)
        if len(set(slots)) != len(slots):
            wrong.append(f"slots of context {n} are free twice: {sorted(slots)}")
    return counts, wrong


def pinned(pins):
    return sum(len(names) for _, _, names in os.walk(pins))


def runs(pid):
    """Whether a process runs. One that has ended is in /proc until its parent, which may be init by then, has waited for it."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "State:\tZ" not in status


def of_process(pid):
    """Descriptors, and KiB of memory that is its own."""
    fds = len(os.listdir(f"/proc/{pid}/fd"))
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    anonymous = next(line for line in status.splitlines() if line.startswith("RssAnon:"))
    return fds, int(anonymous.split()[1])
