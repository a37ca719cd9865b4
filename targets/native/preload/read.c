/* SPDX-License-Identifier: MIT */
/*
 * Reading: as ever, but for the end of what broke off, which is an error and not the end of the stream, and for
 * listening sockets.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "preload/preload.h"

atomic_bool preload_confined;

/* The stack closes its end only of what has failed, or when both have said all. Where it had not read everything, the
 * kernel calls that a reset, whatever the reason was. */
static int why_over(int fd, enum carrick_socket_why manner) {
    struct carrick_socket_name name;
    struct pollfd look = {.fd = fd};
    bool over = !preload_confined && preload_libc.poll(&look, 1, 0) == 1 && look.revents & POLLHUP &&
                preload_name(fd, &name) && name.kind == CARRICK_SOCKET_CONNECTION;
    return over ? preload_why(fd, name.id, manner) : 0;
}

ssize_t preload_ended(int fd, ssize_t got) {
    int noted = errno, error = got == 0 || noted == ECONNRESET ? why_over(fd, CARRICK_WHY_READ) : 0;
    errno = error ? error : noted;
    return error ? -1 : got;
}

/* What reading a descriptor is. */
enum reading { AS_EVER, REFUSED, OF_LETTERS };

/* What can be read of a listening socket are connections, for accept() alone (REFUSED, with errno). A datagram socket
 * of ours has this name. */
static enum reading reading_of(int fd, struct carrick_socket_name *name) {
    int type = 0, noted = errno;
    socklen_t len = sizeof type;
    if (preload_confined)
        return preload_is_letters(fd, name) ? OF_LETTERS : AS_EVER;
    bool may = preload_libc.getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET &&
               preload_name(fd, name);
    bool refuses = may && name->kind == CARRICK_SOCKET_BOUND;
    errno = refuses ? ENOTCONN : noted;
    if (may && name->kind == CARRICK_SOCKET_LETTERS)
        preload_mark(fd, name); /* it may have come from another process */
    return refuses ? REFUSED : may && name->kind == CARRICK_SOCKET_LETTERS ? OF_LETTERS : AS_EVER;
}

/* The same into pieces. */
static ssize_t read_letter(int fd, const struct carrick_socket_name *name, struct iovec *pieces, size_t count,
                           int flags) {
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    return preload_letters_receive(fd, name, &message, flags);
}

PRELOADED ssize_t read(int fd, void *data, size_t len) {
    struct carrick_socket_name name;
    enum reading reading = len > 0 ? reading_of(fd, &name) : AS_EVER;
    if (reading != AS_EVER)
        return reading == REFUSED ? -1 : read_letter(fd, &name, &(struct iovec){data, len}, 1, 0);
    ssize_t got = preload_libc.read(fd, data, len);
    return got <= 0 && len > 0 ? preload_ended(fd, got) : got;
}

PRELOADED ssize_t readv(int fd, const struct iovec *pieces, int count) {
    struct carrick_socket_name name;
    enum reading reading = reading_of(fd, &name);
    union {
        const struct iovec *given;
        struct iovec *pieces;
    } region = {pieces}; /* they are only read */
    if (reading != AS_EVER)
        return reading == REFUSED || count < 0 ? -1 : read_letter(fd, &name, region.pieces, (size_t)count, 0);
    ssize_t got = preload_libc.readv(fd, pieces, count);
    return got <= 0 && count > 0 ? preload_ended(fd, got) : got;
}

static ssize_t refuse(int error) {
    errno = error;
    return -1;
}

PRELOADED ssize_t preadv2(int fd, const struct iovec *pieces, int count, off_t at, int flags) {
    struct carrick_socket_name name;
    if (at == -1 && reading_of(fd, &name) != AS_EVER)
        return flags == 0 ? readv(fd, pieces, count) : refuse(EOPNOTSUPP);
    ssize_t got = preload_libc.preadv2(fd, pieces, count, at, flags);
    return got <= 0 && count > 0 && at == -1 ? preload_ended(fd, got) : got;
}

PRELOADED ssize_t preadv64v2(int fd, const struct iovec *pieces, int count, off64_t at, int flags) {
    return preadv2(fd, pieces, count, at, flags);
}

PRELOADED ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned flags) {
    struct carrick_socket_name name;
    if (preload_marked_letters(from) && preload_is_letters(from, &name))
        return refuse(EINVAL); /* as of other datagram sockets */
    ssize_t got = preload_libc.splice(from, from_at, to, to_at, len, flags);
    return got <= 0 && len > 0 && !from_at ? preload_ended(from, got) : got;
}

PRELOADED ssize_t recv(int fd, void *data, size_t len, int flags) {
    struct carrick_socket_name name;
    enum reading reading = reading_of(fd, &name);
    if (reading != AS_EVER)
        return reading == REFUSED ? -1 : read_letter(fd, &name, &(struct iovec){data, len}, 1, flags);
    ssize_t got = preload_differs(fd, flags) ? preload_receive(fd, &(struct iovec){data, len}, 1, flags)
                                             : preload_libc.recv(fd, data, len, flags);
    return got <= 0 && len > 0 ? preload_ended(fd, got) : got;
}

/* The sender's address is that of the stack's end of the pair: a stream over IP tells none. */
static socklen_t address_len_of(const void *address, socklen_t len) {
    struct carrick_socket_name name;
    struct sockaddr_un whole = {.sun_family = AF_UNSPEC};
    memcpy(&whole, address, len < sizeof whole ? len : sizeof whole);
    return carrick_socket_name_read(&whole, len, &name) ? 0 : len;
}

