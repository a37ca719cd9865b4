#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A process that may load BPF programs, but has no CAP_IPC_LOCK, has a limit of 3 MiB of locked memory (RLIMIT_MEMLOCK). It makes a BPF
# map of 16 MiB, and registers 2 MiB as memory of an AF_XDP socket. A second process of the same user does the same.
#
# Expected by most: since Linux 5.11 BPF's memory no longer counts against that limit, and the limit is of a process: both succeed.
# Seen (libxdp 1.3.1, libbpf 1.1.2, Linux 6.18): the map does not count, the memory of the socket does; and it counts for the user: the
# second process gets ENOBUFS (not EPERM or ENOMEM), as long as the first one lives. Nothing shows what is held: VmLck and VmPin are 0
# in both processes. Memory that mlock() locks counts for the process only.
# So: CAP_IPC_LOCK, or a limit for all sockets of the user together.
. "$(dirname "$0")/packages"

[ "$(id -u)" = 0 ] || { echo "AF_XDP needs root" >&2; exit 3; }
debian libxdp1=1.3.1-1 libxdp-dev=1.3.1-1 libbpf1=1:1.1.2-0+deb12u1 libbpf-dev=1:1.1.2-0+deb12u1 libelf1=0.188-2.1
cat >holds.c <<'END'
// holds: makes a map, registers memory, locks memory; says how each went, and waits for its input to end.
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xdp/xsk.h>

enum { MIB = 1 << 20, REGISTERED = 2 * MIB, LOCKED = 2 * MIB };

static void say(const char *what, int error) {
    printf("%s %s\n", what, error ? strerrorname_np(error < 0 ? -error : error) : "ok");
}

int main(void) {
    int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "large", 4, MIB, 16, NULL);
    say("map", map < 0 ? map : 0);
    void *memory = mmap(NULL, REGISTERED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct xsk_ring_prod fill;
    struct xsk_ring_cons done;
    struct xsk_umem *umem;
    say("umem", xsk_umem__create(&umem, memory, REGISTERED, &fill, &done, NULL));
    char line[256];
    for (FILE *status = fopen("/proc/self/status", "r"); fgets(line, sizeof line, status);)
        if (strncmp(line, "VmLck", 5) == 0 || strncmp(line, "VmPin", 5) == 0)
            printf("%.5s%s", line, strrchr(line, ':') + 1);
    void *locked = mmap(NULL, LOCKED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("mlock", mlock(locked, LOCKED) ? 1 : 0);
    fflush(stdout);
    return getchar() != EOF;
}
END
gcc -D_GNU_SOURCE -w -isystem root/usr/include holds.c -o holds -L "$libraries" -l:libxdp.so.1 -l:libbpf.so.1 -Wl,--allow-shlib-undefined
export LD_LIBRARY_PATH=$libraries
holds() { # in a process with that limit, and without the right to go beyond it
    prlimit --memlock=3145728:3145728 setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock ./holds
}
mkfifo one two
holds <one >first &
exec 3>one
until grep -q mlock first; do sleep 0.1; done
holds <two >second &
exec 4>two
until grep -q mlock second; do sleep 0.1; done
exec 3>&- 4>&-
wait
# The kernel gives the memory back a moment after the process has ended.
for _ in $(seq 100); do
    holds </dev/null >after
    if grep -q 'umem ok' after; then break; fi
    sleep 0.1
done
seen=$(paste -d'|' first second after | tr -s '\t ' ' ')
echo "$seen"
expected='map ok|map ok|map ok
umem ok|umem ENOBUFS|umem ok
VmLck 0 kB|VmLck 0 kB|VmLck 0 kB
VmPin 0 kB|VmPin 0 kB|VmPin 0 kB
mlock ok|mlock ok|mlock ok'
[ "$seen" = "$expected" ] || { echo "this has changed (Linux $(uname -r))" >&2; exit 1; }
echo "as stated (Linux $(uname -r)): the second process has no room for its memory while the first one lives"
