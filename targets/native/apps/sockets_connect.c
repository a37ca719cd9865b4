/* SPDX-License-Identifier: MIT */
/* Connections that programs open through the relay, until they are established. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/sockets.h"
#include "carrick/ipv6.h"

int relay_pair(int type, const struct carrick_socket_name *name, int *ours) {
    int ends[2];
    struct sockaddr_un address;
    socklen_t len = carrick_socket_name_make(name, &address);
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    if (bind(ends[1], (const struct sockaddr *)&address, len) != 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    *ours = ends[0];
    return ends[1];
}

bool relay_fill(int program, uint32_t *octets) {
    static const char nothing[65536];
    struct pollfd look = {.fd = program, .events = POLLOUT};
    *octets = 0;
    while (poll(&look, 1, 0) == 1 && look.revents == POLLOUT) {
        ssize_t put = send(program, nothing, sizeof nothing, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put <= 0)
            return false;
        *octets += (uint32_t)put;
    }
    return true;
}

static void relay_connected(void *user, enum carrick_status status, uint64_t handle) {
    struct relay_link *link = user;
    struct carrick_answer answer = {.error = relay_error(status), .id = link->id};
    struct relay *relay = link->relay;
    uint64_t asker = link->asker;
    link->requests--;
    link->connecting = false;
    link->asker = RELAY_NOBODY;
    if (status == CARRICK_OK)
        relay_link_connected(link, handle, &answer);
    else
        relay_link_fail(link, answer.error);
    bool told = relay_answer(relay, asker, &answer);
    if (status == CARRICK_OK && told && link->used && link->id == answer.id)
        link->told = link->awaited;
}

void relay_connect_again(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    uint64_t id = ask->id;
    struct relay_link *link = relay_link_find(relay, id);
    struct carrick_answer answer = {.id = id};
    if (!link || link->ending) {
        answer.error = relay_end_of(relay, id, fd, CARRICK_WHY_TAKE);
        answer.error = answer.error ? answer.error : ECONNABORTED;
    } else if (!relay_shows(relay, link->cookie, fd)) {
        answer.error = EACCES;
    } else if (link->connected) {
        answer.error = link->told ? EISCONN : 0;
        link->told = true;
    } else {
        answer.error = EALREADY;
        answer.id = relay_waits(relay, link->asker) ? 0 : id;
    }
    bool waits = answer.error == EALREADY && answer.id == id;
    if (!relay_answer(relay, asker, &answer) || !waits)
        return;
    link->asker = asker;
    link->awaited = ask->value == 0;
}

static void connect_cancelled(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* the request that connects has ended, or just ends by itself */
    struct relay_link *link = user;
    link->requests--;
    relay_link_release(link);
}

void relay_connect_cancel(struct relay_link *link) {
    struct relay *relay = link->relay;
    if (!link->connecting || link->cancelled)
        return;
    carrick_stack_act_for(relay->stack, link->owner);
    int refused = carrick_cancel_connect(relay->stack, link->connect, connect_cancelled, link);
    relay->stuck |= refused == CARRICK_AGAIN;
    link->cancelled = refused != CARRICK_AGAIN; /* without such a call it ends when it is connected */
    link->requests += refused == 0;
}

int relay_connect_begin(struct relay_link *link, uint16_t local_port, struct carrick_ip6_address address, uint16_t port,
                        carrick_done_fn done) {
    struct relay *relay = link->relay;
    /* `::` is a stack's own unspecified address, also over IPv4. */
    struct carrick_ip6_address to =
        carrick_stack_speaks_to(relay->stack, address) ? address : carrick_address_of_ipv4((uint32_t)address.low);
    carrick_stack_act_for(relay->stack, link->owner);
    int refused = link->packets ? carrick_open(relay->stack, local_port, to, port, done, link)
                                : carrick_connect(relay->stack, local_port, to, port, done, link);
    link->connecting = refused == 0;
    link->connect = carrick_last_request(relay->stack);
    link->requests += refused == 0;
    return !refused ? 0 : refused == CARRICK_BAD_ARG ? EOPNOTSUPP : ENOBUFS;
}

bool relay_is_group(struct carrick_ip6_address address) {
    return carrick_address_is_ipv4(address) ? (address.low >> 28 & 15) >= 14 : address.high >> 56 == 0xff;
}

/* The place of the connection, and the program's end of it. NULL: `answer` says why. */
static struct relay_link *connect_open(struct relay *relay, uint64_t asker, const struct carrick_ask *ask,
                                       const struct relay_bound *bound, int *program, struct carrick_answer *answer) {
    uint32_t uid = relay_uid(relay, asker);
    if (!relay_speaks(relay, ask)) {
        answer->error = CARRICK_NOT_OURS;
        return NULL;
    }
    if (bound && bound->listening)
        answer->error = EISCONN;
    else if (relay_is_group(ask->address))
        answer->error = ENETUNREACH;
    else if (ask->port == 0) /* which nobody can serve */
        answer->error = ECONNREFUSED;
    else if (carrick_ip6_same(ask->address, carrick_stack_address(relay->stack))) /* nothing leads back to a stack */
        answer->error = relay_listens(relay, ask->port) ? ENETUNREACH : ECONNREFUSED;
    if (answer->error)
        return NULL;
    if (!relay_may(relay, asker, ask->local_port) && !relay_has(relay, asker, ask->local_port)) {
        relay->refused[RELAY_REFUSED_PORT]++;
        answer->error = EACCES;
        return NULL;
    }
    uint16_t local_port = ask->local_port;
    if (local_port == 0 && relay_type(ask) == SOCK_SEQPACKET)
        local_port = relay_free_port(relay);
    struct relay_link *link = relay_link_begin(relay, uid, &answer->error);
    if (!link)
        return NULL;
    link->six = ask->six != 0;
    link->only6 = ask->only6 != 0;
    link->packets = relay_type(ask) == SOCK_SEQPACKET;
    link->awaited = ask->value == 0;
    link->options = relay_options(bound ? &bound->options : &ask->options);
    link->owner = relay_owner(relay, uid);
    answer->id = link->id;
    *program = relay_link_open(link);
    if (*program < 0 || !relay_fill(*program, &link->padding))
        answer->error = ENOBUFS;
    else
        answer->error = relay_connect_begin(link, local_port, ask->address, ask->port, relay_connected);
    return link;
}

void relay_connect(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    const struct relay_bound *bound = ask->id ? relay_bound_find(relay, ask->id) : NULL;
    bound = bound && relay_shows(relay, bound->cookie, fd) ? bound : NULL;
    struct carrick_answer answer = {.error = 0};
    int program = -1;
    struct relay_link *link = connect_open(relay, asker, ask, bound, &program, &answer);
    /* A program that is gone has its end closed: that ends the connection, as ever. */
    relay_answer_with(relay, asker, &answer, answer.error ? -1 : program);
    if (program >= 0)
        close(program);
    if (link && answer.error)
        relay_link_fail(link, answer.error);
    else if (link)
        link->asker = asker;
}
