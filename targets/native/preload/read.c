/* SPDX-License-Identifier: MIT */
/*
 * Reading: as ever, but for the end of what broke off, which is an error and not the end of the stream, and for
 * listening sockets.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/preload.h"

struct preload_libc preload_libc;

#define FIND(name) *(void **)&preload_libc.name = dlsym(RTLD_NEXT, #name)

__attribute__((constructor(101))) static void find_all(void) {
    FIND(bind);
    FIND(listen);
    FIND(accept4);
    FIND(connect);
    FIND(getsockname);
    FIND(getpeername);
    FIND(getsockopt);
    FIND(setsockopt);
    FIND(read);
    FIND(readv);
    FIND(recv);
    FIND(recvfrom);
    FIND(recvmsg);
    FIND(sendto);
    FIND(sendmsg);
    FIND(close);
}

/* The stack closes its end only of what has failed, or when both have said all. Where it had not read everything, the
 * kernel calls that a reset, whatever the reason was. */
static ssize_t ended(int fd, ssize_t got) {
    struct carrick_socket_name name;
    struct pollfd look = {.fd = fd};
    int noted = errno;
    if ((got < 0 && noted != ECONNRESET) || poll(&look, 1, 0) != 1 || !(look.revents & POLLHUP) ||
        !preload_name(fd, &name) || name.kind != CARRICK_SOCKET_CONNECTION) {
        errno = noted;
        return got;
    }
    int error = preload_tell(&(struct carrick_ask){.kind = CARRICK_ASK_WHY, .id = name.id}, fd);
    if (error == 0) {
        errno = noted;
        return got;
    }
    errno = error;
    return -1;
}

/* What can be read of a listening socket are connections, for accept() alone. */
static bool refuses_reading(int fd) {
    struct carrick_socket_name name;
    int type = 0, noted = errno;
    socklen_t len = sizeof type;
    bool refuses = preload_libc.getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET &&
                   preload_name(fd, &name) && name.kind == CARRICK_SOCKET_BOUND;
    errno = refuses ? ENOTCONN : noted;
    return refuses;
}

PRELOADED ssize_t read(int fd, void *data, size_t len) {
    if (len > 0 && refuses_reading(fd))
        return -1;
    ssize_t got = preload_libc.read(fd, data, len);
    return got <= 0 && len > 0 ? ended(fd, got) : got;
}

PRELOADED ssize_t readv(int fd, const struct iovec *pieces, int count) {
    if (refuses_reading(fd))
        return -1;
    ssize_t got = preload_libc.readv(fd, pieces, count);
    return got <= 0 && count > 0 ? ended(fd, got) : got;
}

PRELOADED ssize_t recv(int fd, void *data, size_t len, int flags) {
    if (refuses_reading(fd))
        return -1;
    ssize_t got = preload_libc.recv(fd, data, len, flags);
    return got <= 0 && len > 0 ? ended(fd, got) : got;
}

PRELOADED ssize_t recvfrom(int fd, void *restrict data, size_t len, int flags, struct sockaddr *restrict address,
                           socklen_t *restrict address_len) {
    if (refuses_reading(fd))
        return -1;
    ssize_t got = preload_libc.recvfrom(fd, data, len, flags, address, address_len);
    return got <= 0 && len > 0 ? ended(fd, got) : got;
}

PRELOADED ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    if (refuses_reading(fd))
        return -1;
    ssize_t got = preload_libc.recvmsg(fd, message, flags);
    return got <= 0 && message->msg_iovlen > 0 ? ended(fd, got) : got;
}

/* What programs call instead that were compiled with _FORTIFY_SOURCE: the room is at least `len`, or they are wrong. */

PRELOADED ssize_t __read_chk(int fd, void *data, size_t len, size_t room);
PRELOADED ssize_t __recv_chk(int fd, void *data, size_t len, size_t room, int flags);
PRELOADED ssize_t __recvfrom_chk(int fd, void *restrict data, size_t len, size_t room, int flags,
                                 struct sockaddr *restrict address, socklen_t *restrict address_len);

static size_t checked(size_t len, size_t room) {
    if (len > room)
        __builtin_trap();
    return len;
}

PRELOADED ssize_t __read_chk(int fd, void *data, size_t len, size_t room) {
    return read(fd, data, checked(len, room));
}

PRELOADED ssize_t __recv_chk(int fd, void *data, size_t len, size_t room, int flags) {
    return recv(fd, data, checked(len, room), flags);
}

PRELOADED ssize_t __recvfrom_chk(int fd, void *restrict data, size_t len, size_t room, int flags,
                                 struct sockaddr *restrict address, socklen_t *restrict address_len) {
    return recvfrom(fd, data, checked(len, room), flags, address, address_len);
}
