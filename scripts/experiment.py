# SPDX-License-Identifier: MIT
"""What experiments share that run programs in network namespaces: processes in them, and what was wanted of a figure."""
import subprocess

missed = []


def want(holds, what):
    """Prints whether a target is met, and remembers it if not."""
    if not holds:
        missed.append(what)
    print(f"wanted: {what}: {'yes' if holds else 'NO'}")


def sh(line):
    subprocess.run(line.split(), check=True, capture_output=True)


def inside(space, *command):
    return subprocess.Popen(["ip", "netns", "exec", space, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)


def end(process):
    process.terminate()
    process.communicate()


def add(*spaces):
    for space in spaces:
        sh(f"ip netns add {space}")
        sh(f"ip netns exec {space} sysctl -q -w net.ipv6.conf.all.disable_ipv6=1")


def remove(*spaces):
    for space in spaces:
        subprocess.run(["ip", "netns", "del", space], capture_output=True)
