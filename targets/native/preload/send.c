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

/* Of ours: all, those of the type SOCK_SEQPACKET, datagram sockets. */
static _Atomic uint64_t marks[MARKS / 64], packets[MARKS / 64], letters[MARKS / 64];

static bool is_marked(const _Atomic uint64_t *of, int fd) {
    return fd >= 0 && fd < MARKS && atomic_load_explicit(&of[fd / 64], memory_order_relaxed) >> (fd & 63) & 1;
}

static void mark(_Atomic uint64_t *of, int fd, bool is) {
    uint64_t bit = UINT64_C(1) << (fd & 63);
    if (fd < 0 || fd >= MARKS || is_marked(of, fd) == is)
        return;
    if (is)
        atomic_fetch_or_explicit(&of[fd / 64], bit, memory_order_relaxed);
    else
        atomic_fetch_and_explicit(&of[fd / 64], ~bit, memory_order_relaxed);
}

void preload_mark(int fd, const struct carrick_socket_name *name) {
    mark(marks, fd, name != NULL);
    mark(packets, fd, name && name->packets && name->kind == CARRICK_SOCKET_CONNECTION);
    mark(letters, fd, name && name->kind == CARRICK_SOCKET_LETTERS);
}

void preload_mark_as(int fd, int other) {
    mark(marks, other, is_marked(marks, fd));
    mark(packets, other, is_marked(packets, fd));
    mark(letters, other, is_marked(letters, fd));
}

bool preload_marked(int fd) {
    return !preload_confined && is_marked(marks, fd);
}

bool preload_marked_letters(int fd) {
    return is_marked(letters, fd);
}

/* Whether a message is longer than the socket of the type SOCK_SEQPACKET takes, or has flags that it has not: *error.
 */
static bool refuses_packet(int fd, size_t len, int flags, int *error) {
    struct carrick_socket_name name;
    if (!is_marked(packets, fd) || preload_confined || !preload_name(fd, &name) || !name.packets)
        return false;
    *error = flags & MSG_MORE ? EOPNOTSUPP : len == 0 || len > name.remote_port ? EMSGSIZE : 0;
    return *error != 0;
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

static size_t length_of(const struct iovec *pieces, size_t count) {
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += pieces[i].iov_len;
    return len;
}

/* Whether it is a datagram socket of ours, or becomes one by sending to this address: *error, if it must not. */
static bool is_letters(int fd, const void *address, socklen_t len, struct carrick_socket_name *name, int *error) {
    if (preload_marked_letters(fd))
        return preload_is_letters(fd, name);
    if (!address || preload_marked(fd))
        return false;
    *error = preload_letters_begin(fd, address, len);
    if (*error == 0)
        return preload_is_letters(fd, name);
    bool refused = *error > 0;
    *error = refused ? *error : 0;
    return refused;
}

static ssize_t letters_sendto(int fd, const struct carrick_socket_name *name, const void *data, size_t len, int flags,
                              const struct sockaddr *address, socklen_t address_len) {
    union {
        const void *given;
        void *octets;
    } octets = {data}, to = {address}; /* they are only read */
    struct iovec piece = {octets.octets, len};
    struct msghdr message = {.msg_name = to.octets, .msg_namelen = address_len, .msg_iov = &piece, .msg_iovlen = 1};
    return preload_letters_send(fd, name, &message, flags);
}

PRELOADED ssize_t sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *address,
                         socklen_t address_len) {
    union {
        const void *given;
        void *octets;
    } region = {data};
    bool marked = preload_marked(fd);
    struct carrick_socket_name name;
    int error = 0;
    if (is_letters(fd, address, address_len, &name, &error))
        return error ? fail(error) : letters_sendto(fd, &name, data, len, flags, address, address_len);
    if (refuses_packet(fd, len, flags, &error))
        return fail(error);
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
    struct carrick_socket_name name;
    int error = 0;
    if (is_letters(fd, message->msg_name, message->msg_namelen, &name, &error))
        return error ? fail(error) : preload_letters_send(fd, &name, message, flags);
    if (refuses_packet(fd, length_of(message->msg_iov, message->msg_iovlen), flags, &error))
        return fail(error);
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

/* As the kernel: an error behind the first message is left for the next call, and so is what finds no room. */
PRELOADED int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags) {
    struct carrick_socket_name name;
    int error = 0;
    const struct msghdr *first = count > 0 ? &messages[0].msg_hdr : NULL;
    bool ours = first && (preload_marked(fd) || flags & MSG_FASTOPEN ||
                          is_letters(fd, first->msg_name, first->msg_namelen, &name, &error));
    if (error)
        return (int)fail(error);
    if (!ours)
        return preload_libc.sendmmsg(fd, messages, count, flags);
    for (unsigned done = 0; done < count; done++) {
        const struct msghdr *message = &messages[done].msg_hdr;
        ssize_t put = sendmsg(fd, message, flags);
        if (put < 0)
            return done > 0 ? (int)done : -1;
        messages[done].msg_len = (unsigned)put;
        if ((size_t)put < length_of(message->msg_iov, message->msg_iovlen))
            return (int)done + 1;
    }
    return (int)count;
}

/* Only a socket can be written to without the signal. */
PRELOADED ssize_t write(int fd, const void *data, size_t len) {
    if (!preload_marked(fd) && !preload_marked_letters(fd))
        return preload_libc.write(fd, data, len);
    struct carrick_socket_name name;
    int error = 0;
    if (is_letters(fd, NULL, 0, &name, &error))
        return letters_sendto(fd, &name, data, len, 0, NULL, 0);
    if (refuses_packet(fd, len, 0, &error))
        return fail(error);
    ssize_t put = preload_libc.sendto(fd, data, len, MSG_NOSIGNAL, NULL, 0);
    if (put >= 0 || errno != ENOTSOCK)
        return sent(fd, put, 0);
    preload_mark(fd, NULL);
    return preload_libc.write(fd, data, len);
}

PRELOADED ssize_t writev(int fd, const struct iovec *pieces, int count) {
    bool marked = preload_marked(fd) || preload_marked_letters(fd);
    if (!marked || count < 0 || count > IOV_MAX)
        return preload_libc.writev(fd, pieces, count);
    union {
        const struct iovec *given;
        struct iovec *pieces;
    } region = {pieces}; /* they are only read */
    struct msghdr message = {.msg_iov = region.pieces, .msg_iovlen = (size_t)count};
    struct carrick_socket_name name;
    int error = 0;
    if (is_letters(fd, NULL, 0, &name, &error))
        return preload_letters_send(fd, &name, &message, 0);
    if (refuses_packet(fd, length_of(pieces, (size_t)count), 0, &error))
        return fail(error);
    ssize_t put = preload_libc.sendmsg(fd, &message, MSG_NOSIGNAL);
    if (put >= 0 || errno != ENOTSOCK)
        return sent(fd, put, 0);
    preload_mark(fd, NULL);
    return preload_libc.writev(fd, pieces, count);
}
