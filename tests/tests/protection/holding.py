# SPDX-License-Identifier: MIT OR Apache-2.0
# Clients of an HTTP server with 32 slots: short requests one after the other, or connections that say nothing.
import socket
import sys
import time

SERVER, WHAT = (sys.argv[1], 80), sys.argv[2]
SLOTS = 32


def asked():
    """The status of one request, or the error."""
    try:
        with socket.create_connection(SERVER, timeout=5) as one:
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


{"in_turn": in_turn, "silent": silent}[WHAT]()
