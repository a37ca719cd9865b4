# SPDX-License-Identifier: MIT
"""A program that knows nothing of the stack beneath its sockets. What it expects is what the kernel's stack does, on which it
runs first. Prints the name of each case when it has passed; the last line is `all`."""
import array
import ctypes
import errno
import fcntl
import itertools
import os
import select
import socket
import struct
import sys
import tempfile
import termios
import time

OURS, PEER, PORT = sys.argv[1], sys.argv[2], 1000
SIX = ":" in PEER
FAMILY = socket.AF_INET6 if SIX else socket.AF_INET
HOME = "::1" if SIX else "127.0.0.1"
TOS = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if SIX else (socket.IPPROTO_IP, socket.IP_TOS)
PATIENCE = 20_000  # ms
NAMES = (f"try-{n}" for n in itertools.count())  # of gates and floods: each try has its own
CASES = []


def case(f):
    CASES.append(f)
    return f


def timed(f):
    """A case that measures time, which a busy machine may fail: it has three tries."""

    def tried():
        for _ in range(2):
            try:
                return f()
            except (AssertionError, OSError) as e:
                print(f"{f.__name__} once more: {e!r}", flush=True)
        return f()

    tried.__name__ = f.__name__
    return case(tried)


def ask(line):
    s = socket.create_connection((PEER, PORT))
    s.sendall(line.encode() + b"\n")
    return s


def all_of(s):
    got = b""
    while piece := s.recv(65536):
        got += piece
    return got


def wait(s, events):
    p = select.poll()
    p.register(s, events)
    ready = p.poll(PATIENCE)
    assert ready, "nothing happened"
    return ready[0][1]


def fails(code, f, *arguments):
    try:
        f(*arguments)
    except OSError as e:
        assert e.errno == code, f"{e} instead of {errno.errorcode[code]}"
        return
    raise AssertionError(f"no {errno.errorcode[code]}")


@case
def names_are_those_of_the_internet():
    s = ask("echo")
    assert s.getpeername()[:2] == (PEER, PORT)
    address, port = s.getsockname()[:2]
    assert address == OURS and port > 1023
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_STREAM
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN) == FAMILY
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL) == socket.IPPROTO_TCP
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 0
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    assert len(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)) > 0
    fails(errno.EISCONN, s.connect, (PEER, PORT))


@case
def octets_go_and_come_by_every_call():
    s = ask("echo")
    s.sendall(b"one")
    assert s.recv(3, socket.MSG_PEEK | socket.MSG_WAITALL) == b"one" and s.recv(3) == b"one"
    assert os.write(s.fileno(), b"two") == 3
    assert os.read(s.fileno(), 3) == b"two"
    os.writev(s.fileno(), [b"th", b"ree"])
    assert s.recv(5, socket.MSG_WAITALL) == b"three"
    s.sendmsg([b"fo", b"ur"])
    room = [bytearray(2), bytearray(2)]
    wait(s, select.POLLIN)
    got, _, _, _ = s.recvmsg_into(room)
    while got < 4:
        got += s.recv_into(memoryview(room[1])[got - 2 :])
    assert b"".join(room) == b"four"
    with tempfile.TemporaryFile() as f:
        f.write(bytes(range(256)) * 4096)
        f.flush()
        sent = 0
        s.setblocking(False)
        back = b""
        while len(back) < 1 << 20:
            events = wait(s, select.POLLIN | (select.POLLOUT if sent < 1 << 20 else 0))
            if events & select.POLLOUT:
                sent += os.sendfile(s.fileno(), f.fileno(), sent, (1 << 20) - sent)
            if events & select.POLLIN:
                back += s.recv(65536)
        assert back == bytes(range(256)) * 4096
    fails(errno.EAGAIN, s.recv, 1)
    fails(errno.EAGAIN, s.recv, 1, socket.MSG_DONTWAIT)
    s.send(b"seen")
    wait(s, select.POLLIN)
    n = array.array("i", [0])
    while n[0] < 4:
        fcntl.ioctl(s, termios.FIONREAD, n)
    assert n[0] == 4


@case
def the_end_of_a_stream_is_one():
    s = ask("count")
    s.sendall(b"y" * 300_000)
    s.shutdown(socket.SHUT_WR)
    assert all_of(s) == b"300000"
    assert s.recv(1) == b"" and s.recv(1) == b""
    s = ask("send 100000")
    assert wait(s, select.POLLRDHUP) & select.POLLRDHUP
    assert len(all_of(s)) == 100_000
    assert s.send(b"z") == 1, "the other direction is open"


