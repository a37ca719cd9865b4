# SPDX-License-Identifier: MIT
"""The other end of compared connections, on the kernel's stack: does what it is told over a Unix socket, which no stack carries,
and answers when it has done it. Says `ready` when it serves.

    remote.py ADDRESS CONTROL [late]

`late`: who listens may be served a moment later, so a refused connection is tried again for a while."""
import errno
import select
import socket
import struct
import sys
import time

PORT, PATIENCE = 1000, 3
LATE = 1.0 if sys.argv[3:] == ["late"] else 0  # s
sockets = {}
counts = {}  # bytes sent and received of each, whose values follow from their places


def pattern(begin, count):
    return bytes((begin + i) % 251 for i in range(count))


def listen(name, port):
    sockets[name] = socket.create_server((ADDRESS, int(port)))


def accept(name, listener):
    sockets[listener].settimeout(PATIENCE)
    sockets[name], _ = sockets[listener].accept()
    sockets[name].settimeout(PATIENCE)
    counts[name] = [0, 0]


def connect(name, address, port):
    begin = time.monotonic()
    while True:
        s = sockets[name] = socket.socket()
        s.settimeout(PATIENCE)
        counts[name] = [0, 0]
        try:
            return s.connect((address, int(port)))
        except ConnectionRefusedError:
            if time.monotonic() - begin >= LATE:
                raise
            time.sleep(0.01)


def send(name, count):
    sockets[name].sendall(pattern(counts[name][0], int(count)))
    counts[name][0] += int(count)


def recv(name, count):
    got = b""
    while len(got) < int(count):
        piece = sockets[name].recv(int(count) - len(got))
        if not piece:
            break
        got += piece
    right = got == pattern(counts[name][1], len(got))
    counts[name][1] += len(got)
    return f"{len(got)} {'right' if right else 'wrong'}{' end' if len(got) < int(count) else ''}"


def rest(name):
    """Reads until the end: how many bytes, and how it ended."""
    count, how = 0, "end"
    try:
        while piece := sockets[name].recv(65536):
            count += len(piece)
    except OSError as e:
        how = errno.errorcode.get(e.errno, str(e))
    return f"{count} {how}"


def fin(name):
    sockets[name].shutdown(socket.SHUT_WR)


def reset(name):
    sockets[name].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sockets.pop(name).close()


def close(name):
    sockets.pop(name).close()


def awaits(name, mask):
    """Until poll reports one of these events."""
    p = select.poll()
    p.register(sockets[name], int(mask))
    return str(p.poll(PATIENCE * 1000)[0][1])


def forget():
    """Ends all that is there, and what nobody has accepted."""
    for s in list(sockets):
        if s != "service":
            sockets.pop(s).close()
    sockets["service"].setblocking(False)
    try:
        while True:
            sockets["service"].accept()[0].close()
    except BlockingIOError:
        pass


DOES = {f.__name__: f for f in (listen, accept, connect, send, recv, rest, fin, reset, close, awaits, forget)}
ADDRESS, CONTROL = sys.argv[1:3]
listen("service", PORT)
control = socket.socket(socket.AF_UNIX)
control.bind(CONTROL)
control.listen()
print("ready", flush=True)
while True:
    told, _ = control.accept()
    for line in told.makefile("r"):
        what, *arguments = line.split()
        try:
            said = DOES[what](*arguments) or "ok"
        except OSError as e:
            said = errno.errorcode.get(e.errno, str(e)) if e.errno else str(e)
        told.sendall(said.encode() + b"\n")
