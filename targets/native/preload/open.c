/* SPDX-License-Identifier: MIT */
/* bind, listen, accept, connect. */
#define _GNU_SOURCE
#include <errno.h>

#include "preload/preload.h"

static int fail(int error) {
    errno = error;
    return -1;
}

/* One of ours is bound already. */
static int bind_kernels(int fd, const struct sockaddr *address, socklen_t len) {
    struct carrick_socket_name name;
    return preload_is_letters(fd, &name) ? fail(EINVAL) : preload_libc.bind(fd, address, len);
}

/* Whether others may be bound to where it is. */
static bool shares_port(int fd) {
    int address = 0, port = 0;
    socklen_t len = sizeof address;
    (void)preload_libc.getsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &address, &len);
    (void)preload_libc.getsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &port, &len);
    return address || port;
}

PRELOADED int bind(int fd, const struct sockaddr *address, socklen_t len) {
    struct carrick_ask ask = {.kind = CARRICK_ASK_BIND};
    struct carrick_answer answer;
    int type = preload_type(fd, &ask);
    bool known = preload_address(address, len, &ask);
    if (type == SOCK_SEQPACKET && !known)
        return fail(EADDRNOTAVAIL);
    if (!type || !known || (type == SOCK_DGRAM && !preload_is_fresh(fd)))
        return bind_kernels(fd, address, len);
    preload_options(fd, &ask.options);
    ask.value = type == SOCK_DGRAM && shares_port(fd);
    int own, connection = preload_ask(&ask, -1, &answer, &own);
    if (connection < 0)
        return -1;
    preload_libc.close(connection);
    if (answer.error < 0)
        return type == SOCK_SEQPACKET ? fail(EADDRNOTAVAIL) : preload_libc.bind(fd, address, len);
    if (own < 0)
        return fail(answer.error ? answer.error : EMFILE);
    if (type != SOCK_DGRAM)
        return preload_replace(fd, own);
    int error = preload_letters_replace(fd, own, false);
    return error ? fail(error) : 0;
}

bool preload_listens(int fd) {
    int value = 0;
    socklen_t len = sizeof value;
    return preload_libc.getsockopt(fd, SOL_SOCKET, PRELOAD_LISTENS, &value, &len) == 0 && value;
}

static void set_listens(int fd, int value) {
    (void)preload_libc.setsockopt(fd, SOL_SOCKET, PRELOAD_LISTENS, &value, sizeof value);
}

/* Binds a fresh socket to any address and port, as listen() does. */
static int bind_any(int fd, bool six) {
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    return six ? bind(fd, (const struct sockaddr *)&in6, sizeof in6)
               : bind(fd, (const struct sockaddr *)&in, sizeof in);
}

/* A socket that was shut down is bound again, to where it was. */
static int bind_again(int fd, const struct carrick_socket_name *name) {
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    preload_give(name->six, name->local_address, name->local_port, (struct sockaddr *)&address, &len);
    return preload_forget(fd, name) != 0 ? -1 : bind(fd, (const struct sockaddr *)&address, len);
}

static int listen_ours(int fd, const struct carrick_socket_name *name, int backlog) {
    uint32_t most = backlog > 0 ? (uint32_t)backlog : 1;
    int error = preload_tell(&(struct carrick_ask){.kind = CARRICK_ASK_LISTEN, .id = name->id, .value = most}, fd);
    if (!error)
        set_listens(fd, 1);
    return error;
}

PRELOADED int listen(int fd, int backlog) {
    struct carrick_socket_name name;
    struct carrick_ask ask;
    if (!preload_name(fd, &name) && preload_is_fresh(fd) && preload_connects(fd, &ask) && bind_any(fd, ask.six) != 0)
        return -1;
    if (preload_is_letters(fd, &name))
        return fail(EOPNOTSUPP);
    if (!preload_name(fd, &name) || name.kind != CARRICK_SOCKET_BOUND)
        return preload_libc.listen(fd, backlog);
    int error = listen_ours(fd, &name, backlog);
    if (error == EINVAL && bind_again(fd, &name) == 0 && preload_name(fd, &name))
        error = listen_ours(fd, &name, backlog);
    return error ? fail(error) : 0;
}

