#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A device has an address, but the kernel's route to it is moved from the table `local` to one that a rule leads some packets to (as a
# proxy does that leaves the address to another stack). A socket is bound to the address, and another one connects from it.
#
# Expected: the address is the device's, so both versions of the Internet Protocol bind to it; or neither does.
# Seen (pyroute2 0.9.7, Linux 6.18): IPv6 asks the devices, and binds. IPv4 asks the table `local`, and no rule and no other table:
# EADDRNOTAVAIL. As a source that a route names, both take it. And a route of IPv4 may name the address only behind a local route to it
# in the same table (EINVAL before), while IPv6 takes it at once.
# So: IP_FREEBIND on the socket for IPv4, and the route to the address itself first.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
python3 -m pip install -q --no-deps --target packages pyroute2==0.9.7 2> pip.log || { cat pip.log >&2; exit 3; }
cat >binds.py <<'END'
import errno
import platform
import socket
import sys

import pyroute2
from pyroute2 import IPRoute, NetlinkError

netlink = IPRoute()
netlink.link("set", index=1, state="up")
LOCAL, OURS, MARK, SO_MARK, IFA_F_NODAD, HOST, NOWHERE = 255, 100, 7, 36, 2, 254, 255


def route(command, to, own, family, table):
    netlink.route(command, dst=to, oif=1, prefsrc=own, family=family, table=table, type="local", scope=HOST if family == socket.AF_INET else 0)


def tried(call):
    try:
        call()
        return "ok"
    except NetlinkError as error:
        return errno.errorcode[error.code]
    except OSError as error:
        return errno.errorcode[error.errno]


def bind(family, own):
    socket.socket(family).bind((own, 0))


def connects_from(family, own, far):
    server = socket.socket(family)
    server.setsockopt(*((socket.IPPROTO_IP, 19) if family == socket.AF_INET else (socket.IPPROTO_IPV6, 75)), 1)  # TRANSPARENT
    server.setsockopt(socket.SOL_SOCKET, SO_MARK, MARK)
    server.bind((far, 0))
    server.listen()
    client = socket.socket(family)
    client.setsockopt(socket.SOL_SOCKET, SO_MARK, MARK)
    client.settimeout(5)
    client.connect((far, server.getsockname()[1]))
    assert client.getsockname()[0] == own, client.getsockname()


seen = {}
for name, family, own, bits, far, all_hosts in [
    ("IPv4", socket.AF_INET, "192.0.2.1", 32, "198.51.100.9", "0.0.0.0/0"),
    ("IPv6", socket.AF_INET6, "2001:db8::1", 128, "2001:db8:1::9", "::/0"),
]:
    netlink.addr("add", index=1, address=own, prefixlen=bits, family=family, flags=IFA_F_NODAD)
    before = tried(lambda: bind(family, own))
    netlink.route("del", dst=f"{own}/{bits}", family=family, table=LOCAL, type="local", oif=1, scope=NOWHERE if family == socket.AF_INET else 0)
    source = tried(lambda: route("add", all_hosts, own, family, OURS))
    if source != "ok":
        route("add", f"{own}/{bits}", own, family, OURS)
        route("add", all_hosts, own, family, OURS)
    netlink.rule("add", table=OURS, fwmark=MARK, priority=50, family=family)
    seen[name] = [before, tried(lambda: bind(family, own)), source, tried(lambda: connects_from(family, own, far))]
print(f"pyroute2 {pyroute2.__version__}, Linux {platform.release()}: binds before, and behind; a route's source at once; connects: {seen}")
sys.exit(seen != {"IPv4": ["ok", "EADDRNOTAVAIL", "EINVAL", "ok"], "IPv6": ["ok", "ok", "ok", "ok"]})
END
PYTHONPATH=packages unshare --net python3 binds.py
