/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "carrick/base.h"
#include "carrick/neighbour.h"

/* Shorter than RFC 4861's 1 s, 30 s and 5 s: there are transports that give a peer up after 100 ms, and a neighbour
 * with another hardware address shall be found before the others do. The price is a question every two seconds to a
 * neighbour that only receives. */
#define ASK_AGAIN_NS UINT64_C(50000000) /* after the first question, and doubled after each further one */
#define REACHABLE_NS UINT64_C(1000000000)
#define DELAY_NS     UINT64_C(1000000000)
#define ASKS_IT      2u /* questions to the hardware address that we know, before everybody is asked */
#define ASKS_ALL     4u /* questions to everybody */

static struct carrick_neighbour *find(struct carrick_neighbours *cache, struct carrick_ip6_address address) {
    /* The slot of an address is fixed by its last bits, where the hosts of a network differ; the next ones are tried
     * after it. */
    for (uint32_t i = 0; i < CARRICK_NEIGHBOURS; i++) {
        struct carrick_neighbour *n = &cache->all[(address.low + i) % CARRICK_NEIGHBOURS];
        if (n->state == CARRICK_NEIGHBOUR_FREE)
            return NULL;
        if (n->address.low == address.low && n->address.high == address.high)
            return n;
    }
    return NULL;
}

/* A slot for a neighbour that has none. Slots are never freed, so every search ends where it must; where all are used,
 * the neighbour goes that was not seen for longest, and for which no packets wait. */
static struct carrick_neighbour *add(struct carrick_neighbours *cache, struct carrick_ip6_address address) {
    struct carrick_neighbour *oldest = NULL;
    for (uint32_t i = 0; i < CARRICK_NEIGHBOURS; i++) {
        struct carrick_neighbour *n = &cache->all[(address.low + i) % CARRICK_NEIGHBOURS];
        bool waited_for = n->state == CARRICK_NEIGHBOUR_INCOMPLETE;
        if (n->state == CARRICK_NEIGHBOUR_FREE || (!waited_for && (!oldest || n->seen < oldest->seen)))
            oldest = n;
        if (n->state == CARRICK_NEIGHBOUR_FREE)
            break;
    }
    if (oldest)
        *oldest = (struct carrick_neighbour){.address = address, .state = CARRICK_NEIGHBOUR_FAILED};
    return oldest;
}

static void become(struct carrick_neighbour *n, enum carrick_neighbour_state state, uint64_t at) {
    n->state = (uint8_t)state;
    n->asked = 0;
    n->at = at;
}

/* The same for a state that takes steps, the first of them at `at`. */
static void await_step(struct carrick_neighbours *cache, struct carrick_neighbour *n,
                       enum carrick_neighbour_state state, uint64_t at) {
    become(n, state, at);
    cache->quiet_until = carrick_min64(cache->quiet_until, at);
}

static void reachable(struct carrick_neighbour *n, uint64_t now) {
    become(n, CARRICK_NEIGHBOUR_REACHABLE, now + REACHABLE_NS);
    n->seen = now;
}

struct carrick_neighbour *neighbour_use(struct carrick_neighbours *cache, uint64_t now,
                                        struct carrick_ip6_address address) {
    struct carrick_neighbour *n = find(cache, address);
    if (CARRICK_LIKELY(n && n->state == CARRICK_NEIGHBOUR_REACHABLE && now < n->at))
        return n;
    if (!n)
        n = add(cache, address);
    if (!n)
        return NULL;
    if (n->state == CARRICK_NEIGHBOUR_FAILED) {
        await_step(cache, n, CARRICK_NEIGHBOUR_INCOMPLETE, now);
        n->seen = now;
    } else if (n->state == CARRICK_NEIGHBOUR_REACHABLE || n->state == CARRICK_NEIGHBOUR_STALE) {
        await_step(cache, n, CARRICK_NEIGHBOUR_DELAY, now + DELAY_NS);
    }
    return n;
}