PRELOADED int shutdown(int fd, int how) {
    struct carrick_socket_name name;
    bool ours = !preload_confined && preload_name(fd, &name);
    if (ours && name.kind == CARRICK_SOCKET_LETTERS)
        return preload_letters_shutdown(fd, how);
    if (ours && name.kind == CARRICK_SOCKET_CONNECTION && preload_is_over(fd, &name))
        return fail(ENOTCONN);
    if (!ours || name.kind != CARRICK_SOCKET_BOUND)
        return preload_libc.shutdown(fd, how);
    if (!preload_listens(fd))
        return fail(ENOTCONN);
    if (how == SHUT_WR)
        return 0;
    set_listens(fd, 0);
    return preload_libc.shutdown(fd, how);
}

/* As the kernel does before all else. */
static bool has_free_descriptor(int fd) {
    int free = preload_libc.fcntl(fd, F_DUPFD_CLOEXEC, NULL);
    if (free >= 0)
        preload_libc.close(free);
    return free >= 0;
}

/* The next connection's message. Only a socket that listens waits for one. */
static ssize_t take_next(int fd, struct carrick_answer *ends, int *accepted) {
    ssize_t got = carrick_socket_take(preload_libc.recvmsg, fd, ends, sizeof *ends, accepted, MSG_DONTWAIT);
    if (got >= 0 || errno != EAGAIN)
        return got;
    if (!preload_listens(fd))
        return fail(EINVAL);
    return preload_libc.fcntl(fd, F_GETFL, NULL) & O_NONBLOCK
               ? fail(EAGAIN)
               : carrick_socket_take(preload_libc.recvmsg, fd, ends, sizeof *ends, accepted, 0);
}

/* The program's end of the next connection, as it came over the listening socket. */
static int accept_next(int fd, struct carrick_answer *ends) {
    int accepted = -1;
    ssize_t got = take_next(fd, ends, &accepted);
    char mark; /* tells the stack that the connection is accepted */
    int why = errno, ended = got <= 0 && preload_listens(fd) ? ENETDOWN : EINVAL; /* the stack, or by shutdown() */
    errno = why;
    if (got < 0)
        return errno == ECONNRESET ? fail(ended) : -1; /* nobody ever reads what fills the socket */
    if (got == 0)
        return fail(ended);
    if (accepted >= 0 && preload_libc.recv(accepted, &mark, sizeof mark, MSG_DONTWAIT) == 1)
        return accepted;
    if (accepted >= 0)
        preload_libc.close(accepted);
    return fail(ECONNABORTED);
}

PRELOADED int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
    struct carrick_socket_name name;
    struct carrick_answer ends;
    if (preload_is_letters(fd, &name))
        return fail(EOPNOTSUPP);
    if (!preload_name(fd, &name) || name.kind != CARRICK_SOCKET_BOUND)
        return preload_libc.accept4(fd, address, len, flags);
    if (!has_free_descriptor(fd))
        return -1;
    int accepted = accept_next(fd, &ends);
    if (accepted < 0)
        return -1;
    preload_mark(accepted, &(struct carrick_socket_name){.kind = CARRICK_SOCKET_CONNECTION, .packets = name.packets});
    if (!(flags & SOCK_CLOEXEC))
        (void)preload_libc.fcntl(accepted, F_SETFD, NULL);
    if (flags & SOCK_NONBLOCK)
        (void)fcntl(accepted, F_SETFL, O_NONBLOCK);
    preload_linger_as(fd, accepted);
    preload_give(name.six, ends.remote_address, ends.remote_port, address, len);
    return accepted;
}

PRELOADED int accept(int fd, struct sockaddr *address, socklen_t *len) {
    return accept4(fd, address, len, 0);
}

/* Puts the program's end in its place, once the connection is there, or once its program waits no longer. */
static int finish(int fd, bool waits, int connection, int own, int error) {
    if (!error)
        error = waits ? preload_await(connection, fd) : EINPROGRESS;
    preload_libc.close(connection);
    bool there = !error || error == EINPROGRESS || error == EINTR;
    if (!there)
        preload_libc.close(own);
    else if (preload_replace(fd, own) != 0)
        return -1;
    return error ? fail(error) : 0;
}

/* A connection that exists, or is being made, or has failed: who asks learns once how it ended. */
static int again(int fd, const struct carrick_socket_name *name) {
    bool waits = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    struct carrick_ask ask = {.kind = CARRICK_ASK_CONNECTED, .id = name->id, .value = !waits};
    struct carrick_socket_name ends;
    struct carrick_answer answer;
    int own, connection = preload_ask(&ask, fd, &answer, &own);
    if (connection < 0)
        return -1;
    if (own >= 0)
        preload_libc.close(own);
    int error = answer.error;
    if (error == EALREADY && answer.id == name->id && waits)
        error = preload_await(connection, fd);
    error = error == EINPROGRESS ? EALREADY : error;
    preload_libc.close(connection);
    bool goes_on = !error || error == EISCONN || error == EALREADY || error == EINTR;
    if (!goes_on && preload_ends(fd, &ends)) /* it was there, and is over */
        error = EISCONN;
    else if (!goes_on)
        (void)preload_forget(fd, name);
    return error ? fail(error) : 0;
}

