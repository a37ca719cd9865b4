# SPDX-License-Identifier: MIT
"""A program that knows nothing of the stack beneath its sockets: it serves, or calls and compares what it gets by hash.

    talk.py serve ADDRESS PORT               until it is killed; prints why connections ended early
    talk.py call ADDRESS PORT SEED THREADS TIMES   prints a line for each transfer: KIND ok OCTETS, or KIND and what was lost
    talk.py hold ADDRESS PORT SEED COUNT     opens so many, has all of them send, and reads none until a line comes
    talk.py survive ADDRESS PORT SEED COUNT  echoes on so many until a line comes; prints the longest wait of each (s)
"""
import errno
import hashlib
import random
import socket
import struct
import sys
import threading
import time

PATIENCE = 60  # s
RESET = struct.pack("ii", 1, 0)  # struct linger: closing resets
PIECE = 65536


def octets(seed, count):
    return random.Random(seed).randbytes(count)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def all_of(s):
    got = bytearray()
    while piece := s.recv(PIECE):
        got += piece
    return bytes(got)


def line_of(s):
    line = b""
    while not line.endswith(b"\n"):
        piece = s.recv(1)
        if not piece:
            raise EOFError
        line += piece
    return line.decode().split()


def echo(s):
    while piece := s.recv(PIECE):
        s.sendall(piece)


