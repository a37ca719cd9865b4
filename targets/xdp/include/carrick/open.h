/* SPDX-License-Identifier: MIT */
/*
 * The requests that bring memory, until they complete: an address of any other refers to nothing. A token has its place
 * in an array. One that would share a place is in a hash map, where each change takes some hundred nanoseconds.
 */
#ifndef CARRICK_XDP_OPEN_H
#define CARRICK_XDP_OPEN_H

#include "carrick/units.h"

/* A power of two. Hosts number requests in the lower half of their tokens, from 1 on. */
#define CARRICK_OPEN_PLACES 4096u

struct carrick_open_place {
    uint64_t token;  /* 0: none */
    uint64_t others; /* how many that belong here are in the hash map */
};

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_UINT(max_entries, CARRICK_OPEN_PLACES);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_open_place);
} carrick_open CARRICK_SECTION(".maps");

/* With the number of their places. The loader knows for how many requests there is memory. */
struct {
    CARRICK_UINT(type, CARRICK_MAP_HASH);
    CARRICK_UINT(max_entries, 64);
    CARRICK_TYPE(key, uint64_t);
    CARRICK_TYPE(value, uint32_t);
} carrick_open_others CARRICK_SECTION(".maps");

CARRICK_INLINE struct carrick_open_place *carrick_open_at(struct carrick_open_key *key, uint64_t token) {
    key->token = token;
    key->place = (uint32_t)token & (CARRICK_OPEN_PLACES - 1);
    return bpf_map_lookup_elem(&carrick_open, &key->place);
}

/* A request that brings memory begins. */
CARRICK_INLINE void carrick_open_begin(struct carrick_open_key *key, uint64_t token) {
    struct carrick_open_place *place = carrick_open_at(key, token);
    uint64_t there = place ? __sync_val_compare_and_swap(&place->token, 0, token) : token;
    if (there == 0 || there == token) /* a host that is gone may have left it */
        return;
    if (bpf_map_update_elem(&carrick_open_others, &key->token, &key->place, 0) == 0)
        (void)__sync_fetch_and_add(&place->others, 1);
}

/* A request completes, which may have brought memory. */
CARRICK_INLINE void carrick_open_end(struct carrick_open_key *key, uint64_t token) {
    struct carrick_open_place *place = carrick_open_at(key, token);
    if (!place)
        return;
    (void)__sync_val_compare_and_swap(&place->token, token, 0);
    if (CARRICK_READ(place->others) != 0 && bpf_map_delete_elem(&carrick_open_others, &key->token) == 0)
        (void)__sync_fetch_and_sub(&place->others, 1);
}

CARRICK_INLINE bool carrick_is_open(struct carrick_open_key *key, uint64_t token) {
    const struct carrick_open_place *place = carrick_open_at(key, token);
    if (!place)
        return false;
    return CARRICK_READ(place->token) == token ||
           (CARRICK_READ(place->others) != 0 && bpf_map_lookup_elem(&carrick_open_others, &key->token));
}

#endif
