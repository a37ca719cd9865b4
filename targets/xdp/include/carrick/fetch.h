/* SPDX-License-Identifier: MIT */
/* Bytes that a program takes: out of the frame that came, or out of a request. */
#ifndef CARRICK_XDP_FETCH_H
#define CARRICK_XDP_FETCH_H

#include "carrick/units.h"

/* A request that brings memory is open (`carrick_open`) until it completes. */
CARRICK_INLINE void carrick_opened(uint64_t token) {
    uint32_t open = 1;
    (void)bpf_map_update_elem(&carrick_open, &token, &open, 0);
}

/* How many bytes there are at an address: none, if its request is complete. */
CARRICK_INLINE uint64_t carrick_len_there(struct carrick_addr at) {
    return !at.token || bpf_map_lookup_elem(&carrick_open, &at.token) ? at.len : 0;
}

/* Where bytes are that are copied next: in the frame that came, or in a request. False: they are not there. */
CARRICK_INLINE bool CARRICK_OWN(fetch)(struct CARRICK_OWN(core) * core, uint64_t from, uint64_t len) {
    uint32_t at = (uint32_t)from, which = (uint32_t)(from >> 32) - 1;
    if (from & CARRICK_IN_FRAME) {
        core->copy.source = core->frame + at;
        return at <= core->frame_len && len <= core->frame_len - at;
    }
    struct carrick_staged *staged = bpf_map_lookup_elem(&carrick_requests, &which);
    CARRICK_BARRIER_VAR(at);
    if (!staged || at >= CARRICK_STAGED)
        return false;
    core->copy.source = (uint64_t)(uintptr_t)(staged->octets + at);
    return len <= CARRICK_STAGED - at;
}

#endif