@case
def a_connection_is_refused():
    s = socket.socket(FAMILY)
    fails(errno.ECONNREFUSED, s.connect, (PEER, 9))
    s = socket.socket(FAMILY)
    s.setblocking(False)
    assert s.connect_ex((PEER, 9)) == errno.EINPROGRESS
    assert wait(s, select.POLLOUT) & (select.POLLERR | select.POLLHUP)
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED


@case
def a_connection_is_made_in_the_background():
    s = socket.socket(FAMILY)
    s.setblocking(False)
    assert s.connect_ex((PEER, PORT)) == errno.EINPROGRESS
    assert wait(s, select.POLLOUT) == select.POLLOUT
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    assert s.getpeername()[:2] == (PEER, PORT)
    s.sendall(b"count\n" + b"q" * 1000)
    s.shutdown(socket.SHUT_WR)
    s.setblocking(True)
    assert all_of(s) == b"1000", "nothing but what was written arrives"


@case
def a_reset_is_an_error_and_no_end():
    s = ask("reset 1000")
    assert len(s.recv(1000, socket.MSG_WAITALL)) == 1000
    s.sendall(b"!")
    wait(s, select.POLLIN)
    fails(errno.ECONNRESET, s.recv, 1)


@case
def an_error_is_told_once():
    s = ask("reset 1000")
    assert len(s.recv(1000, socket.MSG_WAITALL)) == 1000
    s.sendall(b"!")
    wait(s, select.POLLIN)
    fails(errno.ECONNRESET, s.recv, 1)
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    assert s.recv(1) == b""


@case
def a_reset_behind_the_end_is_an_error():
    s = ask("end")
    assert s.recv(1) == b""
    s.sendall(b"!")
    error, patience = 0, time.monotonic() + 10
    while error == 0 and time.monotonic() < patience:  # nothing but the option tells of it
        error = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    assert error in (errno.ECONNRESET, errno.EPIPE), error  # Linux tells EPIPE
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    assert s.recv(1) == b""


@case
def a_read_that_waits_learns_of_a_refusal():
    s = socket.socket(FAMILY)
    s.setblocking(False)
    assert s.connect_ex((PEER, 9)) == errno.EINPROGRESS
    s.setblocking(True)
    fails(errno.ECONNREFUSED, s.recv, 1)
    assert s.recv(1) == b""


@case
def an_address_is_ignored_once_connected():
    s = ask("echo")
    assert s.sendto(b"one", (PEER, PORT)) == 3
    assert s.sendmsg([b"tw", b"o"], [], 0, (PEER, PORT)) == 3
    assert s.recv(6, socket.MSG_WAITALL) == b"onetwo"


@case
def options_are_read_back():
    s = ask("echo")
    for level, option, value in [
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
        (socket.IPPROTO_TCP, socket.TCP_CORK, 1),
        (*TOS, 0x10),
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    ]:
        assert s.getsockopt(level, option) == 0
        s.setsockopt(level, option, value)
        assert s.getsockopt(level, option) == value
        s.setsockopt(level, option, 0)
        assert s.getsockopt(level, option) == 0
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8) == struct.pack("ii", 1, 0)


@case
def times_are_read_back():
    s = ask("echo")
    s.sendall(b"all")
    assert s.recv(3, socket.MSG_WAITALL) == b"all"  # so nothing waits for an acknowledgement longer than a timeout of 1 ms
    for option, values in [
        (socket.TCP_USER_TIMEOUT, [(5000, 5000), (1, 1), (0, 0)]),
        (socket.TCP_LINGER2, [(5, 5), (200, 120), (-7, -1), (0, 60)]),
    ]:
        assert s.getsockopt(socket.IPPROTO_TCP, option) == values[-1][1]
        for value, told in values:
            s.setsockopt(socket.IPPROTO_TCP, option, value)
            assert s.getsockopt(socket.IPPROTO_TCP, option) == told
    fails(errno.EINVAL, s.setsockopt, socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, -1)
    s = socket.socket(FAMILY)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 7000)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, 7)
    s.connect((PEER, PORT))
    assert s.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 7000
    assert s.getsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2) == 7
    s.sendall(b"echo\nx")
    assert s.recv(1) == b"x"


