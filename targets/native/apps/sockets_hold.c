/* SPDX-License-Identifier: MIT */
/* What is less than a segment while more is to follow (MSG_MORE, CORK): it waits here, for RELAY_HOLD at most. */
#define _GNU_SOURCE
#include <sys/timerfd.h>

#include "apps/sockets.h"

#define NANOSECONDS 1000000000u

static void set_timer(const struct relay *relay) {
    uint64_t now = carrick_stack_now(relay->stack), until = relay->links[relay->held_first].held_until;
    uint64_t wait = until > now ? until - now : 1; /* 0 is never */
    struct itimerspec when = {.it_value = {(time_t)(wait / NANOSECONDS), (long)(wait % NANOSECONDS)}};
    (void)timerfd_settime(relay->timer, 0, &when, NULL);
}

void relay_hold(struct relay_link *link) {
    struct relay *relay = link->relay;
    uint32_t place = (uint32_t)(link - relay->links);
    if (link->held)
        return;
    link->held = true;
    link->held_until = carrick_stack_now(relay->stack) + RELAY_HOLD;
    link->held_before = relay->held_last;
    link->held_next = RELAY_LINKS;
    if (relay->held_last != RELAY_LINKS)
        relay->links[relay->held_last].held_next = place;
    relay->held_last = place;
    if (relay->held_first != RELAY_LINKS)
        return;
    relay->held_first = place;
    set_timer(relay);
}

void relay_unhold(struct relay_link *link) {
    struct relay *relay = link->relay;
    if (!link->held)
        return;
    link->held = false;
    if (link->held_before == RELAY_LINKS)
        relay->held_first = link->held_next;
    else
        relay->links[link->held_before].held_next = link->held_next;
    if (link->held_next == RELAY_LINKS)
        relay->held_last = link->held_before;
    else
        relay->links[link->held_next].held_before = link->held_before;
}

void relay_held_event(struct relay *relay) {
    uint64_t now = carrick_stack_now(relay->stack);
    while (relay->held_first != RELAY_LINKS && relay->links[relay->held_first].held_until <= now) {
        struct relay_link *link = &relay->links[relay->held_first];
        relay_unhold(link);
        link->overdue = true;
        relay_link_look(link);
        relay_link_resume(link);
    }
    if (relay->held_first != RELAY_LINKS)
        set_timer(relay);
}
