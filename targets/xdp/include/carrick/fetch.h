/* SPDX-License-Identifier: MIT */
/* Bytes that a program takes: out of the frame that came, or out of a request. */
#ifndef CARRICK_XDP_FETCH_H
#define CARRICK_XDP_FETCH_H

#include "carrick/arrived.h"

/* How many bytes there are at an address: none, if its request is complete. */
CARRICK_INLINE uint64_t carrick_len_there(struct carrick_open_key *key, struct carrick_addr at) {
    return !at.token || carrick_is_open(key, at.token) ? at.len : 0;
}

/* Notes where bytes are that are copied next: in the frame that came, or in a request. False: they are not there. */
CARRICK_INLINE bool CARRICK_OWN(fetch)(struct CARRICK_OWN(core) * core, uint64_t from, uint64_t len) {
    uint32_t at = (uint32_t)from;
    uint64_t whole = from & CARRICK_IN_FRAME ? core->frame_len : CARRICK_STAGED;
    core->copy.which = from & CARRICK_IN_FRAME ? 0 : from >> 32;
    core->copy.source = at;
    return at <= whole && len <= whole - at;
}

/* The next `piece` bytes of the source, CARRICK_PIECE at most, to an element of a map. */
CARRICK_INLINE void carrick_copy_piece(struct carrick_copy *copy, void *to, uint64_t piece) {
    uint32_t which = (uint32_t)CARRICK_READ(copy->which) - 1;
    uint64_t source = CARRICK_READ(copy->source);
    if (piece > CARRICK_PIECE)
        return;
    copy->source = source + piece;
    CARRICK_BARRIER_VAR(source);
    if (CARRICK_READ(copy->which) == 0) {
        const struct carrick_arrived *arrived = carrick_arrived_here();
        if (arrived && source < CARRICK_FRAME_MAX)
            carrick_move(to, piece, arrived->octets + source);
    } else {
        const struct carrick_staged *staged = bpf_map_lookup_elem(&carrick_requests, &which);
        if (staged && source < CARRICK_STAGED)
            carrick_move(to, piece, staged->octets + source);
    }
}

/* So many bytes of the source to a ring of `size` bytes, from offset `at` on. `size` is a power of two, and a constant.
 */
CARRICK_INLINE void carrick_ring_put(struct carrick_copy *copy, uint8_t *ring, uint64_t size, uint64_t at,
                                     uint64_t len) {
    copy->at = at;
    copy->left = len;
    for (uint32_t turn = 0; turn < CARRICK_PIECES && CARRICK_READ(copy->left) > 0; turn++) {
        uint64_t place = CARRICK_READ(copy->at) & (size - 1);
        uint64_t piece = carrick_copy_next(copy, size - place, CARRICK_PIECE);
        CARRICK_BARRIER_VAR(place);
        if (place >= size)
            return;
        carrick_copy_piece(copy, ring + place, piece);
    }
}

#endif
