/* SPDX-License-Identifier: MIT */
/*
 * Reading: as ever, but for the end of what broke off, which is an error and not the end of the stream. Sending: as
 * ever, but that an address is ignored, as connected streams over IP do.
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

PRELOADED ssize_t read(int fd, void *data, size_t len) {
    ssize_t got = preload_libc.read(fd, data, len);
    return got <= 0 && len > 0 ? ended(fd, got) : got;
}

PRELOADED ssize_t readv(int fd, const struct iovec *pieces, int count) {
    ssize_t got = preload_libc.readv(fd, pieces, count);
    return got <= 0 && count > 0 ? ended(fd, got) : got;
}

PRELOADED ssize_t recv(int fd, void *data, size_t len, int flags) {
    ssize_t got = preload_libc.recv(fd, data, len, flags);
    return got <= 0 && len > 0 ? ended(fd, got) : got;
}

PRELOADED ssize_t recvfrom(int fd, void *restrict data, size_t len, int flags, struct sockaddr *restrict address,
                           socklen_t *restrict address_len) {
    ssize_t got = preload_libc.recvfrom(fd, data, len, flags, address, address_len);
    return got <= 0 && len > 0 ? ended(fd, got) : got;
}

PRELOADED ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    ssize_t got = preload_libc.recvmsg(fd, message, flags);
    return got <= 0 && message->msg_iovlen > 0 ? ended(fd, got) : got;
}

/* Whether nothing was sent because an address was given, to one of ours. */
static bool refuses_address(int fd) {
    struct carrick_socket_name name;
    bool refuses =
        (errno == EISCONN || errno == EOPNOTSUPP) && preload_name(fd, &name) && name.kind == CARRICK_SOCKET_CONNECTION;
    return refuses;
}

PRELOADED ssize_t sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *address,
                         socklen_t address_len) {
    ssize_t put = preload_libc.sendto(fd, data, len, flags, address, address_len);
    return put < 0 && address && refuses_address(fd) ? preload_libc.sendto(fd, data, len, flags, NULL, 0) : put;
}

PRELOADED ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    ssize_t put = preload_libc.sendmsg(fd, message, flags);
    if (put >= 0 || !message->msg_name || !refuses_address(fd))
        return put;
    struct msghdr plain = *message;
    plain.msg_name = NULL;
    plain.msg_namelen = 0;
    return preload_libc.sendmsg(fd, &plain, flags);
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