void neighbour_confirm(struct carrick_neighbours *cache, uint64_t now, struct carrick_ip6_address address,
                       const uint8_t *mac) {
    struct carrick_neighbour *n = find(cache, address);
    if (n && neighbour_has_mac(n) && memcmp(n->mac, mac, sizeof n->mac) == 0)
        reachable(n, now);
}

bool neighbour_answered(struct carrick_neighbours *cache, uint64_t now, struct carrick_ip6_address address,
                        const uint8_t *mac) {
    struct carrick_neighbour *n = find(cache, address);
    bool waited_for = n && n->state == CARRICK_NEIGHBOUR_INCOMPLETE;
    if (!waited_for && (!n || n->state != CARRICK_NEIGHBOUR_PROBE))
        return neighbour_announced(cache, address, mac, false); /* to no question of ours that is open */
    memcpy(n->mac, mac, sizeof n->mac);
    reachable(n, now);
    return waited_for;
}

bool neighbour_announced(struct carrick_neighbours *cache, struct carrick_ip6_address address, const uint8_t *mac,
                         bool add_it) {
    struct carrick_neighbour *n = find(cache, address);
    if (!n && add_it)
        n = add(cache, address);
    if (!n || (neighbour_has_mac(n) && memcmp(n->mac, mac, sizeof n->mac) == 0))
        return false;
    bool waited_for = n->state == CARRICK_NEIGHBOUR_INCOMPLETE;
    memcpy(n->mac, mac, sizeof n->mac);
    become(n, CARRICK_NEIGHBOUR_STALE, UINT64_MAX);
    return waited_for;
}

const uint8_t *neighbour_mac(struct carrick_neighbours *cache, struct carrick_ip6_address address) {
    const struct carrick_neighbour *n = find(cache, address);
    return n && neighbour_has_mac(n) ? n->mac : NULL;
}

void neighbour_doubt(struct carrick_neighbours *cache, struct carrick_ip6_address address) {
    struct carrick_neighbour *n = find(cache, address);
    if (n && n->state == CARRICK_NEIGHBOUR_REACHABLE)
        become(n, CARRICK_NEIGHBOUR_STALE, UINT64_MAX);
}

static bool takes_steps(const struct carrick_neighbour *n) {
    return n->state == CARRICK_NEIGHBOUR_INCOMPLETE || n->state == CARRICK_NEIGHBOUR_DELAY ||
           n->state == CARRICK_NEIGHBOUR_PROBE;
}

static enum neighbour_step step(struct carrick_neighbour *n, uint64_t now) {
    uint32_t asks_it = n->state == CARRICK_NEIGHBOUR_INCOMPLETE ? 0 : ASKS_IT;
    if (n->state == CARRICK_NEIGHBOUR_DELAY)
        become(n, CARRICK_NEIGHBOUR_PROBE, now);
    if (n->asked == asks_it + ASKS_ALL) {
        become(n, CARRICK_NEIGHBOUR_FAILED, UINT64_MAX);
        return NEIGHBOUR_GIVE_UP;
    }
    bool everybody = n->asked >= asks_it;
    n->at = now + (ASK_AGAIN_NS << (n->asked - (everybody ? asks_it : 0)));
    n->asked++;
    return everybody ? NEIGHBOUR_ASK : NEIGHBOUR_ASK_IT;
}

enum neighbour_step neighbour_advance(struct carrick_neighbours *cache, uint64_t now,
                                      const struct carrick_neighbour **whose) {
    uint64_t next = UINT64_MAX;
    if (CARRICK_LIKELY(now < cache->quiet_until))
        return NEIGHBOUR_NOTHING;
    for (uint32_t i = 0; i < CARRICK_NEIGHBOURS; i++) {
        struct carrick_neighbour *n = &cache->all[i];
        if (!takes_steps(n))
            continue;
        if (now >= n->at) {
            *whose = n;
            return step(n, now);
        }
        next = carrick_min64(next, n->at);
    }
    cache->quiet_until = next;
    return NEIGHBOUR_NOTHING;
}

uint64_t neighbour_deadline(const struct carrick_neighbours *cache) {
    return cache->quiet_until;
}
