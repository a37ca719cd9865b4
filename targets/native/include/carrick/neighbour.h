/* SPDX-License-Identifier: MIT */
/*
 * The neighbour cache: hardware addresses of next hops, and the states of RFC 4861 section 7.3. Knows no packet format:
 * ARP and neighbour discovery report what they receive, and send what it requests.
 *
 *     state        event                                     next state
 *     -----------  ----------------------------------------  -----------
 *     (none)       a packet is to be sent                    INCOMPLETE
 *     INCOMPLETE   an answer                                 REACHABLE
 *                  four questions to everybody in vain       FAILED
 *     REACHABLE    a packet is sent after 1 s                DELAY
 *     STALE        a packet is sent                          DELAY
 *     DELAY        1 s without a confirmation                PROBE
 *     PROBE        an answer                                 REACHABLE
 *                  two questions to it, four to everybody    FAILED
 *     FAILED       a packet is to be sent                    INCOMPLETE
 *     with an      a packet from that address (confirmation) REACHABLE
 *     address      another address is announced              STALE
 *
 * Neighbours that answer packets are confirmed by them, and cost no questions.
 */
#ifndef CARRICK_NEIGHBOUR_H
#define CARRICK_NEIGHBOUR_H

#include "carrick/address.h"

#define CARRICK_NEIGHBOURS 64u /* a power of two */

enum carrick_neighbour_state {
    CARRICK_NEIGHBOUR_FREE,       /* no neighbour had this slot yet */
    CARRICK_NEIGHBOUR_INCOMPLETE, /* asked for; packets wait */
    CARRICK_NEIGHBOUR_REACHABLE,  /* confirmed a short time ago */
    CARRICK_NEIGHBOUR_STALE,      /* not confirmed, and no packet was sent since */
    CARRICK_NEIGHBOUR_DELAY,      /* a packet was sent, which can bring a confirmation */
    CARRICK_NEIGHBOUR_PROBE,      /* no confirmation: requested; packets are sent meanwhile */
    CARRICK_NEIGHBOUR_FAILED      /* did not answer */
};

struct carrick_neighbour {
    struct carrick_ip6_address address;
    uint8_t state;
    uint8_t asked; /* INCOMPLETE, PROBE: how often */
    uint8_t mac[6];
    uint64_t at;   /* REACHABLE: until when; INCOMPLETE, DELAY, PROBE: when the next step is due */
    uint64_t seen; /* when it was last confirmed, or first asked for; 0: never */
};

/* All zero at first. */
struct carrick_neighbours {
    struct carrick_neighbour all[CARRICK_NEIGHBOURS];
    uint64_t quiet_until; /* no step is due before, so that a busy host need not look at all */
};

/* The neighbour to whom a packet is to be sent; NULL: no slot is free. The packet can go if neighbour_has_mac. */
struct carrick_neighbour *neighbour_use(struct carrick_neighbours *cache, uint64_t now,
                                        struct carrick_ip6_address address);

static inline bool neighbour_has_mac(const struct carrick_neighbour *n) {
    return n->state >= CARRICK_NEIGHBOUR_REACHABLE && n->state <= CARRICK_NEIGHBOUR_PROBE;
}

/* Notes that a packet arrived from a neighbour with this hardware address. */
void neighbour_confirm(struct carrick_neighbours *cache, uint64_t now, struct carrick_ip6_address address,
                       const uint8_t *mac);

/* A neighbour answered us. Returns whether packets that wait for it can go. */
bool neighbour_answered(struct carrick_neighbours *cache, uint64_t now, struct carrick_ip6_address address,
                        const uint8_t *mac);

/* A neighbour said its hardware address unasked; `add`: remember it if it is new. Returns the same. */
bool neighbour_announced(struct carrick_neighbours *cache, struct carrick_ip6_address address, const uint8_t *mac,
                         bool add);

/* The hardware address of a neighbour, NULL: it is not known. */
const uint8_t *neighbour_mac(struct carrick_neighbours *cache, struct carrick_ip6_address address);

/* A neighbour may be elsewhere: it is asked when the next packet is sent to it. */
void neighbour_doubt(struct carrick_neighbours *cache, struct carrick_ip6_address address);

enum neighbour_step {
    NEIGHBOUR_NOTHING,
    NEIGHBOUR_ASK,     /* everybody */
    NEIGHBOUR_ASK_IT,  /* only the one at the hardware address that we know */
    NEIGHBOUR_GIVE_UP, /* packets that wait are lost */
};

/* The next step that is due, and for whom. Call until there is nothing. */
enum neighbour_step neighbour_advance(struct carrick_neighbours *cache, uint64_t now,
                                      const struct carrick_neighbour **whose);

/* By when to look for a step: when one is due or, once for each that a confirmation made needless, earlier.
 * UINT64_MAX: never. */
uint64_t neighbour_deadline(const struct carrick_neighbours *cache);

#endif