def seconds_until(s, event, f):
    begin = time.monotonic()
    f()
    wait(s, event)
    return time.monotonic() - begin


@timed
def less_than_a_segment_waits_for_more():
    s = ask("echo")

    def cork(on):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, on)

    def exchanged(octets):  # what was sent has arrived, and is acknowledged
        got = b""
        while len(got) < len(octets):
            got += s.recv(65536)
        assert got == octets

    for begin, hold, release in [
        (lambda: None, lambda: s.send(b"held", socket.MSG_MORE), lambda: s.send(b"!")),
        (lambda: None, lambda: s.sendmsg([b"he", b"ld"], [], socket.MSG_MORE), lambda: os.write(s.fileno(), b"!")),
        (lambda: cork(1), lambda: s.send(b"held"), lambda: (s.send(b"!"), cork(0))),
    ]:
        s.send(b"first")
        exchanged(b"first")
        begin()
        assert seconds_until(s, select.POLLIN, hold) > 0.15, "it is sent at once"
        cork(0)
        exchanged(b"held")
        at_once = []
        for _ in range(5):
            begin()
            at_once.append(seconds_until(s, select.POLLIN, lambda: (hold(), release())))
            exchanged(b"held!")
        assert min(at_once) < 0.15, "it waits on"
    whole = bytes(range(256)) * 400
    s.setblocking(False)
    sent, got = 0, b""
    while len(got) < len(whole):
        events = wait(s, select.POLLIN | (select.POLLOUT if sent < len(whole) else 0))
        if events & select.POLLOUT:
            sent += s.send(whole[sent:], socket.MSG_MORE)
        if events & select.POLLIN:
            got += s.recv(65536)
    assert got == whole
    s = ask("count")
    s.sendall(b"z" * 70_000, socket.MSG_MORE)
    s.shutdown(socket.SHUT_WR)
    assert all_of(s) == b"70000", "the end is not waited for"


def takes_no_more(s):
    """Whether it is not writable for a while in which this program was not held up."""
    begin = time.monotonic()
    return not select.select([], [s], [], 0.5)[1] and time.monotonic() - begin < 0.6


def filled(name):
    """A connection whose peer reads nothing until `go NAME`, and takes no more."""
    s = ask("hold " + name)
    assert s.recv(1) == b"!"
    s.setblocking(False)
    put = 0
    while not takes_no_more(s):
        try:
            put += s.send(b"h" * 65536)
        except BlockingIOError:
            pass
        assert put < 64 << 20, "the peer reads"
    return s


@timed
def data_waits_no_longer_than_the_user_timeout():
    gate = next(NAMES)
    s = filled(gate)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 300)
    wait(s, select.POLLIN)
    fails(errno.ETIMEDOUT, s.recv, 1)
    ask("go " + gate)


def seconds_to_close(s, seconds):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8) == struct.pack("ii", 1, seconds)
    begin = time.monotonic()
    s.close()
    return time.monotonic() - begin


@timed
def closing_waits_until_the_peer_has_all():
    gate = next(NAMES)
    s = filled(gate)
    other = s.dup()
    assert seconds_to_close(s, PATIENCE) < 10, "another owner has it"
    assert seconds_to_close(other, 1) >= 0.9, "nobody reads"
    ask("go " + gate)
    s = ask("count")
    s.sendall(b"c" * 100_000)
    assert seconds_to_close(s, PATIENCE) < 10, "all is read"
    with socket.create_server((OURS, 2003), family=FAMILY) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3))
        called = ask("call 2003 hello")
        accepted, _ = listener.accept()
        assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8) == struct.pack("ii", 1, 3)
        assert all_of(accepted) == b"hello"
        accepted.close()
    assert all_of(called).startswith(b" at")


@case
def a_program_may_clear_its_environment():
    s, before = ask("echo"), dict(os.environ)
    os.environ.clear()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    assert s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    ask("echo")
    os.environ.update(before)


