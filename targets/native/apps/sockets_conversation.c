/* SPDX-License-Identifier: MIT */
/* Conversations of datagram sockets: each is a link without a descriptor of its own. */
#define _GNU_SOURCE
#include <errno.h>

#include "apps/sockets.h"
#include "carrick/ipv6.h"

/* Where so few places are left, one that is idle ends: the program has no more for those that nobody has accepted. */
#define SPARE_PART 16u

static struct carrick_stack *stack_of(const struct relay_link *link) {
    carrick_stack_act_for(link->relay->stack, link->owner);
    return link->relay->stack;
}

struct relay_link *relay_conversation_find(const struct relay_mailbox *mailbox, struct carrick_ip6_address address,
                                           uint16_t port) {
    struct relay_link *links = mailbox->relay->links;
    for (uint32_t place = mailbox->first; place != RELAY_LINKS; place = links[place].mailbox_next)
        if (links[place].far_port == port && carrick_ip6_same(links[place].far, address))
            return &links[place];
    return NULL;
}

void relay_conversation_release(struct relay_link *link) {
    struct relay *relay = link->relay;
    if (!link->used || !link->ending || link->requests > 0)
        return;
    uint32_t place = (uint32_t)(link - relay->links);
    link->used = false;
    relay_mailbox_leave(link);
    relay_give(relay, RELAY_CONNECTIONS, link->uid, 1);
    relay->free_links[relay->free_count++] = place;
    relay_accept(relay);
}

/* What waits for a request of it to end goes on. */
static void conversation_ended(struct relay_link *link, struct relay_mailbox *mailbox) {
    struct relay *relay = link->relay;
    relay_conversation_release(link);
    relay_mailbox_resume(mailbox);
    relay_resume(relay);
}

static void conversation_closed(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* it is over in any case */
    struct relay_link *link = user;
    link->requests--;
    conversation_ended(link, link->mailbox);
}

void relay_conversation_close(struct relay_link *link) {
    link->hung_up = true;
    if (link->ending || link->connecting || link->on_the_way > 0)
        return;
    int refused = link->there ? carrick_close(stack_of(link), link->handle, conversation_closed, link) : 0;
    link->relay->stuck |= refused == CARRICK_AGAIN;
    if (refused == CARRICK_AGAIN)
        return;
    link->ending = true;
    link->requests += link->there && refused == 0;
    relay_conversation_release(link);
}

static bool is_idle(const struct relay_mailbox *mailbox, const struct relay_link *link) {
    return link->connected && !link->ending && !link->hung_up && link->on_the_way == 0 && link->down_held == 0 &&
           (link->far_port != mailbox->peer_port || !carrick_ip6_same(link->far, mailbox->peer_address));
}

static uint64_t used_at(const struct relay_link *link) {
    return link->sent_at > link->received_at ? link->sent_at : link->received_at;
}

bool relay_conversation_evict(struct relay_mailbox *mailbox) {
    struct relay_link *links = mailbox->relay->links, *oldest = NULL;
    for (uint32_t place = mailbox->first; place != RELAY_LINKS; place = links[place].mailbox_next) {
        if (links[place].hung_up || links[place].ending)
            return true; /* one just ends */
        if (is_idle(mailbox, &links[place]) && (!oldest || used_at(&links[place]) < used_at(oldest)))
            oldest = &links[place];
    }
    if (oldest)
        relay_conversation_close(oldest);
    return oldest != NULL;
}

static struct relay_link *conversation_begin(struct relay_mailbox *mailbox, struct carrick_ip6_address address,
                                             uint16_t port, int *error) {
    struct relay *relay = mailbox->relay;
    struct relay_link *link = relay_link_begin(relay, mailbox->uid, error);
    if (!link)
        return NULL;
    link->mailbox = mailbox;
    link->mailbox_next = mailbox->first;
    mailbox->first = (uint32_t)(link - relay->links);
    mailbox->count++;
    link->owner = relay_owner(relay, mailbox->uid);
    link->far = address;
    link->far_port = port;
    link->sent_at = link->received_at = carrick_stack_now(relay->stack);
    return link;
}

