/* SPDX-License-Identifier: MIT */
/* Sockets of the relay that are bound, and listen. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/sockets.h"
#include "carrick/ipv6.h"

#define PORT_TRIES 64u
#define JOINING    16u /* connections that are on the way to one who listens, at most: the others wait in the stack */

/* Whether some program still has it. */
static bool is_held(const struct relay_bound *bound) {
    return bound->fd >= 0 || bound->space;
}

struct relay_bound *relay_bound_find(struct relay *relay, uint64_t id) {
    uint32_t place = relay_place(id);
    struct relay_bound *bound = place < RELAY_BOUND ? &relay->bound[place] : NULL;
    return bound && bound->used && bound->id == id && bound->fd >= 0 ? bound : NULL;
}

static struct relay_bound *bound_on(struct relay *relay, uint16_t port) {
    for (uint32_t i = 0; i < RELAY_BOUND; i++)
        if (relay->bound[i].used && relay->bound[i].port == port)
            return &relay->bound[i];
    return NULL;
}

bool relay_listens(const struct relay *relay, uint16_t port) {
    for (uint32_t i = 0; i < RELAY_BOUND; i++)
        if (relay->bound[i].used && relay->bound[i].listening && relay->bound[i].port == port)
            return true;
    return false;
}

bool relay_has(const struct relay *relay, uint64_t asker, uint16_t port) {
    for (uint32_t i = 0; i < RELAY_BOUND; i++)
        if (relay->bound[i].used && relay->bound[i].port == port)
            return relay->bound[i].uid == relay_uid(relay, asker);
    return false;
}

static struct relay_bound *bound_begin(struct relay *relay, uint32_t uid, int *error) {
    *error = relay_take(relay, RELAY_LISTENERS, uid, 1);
    for (uint32_t i = 0; i < RELAY_BOUND && !*error; i++) {
        struct relay_bound *bound = &relay->bound[i];
        if (bound->used)
            continue;
        *bound = (struct relay_bound){.relay = relay, .uid = uid, .used = true, .fd = -1, .parked = -1};
        bound->id = relay_id(i);
        return bound;
    }
    return NULL;
}

/* The stack, for what is asked on the socket. */
static struct carrick_stack *bound_stack(const struct relay_bound *bound) {
    carrick_stack_act_for(bound->relay->stack, relay_owner(bound->relay, bound->uid));
    return bound->relay->stack;
}

static void bound_release(struct relay_bound *bound) {
    if (is_held(bound) || bound->requests > 0 || !bound->used)
        return;
    bound->used = false;
    relay_give(bound->relay, RELAY_CONNECTIONS, bound->uid, bound->kept);
    relay_give(bound->relay, RELAY_LISTENERS, bound->uid, 1);
    relay_accept(bound->relay); /* the user's other sockets may have waited for these places */
}

static void bound_unlistened(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* it is over in any case */
    struct relay_bound *bound = user;
    bound->requests--;
    bound_release(bound);
}

/* Nobody has the socket any more. */
static void bound_end(struct relay_bound *bound) {
    if (bound->listening) {
        int refused = carrick_unlisten(bound_stack(bound), bound->listener, bound_unlistened, bound);
        bound->relay->stuck |= refused == CARRICK_AGAIN;
        if (refused == CARRICK_AGAIN)
            return;
        bound->requests += refused == 0;
        bound->listening = false;
    }
    if (bound->parked >= 0)
        close(bound->parked);
    bound->parked = -1;
    if (bound->fd >= 0)
        close(bound->fd);
    bound->fd = -1;
    bound->space = false;
    bound_release(bound);
}

/* Nobody writes to a listening socket, and poll() does not report it as writable, also where its program asks for
 * another size of its buffer. False: the system refused. */
static bool bound_fill(int program) {
    int size = 0, twice;
    uint32_t octets;
    socklen_t len = sizeof size;
    if (getsockopt(program, SOL_SOCKET, SO_SNDBUF, &size, &len) != 0)
        return false;
    twice = size;
    size /= 2; /* the system doubles what is set */
    if (setsockopt(program, SOL_SOCKET, SO_SNDBUF, &twice, sizeof twice) != 0 || !relay_fill(program, &octets))
        return false;
    return setsockopt(program, SOL_SOCKET, SO_SNDBUF, &size, sizeof size) == 0;
}

/* Makes its pair. Returns the program's end, or -1: the system gives none. */
static int bound_open(struct relay_bound *bound) {
    struct carrick_socket_name name = {.kind = CARRICK_SOCKET_BOUND,
                                       .id = bound->id,
                                       .six = bound->six,
                                       .only6 = bound->only6,
                                       .packets = bound->packets,
                                       .local_address = bound->address,
                                       .local_port = bound->port};
    int program = relay_pair(SOCK_SEQPACKET, &name, &bound->fd);
    if (program < 0)
        return -1;
    bound->cookie = carrick_socket_cookie(program);
    bool filled = bound_fill(program);
    (void)shutdown(bound->fd, SHUT_RD); /* the program has nothing to send there: EPIPE */
    if (filled && relay_watch(bound->relay, bound->fd, RELAY_BOUND_SOCKET, (uint32_t)(bound - bound->relay->bound)))
        return program;
    close(program);
    return -1;
}

