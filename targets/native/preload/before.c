/* SPDX-License-Identifier: MIT */
/*
 * What a program does with a socket before it becomes one of ours. Then another takes the descriptor's place: so it
 * takes that of the socket's duplicates, too, and is added to the epoll sets in which they are. A process that had
 * inherited the socket before is not reached: there it stays the kernel's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include "preload/preload.h"

#define KEPT      256u /* the oldest is forgotten where there are more */
#define DUPLICATE (-1) /* in place of an epoll set */

/* A descriptor of a socket with this cookie; 0: none. Any thread may find it half written: what it is about is looked
 * at again before anything is done. */
static struct {
    _Atomic uint64_t cookie, data;
    _Atomic uint32_t events;
    _Atomic int fd, set;
} kept[KEPT];
static atomic_uint next;
static atomic_bool any;

bool preload_may_change(int fd) {
    struct sockaddr_storage address;
    struct carrick_socket_name name;
    socklen_t len = sizeof address;
    int noted = errno;
    bool socket = !preload_confined && preload_libc.getsockname(fd, (struct sockaddr *)&address, &len) == 0;
    errno = noted;
    if (!socket)
        return false;
    return address.ss_family == AF_UNIX ? preload_name(fd, &name) && name.kind == CARRICK_SOCKET_BOUND
                                        : preload_is_fresh(fd);
}

static bool is_of(uint32_t i, uint64_t cookie) {
    return kept[i].cookie == cookie && carrick_socket_cookie(kept[i].fd) == cookie;
}

static void keep(int fd, int set, const struct epoll_event *event) {
    uint32_t i = next++ % KEPT;
    kept[i].cookie = 0;
    kept[i].fd = fd;
    kept[i].set = set;
    kept[i].events = event ? event->events : 0;
    kept[i].data = event ? event->data.u64 : 0;
    kept[i].cookie = carrick_socket_cookie(fd);
    any = true;
}

static void forget(int fd, int set) {
    for (uint32_t i = 0; i < KEPT; i++)
        if (kept[i].cookie && kept[i].fd == fd && kept[i].set == set)
            kept[i].cookie = 0;
}

PRELOADED int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
    int done = preload_libc.epoll_ctl(set, operation, fd, event);
    bool changes = done == 0 && (operation == EPOLL_CTL_ADD ? preload_may_change(fd) : (bool)any);
    if (!changes)
        return done;
    forget(fd, set);
    if (event && operation != EPOLL_CTL_DEL && (operation == EPOLL_CTL_ADD || preload_may_change(fd)))
        keep(fd, set, event);
    return done;
}

int preload_duplicated(int fd, int other) {
    if (other < 0 || other == fd)
        return other;
    preload_mark_as(fd, other);
    if (preload_may_change(fd)) {
        keep(fd, DUPLICATE, NULL);
        keep(other, DUPLICATE, NULL);
    }
    return other;
}

PRELOADED int dup(int fd) {
    return preload_duplicated(fd, preload_libc.dup(fd));
}

PRELOADED int dup2(int fd, int other) {
    return preload_duplicated(fd, preload_libc.dup2(fd, other));
}

PRELOADED int dup3(int fd, int other, int flags) {
    return preload_duplicated(fd, preload_libc.dup3(fd, other, flags));
}

PRELOADED int fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    int done = preload_libc.fcntl(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? preload_duplicated(fd, done) : done;
}

PRELOADED int fcntl64(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return fcntl(fd, command, argument);
}

uint64_t preload_replace_begin(int fd) {
    uint64_t old = any ? carrick_socket_cookie(fd) : 0;
    for (uint32_t i = 0; i < KEPT && old; i++)
        if (kept[i].set != DUPLICATE && is_of(i, old))
            (void)preload_libc.epoll_ctl(kept[i].set, EPOLL_CTL_DEL, kept[i].fd, NULL);
    return old;
}

static void replace_duplicate(int fd, int other) {
    int flags = preload_libc.fcntl(other, F_GETFD, NULL);
    if (other == fd || flags < 0)
        return;
    (void)preload_libc.dup3(fd, other, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
    preload_mark_as(fd, other);
}

void preload_replace_end(int fd, uint64_t old) {
    uint64_t cookie = old ? carrick_socket_cookie(fd) : 0;
    for (uint32_t i = 0; i < KEPT && old; i++)
        if (kept[i].set == DUPLICATE && is_of(i, old))
            replace_duplicate(fd, kept[i].fd);
    for (uint32_t i = 0; i < KEPT && old; i++) {
        struct epoll_event event = {.events = kept[i].events, .data.u64 = kept[i].data};
        if (kept[i].cookie != old)
            continue;
        if (kept[i].set != DUPLICATE && carrick_socket_cookie(kept[i].fd) == cookie)
            (void)preload_libc.epoll_ctl(kept[i].set, EPOLL_CTL_ADD, kept[i].fd, &event);
        kept[i].cookie = cookie; /* another may take its place again */
    }
}
