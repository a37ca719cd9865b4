/* SPDX-License-Identifier: MIT */
/* Connections of programs in a namespace: from a program's SYN, or a far host's, until bytes flow. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/sockets.h"
#include "carrick/ipv6.h"

#define SYNS_AT_ONCE 64u
#define CHOSEN_FROM  32768u /* ports from here on are those that the kernel chooses (ip_local_port_range) */

static uint32_t *flow_head(const struct relay *relay, const struct space_flow *flow) {
    uint64_t mixed = flow->far.high ^ flow->far.low ^ (uint64_t)flow->far_port << 48 ^
                     (uint64_t)flow->program_port << 32 ^ flow->program.low << 16;
    mixed *= UINT64_C(0x9e3779b97f4a7c15);
    return &relay->flows[mixed >> (64 - relay->flow_bits)];
}

static bool same_flow(const struct space_flow *a, const struct space_flow *b) {
    return carrick_ip6_same(a->far, b->far) && carrick_ip6_same(a->program, b->program) && a->far_port == b->far_port &&
           a->program_port == b->program_port;
}

static struct relay_link *flow_find(const struct relay *relay, const struct space_flow *flow) {
    for (uint32_t at = *flow_head(relay, flow); at != RELAY_LINKS; at = relay->links[at].flow_next)
        if (same_flow(&relay->links[at].syn.flow, flow))
            return &relay->links[at];
    return NULL;
}

void relay_flow_end(struct relay_link *link) {
    struct relay *relay = link->relay;
    uint32_t place = (uint32_t)(link - relay->links), *at = flow_head(relay, &link->syn.flow);
    while (*at != place && *at != RELAY_LINKS)
        at = &relay->links[*at].flow_next;
    if (*at == place)
        *at = link->flow_next;
}

