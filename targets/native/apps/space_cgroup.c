/* SPDX-License-Identifier: MIT */
/*
 * A cgroup's sockets, as programs of BPF see them when they are made, bound and connected (bpf(2), cgroups(7)).
 *
 * If the stack's address is not one of the machine's, IPv4 refuses to bind a socket to it: such a socket is bound to
 * all addresses of the loopback device instead, where what is for the stack's arrives, and its name is the one that its
 * program gave.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "apps/space.h"
#include "carrick/ipv6.h"
#include "ports/assemble.h"
#include "ports/bpf.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof(array)[0])
#define MAPPED       htonl(0xffffu) /* the third word of an address of IPv4 in IPv6 */

/* R6 is what a program of an address gets, R7 its socket. */
#define AT(field)     offsetof(struct bpf_sock_addr, field)
#define SOCKET(field) offsetof(struct bpf_sock, field)
#define DEVICE        (-4) /* on the stack */
#define VALUE         (-8)
#define BEGIN         MOVE(BPF_REG_6, BPF_REG_1), LOAD(BPF_DW, BPF_REG_7, BPF_REG_6, AT(sk))
#define ACCEPT        SET(BPF_REG_0, 1), EXIT
#define STORE(to, at, from)                                                                                            \
    { .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = (to), .src_reg = (from), .off = (at) }
#define STORE_NUMBER(size, at, number)                                                                                 \
    { .code = BPF_ST | BPF_MEM | (size), .dst_reg = BPF_REG_10, .off = (at), .imm = (int32_t)(number) }
/* Goes on if a field is the number; else it skips so many instructions, from its first jump on. So do all that follow.
 */
#define IF_NOT(from, at, number, skip) LOAD(BPF_W, BPF_REG_2, from, at), IF(BPF_JNE, BPF_REG_2, number, skip)
/* The same for a stream. */
#define IF_NOT_STREAM(skip)                                                                                            \
    IF_NOT(BPF_REG_6, AT(type), SOCK_STREAM, skip), IF_NOT(BPF_REG_6, AT(protocol), IPPROTO_TCP, (skip)-2)
/* The same for all words of an IPv4 address in IPv6 but the last. */
#define IF_NOT_MAPPED(skip)                                                                                            \
    IF_NOT(BPF_REG_6, AT(user_ip6[0]), 0, skip), IF_NOT(BPF_REG_6, AT(user_ip6[1]), 0, (skip)-2),                      \
        IF_NOT(BPF_REG_6, AT(user_ip6[2]), MAPPED, (skip)-4)
/* bpf_setsockopt(context, SOL_SOCKET, option, value, octets) */
#define OPTION(option, at, octets)                                                                                     \
    MOVE(BPF_REG_1, BPF_REG_6), SET(BPF_REG_2, SOL_SOCKET), SET(BPF_REG_3, option), MOVE(BPF_REG_4, BPF_REG_10),       \
        ADD(BPF_REG_4, at), SET(BPF_REG_5, octets), CALL(BPF_FUNC_setsockopt)
#define OPTION_LEN 7
/* The socket is bound to the loopback device, its address becomes 0, and its mark says so. */
#define BIND_TO_LOOPBACK(mark, at)                                                                                     \
    STORE_NUMBER(BPF_W, DEVICE, 0), STORE_NUMBER(BPF_H, DEVICE, htons('l' << 8 | 'o')),                                \
        STORE_NUMBER(BPF_W, VALUE, (mark) | SPACE_BOUND), OPTION(SO_BINDTODEVICE, DEVICE, 3),                          \
        OPTION(SO_MARK, VALUE, 4), SET(BPF_REG_2, 0), STORE(BPF_REG_6, at, BPF_REG_2)
#define BIND_TO_LOOPBACK_LEN (5 + 2 * OPTION_LEN)
/* The name of one that is so. */
#define NAME(mark_, at, own)                                                                                           \
    LOAD(BPF_W, BPF_REG_2, BPF_REG_7, SOCKET(mark)), AND(BPF_REG_2, (int32_t)~SPACE_CONNECTS),                         \
        IF(BPF_JNE, BPF_REG_2, (mark_) | SPACE_BOUND, 2), SET(BPF_REG_2, (int32_t)(own)),                              \
        STORE(BPF_REG_6, at, BPF_REG_2)
#define NAME_LEN 5
/* From here on the socket is routed by its mark. */
#define ROUTE(mark_)                                                                                                   \
    STORE_NUMBER(BPF_W, VALUE, (mark_) | SPACE_CONNECTS), LOAD(BPF_W, BPF_REG_2, BPF_REG_7, SOCKET(mark)),             \
        IF(BPF_JNE, BPF_REG_2, (mark_) | SPACE_BOUND, 1), STORE_NUMBER(BPF_W, VALUE, (mark_) | SPACE_BITS),            \
        OPTION(SO_MARK, VALUE, 4)
#define ROUTE_LEN (4 + OPTION_LEN)

int space_cgroup_open(const char *path) {
    struct statfs system;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (fstatfs(fd, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC))
        return fd;
    close(fd);
    errno = ENOTSUP;
    return -1;
}

