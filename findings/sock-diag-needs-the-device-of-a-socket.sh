#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A TCP connection over the loopback device, one end of which is bound to that device (SO_BINDTODEVICE). sock_diag(7) is asked for this
# socket by its addresses and ports, as `ss` does in a list and as programs do that want one socket.
#
# Expected: `idiag_if` 0 means any device, as in a list, where the socket is. So it is found.
# Seen (pyroute2 0.9.7, Linux 6.18): ENOENT. A request for one socket looks it up as an arriving packet would be, and a packet that came
# from no device is not for a socket that is bound to one. With the device's index both kinds of sockets are found; with another one's,
# those without a device.
# So: ask with the index of the device where the connection is.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
python3 -m pip install -q --no-deps --target packages pyroute2==0.9.7 2> pip.log || { cat pip.log >&2; exit 3; }
cat >asked.py <<'END'
import platform
import socket
import struct
import sys

import pyroute2
from pyroute2 import DiagSocket, IPRoute
from pyroute2.netlink import NLM_F_REQUEST
from pyroute2.netlink.diag import SOCK_DIAG_BY_FAMILY

IPRoute().link("set", index=1, state="up")


def bound(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")


def connection(prepare):
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.socket()
    prepare(client)
    client.connect(server.getsockname())
    return server, client, server.accept()[0]


def found(client, device):
    """One request for one socket (struct inet_diag_req_v2), without a library's list."""
    asked = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
    (here, port), (there, peer) = client.getsockname(), client.getpeername()
    ends = struct.pack("!HH16s16s", port, peer, socket.inet_aton(here), socket.inet_aton(there))
    body = struct.pack("BBBxI", socket.AF_INET, socket.IPPROTO_TCP, 0, 0xFFFFFFFF) + ends
    body += struct.pack("III", device, 0xFFFFFFFF, 0xFFFFFFFF)
    asked.send(struct.pack("IHHII", 16 + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0) + body)
    kind, = struct.unpack_from("H", asked.recv(8192), 4)
    return kind == SOCK_DIAG_BY_FAMILY


seen = {}
for name, prepare in [("bound", bound), ("free", lambda s: None)]:
    kept = connection(prepare)
    port = kept[1].getsockname()[1]
    with DiagSocket() as diag:
        listed = any(s["idiag_sport"] == port for s in diag.get_sock_stats(family=socket.AF_INET))
    seen[name] = [listed] + [found(kept[1], device) for device in (0, 1, 7)]
print(f"pyroute2 {pyroute2.__version__}, Linux {platform.release()}: in a list, and by itself with idiag_if 0, 1 and 7: {seen}")
sys.exit(seen != {"bound": [True, False, True, False], "free": [True, True, True, True]})
END
PYTHONPATH=packages unshare --net python3 asked.py
