/* SPDX-License-Identifier: MIT */
/* Closing: as ever, but for sockets of which the program has set that it waits until the peer has all (SO_LINGER). */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "preload/preload.h"

/* Whether the program has ever set it; what fork() makes has it too. Others pay no more for close() than this look. */
static atomic_bool lingers;

void preload_lingers(void) {
    atomic_store_explicit(&lingers, true, memory_order_relaxed);
}

static bool linger_of(int fd, struct linger *linger) {
    socklen_t len = sizeof *linger;
    return atomic_load_explicit(&lingers, memory_order_relaxed) && !preload_confined &&
           preload_libc.getsockopt(fd, SOL_SOCKET, SO_LINGER, linger, &len) == 0 && linger->l_onoff;
}

void preload_linger_as(int listening, int accepted) {
    struct linger linger;
    if (linger_of(listening, &linger))
        (void)preload_libc.setsockopt(accepted, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

/* The last of its owners waits: the stack sees whether there are others once this one has closed it. */
static int close_and_wait(int fd, uint64_t id, int seconds) {
    struct carrick_answer answer;
    int got, connection = preload_ask(&(struct carrick_ask){.kind = CARRICK_ASK_LINGER, .id = id}, fd, &answer, &got);
    int closed = preload_libc.close(fd), why = errno;
    if (connection < 0)
        return closed;
    if (got >= 0)
        preload_libc.close(got);
    struct pollfd look = {.fd = connection, .events = POLLIN};
    if (!answer.error && preload_ask_on(connection, &(struct carrick_ask){.kind = CARRICK_ASK_CLOSED, .id = id}))
        (void)preload_libc.poll(&look, 1, seconds < INT_MAX / 1000 ? seconds * 1000 : -1);
    preload_libc.close(connection);
    errno = why;
    return closed;
}

PRELOADED int close(int fd) {
    struct carrick_socket_name name;
    struct linger linger;
    int noted = errno;
    preload_mark(fd, NULL);
    if (linger_of(fd, &linger) && linger.l_linger && preload_name(fd, &name) &&
        name.kind == CARRICK_SOCKET_CONNECTION) {
        errno = noted;
        return close_and_wait(fd, name.id, linger.l_linger);
    }
    errno = noted;
    return preload_libc.close(fd);
}
