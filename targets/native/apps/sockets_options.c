/* SPDX-License-Identifier: MIT */
/*
 * What a program asks of a socket and sets. Ids are names, which everybody can read: only a process that shows the
 * program's end has the socket, and nobody else learns even that there is something to learn.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>

#include "apps/sockets.h"

static bool shows(struct relay *relay, uint64_t cookie, int fd) {
    uint64_t shown = fd < 0 ? 0 : carrick_socket_cookie(fd);
    bool has = shown != 0 && shown == cookie;
    relay->refused[RELAY_REFUSED_OWNER] += !has;
    return has;
}

void relay_why(struct relay *relay, uint64_t asker, uint64_t id, int fd) {
    /* Where its descriptor found no place here, nothing is told: that would be taken for an end without an error. */
    struct carrick_answer answer = {.id = id, .error = fd < 0 ? ENOBUFS : 0};
    for (uint32_t i = 0; i < RELAY_ENDS && id != 0; i++) {
        if (relay->ends[i].id != id || !shows(relay, relay->ends[i].cookie, fd))
            continue;
        answer.error = relay->ends[i].error;
        relay->ends[i].id = 0;
    }
    relay_answer(relay, asker, &answer);
}

static void bound_set(struct relay_bound *bound, uint32_t options, uint32_t value) {
    bound->options = value || options == CARRICK_OPTION_TOS ? bound->options | options : bound->options & ~options;
    if (options & CARRICK_OPTION_TOS)
        bound->tos = (uint8_t)value;
    if (options & CARRICK_OPTION_PATIENCE)
        bound->patience = value;
    if (options & CARRICK_OPTION_LINGER)
        bound->linger = (int32_t)value;
}

void relay_set(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    struct relay_link *link = relay_link_find(relay, ask->id);
    struct relay_bound *bound = link ? NULL : relay_bound_find(relay, ask->id);
    /* An option of a connection that is over changes nothing. */
    struct carrick_answer answer = {.id = ask->id, .error = link || bound ? EACCES : 0};
    if ((link && shows(relay, link->cookie, fd)) || (bound && shows(relay, bound->cookie, fd))) {
        answer.error = 0;
        if (link)
            relay_link_set(link, ask->options, ask->value);
        else
            bound_set(bound, ask->options, ask->value);
    }
    relay_answer(relay, asker, &answer);
}

static void get_told(void *user, enum carrick_status status, uint64_t value) {
    struct relay_question *question = user;
    question->open = false;
    struct carrick_answer answer = {.error = status == CARRICK_OK ? 0 : ENOPROTOOPT, .id = value};
    relay_answer(question->relay, question->asker, &answer);
}

/* The program tells it. Returns an errno, 0 if it will. */
static int get_info(struct relay_link *link, uint64_t asker, uint32_t item) {
    struct relay *relay = link->relay;
    struct relay_question *question = &relay->questions[asker % RELAY_ASKERS];
    if (!link->connected || link->ending)
        return ENOTCONN;
    if (question->open) /* of one who was here before, and did not wait */
        return EAGAIN;
    *question = (struct relay_question){.relay = relay, .asker = asker};
    carrick_stack_act_for(relay->stack, link->owner);
    int refused = carrick_info(relay->stack, link->handle, (enum carrick_info)item, get_told, question);
    question->open = refused == 0;
    return !refused ? 0 : refused == CARRICK_AGAIN ? EAGAIN : ENOPROTOOPT;
}

/* What the relay keeps of a socket. False: that is not for it to say. */
static bool kept(const struct relay_link *link, const struct relay_bound *bound, uint32_t item, uint64_t *value) {
    int32_t linger = link ? link->linger : bound->linger;
    uint32_t options = link ? link->options : bound->options, tos = link ? link->tos : bound->tos;
    if (item == CARRICK_VALUE_OPTIONS)
        *value = options | tos << 8;
    else if (item == CARRICK_VALUE_PATIENCE)
        *value = link ? link->patience : bound->patience;
    else if (item == CARRICK_VALUE_LINGER && linger)
        *value = (uint32_t)linger;
    else
        return false;
    return true;
}

void relay_get(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    struct relay_link *link = relay_link_find(relay, ask->id);
    const struct relay_bound *bound = link ? NULL : relay_bound_find(relay, ask->id);
    /* A connection that is over has no options set. */
    struct carrick_answer answer = {.error = link || bound || ask->value != CARRICK_VALUE_OPTIONS ? EINVAL : 0};
    if (((link && shows(relay, link->cookie, fd)) || (bound && shows(relay, bound->cookie, fd)))) {
        bool has = kept(link, bound, ask->value, &answer.id);
        answer.error = has                               ? 0
                       : !link                           ? ENOTCONN
                       : ask->value < CARRICK_VALUE_INFO ? ENOPROTOOPT
                                                         : get_info(link, asker, ask->value - CARRICK_VALUE_INFO);
        if (!has && !answer.error)
            return; /* the answer comes when the program tells */
    }
    relay_answer(relay, asker, &answer);
}

void relay_linger(struct relay *relay, uint64_t asker, uint64_t id, int fd) {
    struct relay_link *link = relay_link_find(relay, id);
    struct carrick_answer answer = {.error = link && shows(relay, link->cookie, fd) ? 0 : EINVAL};
    if (!answer.error)
        link->closer = asker;
    relay_answer(relay, asker, &answer);
}

void relay_closed(struct relay *relay, uint64_t asker, uint64_t id) {
    struct relay_link *link = relay_link_find(relay, id);
    bool waits = link && link->closer == asker;
    struct pollfd look = {.fd = waits ? link->fd : -1};
    if (waits && (link->ending || (poll(&look, 1, 0) == 1 && look.revents & POLLHUP)))
        return; /* the answer comes when the connection has ended */
    if (waits)
        link->closer = RELAY_NOBODY;
    relay_answer(relay, asker, &(struct carrick_answer){.error = 0});
}