/* The stack's address, or any address: 0.0.0.0 or `::`. */
static bool is_bindable(const struct relay *relay, struct carrick_ip6_address address) {
    struct carrick_ip6_address own = carrick_stack_address(relay->stack);
    return carrick_address_is_any(address) || carrick_ip6_same(address, own);
}

/* A port for a socket that has not said one. */
static uint16_t bound_free_port(struct relay *relay) {
    uint16_t port = 0;
    if (relay->mailboxes)
        return relay_free_port(relay);
    for (uint32_t tries = 0; tries < PORT_TRIES; tries++) {
        port = carrick_stack_next_port(relay->stack);
        if (!bound_on(relay, port))
            break;
    }
    return port;
}

void relay_bind(struct relay *relay, uint64_t asker, const struct carrick_ask *ask) {
    struct carrick_answer answer = {.local_address = ask->address, .local_port = ask->port};
    if (ask->port == 0)
        answer.local_port = bound_free_port(relay);
    if (!relay_speaks(relay, ask) || !is_bindable(relay, ask->address))
        answer.error = CARRICK_NOT_OURS;
    else if (!relay_may(relay, asker, ask->port))
        answer.error = EACCES;
    else if (bound_on(relay, answer.local_port))
        answer.error = EADDRINUSE;
    relay->refused[RELAY_REFUSED_PORT] += answer.error == EACCES;
    struct relay_bound *bound = answer.error ? NULL : bound_begin(relay, relay_uid(relay, asker), &answer.error);
    if (!bound) {
        relay_answer(relay, asker, &answer);
        return;
    }
    bound->address = answer.local_address;
    bound->port = answer.local_port;
    bound->options = relay_options(&ask->options);
    bound->six = ask->six != 0;
    bound->only6 = ask->only6 != 0;
    bound->packets = relay_type(ask) == SOCK_SEQPACKET;
    answer.id = bound->id;
    int program = bound_open(bound);
    answer.error = program < 0 ? ENOBUFS : 0;
    relay_answer_with(relay, asker, &answer, program);
    if (program >= 0)
        close(program);
    else
        bound_end(bound);
}

static void bound_listening(void *user, enum carrick_status status, uint64_t listener) {
    struct relay_bound *bound = user;
    bound->requests--;
    bound->listening = status == CARRICK_OK;
    bound->listener = listener;
    relay_answer(bound->relay, bound->asker, &(struct carrick_answer){.error = relay_error(status), .id = bound->id});
    bound->asker = RELAY_NOBODY;
    if (bound->space && status != CARRICK_OK)
        fprintf(stderr, "sockets: nobody is served on port %u: %s\n", bound->port, strerror(relay_error(status)));
    if (!is_held(bound) && bound->listening) {
        bound->listening = false;
        bound->requests += carrick_unlisten(bound_stack(bound), listener, bound_unlistened, bound) == 0;
    }
    bound_release(bound);
    relay_accept(bound->relay);
}

/* Keeps places for those that wait: 0, or why there are none. */
static int bound_reserve(struct relay_bound *bound, uint32_t wanted) {
    bound->backlog = relay_backlog(bound->relay, bound->uid, wanted);
    int error = bound->backlog ? relay_take(bound->relay, RELAY_CONNECTIONS, bound->uid, bound->backlog) : 0;
    bound->kept = bound->backlog = error ? 0 : bound->backlog;
    return error;
}

/* Asks the stack. Returns an errno. */
static int bound_listen(struct relay_bound *bound, uint32_t backlog) {
    uint32_t wanted = backlog ? backlog : 1;
    int error = bound->backlog ? 0 : bound_reserve(bound, wanted);
    if (error)
        return error;
    int refused = carrick_listen(bound_stack(bound), bound->port, bound->backlog ? bound->backlog : wanted,
                                 bound_listening, bound);
    bound->requests += refused == 0;
    return !refused ? 0 : refused == CARRICK_AGAIN ? ENOBUFS : EOPNOTSUPP;
}

void relay_listen(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    struct relay_bound *bound = relay_bound_find(relay, ask->id);
    struct carrick_answer answer = {.id = ask->id};
    bool there = bound != NULL;
    bool has = there && fd >= 0 && bound->cookie != 0 && carrick_socket_cookie(fd) == bound->cookie;
    relay->refused[RELAY_REFUSED_OWNER] += there && !has;
    if (!has)
        answer.error = there ? EACCES : EINVAL;
    else if (bound->asker != RELAY_NOBODY)
        answer.error = EALREADY;
    if (answer.error || bound->listening) { /* listening again changes nothing */
        relay_answer(relay, asker, &answer);
        return;
    }
    answer.error = bound_listen(bound, ask->value);
    if (answer.error)
        relay_answer(relay, asker, &answer);
    else
        bound->asker = asker;
}