/* connect() to no address: the socket is as before. */
static int disconnect(int fd, const struct carrick_socket_name *name) {
    struct carrick_ask reset = {
        .kind = CARRICK_ASK_SET, .id = name->id, .item = CARRICK_OPTION_RESET, .value = 1}; /* as Linux ends it */
    if (name->kind == CARRICK_SOCKET_CONNECTION)
        (void)preload_tell(&reset, fd);
    return preload_forget(fd, name);
}

/* The connection begins at a bound socket. */
static void as_bound(struct carrick_ask *ask, const struct carrick_socket_name *name) {
    ask->id = name->id;
    ask->six = name->six;
    ask->only6 = name->only6;
    ask->item = name->packets ? SOCK_SEQPACKET : 0;
    ask->local_port = name->local_port;
}

/* Asks the stack; or the kernel, of what is not ours. */
static int begin(int fd, struct carrick_ask *ask, const struct carrick_socket_name *bound,
                 const struct sockaddr *address, socklen_t len) {
    struct carrick_answer answer;
    if (bound)
        as_bound(ask, bound);
    else
        preload_options(fd, &ask->options);
    bool waits = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    ask->value = !waits;
    int own, connection = preload_ask(ask, bound ? fd : -1, &answer, &own);
    if (connection < 0)
        return -1;
    if (answer.error >= 0) /* a descriptor that came along may have found no place */
        return finish(fd, waits, connection, own, answer.error || own >= 0 ? answer.error : EMFILE);
    preload_libc.close(connection);
    return bound || ask->item ? fail(ENETUNREACH) : preload_libc.connect(fd, address, len);
}

/* A datagram socket of the kernel's. */
static int connect_datagrams(int fd, const struct carrick_ask *ask, const struct sockaddr *address, socklen_t len) {
    int error = preload_letters_connect(fd, ask);
    return error < 0 ? preload_libc.connect(fd, address, len) : error ? fail(error) : 0;
}

PRELOADED int connect(int fd, const struct sockaddr *address, socklen_t len) {
    struct carrick_ask ask = {.kind = CARRICK_ASK_CONNECT};
    struct carrick_socket_name name;
    bool ours = preload_name(fd, &name), bound = ours && name.kind == CARRICK_SOCKET_BOUND;
    if (ours && name.kind == CARRICK_SOCKET_LETTERS) {
        int error = preload_letters_join(fd, &name, address, len);
        return error ? fail(error) : 0;
    }
    if (ours && address && len >= sizeof address->sa_family && address->sa_family == AF_UNSPEC)
        return disconnect(fd, &name);
    if (ours && !bound)
        return again(fd, &name);
    int type = bound ? SOCK_STREAM : preload_type(fd, &ask);
    if (type == SOCK_DGRAM && preload_address(address, len, &ask))
        return connect_datagrams(fd, &ask, address, len);
    if (!type || type == SOCK_DGRAM)
        return preload_libc.connect(fd, address, len);
    if (type == SOCK_SEQPACKET && !preload_address(address, len, &ask))
        return fail(ENETUNREACH);
    /* This host, without a name, is the kernel's loopback. */
    if (!preload_address(address, len, &ask) || carrick_address_is_any(ask.address))
        return bound ? fail(preload_listens(fd) ? EISCONN : ENETUNREACH) : preload_libc.connect(fd, address, len);
    return begin(fd, &ask, bound ? &name : NULL, address, len);
}

/* The kernel has no packets in order over IP but those of protocols of its own. */
PRELOADED int socket(int domain, int type, int protocol) {
    int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK), fd = preload_libc.socket(domain, type, protocol);
    bool ip = domain == AF_INET || domain == AF_INET6;
    if (fd >= 0 || !ip || kind != SOCK_SEQPACKET || protocol != 0)
        return fd;
    int why = errno;
    struct carrick_ask any = {.address = {0}};
    return preload_offers(&any) & 1u << SOCK_SEQPACKET ? preload_make_packets(domain, type & ~kind) : fail(why);
}
