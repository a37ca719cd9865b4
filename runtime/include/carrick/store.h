/* SPDX-License-Identifier: MIT */
/*
 * The packets of a core in the network: the current one, those stored under a key, and those sent unchanged. All of
 * them are in memory that was allocated at the start.
 */
#ifndef CARRICK_STORE_H
#define CARRICK_STORE_H

#include <string.h>

#include "carrick/base.h"
#include "carrick/counters.h"

/* In place of an interface: the packet is discarded. */
#define CARRICK_NOWHERE UINT32_MAX
/* Beside an interface: it is a copy of the packet that leaves by it, which makes no difference here. */
#define CARRICK_COPIED 0u

/* A stored packet. */
struct carrick_held {
    uint64_t key;
    uint32_t len;
    uint32_t next; /* slot + 1, under the same hash, leaving or free; 0: none */
    uint32_t interface;
};

struct carrick_store {
    struct carrick_held *held; /* capacity + 1: the current packet always finds a slot */
    uint8_t *octets;           /* `room` for each */
    uint32_t *first, *last;    /* by hash of the key: slot + 1 of the oldest and the newest; 0: none */
    uint32_t room, mask, capacity;
    uint32_t used, fresh, free; /* slots that hold a packet, that were ever used, that are free again (+ 1) */
    uint32_t leaving, leaving_last;
    uint32_t left_by; /* the interface by which the last packet left */
    /* the current packet */
    const uint8_t *packet;
    uint32_t len, interface;
    bool gone; /* an instruction was issued for it */
};

#include "carrick/passing.h"

static inline uint32_t carrick_store_bucket(const struct carrick_store *s, uint64_t key) {
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & s->mask;
}

/* Buckets for so many packets, a power of two. */
static inline uint32_t carrick_store_buckets(uint64_t capacity) {
    return (uint32_t)carrick_pow2(capacity + 1);
}

static inline void carrick_store_look(struct carrick_store *s, const uint8_t *packet, uint32_t len,
                                      uint32_t interface) {
    s->packet = packet;
    s->len = len;
    s->interface = interface < CARRICK_ROUTE ? interface : CARRICK_ROUTE - 1;
    s->gone = false;
}

/* A slot for a packet of `len` bytes, + 1. There are `capacity` + 1 slots. */
static inline uint32_t carrick_store_slot(struct carrick_store *s, uint32_t len) {
    uint32_t slot = s->free ? s->free : ++s->fresh;
    struct carrick_held *h = &s->held[slot - 1];
    if (s->free)
        s->free = h->next;
    s->used++;
    h->len = len;
    h->next = 0;
    return slot;
}

/* The bytes of a slot. */
static inline uint8_t *carrick_store_octets(const struct carrick_store *s, uint32_t slot) {
    return s->octets + (size_t)(slot - 1) * s->room;
}

/* Copies the current packet; returns its slot + 1. */
static inline uint32_t carrick_store_copy(struct carrick_store *s) {
    uint32_t slot = carrick_store_slot(s, s->len);
    memcpy(carrick_store_octets(s, slot), s->packet, s->len);
    return slot;
}

static inline void carrick_store_leave(struct carrick_store *s, uint32_t slot, uint32_t interface) {
    s->held[slot - 1].interface = interface;
    s->held[slot - 1].next = 0;
    if (s->leaving)
        s->held[s->leaving_last - 1].next = slot;
    else
        s->leaving = slot;
    s->leaving_last = slot;
}

/* Queues a packet of `len` bytes in place of the current one; returns where to write it. */
static inline uint8_t *carrick_store_make(struct carrick_store *s, uint32_t len, uint32_t interface) {
    uint32_t slot = carrick_store_slot(s, len);
    carrick_store_leave(s, slot, interface);
    return carrick_store_octets(s, slot);
}

static inline bool carrick_store_fits(const struct carrick_store *s, uint64_t *counters) {
    if (s->len <= s->room)
        return true;
    counters[CARRICK_COUNT_TX_TOO_LONG]++;
    return false;
}

/* Returns whether one more packet may be stored next to the current one. */
static inline bool carrick_store_has_space(const struct carrick_store *s, uint64_t *counters) {
    if (s->used < s->capacity)
        return true;
    counters[CARRICK_COUNT_STORE_FULL]++;
    return false;
}

CARRICK_INLINE void carrick_store_send(struct carrick_store *s, uint32_t interface, uint64_t *counters) {
    if (carrick_store_fits(s, counters))
        carrick_store_leave(s, carrick_store_copy(s), interface);
}

static inline void carrick_store_put(struct carrick_store *s, uint64_t key, uint64_t *counters) {
    if (!carrick_store_decide(s, counters) || !carrick_store_fits(s, counters) || !carrick_store_has_space(s, counters))
        return;
    uint32_t slot = carrick_store_copy(s), at = carrick_store_bucket(s, key);
    s->held[slot - 1].key = key;
    if (s->first[at])
        s->held[s->last[at] - 1].next = slot;
    else
        s->first[at] = slot;
    s->last[at] = slot;
}

static inline void carrick_store_forget(struct carrick_store *s, uint32_t slot) {
    s->held[slot - 1].next = s->free;
    s->free = slot;
    s->used--;
}

/* Takes the packets of a key out, the oldest first: they leave by an interface, or are forgotten. Returns how
 * many there were. */
static inline uint32_t carrick_store_take(struct carrick_store *s, uint64_t key, uint32_t interface) {
    uint32_t at = carrick_store_bucket(s, key), slot = s->first[at], count = 0;
    s->first[at] = s->last[at] = 0;
    while (slot) {
        struct carrick_held *h = &s->held[slot - 1];
        uint32_t next = h->next;
        if (h->key != key) {
            h->next = 0;
            if (s->first[at])
                s->held[s->last[at] - 1].next = slot;
            else
                s->first[at] = slot;
            s->last[at] = slot;
        } else {
            count++;
            if (interface == CARRICK_NOWHERE)
                carrick_store_forget(s, slot);
            else
                carrick_store_leave(s, slot, interface);
        }
        slot = next;
    }
    return count;
}

/* Takes the next packet that is sent unchanged; returns its length, 0 if there is none. Longer ones than `cap` are
 * lost. */
static inline uint32_t carrick_store_next(struct carrick_store *s, uint8_t *out, uint32_t cap, uint64_t *counters) {
    while (s->leaving) {
        uint32_t slot = s->leaving, len = s->held[slot - 1].len;
        bool fits = len <= cap;
        s->leaving = s->held[slot - 1].next;
        if (fits) {
            s->left_by = s->held[slot - 1].interface;
            memcpy(out, carrick_store_octets(s, slot), len);
        }
        counters[fits ? CARRICK_COUNT_TX_FORWARDED : CARRICK_COUNT_TX_TOO_LONG]++;
        carrick_store_forget(s, slot);
        if (fits)
            return len;
    }
    return 0;
}

#endif
