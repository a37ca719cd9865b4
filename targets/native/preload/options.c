/* SPDX-License-Identifier: MIT */
/* Names and options of sockets. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>

#include "preload/preload.h"

PRELOADED int getsockname(int fd, struct sockaddr *address, socklen_t *len) {
    struct carrick_socket_name name, ends;
    if (!preload_name(fd, &name))
        return preload_libc.getsockname(fd, address, len);
    if (name.kind == CARRICK_SOCKET_CONNECTION && preload_ends(fd, &ends))
        name = ends;
    preload_give(name.six, name.local_address, name.local_port, address, len);
    return 0;
}

PRELOADED int getpeername(int fd, struct sockaddr *address, socklen_t *len) {
    struct carrick_socket_name name, ends;
    if (!preload_name(fd, &name))
        return preload_libc.getpeername(fd, address, len);
    if (name.kind != CARRICK_SOCKET_CONNECTION || !preload_ends(fd, &ends)) {
        errno = ENOTCONN;
        return -1;
    }
    preload_give(ends.six, ends.remote_address, ends.remote_port, address, len);
    return 0;
}

static int give(int value, void *to, socklen_t *len) {
    memcpy(to, &value, *len < sizeof value ? *len : sizeof value);
    *len = *len < sizeof value ? *len : sizeof value;
    return 0;
}

/* SO_ERROR: what the kernel noted of the pair's end says less than the stack knows. */
static int why(int fd, const struct carrick_socket_name *name, void *to, socklen_t *len) {
    struct pollfd look = {.fd = fd};
    int noted = 0;
    socklen_t noted_len = sizeof noted;
    (void)preload_libc.getsockopt(fd, SOL_SOCKET, SO_ERROR, &noted, &noted_len);
    if (name->kind == CARRICK_SOCKET_CONNECTION && poll(&look, 1, 0) == 1 && look.revents & POLLHUP) {
        int known = preload_tell(&(struct carrick_ask){.kind = CARRICK_ASK_WHY, .id = name->id}, fd);
        noted = known ? known : noted;
    }
    return give(noted, to, len);
}

PRELOADED int getsockopt(int fd, int level, int option, void *restrict value, socklen_t *restrict len) {
    struct carrick_socket_name name;
    if (!value || !len ||
        (level != SOL_SOCKET && level != IPPROTO_TCP && level != IPPROTO_IP && level != IPPROTO_IPV6) ||
        !preload_name(fd, &name))
        return preload_libc.getsockopt(fd, level, option, value, len);
    if (level == SOL_SOCKET && option == SO_ERROR)
        return why(fd, &name, value, len);
    if (level == SOL_SOCKET && option == SO_TYPE)
        return give(SOCK_STREAM, value, len);
    if (level == SOL_SOCKET && option == SO_DOMAIN)
        return give(name.six ? AF_INET6 : AF_INET, value, len);
    if (level == SOL_SOCKET && option == SO_PROTOCOL)
        return give(IPPROTO_TCP, value, len);
    if (level == SOL_SOCKET && option == SO_ACCEPTCONN)
        return give(name.kind == CARRICK_SOCKET_BOUND, value, len);
    if (level == SOL_SOCKET)
        return preload_libc.getsockopt(fd, level, option, value, len);
    if (level == IPPROTO_TCP && option == TCP_INFO && name.kind == CARRICK_SOCKET_CONNECTION) {
        memset(value, 0, *len); /* who asks wants to print it; of all this the stack tells nothing */
        return 0;
    }
    errno = ENOPROTOOPT;
    return -1;
}

static void tell(int fd, uint64_t id, uint32_t option, bool on) {
    (void)preload_tell(&(struct carrick_ask){.kind = CARRICK_ASK_SET, .id = id, .options = option, .value = on}, fd);
}

PRELOADED int setsockopt(int fd, int level, int option, const void *value, socklen_t len) {
    struct carrick_socket_name name;
    if ((level != SOL_SOCKET && level != IPPROTO_TCP && level != IPPROTO_IP && level != IPPROTO_IPV6) ||
        !preload_name(fd, &name))
        return preload_libc.setsockopt(fd, level, option, value, len);
    int on = 0;
    struct linger linger = {0};
    memcpy(&on, value, len < sizeof on ? len : sizeof on);
    bool connection = name.kind == CARRICK_SOCKET_CONNECTION;
    if (level == IPPROTO_TCP && option == TCP_NODELAY && connection)
        tell(fd, name.id, CARRICK_OPTION_NODELAY, on != 0);
    if (level == SOL_SOCKET && option == SO_KEEPALIVE && connection)
        tell(fd, name.id, CARRICK_OPTION_KEEPALIVE, on != 0);
    if (level == SOL_SOCKET && option == SO_LINGER && connection && len >= sizeof linger) {
        memcpy(&linger, value, sizeof linger);
        tell(fd, name.id, CARRICK_OPTION_RESET, linger.l_onoff && !linger.l_linger);
    }
    /* Other wishes for the transport are hints that the stack does not take. */
    return level == SOL_SOCKET ? preload_libc.setsockopt(fd, level, option, value, len) : 0;
}