/* The link is this process's, and ends with it. */
static bool attach(int cgroup, enum bpf_prog_type type, enum bpf_attach_type where, const struct bpf_insn *code,
                   uint32_t count) {
    int program = carrick_bpf_load(type, where, code, count);
    bool done = program >= 0 && carrick_bpf_attach(program, (uint32_t)cgroup, where, 0) >= 0;
    int why = errno;
    if (program >= 0)
        close(program);
    errno = why;
    return done;
}

static bool mark_all(int cgroup, uint32_t mark) {
    const struct bpf_insn code[] = {
        IF_NOT(BPF_REG_1, SOCKET(type), SOCK_STREAM, 4),
        IF_NOT(BPF_REG_1, SOCKET(protocol), IPPROTO_TCP, 2),
        SET(BPF_REG_2, (int32_t)mark),
        STORE(BPF_REG_1, SOCKET(mark), BPF_REG_2),
        ACCEPT,
    };
    return attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, code, COUNT(code));
}

/* A socket that has another address of the machine is that one's. */
static bool route_ipv4(int cgroup, uint32_t mark, uint32_t own) {
    const struct bpf_insn code[] = {
        BEGIN,
        IF_NOT_STREAM(5 + ROUTE_LEN),
        LOAD(BPF_W, BPF_REG_2, BPF_REG_7, SOCKET(src_ip4)),
        IF(BPF_JEQ, BPF_REG_2, 0, 1),
        IF(BPF_JNE, BPF_REG_2, own, ROUTE_LEN),
        ROUTE(mark),
        ACCEPT,
    };
    return attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, code, COUNT(code)) &&
           attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, code, COUNT(code));
}

static bool route_ipv6(int cgroup, uint32_t mark, struct carrick_ip6_address address) {
    uint32_t own[4];
    uint8_t octets[16];
    carrick_ip6_store(octets, address);
    memcpy(own, octets, sizeof own);
    const struct bpf_insn code[] = {
        BEGIN,
        IF_NOT_STREAM(18 + ROUTE_LEN),
        /* none: to the routing */
        IF_NOT(BPF_REG_7, SOCKET(src_ip6[0]), 0, 6),
        IF_NOT(BPF_REG_7, SOCKET(src_ip6[1]), 0, 4),
        IF_NOT(BPF_REG_7, SOCKET(src_ip6[2]), 0, 2),
        LOAD(BPF_W, BPF_REG_2, BPF_REG_7, SOCKET(src_ip6[3])),
        IF(BPF_JEQ, BPF_REG_2, 0, 8),
        /* the stack's */
        IF_NOT(BPF_REG_7, SOCKET(src_ip6[0]), own[0], 6 + ROUTE_LEN),
        IF_NOT(BPF_REG_7, SOCKET(src_ip6[1]), own[1], 4 + ROUTE_LEN),
        IF_NOT(BPF_REG_7, SOCKET(src_ip6[2]), own[2], 2 + ROUTE_LEN),
        IF_NOT(BPF_REG_7, SOCKET(src_ip6[3]), own[3], ROUTE_LEN),
        ROUTE(mark),
        ACCEPT,
    };
    return attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, code, COUNT(code));
}

static bool bind_ipv4(int cgroup, uint32_t mark, uint32_t own) {
    const struct bpf_insn code[] = {
        BEGIN,
        IF_NOT_STREAM(4 + BIND_TO_LOOPBACK_LEN),
        IF_NOT(BPF_REG_6, AT(user_ip4), own, BIND_TO_LOOPBACK_LEN),
        BIND_TO_LOOPBACK(mark, AT(user_ip4)),
        ACCEPT,
    };
    const struct bpf_insn name[] = {
        BEGIN,
        IF_NOT(BPF_REG_6, AT(user_ip4), 0, NAME_LEN),
        NAME(mark, AT(user_ip4), own),
        ACCEPT,
    };
    return attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_BIND, code, COUNT(code)) &&
           attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_GETSOCKNAME, name, COUNT(name));
}

/* The same for sockets of IPv6 that are bound to an address of IPv4. */
static bool bind_mapped(int cgroup, uint32_t mark, uint32_t own) {
    const struct bpf_insn code[] = {
        BEGIN,
        IF_NOT_STREAM(10 + BIND_TO_LOOPBACK_LEN),
        IF_NOT_MAPPED(6 + BIND_TO_LOOPBACK_LEN),
        IF_NOT(BPF_REG_6, AT(user_ip6[3]), own, BIND_TO_LOOPBACK_LEN),
        BIND_TO_LOOPBACK(mark, AT(user_ip6[3])),
        ACCEPT,
    };
    const struct bpf_insn name[] = {
        BEGIN,
        IF_NOT_MAPPED(6 + NAME_LEN),
        IF_NOT(BPF_REG_6, AT(user_ip6[3]), 0, NAME_LEN),
        NAME(mark, AT(user_ip6[3]), own),
        ACCEPT,
    };
    return attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_BIND, code, COUNT(code)) &&
           attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_GETSOCKNAME, name, COUNT(name));
}

bool space_cgroup_mark(int cgroup, const struct space_place *place) {
    uint32_t own = htonl((uint32_t)place->own.low), mark = place->mark;
    if (!mark_all(cgroup, mark))
        return false;
    if (!carrick_address_is_ipv4(place->own))
        return route_ipv6(cgroup, mark, place->own);
    return route_ipv4(cgroup, mark, own) &&
           (place->is_local || (bind_ipv4(cgroup, mark, own) && bind_mapped(cgroup, mark, own)));
}