def rude(s, count, seed):
    s.sendall(octets(seed, count))
    s.recv(1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def serve_one(s):
    with s:
        try:
            kept_alive(s)
            kind, count, seed = line_of(s)
            count, seed = int(count), int(seed)
            if kind == "echo":
                echo(s)
            elif kind == "give":
                s.sendall(octets(seed, count))
            elif kind == "take":
                s.sendall(digest(all_of(s)).encode())
            elif kind == "rude":
                rude(s, count, seed)
        except (OSError, EOFError) as e:
            print("ended by", repr(e), flush=True)  # who has lost something says so at the other end


def serve(address, port):
    listener = socket.create_server((address, port), backlog=128)
    print("serving", flush=True)
    while True:
        s, _ = listener.accept()
        threading.Thread(target=serve_one, args=(s,), daemon=True).start()


def kept_alive(s):
    """Whoever only listens learns by this that the other end is gone."""
    s.settimeout(PATIENCE)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, seconds in ((socket.TCP_KEEPIDLE, 2), (socket.TCP_KEEPINTVL, 1), (socket.TCP_KEEPCNT, 5)):
        try:
            s.setsockopt(socket.IPPROTO_TCP, option, seconds)
        except OSError as e:
            if e.errno != errno.ENOPROTOOPT:  # the stack has these times from its own settings
                raise


def ask(to, kind, count, seed):
    s = socket.create_connection(to, PATIENCE)
    kept_alive(s)
    s.sendall(f"{kind} {count} {seed}\n".encode())
    return s


def ask_until_taken(to, kind, count, seed):
    """Connections that have just ended hold their places for a moment, and so long the stack refuses others: a SYN, or the
    acknowledgement of a SYN cookie, whose peer believes by then that it is connected. Who has got a byte is served."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            s = ask(to, kind, count, seed)
            s.recv(1, socket.MSG_PEEK)
            return s
        except (ConnectionRefusedError, ConnectionResetError):
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def put(s, data):
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # whoever reads sees that not all comes


def call_echo(s, data):
    writer = threading.Thread(target=put, args=(s, data))
    writer.start()
    got = all_of(s)
    writer.join()
    return got


def call_take(s, data):
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    return data if all_of(s) == digest(data).encode() else b""


def call_rude(s, data):
    """Who reset may have said so in vain: it is asked again until it is heard."""
    got = b""
    while len(got) < len(data):
        piece = s.recv(PIECE)
        if not piece:
            return got
        got += piece
    until = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < until:
            s.sendall(b"!")
            s.settimeout(0.05)
            try:
                if not s.recv(1):
                    return b""
            except TimeoutError:
                pass
    except OSError as e:
        if e.errno in (errno.ECONNRESET, errno.EPIPE):
            return got
        raise
    return b""


CALLS = {"echo": call_echo, "give": lambda s, data: all_of(s), "take": call_take, "rude": call_rude}


def transfer(to, kind, count, seed):
    """What became of a transfer."""
    try:
        data = octets(seed, count)
        with ask(to, kind, count, seed) as s:
            if kind == "leave":
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                return f"ok {count}"
            got = CALLS[kind](s, data)
        if digest(got) == digest(data):
            return f"ok {count}"
        return f"short {len(got)} of {count}" if data.startswith(got) else f"WRONG {len(got)} of {count}"
    except OSError as e:
        return f"error {errno.errorcode.get(e.errno, type(e).__name__)} of {count}"


def call(to, seed, threads, times):
    def work(number):
        chance = random.Random(seed * 1000 + number)
        for _ in range(times):
            kind = chance.choice(["echo", "echo", "give", "take", "rude", "leave"])
            count = int(10 ** chance.uniform(0, 6.3))
            sys.stdout.write(f"{kind} {transfer(to, kind, count, chance.randrange(1 << 30))}\n")

    workers = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def hold(to, seed, count):
    size = 800_000  # more than the stack, the relay and sockets between have room for
    try:
        held = [ask_until_taken(to, "give", size, seed + n) for n in range(count)]
    except OSError as e:
        print("hold error", e, flush=True)
        return
    print("holding", flush=True)
    sys.stdin.readline()
    for n, s in enumerate(held):
        with s:
            try:
                got = all_of(s)
            except OSError as e:
                print("hold error", e, flush=True)
                continue
        print("hold", f"ok {size}" if got == octets(seed + n, size) else f"WRONG {len(got)} of {size}", flush=True)


def survivor(s, data, ended, waits):
    """Echoes the same again and again."""
    try:
        with s:
            while not ended.is_set():
                writer = threading.Thread(target=s.sendall, args=(data,))
                writer.start()
                got, last = b"", time.monotonic()
                while len(got) < len(data):
                    piece = s.recv(PIECE)
                    now = time.monotonic()
                    waits.append(max(waits.pop(), now - last))
                    if not piece:
                        raise EOFError
                    got, last = got + piece, now
                writer.join()
                if got != data:
                    raise ValueError("other octets")
    except (OSError, EOFError, ValueError) as e:
        waits.insert(0, e)


def note_lag(ended, lags):
    """How late the system lets this process go on, at the most."""
    latest, step = 0.0, 0.01
    while not ended.is_set():
        due = time.monotonic() + step
        time.sleep(step)
        latest = max(latest, time.monotonic() - due)
    lags.append(latest)


def survive(to, seed, count):
    ended, waits, lags = threading.Event(), [[0.0] for _ in range(count)], []
    clock = threading.Thread(target=note_lag, args=(ended, lags), daemon=True)
    clock.start()
    echoed = [ask(to, "echo", 0, 0) for _ in range(count)]
    threads = [threading.Thread(target=survivor, args=(s, octets(seed, 60_000), ended, wait))
               for s, wait in zip(echoed, waits)]
    for thread in threads:
        thread.start()
    while not all(wait[-1] for wait in waits):
        time.sleep(0.001)
    print("surviving", flush=True)
    sys.stdin.readline()
    ended.set()
    for thread in [clock, *threads]:
        thread.join()
    for failed, wait in (([None] + wait)[-2:] for wait in waits):
        print("survive", f"failed {failed!r}" if failed else f"ok {wait:.3f} {lags[0]:.3f}", flush=True)


def main():
    verb, address, *numbers = sys.argv[1:]
    port, *numbers = map(int, numbers)
    if verb == "serve":
        serve(address, port)
    elif verb == "call":
        call((address, port), *numbers)
    elif verb == "survive":
        survive((address, port), *numbers)
    else:
        hold((address, port), *numbers)


main()