@case
def options_outlive_connecting_and_listening():
    timeout = struct.pack("ll", 5, 0)
    for reach in [lambda s: s.connect((PEER, PORT)), lambda s: (s.bind((OURS, 2002)), s.listen())]:
        s = socket.socket(FAMILY)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.setsockopt(*TOS, 0x10)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 50_000)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 60_000)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeout)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, 7)
        reach(s)
        assert s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
        assert s.getsockopt(*TOS) == 0x10
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 100_000
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == 120_000
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16) == timeout
    accepting = s
    called = ask("call 2002 hello")
    accepted, _ = accepting.accept()
    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    assert accepted.getsockopt(*TOS) == 0x10
    assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 100_000
    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2) == 7
    accepted.close()
    all_of(called)


@case
def options_of_a_bound_socket_are_those_of_its_connection():
    s = socket.socket(FAMILY)
    s.bind((OURS, 0))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 7000)
    s.setsockopt(*TOS, 0x10)
    s.connect((PEER, PORT))
    assert s.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    assert s.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 7000
    assert s.getsockopt(*TOS) == 0x10


@timed
def a_receive_buffer_holds_the_peer_back():
    s = socket.socket(FAMILY)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    s.connect((PEER, PORT))
    name = next(NAMES)
    s.sendall(f"flood {name}\n".encode())
    # The peer has a small buffer of its own, and a stack in user space one for each connection.
    sent = int(all_of(ask("flooded " + name)))
    assert sent < 400 << 10, sent
    got = 0
    while got < sent:
        got += len(s.recv(65536))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 50_000)
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 100_000


@case
def the_inside_is_told():
    begin = time.monotonic()
    s = ask("echo")
    for _ in range(5):
        s.sendall(b"x")
        assert s.recv(1) == b"x"
    segment = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    assert 500 < segment <= 1460
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (timeout,) = struct.unpack_from("I", info, 8)
    sent_segment = struct.unpack_from("I", info, 16)[0]
    round_trip, variation, threshold, window = struct.unpack_from("IIII", info, 68)
    assert info[0] == 1, "it is established"
    assert sent_segment == segment
    assert 0 < round_trip <= timeout < 60_000_000 and 0 < variation < 60_000_000
    assert 1 <= window < threshold
    assert info[1] <= 4 and info[5] & 5 == 5, "timestamps, and a window scale"
    assert info[6] & 15 and info[6] >> 4, "both ends have one"
    (ack_delay,) = struct.unpack_from("I", info, 12)
    (their_segment,) = struct.unpack_from("I", info, 20)
    sent, _, received, acknowledged, packet, offered = struct.unpack_from("IIIIII", info, 44)
    (announced,) = struct.unpack_from("I", info, 84)
    assert 0 < ack_delay < 1_000_000
    assert 500 < their_segment <= announced == (1428 if SIX else 1448) and packet == 1500
    assert offered > segment
    assert max(sent, received, acknowledged) <= 1000 * (time.monotonic() - begin) + 10
    time.sleep(0.05)  # what is looked for is that time passes
    (later,) = struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 44)
    assert later >= sent + 40


@case
def one_direction_can_be_given_up():
    s = ask("count")
    s.shutdown(socket.SHUT_RD)
    assert s.recv(1) == b""
    assert s.send(b"still sent") == 10


@case
def a_listener_accepts():
    listener = socket.socket(FAMILY)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((OURS, 2000))
    listener.listen(8)
    assert listener.getsockname()[:2] == (OURS, 2000)
    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    fails(errno.EADDRINUSE, socket.socket(FAMILY).bind, (OURS, 2000))
    listener.setblocking(False)
    fails(errno.EAGAIN, listener.accept)
    fails(errno.EPIPE, listener.send, b"nobody")
    s = ask("call 2000 hello")
    wait(listener, select.POLLIN)
    accepted, (address, port, *_) = listener.accept()
    assert address == PEER and accepted.getpeername()[:2] == (PEER, port) and accepted.getsockname()[:2] == (OURS, 2000)
    assert all_of(accepted) == b"hello"
    accepted.sendall(b"bye")
    accepted.close()
    assert all_of(s) == b"bye at %d" % port
    s = ask("call 2000 rude")
    wait(listener, select.POLLIN)
    accepted, _ = listener.accept()
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wait(accepted, select.POLLIN)
    accepted.close()
    assert all_of(s).startswith(b"reset")
    listener.close()
    listener = socket.create_server((OURS, 2000), family=FAMILY)  # the port is free again


