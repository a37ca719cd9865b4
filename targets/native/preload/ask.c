/* SPDX-License-Identifier: MIT */
/* Talks to the stack's process. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "preload/preload.h"

/* The path as of the start: some programs clear their environment. */
static char path_at_start[sizeof((struct sockaddr_un *)0)->sun_path];

__attribute__((constructor(102))) static void keep_path(void) {
    const char *path = getenv(CARRICK_SOCKETS_VARIABLE);
    if (path && strlen(path) < sizeof path_at_start)
        strcpy(path_at_start, path);
}

const char *preload_door(void) {
    const char *path = getenv(CARRICK_SOCKETS_VARIABLE);
    return path ? path : path_at_start;
}

static int reach(int fd, const struct sockaddr_un *door) {
    return preload_libc.connect(fd, (const struct sockaddr *)door, sizeof *door);
}

/* A stack that is stopped, or no longer turns, is as good as gone. */
#define LONGEST_TURN 10 /* seconds */

static void limit(int connection, time_t seconds) {
    const struct timeval most = {.tv_sec = seconds};
    (void)preload_libc.setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    (void)preload_libc.setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
}

int (*preload_reach)(int fd, const struct sockaddr_un *door) = reach;

/* As connect() of a program's socket says it: where nobody serves in time, the network is down. */
static int unreachable(int why) {
    static const int down[] = {ENOENT, ENOTDIR, ECONNREFUSED, EPROTOTYPE, EAGAIN};
    for (size_t i = 0; i < sizeof down / sizeof down[0]; i++)
        if (why == down[i])
            return ENETDOWN;
    return why;
}

static int door(void) {
    const char *path = preload_door();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof address.sun_path) {
        errno = ENETDOWN;
        return -1;
    }
    strcpy(address.sun_path, path);
    int reached, fd = preload_libc.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    limit(fd, LONGEST_TURN);
    do /* the door may be crowded: nothing has begun where the wait for a place was interrupted */
        reached = preload_reach(fd, &address);
    while (reached != 0 && errno == EINTR);
    if (reached != 0) {
        int why = unreachable(errno);
        preload_libc.close(fd);
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

/* Once, since each call will fail. */
static void tell_other_build(void) {
    static const char text[] = "carrick: this libcarrick-sockets.so and the stack that serves $CARRICK_SOCKETS are of "
                               "different builds; use the library that was built with the stack's host\n";
    static atomic_flag told = ATOMIC_FLAG_INIT;
    int noted = errno;
    if (!atomic_flag_test_and_set(&told) && preload_libc.write(STDERR_FILENO, text, sizeof text - 1) < 0)
        errno = noted; /* nobody reads it */
}

/* Whether it was one of this version. If not, `*fd` is closed, and errno is ENETDOWN: the stack is gone, or EPROTO. */
static bool is_answer(ssize_t got, const struct carrick_answer *answer, int *fd) {
    bool other = got > 0 && (got != sizeof *answer || answer->error == EPROTO);
    if (got == sizeof *answer && !other)
        return true;
    if (*fd >= 0)
        preload_libc.close(*fd);
    *fd = -1;
    if (other)
        tell_other_build();
    errno = other ? EPROTO : ENETDOWN;
    return false;
}

/* False: errno says why there is no answer. */
static bool take(int connection, struct carrick_answer *answer, int *fd) {
    ssize_t got;
    do
        got = carrick_socket_take(preload_libc.recvmsg, connection, answer, sizeof *answer, fd, 0);
    while (got < 0 && errno == EINTR);
    return is_answer(got, answer, fd);
}

/* The kernel waits for a message as it waits for a connection: with a time, or with a handler that does not restart
 * calls, it ends. */
int preload_await(int connection, int fd) {
    struct carrick_answer answer;
    struct timeval most = {0};
    socklen_t len = sizeof most;
    int own;
    if (preload_libc.getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, &len) == 0) /* 0: however long it takes */
        (void)preload_libc.setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    ssize_t got = carrick_socket_take(preload_libc.recvmsg, connection, &answer, sizeof answer, &own, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR ? EINTR : EINPROGRESS;
    return is_answer(got, &answer, &own) ? answer.error : errno;
}

bool preload_ask_on(int connection, const struct carrick_ask *ask) {
    return say(connection, ask, -1);
}

int preload_ask(const struct carrick_ask *ask, int fd, struct carrick_answer *answer, int *got) {
    int connection = door();
    if (connection < 0)
        return -1;
    errno = ENETDOWN;
    if (say(connection, ask, fd) && take(connection, answer, got))
        return connection;
    int why = errno == EPROTO ? EPROTO : ENETDOWN;
    preload_libc.close(connection);
    errno = why;
    return -1;
}

int preload_get_all(int fd, uint64_t id, uint32_t item, uint32_t count, uint64_t *values) {
    int connection = door(), error = connection < 0 ? errno : 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        struct carrick_ask ask = {.kind = CARRICK_ASK_GET, .id = id, .item = item + i};
        struct carrick_answer answer;
        int own = -1;
        bool told = say(connection, &ask, fd) && take(connection, &answer, &own);
        if (own >= 0)
            preload_libc.close(own);
        error = told ? answer.error : errno == EPROTO ? EPROTO : ENETDOWN;
        values[i] = told ? answer.id : 0;
    }
    if (connection >= 0)
        preload_libc.close(connection);
    return error;
}

int preload_get(int fd, uint64_t id, uint32_t item, uint64_t *value) {
    return preload_get_all(fd, id, item, 1, value);
}

int preload_tell(const struct carrick_ask *ask, int fd) {
    struct carrick_answer answer;
    int got, connection = preload_ask(ask, fd, &answer, &got);
    if (connection < 0)
        return errno;
    if (got >= 0)
        preload_libc.close(got);
    preload_libc.close(connection);
    return answer.error;
}

int preload_why(int fd, uint64_t id, uint32_t manner) {
    int error = preload_tell(&(struct carrick_ask){.kind = CARRICK_ASK_WHY, .id = id, .value = manner}, fd), noted;
    socklen_t len = sizeof noted;
    if (error && manner != CARRICK_WHY_LOOK) /* what the kernel noted of the pair is told with it */
        (void)preload_libc.getsockopt(fd, SOL_SOCKET, SO_ERROR, &noted, &len);
    return error == ENETDOWN ? ECONNRESET : error; /* nobody is left who knows more */
}