/* Hands a program's end over. False: there is no room now. */
static bool bound_pass(struct relay_bound *bound, int fd, const struct carrick_answer *ends) {
    if (!carrick_socket_pass(bound->fd, ends, sizeof *ends, fd, MSG_DONTWAIT) &&
        (errno == EAGAIN || errno == ETOOMANYREFS))
        return false;
    close(fd); /* who is gone has its connections' ends closed, too */
    return true;
}

/* A connection that waited becomes the program's, and takes the place along that was kept for it. */
static struct relay_link *bound_take(struct relay_bound *bound) {
    int error;
    if (bound->kept > 0) {
        relay_give(bound->relay, RELAY_CONNECTIONS, bound->uid, 1);
        bound->kept--;
    }
    return relay_link_begin(bound->relay, bound->uid, &error);
}

/* Keeps places for those that wait, as many as there were, as soon as the user has them again. */
static void bound_keep(struct relay_bound *bound) {
    while (bound->kept < bound->backlog && relay_may_take(bound->relay, RELAY_CONNECTIONS, bound->uid, 1) == 0 &&
           relay_take(bound->relay, RELAY_CONNECTIONS, bound->uid, 1) == 0)
        bound->kept++;
}

/* The program's end of a link, or -1: the system has none. accept() reads its first byte: an end that is closed with
 * that unread was never accepted, and its connection is reset. */
static int bound_link(const struct relay_bound *bound, struct relay_link *link) {
    link->six = bound->six;
    link->only6 = bound->only6;
    link->packets = bound->packets;
    link->options = bound->options;
    link->owner = relay_owner(bound->relay, bound->uid);
    link->told = true;
    int program = relay_link_open(link);
    if (program >= 0 && send(link->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) {
        close(program);
        return -1;
    }
    return program;
}

/* A connection is on the way to a program in the namespace. */
static void bound_join(struct relay_bound *bound, struct relay_link *link, uint64_t handle) {
    link->six = bound->six;
    link->owner = relay_owner(bound->relay, bound->uid);
    link->joins = bound;
    bound->joining++;
    bound->requests++;
    relay_flow_accepted(link, handle);
}

void relay_bound_joined(struct relay_link *link) {
    struct relay_bound *bound = link->joins;
    if (!bound)
        return;
    link->joins = NULL;
    bound->joining--;
    bound->requests--;
    bound_release(bound);
    relay_accept(link->relay);
}

void relay_space_listens(struct relay *relay, const struct space_report *report) {
    int error = 0;
    bool may = relay_user_may(relay, report->uid, report->port);
    relay->refused[RELAY_REFUSED_PORT] += !may;
    struct relay_bound *bound = may ? bound_begin(relay, report->uid, &error) : NULL;
    if (bound) {
        bound->space = true;
        bound->six = report->six;
        bound->port = report->port;
        error = bound_listen(bound, report->backlog);
        if (error)
            bound_end(bound);
    }
    if (!may || error)
        fprintf(stderr, "sockets: user %u is not served on port %u: %s\n", report->uid, report->port,
                strerror(may ? error : EACCES));
}

void relay_space_listens_no_longer(struct relay *relay, uint16_t port) {
    struct relay_bound *bound = bound_on(relay, port);
    if (bound)
        bound_end(bound);
}

static void bound_accepted(void *user, enum carrick_status status, uint64_t handle) {
    struct relay_bound *bound = user;
    struct relay *relay = bound->relay;
    bound->requests--;
    bound->accepting = false;
    struct relay_link *link = status == CARRICK_OK && is_held(bound) ? bound_take(bound) : NULL;
    if (link && bound->space) {
        bound_join(bound, link, handle);
        relay_accept(relay);
        return;
    }
    int program = link && bound->fd >= 0 ? bound_link(bound, link) : -1;
    if (program >= 0) {
        relay_link_connected(link, handle, &bound->parked_ends);
        if (!bound_pass(bound, program, &bound->parked_ends))
            bound->parked = program;
    } else if (status == CARRICK_OK) {
        if (link)
            relay_link_fail(link, ENFILE);
        (void)relay_abort(relay, handle, NULL, NULL);
    }
    bound_release(bound);
    relay_accept(relay);
}

void relay_accept(struct relay *relay) {
    for (uint32_t i = 0; i < RELAY_BOUND; i++) {
        struct relay_bound *bound = &relay->bound[i];
        if (!bound->used || !bound->listening)
            continue;
        bound_keep(bound);
        if (bound->accepting || bound->parked >= 0 || bound->joining >= JOINING ||
            (bound->kept == 0 && relay_may_take(relay, RELAY_CONNECTIONS, bound->uid, 1)))
            continue;
        int refused = carrick_accept(bound_stack(bound), bound->listener, bound_accepted, bound);
        relay->stuck |= refused == CARRICK_AGAIN;
        bound->accepting = refused == 0;
        bound->requests += refused == 0;
    }
}

void relay_bound_event(struct relay_bound *bound, uint32_t events) {
    if (!bound->used || bound->fd < 0)
        return;
    if (events & (EPOLLHUP | EPOLLERR)) {
        bound_end(bound);
        return;
    }
    if (bound->parked >= 0 && bound_pass(bound, bound->parked, &bound->parked_ends))
        bound->parked = -1;
    relay_accept(bound->relay);
}