@case
def a_closed_listener_resets_what_it_did_not_accept():
    listener = socket.create_server((OURS, 2003), family=FAMILY)
    s = ask("call 2003")
    wait(listener, select.POLLIN)
    listener.close()
    assert all_of(s).startswith(b"reset")


@case
def a_listening_socket_is_not_read():
    listener = socket.create_server((OURS, 2004), family=FAMILY)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100_000)
    both = select.poll()
    both.register(listener, select.POLLIN | select.POLLOUT)
    assert both.poll(0) == []
    s = ask("call 2004 hello")
    wait(listener, select.POLLIN)
    assert both.poll(0) == [(listener.fileno(), select.POLLIN)]
    room = [bytearray(100)]
    for read in [
        lambda: listener.recv(100),
        lambda: listener.recv(100, socket.MSG_PEEK),
        lambda: listener.recvfrom(1),
        lambda: listener.recvmsg(1),
        lambda: os.read(listener.fileno(), 100),
        lambda: os.readv(listener.fileno(), room),
    ]:
        fails(errno.ENOTCONN, read)
    fails(errno.EPIPE, listener.send, b"x")
    accepted, _ = listener.accept()
    assert all_of(accepted) == b"hello", "nothing was taken away"
    accepted.close()
    assert all_of(s).startswith(b" at")


@case
def a_listening_process_forks():
    listener = socket.create_server(("", 2001), family=FAMILY)
    child = os.fork()
    if child == 0:
        accepted, _ = listener.accept()
        accepted.sendall(all_of(accepted).upper())
        os._exit(0)
    s = ask("call 2001 child")
    assert all_of(s).startswith(b"CHILD")
    assert os.waitpid(child, 0)[1] == 0
    s = ask("call 2001 parent")
    accepted, _ = listener.accept()
    accepted.sendall(all_of(accepted).upper())
    accepted.close()
    assert all_of(s).startswith(b"PARENT"), "the child's end did not end the listener"


@case
def descriptors_are_duplicated_and_inherited():
    s = ask("echo")
    other = os.dup(s.fileno())
    os.write(other, b"dup")
    assert s.recv(3, socket.MSG_WAITALL) == b"dup"
    s.close()
    os.write(other, b"alive")
    got = b""
    while len(got) < 5:
        got += os.read(other, 5 - len(got))
    assert got == b"alive"
    os.set_inheritable(other, True)
    child = os.fork()
    if child == 0:  # another program, which finds the socket by its number and knows it
        code = f"import socket; s = socket.socket(fileno={other}); print(s.getpeername()); s.sendall(b'exec')"
        os.execv(sys.executable, [sys.executable, "-c", code])
    os.waitpid(child, 0)
    got = b""
    while len(got) < 4:
        got += os.read(other, 4 - len(got))
    assert got == b"exec"
    os.close(other)


SOCKET_CALLS = {"x86_64": [*range(41, 48), *range(49, 56), 288, 299, 307], "aarch64": [*range(198, 210), 211, 212, 242, 243, 269]}


def give_up_calls_of_sockets():
    """The process dies of each of them but shutdown(), which it keeps."""
    kill, allow, load, equal = 0x80000000, 0x7FFF0000, (0x20, 0, 0, 0), 0x15
    checks = [(equal, 0, 1, n) + (6, 0, 0, kill) for n in SOCKET_CALLS.get(os.uname().machine, [])]
    filters = [load] + [half for check in checks for half in (check[:4], check[4:])] + [(6, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *f) for f in filters))
    program = struct.pack("HxxxxxxP", len(filters), ctypes.addressof(code))
    prctl = ctypes.CDLL(None).prctl
    zeros = [ctypes.c_ulong(0)] * 3
    assert prctl(38, ctypes.c_ulong(1), *zeros) == 0  # PR_SET_NO_NEW_PRIVS
    assert prctl(22, ctypes.c_ulong(2), program, *zeros[:2]) == 0  # PR_SET_SECCOMP


@case
def a_program_may_give_up_calls_of_sockets():
    s = ask("echo")
    child = os.fork()
    if child == 0:
        give_up_calls_of_sockets()
        os.write(s.fileno(), b"confined")
        got = b""
        while len(got) < 8:
            assert wait(s, select.POLLIN) == select.POLLIN
            got += os.read(s.fileno(), 8)
        s.shutdown(socket.SHUT_WR)
        wait(s, select.POLLIN)
        os._exit(0 if (got, os.read(s.fileno(), 1)) == (b"confined", b"") else 1)
    assert os.waitpid(child, 0)[1] == 0


