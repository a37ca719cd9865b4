/* SPDX-License-Identifier: MIT */
/*
 * Sending: as ever, but that an address is ignored, as connected streams over IP do, and that more is to follow
 * (MSG_MORE), which the bytes of a Unix socket do not say. A descriptor that comes along says it: the stack's process
 * does not take it, the system only reports that there was one. So the mark keeps its place among the bytes, and
 * whoever writes next, in whatever manner, ends what was held back. But the stack's process does not see where the
 * bytes begin that came with the descriptor: what it reads together with them is held back, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/preload.h"

/* Bytes that the system keeps together, whatever the size of the socket's buffer is: the mark is of all of them. */
#define PIECE 2048u

static bool is_connection(int fd) {
    struct carrick_socket_name name;
    return preload_name(fd, &name) && name.kind == CARRICK_SOCKET_CONNECTION;
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
    ssize_t sent = 0, put = 0;
    for (size_t i = 0; i < count && put >= 0; i++) {
        put = send_pieces(fd, pieces[i].iov_base, pieces[i].iov_len, flags & ~MSG_MORE, mark);
        sent += put > 0 ? put : 0;
        if (put >= 0 && (size_t)put < pieces[i].iov_len)
            break;
    }
    noted = put < 0 && sent == 0 ? errno : noted;
    if (mark >= 0)
        preload_libc.close(mark);
    errno = noted;
    return put < 0 && sent == 0 ? -1 : sent;
}

/* Whether nothing was sent because an address was given, to one of ours. */
static bool refuses_address(int fd) {
    return (errno == EISCONN || errno == EOPNOTSUPP) && is_connection(fd);
}

PRELOADED ssize_t sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *address,
                         socklen_t address_len) {
    union {
        const void *given;
        void *octets;
    } region = {data};
    if (flags & MSG_MORE && is_connection(fd))
        return send_more(fd, &(struct iovec){region.octets, len}, 1, flags);
    ssize_t put = preload_libc.sendto(fd, data, len, flags, address, address_len);
    return put < 0 && address && refuses_address(fd) ? preload_libc.sendto(fd, data, len, flags, NULL, 0) : put;
}

PRELOADED ssize_t send(int fd, const void *data, size_t len, int flags) {
    return sendto(fd, data, len, flags, NULL, 0);
}

PRELOADED ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    if (flags & MSG_MORE && is_connection(fd))
        return send_more(fd, message->msg_iov, message->msg_iovlen, flags);
    ssize_t put = preload_libc.sendmsg(fd, message, flags);
    if (put >= 0 || !message->msg_name || !refuses_address(fd))
        return put;
    struct msghdr plain = *message;
    plain.msg_name = NULL;
    plain.msg_namelen = 0;
    return preload_libc.sendmsg(fd, &plain, flags);
}
