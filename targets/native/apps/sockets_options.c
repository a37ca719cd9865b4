/* SPDX-License-Identifier: MIT */
/*
 * What a program asks of a socket and sets. Ids are names, which everybody can read: only a process that shows the
 * program's end has the socket, and nobody else learns even that there is something to learn.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "apps/sockets.h"

bool relay_shows(struct relay *relay, uint64_t cookie, int fd) {
    uint64_t shown = fd < 0 ? 0 : carrick_socket_cookie(fd);
    bool has = shown != 0 && shown == cookie;
    relay->refused[RELAY_REFUSED_OWNER] += !has;
    return has;
}

/* Whether a process shows the program's end of a connection, which is there or has ended. */
static bool shows_end(struct relay *relay, uint64_t id, int fd) {
    const struct relay_link *link = relay_link_find(relay, id);
    for (uint32_t i = 0; i < RELAY_ENDS && !link && id != 0; i++)
        if (relay->ends[i].id == id)
            return relay_shows(relay, relay->ends[i].cookie, fd);
    return link && relay_shows(relay, link->cookie, fd);
}

/* The error that ended a connection, for one who asks in this manner; 0: none did. */
static int end_of(struct relay *relay, uint64_t id, uint32_t manner) {
    for (uint32_t i = 0; i < RELAY_ENDS && id != 0; i++) {
        if (relay->ends[i].id != id)
            continue;
        int error = relay->ends[i].error;
        if (manner == CARRICK_WHY_READ && error == EPIPE)
            return 0;
        if (manner != CARRICK_WHY_LOOK)
            relay->ends[i].id = 0;
        return error;
    }
    return 0;
}

int relay_end_of(struct relay *relay, uint64_t id, int fd, uint32_t manner) {
    return shows_end(relay, id, fd) ? end_of(relay, id, manner) : 0;
}

struct carrick_socket_options relay_options(const struct carrick_socket_options *wanted) {
    struct carrick_socket_options options = *wanted;
    options.on &= CARRICK_OPTIONS;
    options.tos &= 0xff;
    return options;
}

/* Whether there is such an option. */
static bool is_option(uint32_t item) {
    return item & CARRICK_OPTIONS && (item & (item - 1)) == 0;
}

void relay_set(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    struct relay_link *link = relay_link_find(relay, ask->id);
    struct relay_bound *bound = link ? NULL : relay_bound_find(relay, ask->id);
    enum carrick_socket_option option = (enum carrick_socket_option)ask->item;
    /* An option of a connection that is over changes nothing. */
    struct carrick_answer answer = {.id = ask->id, .error = link || bound ? EACCES : 0};
    if (!is_option(ask->item)) {
        answer.error = EINVAL;
    } else if (link && relay_shows(relay, link->cookie, fd)) {
        carrick_socket_options_set(&link->options, option, ask->value);
        relay_link_apply(link, option);
        answer.error = 0;
    } else if (bound && relay_shows(relay, bound->cookie, fd)) {
        carrick_socket_options_set(&bound->options, option, ask->value);
        answer.error = 0;
    }
    relay_answer(relay, asker, &answer);
}

static void get_told(void *user, enum carrick_status status, uint64_t value) {
    struct relay_question *question = user;
    question->open = false;
    struct carrick_answer answer = {.error = status == CARRICK_OK ? 0 : ENOPROTOOPT, .id = value + question->more};
    relay_answer(question->relay, question->asker, &answer);
}

/* The program tells it. Returns an errno, 0 if it will. */
static int get_info(struct relay_link *link, uint32_t item, struct relay_question asked, carrick_done_fn told) {
    struct relay *relay = link->relay;
    struct relay_question *question = &relay->questions[asked.asker % RELAY_ASKERS];
    if (!link->connected || link->ending)
        return ENOTCONN;
    if (question->open) /* of one who was here before, and did not wait */
        return EAGAIN;
    *question = asked;
    question->relay = relay;
    question->link = link->id;
    carrick_stack_act_for(relay->stack, link->owner);
    int refused = carrick_info(relay->stack, link->handle, (enum carrick_info)item, told, question);
    question->open = refused == 0;
    return !refused ? 0 : refused == CARRICK_AGAIN ? EAGAIN : ENOPROTOOPT;
}

static void why_told(void *user, enum carrick_status status, uint64_t value);

/* Asks how a connection ended, which it may have done while it has no request open that would have failed. False: it is
 * not asked any more. */
static bool why_later(const struct relay_question *question, uint32_t again) {
    struct relay_link *link = relay_link_find(question->relay, question->link);
    struct relay_question asked = {.asker = question->asker, .manner = question->manner, .again = again - 1};
    return link && again > 0 && get_info(link, CARRICK_INFO_END, asked, why_told) == 0;
}

