/* SPDX-License-Identifier: MIT */
/*
 * Sending: as ever, but that what broke off is an error of its own the first time, without a signal; that an address is
 * ignored, as connected streams over IP do, and that more is to follow (MSG_MORE), which the bytes of a Unix socket do
 * not say. A descriptor that comes along says it: the stack's process does not take it, the system only reports that
 * there was one. So the mark keeps its place among the bytes, and whoever writes next, in whatever manner, ends what
 * was held back. But the stack's process does not see where the bytes begin that came with the descriptor: what it
 * reads together with them is held back, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/preload.h"

/* Bytes that the system keeps together, whatever the size of the socket's buffer is: the mark is of all of them. */
#define PIECE 2048u

#define MARKS 65536 /* descriptors behind them are never marked */

static _Atomic uint64_t marks[MARKS / 64];

void preload_mark(int fd, bool is) {
    uint64_t bit = UINT64_C(1) << (fd & 63);
    if (fd < 0 || fd >= MARKS || preload_marked(fd) == is)
        return;
    if (is)
        atomic_fetch_or_explicit(&marks[fd / 64], bit, memory_order_relaxed);
    else
        atomic_fetch_and_explicit(&marks[fd / 64], ~bit, memory_order_relaxed);
}

bool preload_marked(int fd) {
    return fd >= 0 && fd < MARKS && !preload_confined &&
           atomic_load_explicit(&marks[fd / 64], memory_order_relaxed) >> (fd & 63) & 1;
}

bool preload_is_connection(int fd) {
    struct carrick_socket_name name;
    return preload_name(fd, &name) && name.kind == CARRICK_SOCKET_CONNECTION;
}

static ssize_t fail(int error) {
    errno = error;
    return -1;
}

/* What sending to a marked descriptor returns, which was done without the kernel's signal. */
static ssize_t sent(int fd, ssize_t put, int flags) {
    struct carrick_socket_name name;
    if (put >= 0 || errno != EPIPE)
        return put;
    bool ours = preload_name(fd, &name) && name.kind == CARRICK_SOCKET_CONNECTION;
    int error = ours ? preload_why(fd, name.id, CARRICK_WHY_TAKE) : 0;
    if (error && error != EPIPE)
        return fail(error);
    if (!(flags & MSG_NOSIGNAL))
        (void)raise(SIGPIPE);
    return fail(EPIPE);
}

/* Sends bytes with the mark, or without it if `mark` is -1 or too many descriptors are in flight. */
static ssize_t send_marked(int fd, const void *data, size_t len, int flags, int mark) {
    ssize_t put = carrick_socket_put(preload_libc.sendmsg, fd, data, len, mark, flags);
    return put < 0 && errno == ETOOMANYREFS ? preload_libc.sendto(fd, data, len, flags, NULL, 0) : put;
}

static ssize_t send_pieces(int fd, const uint8_t *data, size_t len, int flags, int mark) {
    size_t sent = 0;
    while (sent < len) {
        size_t part = len - sent < PIECE ? len - sent : PIECE;
        ssize_t put = send_marked(fd, data + sent, part, flags, mark);
        if (put < 0)
            return sent ? (ssize_t)sent : -1;
        sent += (size_t)put;
    }
    return (ssize_t)sent;
}

static ssize_t send_more(int fd, const struct iovec *pieces, size_t count, int flags) {
    int noted = errno, mark = eventfd(0, EFD_CLOEXEC);
    ssize_t done = 0, put = 0;
    for (size_t i = 0; i < count && put >= 0; i++) {
        put = send_pieces(fd, pieces[i].iov_base, pieces[i].iov_len, (flags & ~MSG_MORE) | MSG_NOSIGNAL, mark);
        done += put > 0 ? put : 0;
        if (put >= 0 && (size_t)put < pieces[i].iov_len)
            break;
    }
    noted = put < 0 && done == 0 ? errno : noted;
    if (mark >= 0)
        preload_libc.close(mark);
    errno = noted;
    return put < 0 && done == 0 ? sent(fd, -1, flags) : done;
}

