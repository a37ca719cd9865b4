# SPDX-License-Identifier: MIT
"""The other end, on the kernel's stack: does on each connection what its first line asks. Says `ready` when it serves."""
import collections
import errno
import queue
import select
import socket
import struct
import sys
import threading

PORT = 1000
gates = collections.defaultdict(threading.Event)  # by name: what somebody says late is not for the next one
floods = collections.defaultdict(queue.Queue)  # by name, too


def line(s):
    got = b""
    while not got.endswith(b"\n"):
        piece = s.recv(1)
        if not piece:
            return ""
        got += piece
    return got.decode().strip()


def all_of(s):
    got = b""
    while piece := s.recv(65536):
        got += piece
    return got


def serve(s, address):
    what = line(s).split()
    if not what:
        return
    if what[0] == "echo":
        while piece := s.recv(65536):
            s.sendall(piece)
    elif what[0] == "send":  # bytes, then the end
        s.sendall(b"x" * int(what[1]))
        s.shutdown(socket.SHUT_WR)
        s.recv(1)
    elif what[0] == "count":  # what comes until the end, told in digits
        s.sendall(str(len(all_of(s))).encode())
    elif what[0] == "hold":  # reads nothing until somebody says `go` with the same name
        s.sendall(b"!")
        gates[what[1]].wait()
        all_of(s)
    elif what[0] == "go":
        gates[what[1]].set()
    elif what[0] == "flood":  # bytes, until they have been taken no more for a while
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        s.setblocking(False)
        sent = 0
        while select.select([], [s], [], 0.5)[1]:
            sent += s.send(b"f" * 65536)
        floods[what[1]].put(sent)
        s.setblocking(True)
        s.recv(1)
    elif what[0] == "flooded":  # how many those were
        s.sendall(str(floods[what[1]].get()).encode())
    elif what[0] == "reset":  # bytes, then a reset once the first answer has come
        s.sendall(b"x" * int(what[1]))
        s.recv(1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif what[0] == "end":  # the end, then a reset once an answer has come
        s.shutdown(socket.SHUT_WR)
        s.recv(1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif what[0] == "call":  # connects back, says what it is told, if anything, tells what it hears and how it ended
        back, heard = socket.socket(s.family), b""
        try:
            back.connect((address, int(what[1])))
            if len(what) > 2:
                back.sendall(what[2].encode())
                back.shutdown(socket.SHUT_WR)
            heard = all_of(back)
        except OSError as e:
            if e.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
                raise
            heard = b"reset"  # whether it came before connect(), sendall(), shutdown() or recv()
        port = back.getsockname()[1]
        s.sendall(heard + b" at %d" % port)
        back.close()


def served(s, address):
    try:
        serve(s, address)
    except OSError:
        pass  # what ends so is part of a test
    finally:
        s.close()


family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
listener = socket.create_server((sys.argv[1], PORT), family=family, backlog=64)
print("ready", flush=True)
while True:
    connection, (address, *_) = listener.accept()
    threading.Thread(target=served, args=(connection, address), daemon=True).start()
