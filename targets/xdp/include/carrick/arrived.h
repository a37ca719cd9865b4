/* SPDX-License-Identifier: MIT */
/* The frame that came, where a program can read all of it: in an element of a map. */
#ifndef CARRICK_XDP_ARRIVED_H
#define CARRICK_XDP_ARRIVED_H

#include "carrick/units.h"

#if CARRICK_READS_FRAMES
/* Behind it is room for what the verifier takes a copied piece to be. */
struct carrick_arrived {
    uint8_t octets[CARRICK_FRAME_MAX + CARRICK_PIECE];
};

struct {
    CARRICK_UINT(type, CARRICK_MAP_PERCPU_ARRAY);
    CARRICK_UINT(max_entries, 1);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_arrived);
} carrick_arrived CARRICK_SECTION(".maps");

/* That of this processor; NULL never. */
CARRICK_INLINE struct carrick_arrived *carrick_arrived_here(void) {
    uint32_t only = 0;
    return bpf_map_lookup_elem(&carrick_arrived, &only);
}
#endif

#endif
