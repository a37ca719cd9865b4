/* SPDX-License-Identifier: MIT */
/*
 * Who sends, in programs that hold rates of users: each has queues of its own before the blocks of these rates, and a
 * share of all entries, so that none who is held back leaves the others without. What is here stands under the word
 * that holds the blocks. Generated code says how many owners there are (CARRICK_OWNERS).
 */
#ifndef CARRICK_XDP_OWNERS_H
#define CARRICK_XDP_OWNERS_H

#include "carrick/blocks.h"

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_UINT(max_entries, CARRICK_OWNERS);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_owner);
} carrick_rates CARRICK_SECTION(".maps");

CARRICK_INLINE struct carrick_owner *carrick_owner_at(uint32_t owner) {
    return bpf_map_lookup_elem(&carrick_rates, &owner);
}

/* A place among the entries, + 1; 0: there is none, or this owner has its share, of which what carries something leaves
 * an eighth: who sends more than goes can still answer, and open connections. */
CARRICK_GLOBAL_FN uint32_t carrick_owner_reserve(uint32_t owner, uint32_t carries) {
    struct carrick_sched *s = carrick_sched_here();
    struct carrick_owner *o = carrick_owner_at(owner);
    if (!s || !o)
        return 0;
    uint32_t share = CARRICK_QUEUE / CARRICK_OWNERS, left = carries ? share / 8 : 0;
    uint32_t place = o->waiting + left < share ? carrick_sched_reserve(s) : 0;
    if (place)
        o->waiting++;
    else
        o->refused++;
    return place;
}

/* Whether a rate holds back what waits at an input. */
CARRICK_INLINE bool carrick_owner_held(uint32_t at, uint64_t now) {
    struct carrick_sched *s = carrick_sched_here();
    if (!s)
        return false;
    s->at = at;
    for (uint32_t level = 0; level < CARRICK_BLOCKS; level++) {
        const struct carrick_input *in = carrick_input_at(CARRICK_READ(s->at));
        if (!in)
            return false;
        const struct carrick_block *b = carrick_block_at(s, in->block);
        if (b->policy == CARRICK_RATE_LIMITER && in->key > now)
            return true;
        if (!b->parent)
            return false;
        s->at = b->parent - 1;
    }
    return false;
}

/* An entry of an owner's waits at an input. */
CARRICK_GLOBAL_FN int carrick_owner_waits(uint32_t owner, uint32_t at, uint64_t now) {
    struct carrick_owner *o = carrick_owner_at(owner);
    if (o && carrick_owner_held(at, now))
        o->delayed++;
    return 0;
}

/* A packet of so many bytes was made of an entry, which is `out` if no other follows. */
CARRICK_GLOBAL_FN int carrick_owner_sent(uint32_t owner, uint64_t octets, uint32_t out) {
    struct carrick_owner *o = carrick_owner_at(owner);
    if (!o)
        return 0;
    o->packets += octets != 0;
    o->octets += octets;
    o->waiting -= out != 0;
    return 0;
}

#endif
