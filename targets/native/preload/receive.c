/* SPDX-License-Identifier: MIT */
/* Receiving with flags that a Unix socket has otherwise than a stream over IP. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/ioctl.h>

#include "preload/preload.h"

#define DISCARDED 4096u /* bytes at once */

static bool peeks_all(int flags) {
    return flags & MSG_PEEK && flags & MSG_WAITALL && !(flags & MSG_DONTWAIT);
}

bool preload_differs(int fd, int flags) {
    bool may = flags & (MSG_ERRQUEUE | MSG_OOB | MSG_TRUNC) || peeks_all(flags);
    struct carrick_socket_name name;
    return may && preload_name(fd, &name) && name.kind == CARRICK_SOCKET_CONNECTION && !name.packets;
}

/* How many bytes MSG_PEEK with MSG_TRUNC finds, which looks at none of them. */
static ssize_t count(int fd, size_t len, int flags) {
    char octet;
    int waiting = 0;
    ssize_t got = preload_libc.recv(fd, &octet, 1, flags & ~(MSG_TRUNC | MSG_WAITALL));
    if (got <= 0 || preload_libc.ioctl(fd, FIONREAD, &waiting) != 0)
        return got;
    return (size_t)waiting < len ? waiting : (ssize_t)len;
}

/* Takes bytes away. */
static ssize_t discard(int fd, size_t len, int flags) {
    char octets[DISCARDED];
    size_t done = 0;
    int noted = errno;
    flags &= ~MSG_TRUNC;
    if (len == 0) /* which waits for data all the same */
        return preload_libc.recv(fd, octets, 0, flags);
    while (done < len) {
        size_t part = len - done < sizeof octets ? len - done : sizeof octets;
        ssize_t got = preload_libc.recv(fd, octets, part, flags);
        if (got <= 0 && done == 0)
            return got;
        if (got <= 0)
            break;
        done += (size_t)got;
        flags |= flags & MSG_WAITALL ? 0 : MSG_DONTWAIT; /* once there is something, no more is waited for */
    }
    errno = noted;
    return (ssize_t)done;
}

/* Looks at bytes until all are there. A Unix socket waits for those behind its offset. */
static ssize_t peek_all(int fd, const struct iovec *pieces, size_t pieces_count) {
    static const int from_here = 0;
    int offset = -1, noted = errno;
    socklen_t len = sizeof offset;
    ssize_t done = 0, got = 1;
    (void)preload_libc.getsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, &len);
    if (offset < 0)
        (void)preload_libc.setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &from_here, sizeof from_here);
    for (size_t i = 0; i < pieces_count && got > 0; i++)
        for (size_t at = 0; at < pieces[i].iov_len && got > 0; at += (size_t)(got > 0 ? got : 0)) {
            got = preload_libc.recv(fd, (char *)pieces[i].iov_base + at, pieces[i].iov_len - at, MSG_PEEK);
            done += got > 0 ? got : 0;
        }
    int why = errno;
    if (offset < 0)
        (void)preload_libc.setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset);
    errno = done == 0 && got < 0 ? why : noted;
    return done ? done : got;
}

ssize_t preload_receive(int fd, const struct iovec *pieces, size_t pieces_count, int flags) {
    size_t len = 0;
    for (size_t i = 0; i < pieces_count; i++)
        len += pieces[i].iov_len;
    if (flags & MSG_ERRQUEUE || flags & MSG_OOB) { /* nothing is ever there */
        errno = flags & MSG_ERRQUEUE ? EAGAIN : EINVAL;
        return -1;
    }
    if (flags & MSG_TRUNC)
        return flags & MSG_PEEK ? count(fd, len, flags) : discard(fd, len, flags);
    return peek_all(fd, pieces, pieces_count);
}
