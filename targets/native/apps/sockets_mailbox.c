/* SPDX-License-Identifier: MIT */
/*
 * Datagram sockets of the relay: their ports, their peers, and who may send to them. One without a peer listens, so
 * that a message of any host begins a conversation, which the relay accepts. One with a peer has only that one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/sockets.h"
#include "carrick/ipv6.h"

#define BACKLOG 64u /* conversations that are not accepted yet */

struct relay_mailbox *relay_mailbox_find(struct relay *relay, uint64_t id) {
    uint32_t place = relay_place(id);
    struct relay_mailbox *mailbox = relay->mailboxes && place < RELAY_MAILBOXES ? &relay->mailboxes[place] : NULL;
    return mailbox && mailbox->used && mailbox->id == id && mailbox->fd >= 0 ? mailbox : NULL;
}

/* The stack, for what is asked on the socket. */
static struct carrick_stack *mailbox_stack(const struct relay_mailbox *mailbox) {
    carrick_stack_act_for(mailbox->relay->stack, relay_owner(mailbox->relay, mailbox->uid));
    return mailbox->relay->stack;
}

/* Whether a later one of its port does that. */
static bool gives_way(const struct relay_mailbox *mailbox) {
    const struct relay *relay = mailbox->relay;
    for (uint32_t i = 0; i < relay->mailboxes_used && mailbox->shares; i++) {
        const struct relay_mailbox *other = &relay->mailboxes[i];
        if (other->used && other->fd >= 0 && other->port == mailbox->port && other->peer_port == 0 &&
            other->serial > mailbox->serial)
            return true;
    }
    return false;
}

static bool takes_any_host(const struct relay_mailbox *mailbox) {
    return mailbox->fd >= 0 && !gives_way(mailbox) && mailbox->peer_port == 0 && !mailbox->deaf &&
           carrick_stack_has(mailbox->relay->stack, "listen");
}

static struct relay_mailbox *mailbox_begin(struct relay *relay, uint32_t uid, int *error) {
    *error = relay_take(relay, RELAY_DATAGRAMS, uid, 1);
    for (uint32_t i = 0; i < RELAY_MAILBOXES && !*error; i++) {
        struct relay_mailbox *mailbox = &relay->mailboxes[i];
        if (mailbox->used)
            continue;
        *mailbox = (struct relay_mailbox){.relay = relay,
                                          .uid = uid,
                                          .used = true,
                                          .fd = -1,
                                          .program = -1,
                                          .first = RELAY_LINKS,
                                          .id = relay_id(i),
                                          .serial = ++relay->next_serial};
        relay->mailboxes_used = i < relay->mailboxes_used ? relay->mailboxes_used : i + 1;
        return mailbox;
    }
    return NULL;
}

void relay_mailbox_release(struct relay_mailbox *mailbox) {
    if (!mailbox->used || mailbox->fd >= 0 || mailbox->requests > 0 || mailbox->count > 0 || mailbox->listening)
        return;
    mailbox->used = false;
    relay_give(mailbox->relay, RELAY_DATAGRAMS, mailbox->uid, 1);
}

/* Makes its pair. False: the system gives none. */
static bool mailbox_open(struct relay_mailbox *mailbox) {
    struct relay *relay = mailbox->relay;
    struct carrick_socket_name name = {.kind = CARRICK_SOCKET_LETTERS,
                                       .id = mailbox->id,
                                       .six = mailbox->six,
                                       .only6 = mailbox->only6,
                                       .local_address = mailbox->address,
                                       .local_port = mailbox->port,
                                       .remote_address = carrick_stack_address(relay->stack),
                                       .remote_port = (uint16_t)relay_longest(relay)};
    mailbox->program = relay_pair(SOCK_SEQPACKET, &name, &mailbox->fd);
    if (mailbox->program < 0)
        return false;
    mailbox->cookie = carrick_socket_cookie(mailbox->program);
    mailbox->writable = true;
    return relay_watch(relay, mailbox->fd, RELAY_MAILBOX, (uint32_t)(mailbox - relay->mailboxes));
}