/* Orders its end from the keeper, which may be busy. */
static void order_end(struct relay_link *link) {
    struct space_order order = {.id = link->id, .address = link->syn.flow.far, .port = link->syn.flow.far_port};
    link->ordered = send(link->relay->space.keeper, &order, sizeof order, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof order;
    link->relay->unordered |= !link->ordered;
}

static void flow_begin(struct relay_link *link, const struct space_syn *syn) {
    uint32_t *head = flow_head(link->relay, &syn->flow);
    link->space = true;
    link->syn = *syn;
    /* Small writes have waited for each other on their way here, if they were to. */
    carrick_socket_options_set(&link->options, CARRICK_OPTION_NODELAY, 1);
    link->flow_next = *head;
    *head = (uint32_t)(link - link->relay->links);
    order_end(link);
}

/* Both are there: the far host's side, which the stack has, and the end that the keeper made. */
static void flow_join(struct relay_link *link) {
    const struct space_flow *flow = &link->syn.flow;
    struct sockaddr_storage to;
    if (!link->there || link->fd < 0 || link->joining)
        return;
    link->joining = true;
    socklen_t len = carrick_socket_address(flow->program, flow->program_port, &to);
    if ((connect(link->fd, (const struct sockaddr *)&to, len) == 0 || errno == EINPROGRESS) &&
        relay_watch(link->relay, link->fd, RELAY_LINK, (uint32_t)(link - link->relay->links)))
        return;
    if (!link->joins)
        space_refuse(&link->relay->space, &link->syn, EHOSTUNREACH);
    relay_link_fail(link, ECONNABORTED);
}

void relay_flow_event(struct relay_link *link, uint32_t events) {
    int error = 0;
    socklen_t len = sizeof error;
    if (!link->joining || !(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
        return;
    /* The program is gone, or has no more listening socket. */
    if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error) {
        relay_link_fail(link, error);
        return;
    }
    link->joining = false;
    relay_link_begins(link);
}

static void flow_connected(void *user, enum carrick_status status, uint64_t handle) {
    struct relay_link *link = user;
    link->requests--;
    link->connecting = false;
    if (status == CARRICK_OK) {
        link->handle = handle;
        link->there = true;
        if (link->hung_up)
            relay_link_fail(link, ECONNABORTED);
        else
            flow_join(link);
    } else {
        if (!link->hung_up)
            space_refuse(&link->relay->space, &link->syn, relay_error(status));
        relay_link_fail(link, relay_error(status));
    }
    relay_link_release(link);
}

/* Why a program may not connect there; 0: it may. */
static int forbidden(const struct relay *relay, const struct space_flow *flow, uint32_t uid) {
    struct carrick_ask ask = {.address = flow->far, .port = flow->far_port};
    if (!relay_speaks(relay, &ask))
        return ENETUNREACH;
    if (flow->far_port == 0) /* which nobody can serve */
        return ECONNREFUSED;
    return flow->program_port >= CHOSEN_FROM || relay_user_may(relay, uid, flow->program_port) ? 0 : EACCES;
}

static void flow_open(struct relay *relay, const struct space_syn *syn) {
    uint32_t uid = 0;
    int error;
    if (flow_find(relay, &syn->flow) || !space_whose(&relay->space, &syn->flow, &uid))
        return; /* it is sent again while the far host has not answered; or its program has given up */
    error = forbidden(relay, &syn->flow, uid);
    relay->refused[RELAY_REFUSED_PORT] += error == EACCES;
    if (error) {
        space_refuse(&relay->space, syn, error);
        return;
    }
    /* Where there is no place, the kernel sends it again for as long as its program waits. */
    struct relay_link *link = relay_link_begin(relay, uid, &error);
    if (!link)
        return;
    flow_begin(link, syn);
    link->six = !carrick_address_is_ipv4(syn->flow.far);
    link->owner = relay_owner(relay, uid);
    error = relay_connect_begin(link, syn->flow.program_port, syn->flow.far, syn->flow.far_port, flow_connected);
    if (error) {
        if (error != ENOBUFS)
            space_refuse(&relay->space, syn, error);
        relay_link_fail(link, error);
    }
}

static void tap_event(struct relay *relay) {
    uint8_t packet[SPACE_PACKET];
    for (uint32_t i = 0; i < SYNS_AT_ONCE; i++) {
        struct space_syn syn;
        ssize_t got = recv(relay->space.tap, packet, sizeof packet, MSG_DONTWAIT);
        if (got < 0)
            return;
        if (space_read_syn(packet, (size_t)got, &syn))
            flow_open(relay, &syn);
    }
}

/* A program's end is no more. What it wrote has all arrived here before: also of one that has accepted, written and
 * closed before it was seen here that both ends are joined. */
static void flow_gone(struct relay_link *link) {
    struct pollfd joined = {.fd = link->fd, .events = POLLOUT};
    if (link->joining && poll(&joined, 1, 0) == 1)
        relay_flow_event(link, EPOLLOUT);
    if (!link->used || link->ending)
        return;
    link->hung_up = link->readable = true;
    if (link->there && !link->connected)
        relay_link_fail(link, ECONNABORTED);
    else
        relay_link_resume(link);
}

/* The system gives no end for it. */
static void flow_without_end(struct relay_link *link, int error) {
    if (link->there) {
        relay_link_fail(link, error);
        return;
    }
    space_refuse(&link->relay->space, &link->syn, EHOSTUNREACH);
    link->hung_up = true;
    relay_connect_cancel(link);
}

static void gone_event(struct relay *relay) {
    struct space_flow flow;
    uint32_t uid;
    bool lost = false;
    while (space_next_gone(&relay->space, &flow, &lost)) {
        struct relay_link *link = flow_find(relay, &flow);
        if (link)
            flow_gone(link);
    }
    for (uint32_t i = 0; i < relay->used && lost; i++) {
        struct relay_link *link = &relay->links[i];
        if (link->used && link->space && !link->hung_up && !space_whose(&relay->space, &link->syn.flow, &uid))
            flow_gone(link);
    }
}

void relay_flow_accepted(struct relay_link *link, uint64_t handle) {
    struct carrick_ends ends = {0};
    (void)carrick_connection_ends(link->relay->stack, handle, &ends);
    struct space_syn syn = {.flow = {.program = ends.local_address,
                                     .far = ends.remote_address,
                                     .program_port = ends.local_port,
                                     .far_port = ends.remote_port}};
    link->handle = handle;
    link->there = link->accepted = true;
    flow_begin(link, &syn);
}

static void keeper_says(struct relay *relay, const struct space_report *report, int fd) {
    struct relay_link *link = report->kind == SPACE_SOCKET ? relay_link_find(relay, report->id) : NULL;
    if (report->kind == SPACE_LISTENS) {
        relay_space_listens(relay, report);
    } else if (report->kind == SPACE_NO_LONGER) {
        relay_space_listens_no_longer(relay, report->port);
    } else if (report->kind == SPACE_REMOVED) { /* the keeper has said it */
        relay->space.removed = true;
        carrick_stack_stop(relay->stack, CARRICK_EXIT_MISSING);
    } else if (link && !link->ending && fd >= 0) {
        link->fd = fd;
        flow_join(link);
        return;
    } else if (link && !link->ending) {
        flow_without_end(link, report->error);
    }
    if (fd >= 0)
        close(fd);
}

static void keeper_event(struct relay *relay) {
    struct space_report report;
    ssize_t got;
    int fd;
    while ((got = carrick_socket_take(recvmsg, relay->space.keeper, &report, sizeof report, &fd, MSG_DONTWAIT)) ==
           sizeof report)
        keeper_says(relay, &report, fd);
    if (got == 0 && !relay->space.removed) {
        fprintf(stderr, "sockets: the process that keeps what is served has ended; the stack ends, too\n");
        carrick_stack_stop(relay->stack, CARRICK_EXIT_FAILED);
    }
    bool unordered = relay->unordered;
    relay->unordered = false;
    for (uint32_t i = 0; i < relay->used && unordered; i++) {
        struct relay_link *link = &relay->links[i];
        if (link->used && link->space && !link->ending && !link->ordered)
            order_end(link);
    }
}

void relay_space_event(struct relay *relay, uint32_t place) {
    if (place == SPACE_EVENT_TAP)
        tap_event(relay);
    else if (place == SPACE_EVENT_GONE)
        gone_event(relay);
    else
        keeper_event(relay);
}

bool relay_space_open(struct relay *relay, struct carrick_port_error *error) {
    while (1u << relay->flow_bits < relay->places)
        relay->flow_bits++;
    relay->flow_bits += relay->flow_bits == 0;
    relay->flows = calloc((size_t)1 << relay->flow_bits, sizeof *relay->flows);
    if (!relay->flows) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for %u connections.", relay->places);
        return false;
    }
    for (uint32_t i = 0; i < 1u << relay->flow_bits; i++)
        relay->flows[i] = RELAY_LINKS;
    if (!carrick_space_open(&relay->space, relay->space_kind, relay->space_name, carrick_stack_address(relay->stack),
                            error))
        return false;
    if (relay_watch(relay, relay->space.tap, RELAY_SPACE, SPACE_EVENT_TAP) &&
        relay_watch(relay, relay->space.gone, RELAY_SPACE, SPACE_EVENT_GONE) &&
        relay_watch(relay, relay->space.keeper, RELAY_SPACE, SPACE_EVENT_KEEPER))
        return true;
    snprintf(error->text, sizeof error->text, "Cannot watch `%.60s`: %s.", relay->space_name, strerror(errno));
    return false;
}
