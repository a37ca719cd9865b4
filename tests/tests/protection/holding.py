# SPDX-License-Identifier: MIT OR Apache-2.0
# Clients of a server with 32 slots: short requests one after the other, or connections that say nothing.
import socket
import struct
import sys
import threading
import time

HOST, WHAT = sys.argv[1], sys.argv[2]
SERVER = (HOST, 80)
SLOTS = 32


def asked(source=""):
    """The status of one request, or the error."""
    try:
        with socket.create_connection(SERVER, 5, (source, 0)) as one:
            one.sendall(b"GET /a HTTP/1.0\r\n\r\n")
            answer = b""
            while more := one.recv(4096):
                answer += more
            return answer.split(b"\r\n")[0][9:].decode()
    except OSError as error:
        return type(error).__name__


def ended(one):
    """Whether the server has closed a connection."""
    one.settimeout(10)
    try:
        return one.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def in_turn():
    got = [asked() for _ in range(200)]
    print(got.count("200 OK"), "of", len(got), *{answer for answer in got if answer != "200 OK"})


def silent():
    held = [socket.create_connection(SERVER, timeout=5) for _ in range(SLOTS)]
    first = "refused" if asked() != "200 OK" else "served"
    begin = time.monotonic()
    # A head that is never whole must not count as progress.
    while (then := asked()) != "200 OK" and time.monotonic() < begin + 30:
        for one in held[::2]:
            try:
                one.sendall(b"G")
            except OSError:
                pass
        time.sleep(0.1)
    closed = sum(ended(one) for one in held)
    print(f"{first}, then {then}; {closed} of {len(held)} closed")


def crowd():
    """One address takes what it can get, and another asks."""
    held = []
    try:
        while len(held) <= SLOTS:
            held.append(socket.create_connection(SERVER, 5))
    except ConnectionRefusedError:
        pass
    print(f"{len(held)} held, then {asked()}; {asked(sys.argv[3])} elsewhere")


def idle():
    """Of an echo server, those that say nothing are closed, and one that does is not."""
    held = [socket.create_connection((HOST, 7), 5) for _ in range(8)]
    busy = socket.create_connection((HOST, 7), 5)
    closed = set()
    while len(closed) < len(held):
        busy.sendall(b"x")
        assert busy.recv(1) == b"x"
        for one in held:
            one.settimeout(0.02)
            try:
                if one.recv(1) == b"":
                    closed.add(one)
            except TimeoutError:
                pass
    print(f"{len(closed)} of {len(held)} closed")


def found(one):
    """Asks a key-value store for what it does not have."""
    one.sendall(b"G" + b"k" * 32)
    return one.recv(1) == b"N"


def full():
    """Of a key-value store without free slots, those that are idle for longest are closed."""
    held = [socket.create_connection(SERVER, 5) for _ in range(SLOTS)]
    first = "served at once"
    begin = time.monotonic()
    while time.monotonic() < begin + 30:
        assert found(held[-1])
        try:
            with socket.create_connection(SERVER, 5) as one:
                print(f"{first}, then {'served' if found(one) else 'not'}; ", end="")
                break
        except ConnectionRefusedError:
            first = "refused"
            time.sleep(0.05)
    print("the first closed" if ended(held[0]) else "the first open", end=", ")
    print("the last open" if found(held[-1]) else "the last closed")


def window(one):
    """What the server offers: `tcpi_snd_wnd` of <linux/tcp.h>."""
    return struct.unpack_from("<I", one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 228)[0]


def grown(source):
    """A connection to an echo server that has taken much, and is idle now, with the longest window that was offered."""
    octets, longest = 1_000_000, 0
    one = socket.create_connection((HOST, 7), 30, (source, 0))
    sender = threading.Thread(target=one.sendall, args=(bytes(octets),))
    sender.start()
    while octets and (more := one.recv(1 << 16)):
        octets -= len(more)
        longest = max(longest, window(one))
    sender.join()
    assert octets == 0
    return one, longest


def pool():
    """Of receive buffers: one address grows as many as it can, then another one."""
    held = [grown("") for _ in range(48)]
    _, other = grown(sys.argv[3])
    print(max(longest for _, longest in held), other)


{"in_turn": in_turn, "silent": silent, "crowd": crowd, "idle": idle, "full": full, "pool": pool}[WHAT]()