/* Answers who waits for it, with the program's end if it has that not yet. One that is not there then closes it. */
static void mailbox_answer(struct relay_mailbox *mailbox, int error) {
    struct carrick_answer answer = {
        .error = error, .id = mailbox->id, .local_address = mailbox->address, .local_port = mailbox->port};
    uint64_t asker = mailbox->asker;
    int program = mailbox->program;
    mailbox->asker = RELAY_NOBODY;
    mailbox->program = -1;
    relay_answer_with(mailbox->relay, asker, &answer, error ? -1 : program);
    if (program >= 0)
        close(program);
}

static void mailbox_accepted(void *user, enum carrick_status status, uint64_t handle) {
    struct relay_mailbox *mailbox = user;
    mailbox->requests--;
    mailbox->accepting = false;
    if (status == CARRICK_OK && takes_any_host(mailbox))
        relay_conversation_accepted(mailbox, handle);
    else if (status == CARRICK_OK)
        (void)carrick_close(mailbox_stack(mailbox), handle, NULL, NULL);
    relay_mailbox_resume(mailbox);
}

static void mailbox_accept(struct relay_mailbox *mailbox) {
    struct relay *relay = mailbox->relay;
    if (!mailbox->listening || mailbox->turning || mailbox->accepting || !takes_any_host(mailbox))
        return;
    if (relay_may_take(relay, RELAY_CONNECTIONS, mailbox->uid, 1) != 0) {
        (void)relay_conversation_evict(mailbox); /* it goes on when that one's place is free */
        return;
    }
    int refused = carrick_accept(mailbox_stack(mailbox), mailbox->listener, mailbox_accepted, mailbox);
    relay->stuck |= refused == CARRICK_AGAIN;
    mailbox->accepting = refused == 0;
    mailbox->requests += refused == 0;
}

/* Whether another one of its port has not given up yet to listen there. */
static bool is_early(const struct relay_mailbox *mailbox) {
    const struct relay *relay = mailbox->relay;
    for (uint32_t i = 0; i < relay->mailboxes_used; i++) {
        const struct relay_mailbox *other = &relay->mailboxes[i];
        if (other != mailbox && other->used && other->port == mailbox->port && (other->listening || other->turning))
            return true;
    }
    return false;
}

static void mailbox_listening(void *user, enum carrick_status status, uint64_t listener) {
    struct relay_mailbox *mailbox = user;
    mailbox->requests--;
    mailbox->turning = false;
    mailbox->listening = status == CARRICK_OK;
    mailbox->listener = listener;
    bool again = status == CARRICK_IN_USE && is_early(mailbox);
    mailbox->deaf = status != CARRICK_OK && !again;
    if (again) {
        relay_again(mailbox->relay);
        return;
    }
    if (status != CARRICK_OK && mailbox->asker != RELAY_NOBODY && mailbox->peer_port == 0)
        mailbox_answer(mailbox, relay_error(status));
    relay_mailbox_resume(mailbox);
}

static void mailbox_unlistened(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* it is over in any case */
    struct relay_mailbox *mailbox = user;
    mailbox->requests--;
    mailbox->turning = mailbox->listening = false;
    relay_mailbox_resume(mailbox);
}

static void mailbox_turn_one(struct relay_mailbox *mailbox) {
    bool wanted = takes_any_host(mailbox), waits = mailbox->asker != RELAY_NOBODY && mailbox->peer_port == 0;
    if (mailbox->turning)
        return;
    if (wanted == mailbox->listening && waits)
        mailbox_answer(mailbox, 0);
    if (wanted == mailbox->listening)
        return;
    struct carrick_stack *stack = mailbox_stack(mailbox);
    int refused = wanted ? carrick_listen(stack, mailbox->port, BACKLOG, mailbox_listening, mailbox)
                         : carrick_unlisten(stack, mailbox->listener, mailbox_unlistened, mailbox);
    mailbox->relay->stuck |= refused == CARRICK_AGAIN;
    mailbox->turning = refused == 0;
    mailbox->requests += refused == 0;
    mailbox->listening &= refused == CARRICK_AGAIN || refused == 0;
}

/* Begins or ends to listen, and answers who waits for that: first those of its port that end. */
static void mailbox_turn(struct relay_mailbox *mailbox) {
    struct relay *relay = mailbox->relay;
    for (int begins = 0; begins < 2; begins++)
        for (uint32_t i = 0; i < relay->mailboxes_used && mailbox->shares; i++)
            if (relay->mailboxes[i].used && relay->mailboxes[i].port == mailbox->port &&
                takes_any_host(&relay->mailboxes[i]) == (begins == 1))
                mailbox_turn_one(&relay->mailboxes[i]);
    mailbox_turn_one(mailbox);
}

