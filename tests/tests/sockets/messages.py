# SPDX-License-Identifier: MIT
"""An ordinary program with datagram sockets, and with those of the type SOCK_SEQPACKET: a server that says `ready`, and clients."""
import asyncio
import ctypes
import errno
import os
import select
import signal
import socket
import struct
import sys

KINDS = {"datagrams": socket.SOCK_DGRAM, "packets": socket.SOCK_SEQPACKET}
PATIENCE = 10


def told(f, *arguments):
    try:
        f(*arguments)
        return "ok"
    except OSError as e:
        return errno.errorcode[e.errno]


def longest(s):
    """The longest message that a connected socket takes, by trying."""
    low, high = 1, 70000
    while high - low > 1:
        middle = (low + high) // 2
        if told(s.send, bytes(middle)) == "EMSGSIZE":
            high = middle
        else:
            assert len(s.recv(70000)) == middle
            low = middle
    return low


def serve(kind, port):
    """Sends everything back."""
    if kind == "asyncio":
        return asyncio.run(serve_asyncio(int(port)))
    s = socket.socket(socket.AF_INET, KINDS[kind])
    s.bind(("", int(port)))
    if kind == "packets":
        s.listen()
    print("ready", flush=True)
    while True:
        if kind == "datagrams":
            s.sendto(*s.recvfrom(70000))
        else:
            accepted, _ = s.accept()
            if os.fork() == 0:
                back(accepted)
            accepted.close()


def back(s):
    try:
        while got := s.recv(70000):
            s.send(got)
    except OSError:
        pass
    os._exit(0)


async def serve_asyncio(port):
    class Echo(asyncio.DatagramProtocol):
        def connection_made(self, transport):
            self.transport = transport

        def datagram_received(self, data, address):
            self.transport.sendto(data, address)

    await asyncio.get_running_loop().create_datagram_endpoint(Echo, local_addr=("0.0.0.0", port))
    print("ready", flush=True)
    await asyncio.Event().wait()


def ask(kind, host, port):
    """Several sockets, messages of many lengths, and what the kernel's kind of socket promises."""
    to = (host, int(port))
    for n in range(4):
        s = socket.socket(socket.AF_INET, KINDS[kind])
        s.settimeout(PATIENCE)
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == KINDS[kind]
        s.connect(to)
        assert s.getpeername() == to and s.getsockname()[0] != "0.0.0.0"
        most = longest(s)
        assert told(s.send, bytes(most + 1)) == "EMSGSIZE"
        for size in [1, 2, 100, most // 2, most]:
            message = bytes((size + i) % 251 for i in range(size))
            assert os.write(s.fileno(), message) == size
            assert select.select([s], [], [], PATIENCE)[0] == [s]
            assert s.recv(70000, socket.MSG_PEEK) == message
            assert s.recv(10, socket.MSG_PEEK | socket.MSG_TRUNC)[:10] == message[:10]
            got, _, flags, _ = s.recvmsg(10)
            assert got == message[:10] and bool(flags & socket.MSG_TRUNC) == (size > 10)
            s.setblocking(False)
            assert told(s.recv, 10) == "EAGAIN"
            s.settimeout(PATIENCE)
        if kind == "packets":
            many(s)
            s.shutdown(socket.SHUT_WR)
            assert s.recv(10) == b"" and s.recv(10) == b""
            t = socket.socket(socket.AF_INET, KINDS[kind])
            assert told(t.connect, (host, to[1] + 1)) == "ECONNREFUSED"
            t.close()
        else:
            u = socket.socket(socket.AF_INET, KINDS[kind])
            u.settimeout(PATIENCE)
            u.sendto(b"unbound", to)
            assert u.recvfrom(100) == (b"unbound", to) and u.getsockname()[1] != s.getsockname()[1]
            u.close()
        s.close()
    print("all")


def many(s):
    """A stream of messages, sent without waiting for each: all come back in order, while there is space and where there is none."""
    s.setblocking(False)
    sent = got = full = 0
    while got < 500:
        readable, writable, _ = select.select([s], [s] if sent < 500 else [], [], PATIENCE)
        assert readable or writable
        if readable:
            assert s.recv(2000) == b"%d" % got * 20
            got += 1
        if writable:
            full += told(s.send, b"%d" % sent * 20) == "EAGAIN"
            sent += 1 - full
            full = 0
    s.settimeout(PATIENCE)


def many_clients(host, port, count):
    """More clients than the server can have conversations with."""
    for n in range(int(count)):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.settimeout(1)
        message = b"%d" % n
        for _ in range(PATIENCE):  # as a client of datagrams does, where one is lost
            s.sendto(message, (host, int(port)))
            try:
                assert s.recvfrom(100) == (message, (host, int(port)))
                break
            except TimeoutError:
                pass
        else:
            raise AssertionError("no answer")
        s.close()
    print("all")


def dies(host, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET)
    s.connect((host, int(port)))
    s.send(b"x")
    os.kill(os.getpid(), signal.SIGKILL)


def left(host, port):
    """Its stack ends."""
    s = socket.socket(socket.AF_INET, socket.SOCK_SEQPACKET)
    s.connect((host, int(port)))
    d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    d.bind(("", 0))
    print("connected", flush=True)
    for waits in (s, d):
        print(told(waits.recv, 10))
    print(told(d.sendto, b"x", (host, int(port))))


def garbage(peer):
    """Writes behind the library's back what no message is, and goes on."""
    d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    d.bind(("", 0))
    behind = socket.socket(fileno=os.dup(d.fileno()))
    libc = ctypes.CDLL(None, use_errno=True)
    letter = struct.pack("=QQQHHi", 0, 0, 0xFFFF << 32 | 0x0A4D0002, 1000, 0, 0)
    for n in range(300):
        data = [b"", b"x" * n, letter[: n % 33], letter + b"y" * n, bytes(100000)][n % 5]
        libc.syscall(1, behind.fileno(), data, len(data))  # write
    d.setblocking(False)
    assert told(d.recv, 10) == "EAGAIN"
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    assert s.sendto(b"x", (peer, 9)) == 1
    print("all")


def refusals(own, peer):
    a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    a.sendto(b"x", ("127.0.0.1", 9))  # the kernel has given it a port
    print("to another host, behind loopback:", told(a.sendto, b"x", (peer, 1000)))
    print("to loopback:", told(a.sendto, b"x", ("127.0.0.1", 9)))
    b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    b.bind(("", 0))
    print("a peer on loopback, of one that has a port:", told(b.connect, ("127.0.0.1", 1000)))
    print("a group:", told(b.sendto, b"x", ("224.0.0.1", 1000)))
    print("itself:", told(b.sendto, b"x", (own, 1000)))
    b.connect((peer, 1000))
    print("more in parts:", told(b.send, b"x", socket.MSG_MORE))
    print("packets in order:", told(socket.socket, socket.AF_INET, socket.SOCK_SEQPACKET))
    c = socket.create_server(("127.0.0.1", 0))
    print("a stream: the kernel's" if socket.create_connection(c.getsockname()) else "")


{
    "serve": serve, "ask": ask, "many": many_clients, "dies": dies, "left": left, "refusals": refusals,
    "garbage": garbage,
}[sys.argv[1]](*sys.argv[2:])  # fmt: skip