static void why_told(void *user, enum carrick_status status, uint64_t value) {
    (void)value;
    struct relay_question *question = user;
    struct relay *relay = question->relay;
    struct relay_link *link = relay_link_find(relay, question->link);
    question->open = false;
    if (link && status != CARRICK_OK && status != CARRICK_INVALID)
        relay_link_fail(link, relay_error(status));
    if (why_later(question, question->again))
        return;
    struct carrick_answer answer = {.id = question->link};
    answer.error = end_of(relay, question->link, question->manner);
    relay_answer(relay, question->asker, &answer);
}

void relay_why(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    /* Where its descriptor found no place here, nothing is told: that would be taken for an end without an error. */
    struct carrick_answer answer = {.id = ask->id, .error = fd < 0 ? ENOBUFS : 0};
    struct relay_question question = {.relay = relay, .asker = asker, .link = ask->id, .manner = ask->value};
    if (fd >= 0 && shows_end(relay, ask->id, fd)) {
        answer.error = end_of(relay, ask->id, ask->value);
        /* What has arrived at the device before it was asked shall count: by the second answer of the program the first
         * one's turn of the stack is over, in which it took that. */
        if (!answer.error && why_later(&question, 2))
            return;
    }
    relay_answer(relay, asker, &answer);
}

/* What the program wrote and the stack has not taken. */
static uint64_t waiting_here(const struct relay_link *link) {
    int unread = 0;
    if (link->fd < 0 || ioctl(link->fd, FIONREAD, &unread) != 0)
        unread = 0;
    return (uint64_t)unread + link->up_held - link->up_sent;
}

/* A value of a socket. Returns an errno, -1 if the program will tell it. */
static int get_value(struct relay_link *link, const struct relay_bound *bound, uint64_t asker, uint32_t item,
                     uint64_t *value) {
    const struct carrick_socket_options *options = link ? &link->options : &bound->options;
    if (link && (item == CARRICK_ITEM_SENT || item == CARRICK_ITEM_RECEIVED)) {
        uint64_t at = item == CARRICK_ITEM_SENT ? link->sent_at : link->received_at;
        *value = carrick_stack_now(link->relay->stack) - at;
        return link->connected ? 0 : ENOTCONN;
    }
    if (link && link->connected && item == CARRICK_ITEM_UNSENT) {
        *value = waiting_here(link);
        return 0;
    }
    if (item >= CARRICK_ITEM_INFO) {
        bool queued = link && item == CARRICK_ITEM_QUEUED;
        uint32_t info = queued ? CARRICK_INFO_IN_FLIGHT : item - CARRICK_ITEM_INFO;
        struct relay_question asked = {.asker = asker, .more = queued ? waiting_here(link) : 0};
        int error = link ? get_info(link, info, asked, get_told) : ENOTCONN;
        return error ? error : -1;
    }
    if (!is_option(item) || (item == CARRICK_OPTION_LINGER && !(options->on & item)))
        return ENOPROTOOPT;
    *value = carrick_socket_options_get(options, (enum carrick_socket_option)item);
    return 0;
}

/* Of a datagram socket. */
static void get_ends(const struct relay_mailbox *mailbox, struct carrick_answer *answer) {
    bool has_peer = mailbox->peer_port != 0;
    answer->error = 0;
    answer->local_address = has_peer ? carrick_stack_address(mailbox->relay->stack) : mailbox->address;
    answer->local_port = mailbox->port;
    answer->remote_address = mailbox->peer_address;
    answer->remote_port = mailbox->peer_port;
}

void relay_get(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    struct relay_link *link = relay_link_find(relay, ask->id);
    const struct relay_bound *bound = link ? NULL : relay_bound_find(relay, ask->id);
    /* A connection that is over has no options set. */
    struct carrick_answer answer = {.error = link || bound || !is_option(ask->item) ? EINVAL : 0};
    bool shows = (link && relay_shows(relay, link->cookie, fd)) || (bound && relay_shows(relay, bound->cookie, fd));
    struct relay_mailbox *mailbox = link || bound ? NULL : relay_mailbox_find(relay, ask->id);
    if (mailbox && ask->item == CARRICK_ITEM_PEER && relay_shows(relay, mailbox->cookie, fd)) {
        get_ends(mailbox, &answer);
    } else if (shows && link && ask->item == CARRICK_ITEM_LOCAL) {
        answer.error = link->connecting ? 0 : ENOTCONN;
        answer.local_address = carrick_stack_address(relay->stack);
        answer.local_port = link->connecting ? carrick_connect_port(relay->stack, link->connect) : 0;
    } else if (shows)
        answer.error = get_value(link, bound, asker, ask->item, &answer.id);
    if (answer.error >= 0)
        relay_answer(relay, asker, &answer);
}

void relay_linger(struct relay *relay, uint64_t asker, uint64_t id, int fd) {
    struct relay_link *link = relay_link_find(relay, id);
    struct carrick_answer answer = {.error = link && relay_shows(relay, link->cookie, fd) ? 0 : EINVAL};
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
