/* SPDX-License-Identifier: MIT */
/* Waiting, which tells of a broken connection that there is an error. (An epoll set does not say which socket it is.)
 */
#define _GNU_SOURCE
#include <errno.h>

#include "preload/preload.h"

static bool has_error(int fd) {
    struct carrick_socket_name name;
    int error = !preload_confined && preload_name(fd, &name) && name.kind == CARRICK_SOCKET_CONNECTION
                    ? preload_why(fd, name.id, CARRICK_WHY_LOOK)
                    : 0;
    return error && error != EMFILE && error != ENFILE; /* without a descriptor nobody can be asked */
}

/* What can be received of a datagram socket is an error. */
static bool has_error_of_letters(int fd) {
    struct carrick_socket_name name;
    return preload_marked_letters(fd) && preload_is_letters(fd, &name) && preload_letters_waiting(fd);
}

/* A connection without an end at the stack is over, or has failed. */
static int with_errors(struct pollfd *fds, nfds_t count, int ready) {
    int noted = errno;
    for (nfds_t i = 0; i < count && ready > 0; i++)
        if ((fds[i].revents & (POLLHUP | POLLERR)) == POLLHUP && has_error(fds[i].fd))
            fds[i].revents |= POLLERR;
        else if (fds[i].revents & POLLIN && has_error_of_letters(fds[i].fd))
            fds[i].revents = (short)((fds[i].revents & ~POLLIN) | POLLERR);
    errno = noted;
    return ready;
}

PRELOADED int poll(struct pollfd *fds, nfds_t count, int timeout) {
    return with_errors(fds, count, preload_libc.poll(fds, count, timeout));
}

PRELOADED int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    return with_errors(fds, count, preload_libc.ppoll(fds, count, timeout, mask));
}

PRELOADED int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size);
PRELOADED int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                          size_t size);

static nfds_t checked(nfds_t count, size_t size) {
    if (size / sizeof(struct pollfd) < count)
        __builtin_trap();
    return count;
}

PRELOADED int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size) {
    return poll(fds, checked(count, size), timeout);
}

PRELOADED int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                          size_t size) {
    return ppoll(fds, checked(count, size), timeout, mask);
}