static void conversation_begins(struct relay_link *link, uint64_t handle) {
    link->handle = handle;
    link->there = link->connected = true;
    if (link->hung_up)
        relay_conversation_close(link);
    else
        relay_letters_down(link);
}

struct relay_link *relay_conversation_shared(const struct relay_mailbox *mailbox, struct carrick_ip6_address address,
                                             uint16_t port) {
    const struct relay *relay = mailbox->relay;
    struct relay_link *link = NULL;
    for (uint32_t i = 0; i < relay->mailboxes_used && !link; i++) {
        const struct relay_mailbox *other = &relay->mailboxes[i];
        if (other->used && other != mailbox && other->port == mailbox->port)
            link = relay_conversation_find(other, address, port);
    }
    return link;
}

/* What became of a request to open it: EAGAIN, if it is worth to try again. */
static int opening_error(struct relay_link *link, enum carrick_status status) {
    if (status == CARRICK_IN_USE && link->mailbox->listening &&
        !relay_conversation_shared(link->mailbox, link->far, link->far_port))
        return EAGAIN; /* its peer was faster: it is about to be accepted */
    if (status == CARRICK_NO_ROOM && relay_conversation_evict(link->mailbox))
        return EAGAIN;
    return relay_error(status);
}

static void conversation_opened(void *user, enum carrick_status status, uint64_t handle) {
    struct relay_link *link = user;
    struct relay_mailbox *mailbox = link->mailbox;
    link->requests--;
    link->connecting = false;
    if (status == CARRICK_OK) {
        relay_mailbox_opened(link, 0);
        conversation_begins(link, handle);
    } else {
        int error = opening_error(link, status);
        link->ending = true;
        relay_mailbox_opened(link, error);
        if (error != EAGAIN)
            relay_letters_unsent(mailbox, link->far, link->far_port, error);
    }
    conversation_ended(link, mailbox);
}

static int conversation_open(struct relay_link *link) {
    struct relay *relay = link->relay;
    int refused =
        carrick_open(stack_of(link), link->mailbox->port, link->far, link->far_port, conversation_opened, link);
    relay->stuck |= refused == CARRICK_AGAIN;
    link->connecting = refused == 0;
    link->requests += refused == 0;
    return refused == CARRICK_BAD_ARG ? EOPNOTSUPP : EAGAIN;
}

struct relay_link *relay_conversation(struct relay_mailbox *mailbox, struct carrick_ip6_address address, uint16_t port,
                                      int *error) {
    struct relay_link *link = relay_conversation_find(mailbox, address, port);
    if (link && link->connected && !link->ending && !link->hung_up)
        return link;
    *error = EAGAIN;
    if (link && (link->connected || link->connecting || link->ending))
        return NULL;
    if (!link)
        link = conversation_begin(mailbox, address, port, error);
    if (!link) {
        *error = relay_conversation_evict(mailbox) ? EAGAIN : *error;
        return NULL;
    }
    *error = conversation_open(link);
    if (*error != EAGAIN) {
        link->ending = true;
        relay_conversation_release(link);
    }
    return NULL;
}

void relay_conversation_accepted(struct relay_mailbox *mailbox, uint64_t handle) {
    struct carrick_ends ends = {0};
    int error;
    struct relay *relay = mailbox->relay;
    struct relay_link *link = NULL;
    if (carrick_connection_ends(relay->stack, handle, &ends))
        link = conversation_begin(mailbox, ends.remote_address, ends.remote_port, &error);
    if (!link) {
        (void)carrick_close(relay->stack, handle, NULL, NULL);
        return;
    }
    conversation_begins(link, handle);
    if (relay->left[RELAY_CONNECTIONS] <= relay->places / SPARE_PART)
        (void)relay_conversation_evict(mailbox);
}
