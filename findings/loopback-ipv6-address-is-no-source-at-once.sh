#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An IPv6 address is added to the loopback device, and then a route that names it as source (RTA_PREFSRC), by netlink.
#
# Expected: the kernel has acknowledged the address, and a loopback device has no duplicate address detection, so the route is taken.
# Seen (pyroute2 0.9.4, Linux 6.18): now and then the route is refused with EINVAL. The address is tentative until a work queue has come to
# it, also where nothing is detected, and a tentative address is no source. `ip addr add; ip route add ... src` is mostly slow enough.
# So: IFA_F_NODAD with the address. Then no route is refused.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "a network namespace needs root" >&2; exit 3; }
python3 -m pip install -q --no-deps --target packages pyroute2==0.9.4 2> pip.log || { cat pip.log >&2; exit 3; }
cat >routes.py <<'END'
import errno
import platform
import sys

from pyroute2 import IPRoute, NetlinkError

IFA_F_NODAD, AF_INET6, MOST = 2, 10, 5000
netlink = IPRoute()
loopback = netlink.link_lookup(ifname="lo")[0]
netlink.link("set", index=loopback, state="up")


def refused(number, **more):
    address = f"fd00::{number:x}"
    netlink.addr("add", index=loopback, address=address, prefixlen=128, family=AF_INET6, **more)
    try:
        netlink.route("add", dst="fd01::/64", oif=loopback, prefsrc=address, family=AF_INET6, table=100)
        netlink.route("del", dst="fd01::/64", oif=loopback, family=AF_INET6, table=100)
        return False
    except NetlinkError as error:
        assert error.code == errno.EINVAL, error
        return True
    finally:
        netlink.addr("del", index=loopback, address=address, prefixlen=128, family=AF_INET6)


plain = [refused(n) for n in range(1, MOST)]
without = [refused(n, flags=IFA_F_NODAD) for n in range(1, MOST)]
print(f"Linux {platform.release()}: routes refused with EINVAL: {'some' if any(plain) else 'none'}, with IFA_F_NODAD: {sum(without)}")
sys.exit(0 if any(plain) and not any(without) else 1)
END
PYTHONPATH=packages unshare --net python3 routes.py