/* A new one at this port, or an answer that says why there is none. */
static struct relay_mailbox *mailbox_make(struct relay *relay, uint64_t asker, const struct carrick_ask *ask,
                                          struct carrick_ip6_address address, uint16_t port,
                                          struct carrick_answer *answer) {
    struct relay_mailbox *mailbox = mailbox_begin(relay, relay_uid(relay, asker), &answer->error);
    if (!mailbox)
        return NULL;
    mailbox->address = address;
    mailbox->port = port;
    mailbox->six = ask->six != 0;
    mailbox->only6 = ask->only6 != 0;
    mailbox->shares = ask->kind == CARRICK_ASK_BIND && ask->value == 1;
    mailbox->asker = asker;
    if (mailbox_open(mailbox))
        return mailbox;
    if (mailbox->program >= 0)
        close(mailbox->program);
    if (mailbox->fd >= 0)
        close(mailbox->fd);
    mailbox->fd = -1;
    relay_mailbox_release(mailbox);
    answer->error = ENOBUFS;
    return NULL;
}

/* The address to which a socket of this family is bound that has not said one. */
static struct carrick_ip6_address any_address(const struct carrick_ask *ask) {
    return ask->six ? (struct carrick_ip6_address){0} : carrick_address_of_ipv4(0);
}

static bool is_port(const struct relay *relay, uint16_t port) {
    return port >= relay->limits[CARRICK_LIMIT_FIRST_PORT] && port <= relay->limits[CARRICK_LIMIT_LAST_PORT];
}

void relay_mailbox_bind(struct relay *relay, uint64_t asker, const struct carrick_ask *ask) {
    struct carrick_ip6_address own = carrick_stack_address(relay->stack);
    struct carrick_answer answer = {.local_address = ask->address};
    uint16_t port = ask->port ? ask->port : relay_free_port(relay);
    if (!relay_speaks(relay, ask) || (!carrick_address_is_any(ask->address) && !carrick_ip6_same(ask->address, own)))
        answer.error = CARRICK_NOT_OURS;
    else if (!relay_may(relay, asker, ask->port))
        answer.error = EACCES;
    else if (port && !is_port(relay, port))
        answer.error = EADDRNOTAVAIL;
    else if (port == 0 || relay_port_in_use(relay, port, ask->value == 1))
        answer.error = EADDRINUSE;
    relay->refused[RELAY_REFUSED_PORT] += answer.error == EACCES;
    struct relay_mailbox *mailbox = answer.error ? NULL : mailbox_make(relay, asker, ask, ask->address, port, &answer);
    if (mailbox)
        mailbox_turn(mailbox);
    else
        relay_answer(relay, asker, &answer);
}

void relay_mailbox_send(struct relay *relay, uint64_t asker, const struct carrick_ask *ask) {
    struct carrick_answer answer = {.error = 0};
    uint16_t port = relay_free_port(relay);
    if (!relay_speaks(relay, ask))
        answer.error = CARRICK_NOT_OURS;
    else if (port == 0)
        answer.error = EAGAIN; /* as Linux says that there is no port */
    struct relay_mailbox *mailbox =
        answer.error ? NULL : mailbox_make(relay, asker, ask, any_address(ask), port, &answer);
    if (mailbox)
        mailbox_turn(mailbox);
    else
        relay_answer(relay, asker, &answer);
}

/* Its peer is this one from now on. */
static void mailbox_join(struct relay_mailbox *mailbox) {
    int error = 0;
    struct relay *relay = mailbox->relay;
    mailbox_turn(mailbox);
    for (uint32_t place = mailbox->first, next; place != RELAY_LINKS; place = next) {
        struct relay_link *link = &relay->links[place];
        next = link->mailbox_next;
        if (!carrick_ip6_same(link->far, mailbox->peer_address) || link->far_port != mailbox->peer_port)
            relay_conversation_close(link);
    }
    if (relay_conversation(mailbox, mailbox->peer_address, mailbox->peer_port, &error) || error != EAGAIN) {
        mailbox->peer_port = error ? 0 : mailbox->peer_port;
        mailbox_answer(mailbox, error);
    }
}

