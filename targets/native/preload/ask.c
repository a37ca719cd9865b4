/* SPDX-License-Identifier: MIT */
/* Talks to the stack's process. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/preload.h"

static int door(void) {
    const char *path = getenv(CARRICK_SOCKETS_VARIABLE);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || !*path || strlen(path) >= sizeof address.sun_path) {
        errno = ENOENT;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && preload_libc.connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
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
    if (ask->kind == CARRICK_ASK_BIND)
        said.id = carrick_socket_cookie(connection);
    return carrick_socket_pass(connection, &said, sizeof said, fd, 0);
}

bool preload_answer(int connection, struct carrick_answer *answer) {
    ssize_t got;
    do
        got = preload_libc.recv(connection, answer, sizeof *answer, 0);
    while (got < 0 && errno == EINTR);
    return got == sizeof *answer;
}

int preload_ask(const struct carrick_ask *ask, int fd, struct carrick_answer *answer) {
    int connection = door();
    if (connection < 0)
        return -1;
    if (say(connection, ask, fd) && preload_answer(connection, answer))
        return connection;
    close(connection);
    errno = ENETDOWN;
    return -1;
}

int preload_tell(const struct carrick_ask *ask, int fd) {
    struct carrick_answer answer;
    int connection = preload_ask(ask, fd, &answer);
    if (connection < 0)
        return errno == ENOENT || errno == ECONNREFUSED ? ENETDOWN : errno;
    close(connection);
    return answer.error;
}