static void give_address(const struct sockaddr_storage *from, socklen_t full, void *to, socklen_t *len) {
    socklen_t told = address_len_of(from, full);
    memcpy(to, from, told < *len ? told : *len);
    *len = told;
}

static ssize_t letter_from(int fd, const struct carrick_socket_name *name, void *data, size_t len, int flags,
                           struct sockaddr *address, socklen_t *address_len) {
    struct iovec piece = {data, len};
    struct msghdr message = {.msg_name = address, .msg_namelen = *address_len, .msg_iov = &piece, .msg_iovlen = 1};
    ssize_t got = preload_letters_receive(fd, name, &message, flags);
    *address_len = message.msg_namelen;
    return got;
}

PRELOADED ssize_t recvfrom(int fd, void *restrict data, size_t len, int flags, struct sockaddr *restrict address,
                           socklen_t *restrict address_len) {
    struct sockaddr_storage from;
    socklen_t full = sizeof from;
    if (!address || !address_len || *address_len > sizeof from) /* who gives no address, or a length that is none */
        return !address || !address_len ? recv(fd, data, len, flags)
                                        : preload_libc.recvfrom(fd, data, len, flags, address, address_len);
    struct carrick_socket_name name;
    enum reading reading = reading_of(fd, &name);
    if (reading != AS_EVER)
        return reading == REFUSED ? -1 : letter_from(fd, &name, data, len, flags, address, address_len);
    bool differs = preload_differs(fd, flags);
    ssize_t got = differs ? preload_receive(fd, &(struct iovec){data, len}, 1, flags)
                          : preload_libc.recvfrom(fd, data, len, flags, (struct sockaddr *)&from, &full);
    if (got <= 0 && len > 0)
        got = preload_ended(fd, got);
    if (got >= 0)
        give_address(&from, differs ? 0 : full, address, address_len);
    return got;
}

static ssize_t receive_message(int fd, struct msghdr *message, int flags) {
    struct sockaddr_storage from;
    struct msghdr plain = *message;
    if (!message->msg_name)
        return preload_libc.recvmsg(fd, message, flags);
    plain.msg_name = &from;
    plain.msg_namelen = sizeof from;
    ssize_t got = preload_libc.recvmsg(fd, &plain, flags);
    if (got < 0)
        return got;
    give_address(&from, plain.msg_namelen, message->msg_name, &message->msg_namelen);
    message->msg_controllen = plain.msg_controllen;
    message->msg_flags = plain.msg_flags;
    return got;
}

PRELOADED ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    struct carrick_socket_name name;
    enum reading reading = reading_of(fd, &name);
    if (reading != AS_EVER)
        return reading == REFUSED ? -1 : preload_letters_receive(fd, &name, message, flags);
    bool differs = preload_differs(fd, flags);
    ssize_t got = differs ? preload_receive(fd, message->msg_iov, message->msg_iovlen, flags)
                          : receive_message(fd, message, flags);
    if (got <= 0 && message->msg_iovlen > 0)
        got = preload_ended(fd, got);
    if (differs && got >= 0) {
        message->msg_namelen = message->msg_name ? 0 : message->msg_namelen;
        message->msg_controllen = 0;
        message->msg_flags = 0;
    }
    return got;
}

/* One message after another. */
static int receive_each(int fd, struct mmsghdr *messages, unsigned count, int flags, const struct timespec *timeout) {
    struct timespec begin = {0}, now = {0};
    unsigned done = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    while (done < count) {
        bool waits = done == 0 || !(flags & MSG_WAITFORONE);
        ssize_t got = recvmsg(fd, &messages[done].msg_hdr, (flags & ~MSG_WAITFORONE) | (waits ? 0 : MSG_DONTWAIT));
        if (got < 0)
            return done > 0 ? (int)done : -1;
        messages[done++].msg_len = (unsigned)got;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (timeout &&
            (now.tv_sec - begin.tv_sec > timeout->tv_sec ||
             (now.tv_sec - begin.tv_sec == timeout->tv_sec && now.tv_nsec - begin.tv_nsec >= timeout->tv_nsec)))
            break; /* as the kernel, which looks at the time behind each message */
    }
    return (int)done;
}

PRELOADED int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    struct carrick_socket_name name;
    if (reading_of(fd, &name) == OF_LETTERS)
        return receive_each(fd, messages, count, flags, timeout);
    /* Of a stream, the kernel tells an error here before the data in front of it. */
    int error = flags & MSG_ERRQUEUE ? 0 : why_over(fd, CARRICK_WHY_TAKE);
    if (error) {
        errno = error;
        return -1;
    }
    if (preload_differs(fd, flags))
        return receive_each(fd, messages, count, flags, timeout);
    int got = preload_libc.recvmmsg(fd, messages, count, flags, timeout);
    bool nothing = got <= 0 || (got == 1 && messages[0].msg_len == 0 && messages[0].msg_hdr.msg_iovlen > 0);
    if (nothing && count > 0 && preload_ended(fd, got < 0 ? -1 : 0) < 0)
        return -1;
    for (int i = 0; i < got; i++) {
        struct msghdr *message = &messages[i].msg_hdr;
        const struct sockaddr *from = message->msg_namelen >= sizeof from->sa_family ? message->msg_name : NULL;
        if (from && from->sa_family == AF_UNIX && preload_is_connection(fd))
            message->msg_namelen = 0;
    }
    return got;
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
