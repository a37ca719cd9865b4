/* SPDX-License-Identifier: MIT */
/* What a socket is, and addresses as programs write them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "carrick/ipv6.h"
#include "preload/preload.h"

#ifndef SO_BUF_LOCK /* Linux 5.14 */
#define SO_BUF_LOCK 72
#endif
#define SOCK_SNDBUF_LOCK 1
#define SOCK_RCVBUF_LOCK 2

typedef int (*name_fn)(int fd, struct sockaddr *address, socklen_t *len);

static bool name_of(int fd, name_fn get, struct carrick_socket_name *name) {
    struct sockaddr_un address;
    socklen_t len = sizeof address;
    int before = errno;
    bool ours = get(fd, (struct sockaddr *)&address, &len) == 0 && carrick_socket_name_read(&address, len, name);
    errno = before;
    return ours;
}

bool preload_name(int fd, struct carrick_socket_name *name) {
    return name_of(fd, preload_libc.getsockname, name) && name->kind != CARRICK_SOCKET_ENDS;
}

bool preload_ends(int fd, struct carrick_socket_name *name) {
    return name_of(fd, preload_libc.getpeername, name) && name->kind == CARRICK_SOCKET_ENDS;
}

static int option_of(int fd, int level, int option) {
    int value = 0;
    socklen_t len = sizeof value;
    return preload_libc.getsockopt(fd, level, option, &value, &len) == 0 ? value : 0;
}

int preload_type(int fd, struct carrick_ask *ask) {
    int before = errno;
    int domain = option_of(fd, SOL_SOCKET, SO_DOMAIN);
    int protocol = domain == AF_INET || domain == AF_INET6 ? option_of(fd, SOL_SOCKET, SO_PROTOCOL) : 0;
    int type = protocol == IPPROTO_TCP ? SOCK_STREAM : protocol == IPPROTO_UDP ? SOCK_DGRAM : 0;
    if (type == SOCK_DGRAM && preload_stands_for_packets(fd))
        type = SOCK_SEQPACKET;
    ask->item = type == SOCK_STREAM ? 0 : (uint32_t)type;
    ask->six = domain == AF_INET6;
    ask->only6 = type && ask->six && option_of(fd, IPPROTO_IPV6, IPV6_V6ONLY) != 0;
    errno = before;
    return type;
}

bool preload_connects(int fd, struct carrick_ask *ask) {
    int type = preload_type(fd, ask);
    return type == SOCK_STREAM || type == SOCK_SEQPACKET;
}

bool preload_is_fresh(int fd) {
    union {
        struct sockaddr any;
        struct sockaddr_in in; /* whose port is where that of sockaddr_in6 is */
        struct sockaddr_in6 in6;
    } address = {0};
    socklen_t len = sizeof address;
    struct carrick_ask family;
    int before = errno;
    bool named = preload_libc.getsockname(fd, &address.any, &len) != 0 || address.in.sin_port != 0;
    errno = before;
    return !named && preload_type(fd, &family) != 0;
}

static bool is_loopback(struct carrick_ip6_address address) {
    return carrick_address_is_ipv4(address) ? (address.low >> 24 & 0xff) == IN_LOOPBACKNET
                                            : address.high == 0 && address.low == 1;
}

bool preload_any_address(const struct sockaddr *from, socklen_t len, struct carrick_ask *ask) {
    if (from && from->sa_family == AF_INET && len >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in in;
        memcpy(&in, from, sizeof in);
        ask->address = carrick_address_of_ipv4(ntohl(in.sin_addr.s_addr));
        ask->port = ntohs(in.sin_port);
    } else if (from && from->sa_family == AF_INET6 && len >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 in;
        memcpy(&in, from, sizeof in);
        ask->address = carrick_ip6_load(in.sin6_addr.s6_addr);
        ask->port = ntohs(in.sin6_port);
    } else {
        return false;
    }
    return true;
}

bool preload_address(const struct sockaddr *from, socklen_t len, struct carrick_ask *ask) {
    return preload_any_address(from, len, ask) && !is_loopback(ask->address);
}

void preload_give(bool six, struct carrick_ip6_address address, uint16_t port, struct sockaddr *to, socklen_t *len) {
    union {
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } full;
    memset(&full, 0, sizeof full);
    socklen_t size = six ? sizeof full.in6 : sizeof full.in;
    if (six) {
        full.in6.sin6_family = AF_INET6;
        full.in6.sin6_port = htons(port);
        carrick_ip6_store(full.in6.sin6_addr.s6_addr, address);
    } else {
        full.in.sin_family = AF_INET;
        full.in.sin_port = htons(port);
        full.in.sin_addr.s_addr = htonl((uint32_t)address.low);
    }
    if (!to || !len)
        return;
    memcpy(to, &full, *len < size ? *len : size);
    *len = size;
}

uint32_t preload_option(int level, int option) {
    if (level == IPPROTO_TCP && option == TCP_NODELAY)
        return CARRICK_OPTION_NODELAY;
    if (level == IPPROTO_TCP && option == TCP_CORK)
        return CARRICK_OPTION_CORK;
    if (level == IPPROTO_TCP && option == TCP_USER_TIMEOUT)
        return CARRICK_OPTION_PATIENCE;
    if (level == IPPROTO_TCP && option == TCP_LINGER2)
        return CARRICK_OPTION_LINGER;
    if (level == SOL_SOCKET && option == SO_KEEPALIVE)
        return CARRICK_OPTION_KEEPALIVE;
    if (level == SOL_SOCKET && (option == SO_RCVBUF || option == SO_RCVBUFFORCE))
        return CARRICK_OPTION_RECEIVE;
    if ((level == IPPROTO_IP && option == IP_TOS) || (level == IPPROTO_IPV6 && option == IPV6_TCLASS))
        return CARRICK_OPTION_TOS;
    return 0;
}