@case
def epoll_tells_levels_and_edges():
    s, event = ask("echo"), os.eventfd(0, os.EFD_NONBLOCK)
    e = select.epoll()
    e.register(s, select.EPOLLIN)
    e.register(event, select.EPOLLIN)
    assert e.poll(0) == []
    s.sendall(b"level")
    assert e.poll(20) == [(s.fileno(), select.EPOLLIN)]
    assert e.poll(20) == [(s.fileno(), select.EPOLLIN)], "as long as there is something"
    assert s.recv(5, socket.MSG_WAITALL) == b"level"
    os.eventfd_write(event, 1)
    assert e.poll(20) == [(event, select.EPOLLIN)]
    os.eventfd_read(event)
    e.modify(s, select.EPOLLIN | select.EPOLLET)
    assert e.poll(0) == []
    s.sendall(b"edge")
    assert e.poll(20) == [(s.fileno(), select.EPOLLIN)]
    assert e.poll(0) == [], "an edge is told once"
    s.sendall(b"again")
    assert e.poll(20) == [(s.fileno(), select.EPOLLIN)]
    assert s.recv(9, socket.MSG_WAITALL) == b"edgeagain"
    readable, writable, _ = select.select([s], [s], [], 0)
    assert (readable, writable) == ([], [s])


@case
def a_writer_is_held_back():
    s = ask("echo")  # whose answers nobody reads
    s.setblocking(False)
    put = 0
    while True:
        try:
            put += s.send(b"w" * 65536)
        except BlockingIOError:
            if not select.select([], [s], [], 1)[1]:
                break
    assert put < 64 << 20
    got = 0
    while got < put:
        wait(s, select.POLLIN)
        got += len(s.recv(65536))


@case
def many_at_once():
    sockets = [ask("echo") for _ in range(100)]
    for n, s in enumerate(sockets):
        s.sendall(b"%03d" % n)
    for n, s in enumerate(sockets):
        assert s.recv(3, socket.MSG_WAITALL) == b"%03d" % n


@case
def the_kernel_keeps_what_is_its_own():
    listener = socket.create_server((HOME, 0), family=FAMILY)
    s = socket.create_connection(listener.getsockname()[:2])
    accepted, _ = listener.accept()
    s.sendall(b"home")
    assert accepted.recv(4) == b"home"
    a, b = socket.socketpair()
    a.sendall(b"pair")
    assert b.recv(4) == b"pair" and a.getsockname() == ""
    u = socket.socket(FAMILY, socket.SOCK_DGRAM)
    u.bind((HOME, 0))
    assert u.getsockname()[0] == HOME


def addresses_of_six_are_mapped():
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    s.connect(("::ffff:" + PEER, PORT))
    assert s.getpeername()[:2] == ("::ffff:" + PEER, PORT)
    s.sendall(b"count\n123")
    s.shutdown(socket.SHUT_WR)
    assert all_of(s) == b"3"


def sockets_of_six_may_be_for_six_alone():
    for only in (0, 1):
        s = socket.socket(FAMILY)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only)
        s.bind(("", 2005))
        assert s.getsockname()[:2] == ("::", 2005)
        assert s.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY) == only
        fails(errno.EINVAL, s.setsockopt, socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.listen()
        called = ask("call 2005 hello")
        accepted, (address, _, flow, scope) = s.accept()
        assert (address, flow, scope) == (PEER, 0, 0)
        assert accepted.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY) == only
        accepted.close()
        all_of(called)
        s.close()
    s = socket.socket(FAMILY)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    fails(errno.ENETUNREACH, s.connect, ("::ffff:127.0.0.1", 9))


def sockets_of_four_stay_with_the_kernel():
    listener = socket.create_server(("", 2006))
    s = socket.create_connection(("127.0.0.1", 2006))
    accepted, _ = listener.accept()
    s.sendall(b"four")
    assert accepted.recv(4) == b"four"


if SIX:
    CASES += [sockets_of_six_may_be_for_six_alone, sockets_of_four_stay_with_the_kernel]
else:
    CASES += [addresses_of_six_are_mapped]
for f in CASES:
    if f.__name__ in sys.argv[3:]:
        continue
    f()
    print(f.__name__, flush=True)
print("all")
