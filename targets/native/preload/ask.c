/* SPDX-License-Identifier: MIT */
/* Talks to the stack's process. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/preload.h"

/* The path as of the start: some programs clear their environment. */
static char path_at_start[sizeof((struct sockaddr_un *)0)->sun_path];

__attribute__((constructor(102))) static void keep_path(void) {
    const char *path = getenv(CARRICK_SOCKETS_VARIABLE);
    if (path && strlen(path) < sizeof path_at_start)
        strcpy(path_at_start, path);
}

static int door(void) {
    const char *path = getenv(CARRICK_SOCKETS_VARIABLE);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    path = path ? path : path_at_start;
    if (!*path || strlen(path) >= sizeof address.sun_path) {
        errno = ENOENT;
        return -1;
    }
    strcpy(address.sun_path, path);
    int reached, fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    do /* the door may be crowded: nothing has begun where the wait for a place was interrupted */
        reached = preload_libc.connect(fd, (const struct sockaddr *)&address, sizeof address);
    while (reached != 0 && errno == EINTR);
    if (reached != 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

static bool say(int connection, const struct carrick_ask *ask, int fd) {
    struct carrick_ask said = *ask;
    said.version = CARRICK_SOCKETS_VERSION;
    return carrick_socket_pass(connection, &said, sizeof said, fd, 0);
}

/* False: the stack is gone. */
static bool take(int connection, struct carrick_answer *answer, int *fd) {
    ssize_t got;
    do
        got = carrick_socket_take(preload_libc.recvmsg, connection, answer, sizeof *answer, fd, 0);
    while (got < 0 && errno == EINTR);
    if (got == sizeof *answer)
        return true;
    if (*fd >= 0)
        close(*fd);
    return false;
}

bool preload_answer(int connection, struct carrick_answer *answer) {
    int fd;
    bool taken = take(connection, answer, &fd);
    if (taken && fd >= 0)
        close(fd);
    return taken;
}

bool preload_ask_on(int connection, const struct carrick_ask *ask) {
    return say(connection, ask, -1);
}

int preload_ask(const struct carrick_ask *ask, int fd, struct carrick_answer *answer, int *got) {
    int connection = door();
    if (connection < 0)
        return -1;
    if (say(connection, ask, fd) && take(connection, answer, got))
        return connection;
    close(connection);
    errno = ENETDOWN;
    return -1;
}

int preload_get_all(int fd, uint64_t id, uint32_t item, uint32_t count, uint64_t *values) {
    int connection = door(), error = connection < 0 ? ENETDOWN : 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        struct carrick_ask ask = {.kind = CARRICK_ASK_GET, .id = id, .item = item + i};
        struct carrick_answer answer;
        bool told = say(connection, &ask, fd) && preload_answer(connection, &answer);
        error = told ? answer.error : ENETDOWN;
        values[i] = told ? answer.id : 0;
    }
    if (connection >= 0)
        close(connection);
    return error;
}

int preload_get(int fd, uint64_t id, uint32_t item, uint64_t *value) {
    return preload_get_all(fd, id, item, 1, value);
}

int preload_tell(const struct carrick_ask *ask, int fd) {
    struct carrick_answer answer;
    int got, connection = preload_ask(ask, fd, &answer, &got);
    if (connection < 0)
        return errno == ENOENT || errno == ECONNREFUSED ? ENETDOWN : errno;
    if (got >= 0)
        close(got);
    close(connection);
    return answer.error;
}
