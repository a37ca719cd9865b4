/* SPDX-License-Identifier: MIT */
/* What the program carries: types of sockets, the longest message, ports. */
#define _GNU_SOURCE
#include <sys/socket.h>

#include "apps/sockets.h"

#define DYNAMIC_FIRST 49152u /* RFC 6335 section 6 */
#define DYNAMIC_LAST  65535u

static bool has_all(const struct relay *relay, const char *const *calls) {
    while (*calls && carrick_stack_has(relay->stack, *calls))
        calls++;
    return !*calls;
}

uint32_t relay_offers(const struct relay *relay) {
    static const char *const stream[] = {"connect", "recv", NULL};
    static const char *const datagram[] = {"open", "send", "recv", "close", NULL};
    /* With an end of its own, which the far end learns of. */
    static const char *const packets[] = {"open", "send", "recv", "close", "listen", "accept", "shutdown", NULL};
    if (has_all(relay, stream))
        return carrick_stack_has(relay->stack, "open_stream") ? 0 : 1u << SOCK_STREAM;
    return (has_all(relay, datagram) ? 1u << SOCK_DGRAM : 0) | (has_all(relay, packets) ? 1u << SOCK_SEQPACKET : 0);
}

int relay_type(const struct carrick_ask *ask) {
    return ask->item == SOCK_DGRAM || ask->item == SOCK_SEQPACKET ? (int)ask->item : SOCK_STREAM;
}

uint32_t relay_longest(const struct relay *relay) {
    return (uint32_t)relay->limits[CARRICK_LIMIT_MESSAGE];
}

static void limit_told(void *user, enum carrick_status status, uint64_t value) {
    struct relay *relay = user;
    enum carrick_limit item = (enum carrick_limit)(CARRICK_LIMITS - relay->limits_asked);
    if (status == CARRICK_OK && value > 0 && value < relay->limits[item])
        relay->limits[item] = value;
    if (status == CARRICK_OK && item == CARRICK_LIMIT_FIRST_PORT)
        relay->limits[item] = value > 0 ? value : 1;
    relay->limits_asked--;
    if (relay->limits_asked > 0)
        relay_limits_begin(relay);
}

void relay_limits_begin(struct relay *relay) {
    static const uint64_t widest[CARRICK_LIMITS] = {UINT16_MAX, 1, UINT16_MAX};
    if (relay->limits_asked == 0) {
        for (uint32_t item = 0; item < CARRICK_LIMITS; item++)
            relay->limits[item] = widest[item];
        relay->limits_asked = CARRICK_LIMITS;
    }
    enum carrick_limit item = (enum carrick_limit)(CARRICK_LIMITS - relay->limits_asked);
    if (carrick_limit(relay->stack, item, limit_told, relay) != 0)
        relay->limits_asked = 0; /* the program has no such call, and what it does not take ends with an error */
}

bool relay_port_in_use(const struct relay *relay, uint16_t port, bool shares) {
    for (uint32_t i = 0; i < RELAY_BOUND; i++)
        if (relay->bound[i].used && relay->bound[i].port == port)
            return true;
    for (uint32_t i = 0; i < relay->mailboxes_used; i++)
        if (relay->mailboxes[i].used && relay->mailboxes[i].fd >= 0 && relay->mailboxes[i].port == port &&
            !(shares && relay->mailboxes[i].shares))
            return true;
    return false;
}

uint16_t relay_free_port(struct relay *relay) {
    uint32_t first = (uint32_t)relay->limits[CARRICK_LIMIT_FIRST_PORT];
    uint32_t last = (uint32_t)relay->limits[CARRICK_LIMIT_LAST_PORT];
    if (last >= DYNAMIC_LAST && first <= DYNAMIC_FIRST)
        first = DYNAMIC_FIRST; /* others are for those that ask for them */
    uint32_t count = last >= first ? last - first + 1 : 0;
    for (uint32_t tries = 0; tries < count; tries++) {
        uint16_t port = (uint16_t)(first + relay->next_port++ % count);
        if (!relay_port_in_use(relay, port, false))
            return port;
    }
    return 0;
}
