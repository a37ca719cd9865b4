#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens many connections to an echo server, keeps all of them open, and exchanges messages on each.

Each source address is a process of its own, since an address has only so many local ports. Every connection sends 8 bytes of its
own when it opens, and 8 others when all connections are open; each must come back. Then some more connections are attempted.
Prints one line of JSON.

Example: ip netns exec peer bench/connections.py 10.77.0.1:7 --from 10.77.0.2,10.77.0.4 --each 10000 --beyond 5"""

import argparse
import errno
import json
import multiprocessing
import resource
import select
import socket
import struct
import time

BIND_ADDRESS_NO_PORT = 24  # <linux/in.h>
AT_ONCE = 48  # connections that are being opened, of all processes; fewer than wait for accept at most
EXCHANGES = 512  # messages without an answer yet, of all processes
PATIENCE = 30  # seconds without any progress


class Failed(Exception):
    pass


class Client:
    """The connections of one source address."""

    def __init__(self, server, source, number, share):
        self.server, self.source, self.number, self.share = server, source, number, share
        self.poll = select.epoll()
        self.sockets = {}
        self.outcomes = {}

    def message(self, fd, round_number):
        return struct.pack("!HHI", self.number, round_number, fd)

    def open_one(self):
        s = socket.socket()
        s.setblocking(False)
        s.setsockopt(socket.IPPROTO_IP, BIND_ADDRESS_NO_PORT, 1)
        s.bind((self.source, 0))
        s.connect_ex(self.server)
        self.poll.register(s, select.EPOLLOUT)
        return s

    def count(self, what):
        self.outcomes[what] = self.outcomes.get(what, 0) + 1

    def attempt(self, count, patience=PATIENCE):
        """Opens so many connections, each with an exchange. Those that are open stay."""
        pending, begun = {}, 0
        while pending or begun < count:
            while begun < count and len(pending) < max(AT_ONCE // self.share, 1):
                s = self.open_one()
                pending[s.fileno()] = s
                begun += 1
            ready = self.poll.poll(patience)
            if not ready:
                self.give_up(pending)
                return
            for fd, _ in ready:
                self.advance(fd, pending)

    def advance(self, fd, pending):
        s = pending.get(fd)
        if s is None:  # one of those that are open has ended
            self.count("ended")
            self.poll.unregister(fd)
            self.sockets.pop(fd).close()
            return
        error = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        try:
            if error:
                raise OSError(error, "")
            if fd not in self.sockets:
                s.send(self.message(fd, 1))
                self.poll.modify(s, select.EPOLLIN)
                self.sockets[fd] = s
                return
            got = s.recv(64)
            if got != self.message(fd, 1):
                raise Failed(f"{got!r} came back on connection {fd} of {self.source}")
            self.count("open")
        except OSError as why:
            self.count(errno.errorcode[why.errno])
            self.poll.unregister(fd)
            self.sockets.pop(fd, None)
            s.close()
        del pending[fd]

    def give_up(self, pending):
        for fd, s in pending.items():
            self.count("silent")
            self.poll.unregister(fd)
            self.sockets.pop(fd, None)
            s.close()

    def exchange(self):
        """Another message on each of the connections."""
        waiting, rest = set(), list(self.sockets)
        while waiting or rest:
            while rest and len(waiting) < max(EXCHANGES // self.share, 1):
                fd = rest.pop()
                self.sockets[fd].send(self.message(fd, 2))
                waiting.add(fd)
            ready = self.poll.poll(PATIENCE)
            if not ready:
                raise Failed(f"{len(waiting)} of {self.source} had no answer for {PATIENCE} s")
            for fd, _ in ready:
                got = self.sockets[fd].recv(64)
                if got != self.message(fd, 2):
                    raise Failed(f"{got!r} came back on connection {fd} of {self.source}")
                waiting.remove(fd)


def serve(pipe, server, source, number, share, each):
    """A process: opens its connections, then does what the other end of the pipe says."""
    client = Client(server, source, number, share)
    try:
        client.attempt(each)
        pipe.send(client.outcomes)
        while (order := pipe.recv()) is not None:
            client.outcomes = {}
            if order == "exchange":
                client.exchange()
            else:
                client.attempt(order, 3)
            pipe.send(client.outcomes)
    except (Failed, OSError) as why:
        pipe.send({"error": str(why)})


def together(pipes, order=None):
    """What all of them did, summed."""
    for pipe in pipes if order is not None else []:
        pipe.send(order)
    total = {}
    for pipe in pipes:
        for what, count in pipe.recv().items():
            total[what] = total.get(what, 0) + count if what != "error" else count
    return total


def raise_descriptors(wanted):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))
    except ValueError:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", help="ADDRESS:PORT of an echo server")
    parser.add_argument("--from", dest="sources", required=True, help="source addresses, with commas")
    parser.add_argument("--each", type=int, required=True, help="connections of each source address")
    parser.add_argument("--beyond", type=int, default=0, help="attempts after those (default 0)")
    options = parser.parse_args()
    address, port = options.server.split(":")
    raise_descriptors(options.each + options.beyond + 64)
    pipes, begin = [], time.monotonic()
    sources = options.sources.split(",")
    for number, source in enumerate(sources):
        ours, theirs = multiprocessing.Pipe()
        words = (theirs, (address, int(port)), source, number, len(sources), options.each)
        multiprocessing.Process(target=serve, args=words, daemon=True).start()
        pipes.append(ours)
    said = {"first": together(pipes)}
    said["open_seconds"] = round(time.monotonic() - begin, 2)
    begin = time.monotonic()
    said["second"] = together(pipes, "exchange")
    said["exchange_seconds"] = round(time.monotonic() - begin, 2)
    if options.beyond:
        said["beyond"] = together(pipes[:1], options.beyond)
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
