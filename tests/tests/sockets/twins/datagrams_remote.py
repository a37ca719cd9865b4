# SPDX-License-Identifier: MIT
"""The other end of compared datagrams, on the kernel's stack: does what it is told over a Unix socket, which no stack carries, and
answers when it has done it. Says `ready` when it serves.

    datagrams_remote.py ADDRESS CONTROL"""
import errno
import socket
import sys

ADDRESS, CONTROL = sys.argv[1:3]
PATIENCE = 3
sockets, senders = {}, {}


def pattern(count):
    return bytes(i % 251 for i in range(count))


def open_(name, port):
    s = sockets[name] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(PATIENCE)
    s.bind((ADDRESS, int(port)))


def send(name, host, port, count):
    sockets[name].sendto(pattern(int(count)), (host, int(port)))


def recv(name):
    got, senders[name] = sockets[name].recvfrom(65536)
    port = senders[name][1]
    return f"{len(got)} {'right' if got == pattern(len(got)) else 'wrong'} from {port if port < 30000 else 'some'}"


def answer(name, count):
    """To the one whose message came last."""
    sockets[name].sendto(pattern(int(count)), senders[name])


def close(name):
    sockets.pop(name).close()


def forget():
    for s in sockets.values():
        s.close()
    sockets.clear()


def serve(lines, out):
    for line in lines:
        name, *arguments = line.split()
        try:
            said = {"open": open_, "send": send, "recv": recv, "answer": answer, "close": close, "forget": forget}[name](*arguments) or "ok"
        except TimeoutError:
            said = "nothing"
        except OSError as e:
            said = errno.errorcode[e.errno]
        out.sendall(said.encode() + b"\n")


door = socket.socket(socket.AF_UNIX)
door.bind(CONTROL)
door.listen()
print("ready", flush=True)
while True:
    told, _ = door.accept()
    with told:
        try:
            serve(told.makefile("r"), told)
        except BrokenPipeError:  # who hung was ended
            pass