void relay_mailbox_opened(struct relay_link *link, int error) {
    struct relay_mailbox *mailbox = link->mailbox;
    bool joins = mailbox->asker != RELAY_NOBODY && mailbox->peer_port != 0 && mailbox->peer_port == link->far_port &&
                 carrick_ip6_same(mailbox->peer_address, link->far);
    if (!joins || error == EAGAIN)
        return;
    if (error)
        mailbox->peer_port = 0;
    mailbox_answer(mailbox, error);
}

/* Why a socket cannot have a peer; 0: it can. */
static int peer_error(struct relay *relay, const struct carrick_ask *ask) {
    if (!relay_speaks(relay, ask))
        return CARRICK_NOT_OURS;
    if (relay_is_group(ask->address) || carrick_ip6_same(ask->address, carrick_stack_address(relay->stack)))
        return ENETUNREACH; /* nothing leads back to a stack */
    return ask->port == 0 ? EINVAL : 0;
}

void relay_mailbox_connect(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    struct relay_mailbox *mailbox = ask->id ? relay_mailbox_find(relay, ask->id) : NULL;
    bool leaves = ask->id && ask->port == 0 && carrick_address_is_unspecified(ask->address);
    struct carrick_answer answer = {.error = leaves ? 0 : peer_error(relay, ask)};
    if (ask->id && (!mailbox || !relay_shows(relay, mailbox->cookie, fd)))
        answer.error = EACCES;
    else if (mailbox && mailbox->asker != RELAY_NOBODY)
        answer.error = EALREADY;
    uint16_t port = ask->id || answer.error ? 0 : relay_free_port(relay);
    if (!answer.error && !ask->id && port == 0)
        answer.error = EAGAIN;
    if (!answer.error && !ask->id)
        mailbox = mailbox_make(relay, asker, ask, any_address(ask), port, &answer);
    if (answer.error) {
        relay_answer(relay, asker, &answer);
        return;
    }
    mailbox->asker = asker;
    mailbox->deaf = false;
    mailbox->peer_address = leaves ? (struct carrick_ip6_address){0} : ask->address;
    mailbox->peer_port = ask->port;
    if (leaves)
        mailbox_turn(mailbox);
    else
        mailbox_join(mailbox);
}

void relay_mailbox_leave(struct relay_link *link) {
    struct relay_mailbox *mailbox = link->mailbox;
    struct relay *relay = link->relay;
    uint32_t place = (uint32_t)(link - relay->links), *at = &mailbox->first;
    while (*at != place)
        at = &relay->links[*at].mailbox_next;
    *at = link->mailbox_next;
    link->mailbox = NULL;
    mailbox->count--;
    relay_mailbox_release(mailbox);
    relay_again(relay); /* others may have waited for its place */
}

/* The program has closed it, and what it wrote is on the way. */
static void mailbox_end(struct relay_mailbox *mailbox) {
    close(mailbox->fd);
    if (mailbox->program >= 0)
        close(mailbox->program);
    mailbox->fd = mailbox->program = -1;
    mailbox->asker = RELAY_NOBODY;
    for (uint32_t place = mailbox->first, next; place != RELAY_LINKS; place = next) {
        next = mailbox->relay->links[place].mailbox_next;
        relay_conversation_close(&mailbox->relay->links[place]);
    }
    mailbox_turn(mailbox);
    relay_mailbox_release(mailbox);
}

void relay_mailbox_resume(struct relay_mailbox *mailbox) {
    struct relay *relay = mailbox->relay;
    if (!mailbox->used)
        return;
    mailbox_turn(mailbox);
    mailbox_accept(mailbox);
    if (mailbox->asker != RELAY_NOBODY && mailbox->peer_port != 0)
        mailbox_join(mailbox);
    for (uint32_t place = mailbox->first, next; place != RELAY_LINKS; place = next) {
        next = relay->links[place].mailbox_next;
        relay_letters_down(&relay->links[place]);
    }
    if (mailbox->fd >= 0)
        relay_letters_up(mailbox);
    if (mailbox->over && mailbox->fd >= 0)
        mailbox_end(mailbox);
    relay_mailbox_release(mailbox);
}

void relay_mailbox_event(struct relay_mailbox *mailbox, uint32_t events) {
    if (!mailbox->used || mailbox->fd < 0)
        return;
    mailbox->readable |= (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;
    mailbox->writable |= (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    relay_mailbox_resume(mailbox);
}
