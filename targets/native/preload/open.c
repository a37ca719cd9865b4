/* SPDX-License-Identifier: MIT */
/* bind, listen, accept, connect. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
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
    if (!preload_is_stream(fd, &ask) || !preload_address(address, len, &ask))
        return preload_libc.bind(fd, address, len);
    preload_options(fd, &ask.options);
    int own, connection = preload_ask(&ask, -1, &answer, &own);
    if (connection < 0)
        return -1;
    close(connection);
    if (answer.error == CARRICK_NOT_OURS)
        return preload_libc.bind(fd, address, len);
    return own < 0 ? fail(answer.error ? answer.error : EMFILE) : preload_replace(fd, own);
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
    ssize_t got = carrick_socket_take(preload_libc.recvmsg, fd, ends, sizeof *ends, &accepted, 0);
    char mark; /* tells the stack that the connection is accepted */
    if (got < 0)
        return errno == ECONNRESET ? fail(ENETDOWN) : -1; /* the stack is gone, and never reads what fills the socket */
    if (accepted >= 0 && preload_libc.recv(accepted, &mark, sizeof mark, MSG_DONTWAIT) == 1)
        return accepted;
    if (accepted >= 0)
        close(accepted);
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
    preload_linger_as(fd, accepted);
    preload_give(name.six, ends.remote_address, ends.remote_port, address, len);
    return accepted;
}

PRELOADED int accept(int fd, struct sockaddr *address, socklen_t *len) {
    return accept4(fd, address, len, 0);
}

/* Puts the program's end in its place, once the connection is there if the program waits for it. */
static int finish(int fd, bool waits, int connection, int own, struct carrick_answer *answer) {
    if (!answer->error && own < 0)
        answer->error = EMFILE; /* the descriptor that came along found no place */
    if (!answer->error && waits && !preload_answer(connection, answer))
        answer->error = ENETDOWN;
    close(connection);
    if (answer->error) {
        if (own >= 0)
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

/* The connection begins at a bound socket. */
static void as_bound(struct carrick_ask *ask, const struct carrick_socket_name *name) {
    ask->id = name->id;
    ask->six = name->six;
    ask->only6 = name->only6;
    ask->local_port = name->local_port;
}

PRELOADED int connect(int fd, const struct sockaddr *address, socklen_t len) {
    struct carrick_ask ask = {.kind = CARRICK_ASK_CONNECT};
    struct carrick_socket_name name;
    struct carrick_answer answer;
    bool bound = preload_name(fd, &name);
    if (bound && name.kind == CARRICK_SOCKET_CONNECTION)
        return again(fd);
    if ((!bound && !preload_is_stream(fd, &ask)) || !preload_address(address, len, &ask))
        return preload_libc.connect(fd, address, len);
    if (bound)
        as_bound(&ask, &name);
    else
        preload_options(fd, &ask.options);
    bool waits = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    ask.value = !waits;
    int own, connection = preload_ask(&ask, bound ? fd : -1, &answer, &own);
    if (connection < 0)
        return -1;
    if (answer.error != CARRICK_NOT_OURS)
        return finish(fd, waits, connection, own, &answer);
    close(connection);
    return bound ? fail(ENETUNREACH) : preload_libc.connect(fd, address, len);
}
