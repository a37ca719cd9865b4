# SPDX-License-Identifier: MIT
"""Opens as nobody what is pinned in a folder, all of it, and prints with which errors it could not, and how much there was."""
import ctypes
import errno
import os
import platform
import sys

BPF, GET = (321 if platform.machine() == "x86_64" else 280), 7
libc = ctypes.CDLL(None, use_errno=True)
paths = [os.path.join(folder, name) for folder, _, names in os.walk(sys.argv[1]) for name in names]


def opened(path):
    name = ctypes.create_string_buffer(path.encode())
    attr = ctypes.create_string_buffer(ctypes.addressof(name).to_bytes(8, sys.byteorder), 128)
    return "ok" if libc.syscall(BPF, GET, attr, 128) >= 0 else errno.errorcode[ctypes.get_errno()]


root = sorted({opened(path) for path in paths})
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
print(*root, "by root", *sorted({opened(path) for path in paths}), "by others of", len(paths))
