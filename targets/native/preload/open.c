/* SPDX-License-Identifier: MIT */
/* bind, listen, accept, connect. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "preload/preload.h"

static int fail(int error) {
    errno = error;
    return -1;
}

PRELOADED int bind(int fd, const struct sockaddr *address, socklen_t len) {
    struct carrick_ask ask = {.kind = CARRICK_ASK_BIND};
    struct carrick_answer answer;
    bool six;
    if (!preload_is_stream(fd, &six) || !preload_address(address, len, &ask.address, &ask.port))
        return preload_libc.bind(fd, address, len);
    ask.six = six;
    ask.options = preload_options(fd);
    int connection = preload_ask(&ask, -1, &answer);
    if (connection < 0)
        return -1;
    if (answer.error) {
        close(connection);
        return answer.error == CARRICK_NOT_OURS ? preload_libc.bind(fd, address, len) : fail(answer.error);
    }
    struct carrick_socket_name name = {.kind = CARRICK_SOCKET_BOUND,
                                       .id = answer.id,
                                       .six = six,
                                       .local_address = answer.local_address,
                                       .local_port = answer.local_port};
    struct sockaddr_un own;
    socklen_t own_len = carrick_socket_name_make(&name, &own);
    if (preload_libc.bind(connection, (const struct sockaddr *)&own, own_len) != 0) {
        close(connection);
        return -1;
    }
    return preload_replace(fd, connection);
}

PRELOADED int listen(int fd, int backlog) {
    struct carrick_socket_name name;
    if (!preload_name(fd, &name) || name.kind != CARRICK_SOCKET_BOUND)
        return preload_libc.listen(fd, backlog);
    int error = preload_tell(
        &(struct carrick_ask){.kind = CARRICK_ASK_LISTEN, .id = name.id, .value = backlog > 0 ? (uint32_t)backlog : 1},
        fd);
    return error ? fail(error) : 0;
}

/* The program's end of the next connection, as it came over the listening socket. */
static int accept_next(int fd, struct carrick_answer *ends) {
    int accepted;
    ssize_t got = carrick_socket_take(fd, ends, sizeof *ends, &accepted, 0);
    if (got < 0 || accepted >= 0)
        return accepted;
    return fail(got == 0 ? ENETDOWN : ECONNABORTED);
}

PRELOADED int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
    struct carrick_socket_name name;
    struct carrick_answer ends;
    if (!preload_name(fd, &name) || name.kind != CARRICK_SOCKET_BOUND)
        return preload_libc.accept4(fd, address, len, flags);
    int accepted = accept_next(fd, &ends);
    if (accepted < 0)
        return -1;
    if (!(flags & SOCK_CLOEXEC))
        (void)fcntl(accepted, F_SETFD, 0);
    if (flags & SOCK_NONBLOCK)
        (void)fcntl(accepted, F_SETFL, O_NONBLOCK);
    preload_give(name.six, ends.remote_address, ends.remote_port, address, len);
    return accepted;
}

PRELOADED int accept(int fd, struct sockaddr *address, socklen_t *len) {
    return accept4(fd, address, len, 0);
}

/* Fills the socket until it cannot be written: so it looks until the stack, once connected, drops what was put there.
 */
static bool pad(int fd, uint32_t *octets) {
    static const char nothing[65536];
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    *octets = 0;
    while (poll(&look, 1, 0) == 1 && look.revents == POLLOUT) {
        ssize_t put = send(fd, nothing, sizeof nothing, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put <= 0)
            return false;
        *octets += (uint32_t)put;
    }
    return true;
}

/* Asks for the connection; `own` becomes the program's end of it. Returns where the outcome is told, or -1. */
static int begin(struct carrick_ask *ask, bool waits, int *own, struct carrick_answer *answer) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    int connection = -1;
    ask->id = carrick_socket_cookie(ends[0]);
    if (waits || pad(ends[0], &ask->value))
        connection = preload_ask(ask, ends[1], answer);
    int why = errno;
    close(ends[1]);
    if (connection < 0) {
        close(ends[0]);
        return fail(why);
    }
    *own = ends[0];
    return connection;
}

static int finish(int fd, bool six, bool waits, int connection, int own, struct carrick_answer *answer) {
    struct carrick_socket_name name = {.kind = CARRICK_SOCKET_CONNECTION, .id = answer->id, .six = six};
    struct sockaddr_un address;
    socklen_t len = carrick_socket_name_make(&name, &address);
    if (!answer->error && preload_libc.bind(own, (const struct sockaddr *)&address, len) != 0)
        answer->error = errno;
    if (!answer->error && waits && !preload_answer(connection, answer))
        answer->error = ENETDOWN;
    close(connection);
    if (answer->error) {
        close(own);
        return fail(answer->error);
    }
    if (preload_replace(fd, own) != 0)
        return -1;
    return waits ? 0 : fail(EINPROGRESS);
}

/* A connection that exists, or is being made. */
static int again(int fd) {
    struct carrick_socket_name name;
    return fail(preload_ends(fd, &name) ? EISCONN : EALREADY);
}

PRELOADED int connect(int fd, const struct sockaddr *address, socklen_t len) {
    struct carrick_ask ask = {.kind = CARRICK_ASK_CONNECT};
    struct carrick_socket_name name;
    struct carrick_answer answer;
    bool six = false, bound = preload_name(fd, &name);
    if (bound && name.kind == CARRICK_SOCKET_CONNECTION)
        return again(fd);
    if ((!bound && !preload_is_stream(fd, &six)) || !preload_address(address, len, &ask.address, &ask.port))
        return preload_libc.connect(fd, address, len);
    ask.six = bound ? name.six : six;
    ask.local_port = bound ? name.local_port : 0;
    ask.options = bound ? 0 : preload_options(fd);
    bool waits = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    int own, connection = begin(&ask, waits, &own, &answer);
    return connection < 0 ? -1 : finish(fd, ask.six != 0, waits, connection, own, &answer);
}