/* Whether nothing was sent because an address was given, to one of ours. */
static bool refuses_address(int fd) {
    return (errno == EISCONN || errno == EOPNOTSUPP) && preload_is_connection(fd);
}

/* Nobody tells a stream of urgent data from another, so none shall be lost among it. */
static bool refuses_flags(int fd, int flags) {
    return flags & MSG_OOB && preload_is_connection(fd);
}

/* Opens the connection, as Linux does that has no cookie of the peer. */
static bool opens(int fd, int flags, const struct sockaddr *address) {
    struct carrick_socket_name name;
    return flags & MSG_FASTOPEN && address && !preload_name(fd, &name) && preload_is_fresh(fd);
}

PRELOADED ssize_t sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *address,
                         socklen_t address_len) {
    union {
        const void *given;
        void *octets;
    } region = {data};
    bool marked = preload_marked(fd);
    if (refuses_flags(fd, flags))
        return fail(EOPNOTSUPP);
    if (opens(fd, flags, address))
        return connect(fd, address, address_len) != 0 ? -1 : sendto(fd, data, len, flags & ~MSG_FASTOPEN, NULL, 0);
    if (flags & MSG_MORE && preload_is_connection(fd))
        return send_more(fd, &(struct iovec){region.octets, len}, 1, flags);
    int quiet = marked ? flags | MSG_NOSIGNAL : flags;
    ssize_t put = preload_libc.sendto(fd, data, len, quiet, address, address_len);
    if (put < 0 && address && refuses_address(fd))
        put = preload_libc.sendto(fd, data, len, quiet, NULL, 0);
    return marked ? sent(fd, put, flags) : put;
}

PRELOADED ssize_t send(int fd, const void *data, size_t len, int flags) {
    return sendto(fd, data, len, flags, NULL, 0);
}

PRELOADED ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    bool marked = preload_marked(fd);
    struct msghdr plain = *message;
    if (refuses_flags(fd, flags))
        return fail(EOPNOTSUPP);
    plain.msg_name = NULL;
    plain.msg_namelen = 0;
    if (opens(fd, flags, message->msg_name))
        return connect(fd, message->msg_name, message->msg_namelen) != 0 ? -1
                                                                         : sendmsg(fd, &plain, flags & ~MSG_FASTOPEN);
    if (flags & MSG_MORE && preload_is_connection(fd))
        return send_more(fd, message->msg_iov, message->msg_iovlen, flags);
    int quiet = marked ? flags | MSG_NOSIGNAL : flags;
    ssize_t put = preload_libc.sendmsg(fd, message, quiet);
    if (put < 0 && message->msg_name && refuses_address(fd))
        put = preload_libc.sendmsg(fd, &plain, quiet);
    return marked ? sent(fd, put, flags) : put;
}

/* Only a socket can be written to without the signal. */
PRELOADED ssize_t write(int fd, const void *data, size_t len) {
    if (!preload_marked(fd))
        return preload_libc.write(fd, data, len);
    ssize_t put = preload_libc.sendto(fd, data, len, MSG_NOSIGNAL, NULL, 0);
    if (put >= 0 || errno != ENOTSOCK)
        return sent(fd, put, 0);
    preload_mark(fd, false);
    return preload_libc.write(fd, data, len);
}

PRELOADED ssize_t writev(int fd, const struct iovec *pieces, int count) {
    if (!preload_marked(fd) || count < 0 || count > IOV_MAX)
        return preload_libc.writev(fd, pieces, count);
    union {
        const struct iovec *given;
        struct iovec *pieces;
    } region = {pieces}; /* they are only read */
    struct msghdr message = {.msg_iov = region.pieces, .msg_iovlen = (size_t)count};
    ssize_t put = preload_libc.sendmsg(fd, &message, MSG_NOSIGNAL);
    if (put >= 0 || errno != ENOTSOCK)
        return sent(fd, put, 0);
    preload_mark(fd, false);
    return preload_libc.writev(fd, pieces, count);
}