static atomic_bool sets_linger2;

void preload_sets_linger2(void) {
    atomic_store_explicit(&sets_linger2, true, memory_order_relaxed);
}

/* What the program chose as a buffer's size, which the kernel tells as twice that; 0: it did not choose. */
static int size_of(int fd, int option, int lock) {
    return option_of(fd, SOL_SOCKET, SO_BUF_LOCK) & lock ? option_of(fd, SOL_SOCKET, option) / 2 : 0;
}

void preload_options(int fd, struct carrick_socket_options *options) {
    static const struct {
        int level, option;
    } plain[] = {{IPPROTO_TCP, TCP_NODELAY},      {IPPROTO_TCP, TCP_CORK}, {SOL_SOCKET, SO_KEEPALIVE},
                 {IPPROTO_TCP, TCP_USER_TIMEOUT}, {IPPROTO_IP, IP_TOS},    {IPPROTO_IPV6, IPV6_TCLASS}};
    struct linger linger = {0};
    socklen_t len = sizeof linger;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        int value = option_of(fd, plain[i].level, plain[i].option);
        if (value)
            carrick_socket_options_set(options, preload_option(plain[i].level, plain[i].option), (uint32_t)value);
    }
    if (preload_libc.getsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, &len) == 0 && linger.l_onoff && !linger.l_linger)
        carrick_socket_options_set(options, CARRICK_OPTION_RESET, 1);
    if (atomic_load_explicit(&sets_linger2, memory_order_relaxed))
        carrick_socket_options_set(options, CARRICK_OPTION_LINGER, (uint32_t)option_of(fd, IPPROTO_TCP, TCP_LINGER2));
    carrick_socket_options_set(options, CARRICK_OPTION_RECEIVE, (uint32_t)size_of(fd, SO_RCVBUF, SOCK_RCVBUF_LOCK));
}

static void copy_size(int fd, int from, int option, int lock) {
    int size = size_of(fd, option, lock);
    if (size)
        (void)preload_libc.setsockopt(from, SOL_SOCKET, option, &size, sizeof size);
}

/* What a program set of its socket before it became one of ours, and what the kernel does for ours, too. */
static void copy_options(int fd, int from) {
    static const int options[] = {SO_RCVTIMEO, SO_SNDTIMEO, SO_LINGER, SO_KEEPALIVE, SO_REUSEADDR, SO_RCVLOWAT};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        char value[32];
        socklen_t len = sizeof value;
        if (preload_libc.getsockopt(fd, SOL_SOCKET, options[i], value, &len) == 0)
            (void)preload_libc.setsockopt(from, SOL_SOCKET, options[i], value, len);
    }
    copy_size(fd, from, SO_SNDBUF, SOCK_SNDBUF_LOCK);
    copy_size(fd, from, SO_RCVBUF, SOCK_RCVBUF_LOCK);
}

int preload_replace(int fd, int from) {
    struct carrick_socket_name name;
    int status = fcntl(fd, F_GETFL), closed_by_exec = fcntl(fd, F_GETFD);
    copy_options(fd, from);
    uint64_t old = preload_replace_begin(fd);
    int put = status < 0 || closed_by_exec < 0 || (status & O_NONBLOCK && fcntl(from, F_SETFL, O_NONBLOCK) != 0)
                  ? -1
                  : preload_libc.dup3(from, fd, closed_by_exec & FD_CLOEXEC ? O_CLOEXEC : 0);
    int why = errno;
    bool ours = preload_name(fd, &name);
    preload_mark(fd, ours ? &name : NULL);
    preload_replace_end(fd, old);
    preload_libc.close(from);
    errno = why;
    return put < 0 ? -1 : 0;
}

/* What the stack has of the options. */
static void restore_options(int fd, int fresh, bool six, bool only6) {
    static const struct {
        int level, option;
    } transport[] = {{IPPROTO_TCP, TCP_NODELAY},
                     {IPPROTO_TCP, TCP_CORK},
                     {IPPROTO_TCP, TCP_USER_TIMEOUT},
                     {IPPROTO_IP, IP_TOS},
                     {IPPROTO_IPV6, IPV6_TCLASS}};
    for (size_t i = 0; i < sizeof transport / sizeof transport[0]; i++) {
        int value = 0;
        socklen_t len = sizeof value;
        if (getsockopt(fd, transport[i].level, transport[i].option, &value, &len) == 0 && value)
            (void)preload_libc.setsockopt(fresh, transport[i].level, transport[i].option, &value, sizeof value);
    }
    int only = only6;
    if (six)
        (void)preload_libc.setsockopt(fresh, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
}

int preload_forget(int fd, const struct carrick_socket_name *name) {
    int domain = name->six ? AF_INET6 : AF_INET;
    int fresh = name->packets ? preload_make_packets(domain, SOCK_CLOEXEC)
                              : preload_libc.socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fresh < 0)
        return -1;
    restore_options(fd, fresh, name->six, name->only6);
    return preload_replace(fd, fresh);
}
