/* SPDX-License-Identifier: MIT */
/*
 * What instances of a context receive: included once for each context that does. CARRICK_CONTEXT(name) is what the
 * generated code has under a name for it, CARRICK_INSTANCE its struct, of which CARRICK_INSTANCES is the map, and
 * CARRICK_MEMORY that of its octets, of which CARRICK_MEMORIES is the map. The ring is the CARRICK_RING octets from
 * CARRICK_RING_BEGIN on.
 */
#include "carrick/fetch.h"

/* Copies a segment where nothing is yet, before each run and behind the last, and notes it. Where it is stands in
 * memory, so that the verifier follows this once, and not for every way in which it was cut. */
CARRICK_INLINE void CARRICK_CONTEXT(rx_fill)(struct carrick_copy *copy, struct carrick_rx *rx, CARRICK_MEMORY *m) {
    for (uint32_t i = 0; i <= CARRICK_RX_RUNS && CARRICK_READ(copy->done) < CARRICK_READ(copy->hi); i++) {
        uint64_t there = i < CARRICK_RX_RUNS ? carrick_below(i, CARRICK_READ(rx->count)) : 0;
        struct carrick_rx_run run = rx->runs[i & (CARRICK_RX_RUNS - 1)];
        uint64_t begin = CARRICK_READ(copy->done), hi = CARRICK_READ(copy->hi);
        uint64_t end = carrick_choose64(there, carrick_least(run.lo, hi), hi);
        copy->source = CARRICK_READ(copy->begin) + begin;
        copy->done = carrick_choose64(there, carrick_choose64(carrick_below(begin, run.hi), run.hi, begin), hi);
        if (begin < end)
            carrick_ring_put(copy, m->octets + CARRICK_RING_BEGIN, CARRICK_RING, CARRICK_READ(rx->base) + begin,
                             end - begin);
    }
    carrick_rx_note(rx, copy);
}

/* As carrick_rx_add of the runtime. */
CARRICK_APART int CARRICK_CONTEXT(rx_copy)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t from,
                                           uint64_t len, uint64_t offset) {
    if (!core || !c || len == 0)
        return CARRICK_RX_ALL;
    if (offset >> 62)
        return CARRICK_RX_CUT;
    struct carrick_rx *rx = &c->rx__;
    struct carrick_copy *copy = &core->copy;
    uint64_t base = rx->base, old = carrick_choose64(carrick_below(offset, base), carrick_least(len, base - offset), 0);
    from += old;
    len -= old;
    copy->lo = offset + old - base;
    copy->hi = copy->lo + len;
    uint64_t limit = carrick_min64(CARRICK_RING, rx->size - base);
    copy->result = carrick_below(limit, copy->hi) & carrick_below(0, len);
    copy->hi = carrick_least(copy->hi, limit);
    if (len == 0 || CARRICK_READ(copy->hi) <= CARRICK_READ(copy->lo))
        return (int)copy->result;
    if (!carrick_rx_fits(rx, (uint32_t)copy->lo, (uint32_t)copy->hi))
        return CARRICK_RX_FULL;
    uint32_t slot = c->slot__;
    CARRICK_MEMORY *m = bpf_map_lookup_elem(&CARRICK_MEMORIES, &slot);
    if (!m || !CARRICK_OWN(fetch)(core, from, copy->hi - copy->lo))
        return CARRICK_RX_CUT;
    copy->begin = CARRICK_READ(copy->source) - copy->lo;
    copy->done = carrick_max64(copy->lo, rx->ready);
    CARRICK_CONTEXT(rx_fill)(copy, rx, m);
    return (int)CARRICK_READ(copy->result);
}

CARRICK_INLINE enum carrick_rx_result CARRICK_CONTEXT(rx_put)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c,
                                                              struct carrick_addr from, uint64_t len, uint64_t offset) {
    return (enum carrick_rx_result)CARRICK_CONTEXT(rx_copy)(core, c, CARRICK_FROM_ADDR(from),
                                                            carrick_min64(len, carrick_len_there(from)), offset);
}

/* The next octets of the ring to the memory of a request. */
CARRICK_INLINE void CARRICK_CONTEXT(rx_read)(struct carrick_copy *copy, CARRICK_INSTANCE *c, uint64_t to,
                                             uint64_t len) {
    uint32_t slot = c->slot__, which = (uint32_t)(to >> 32) - 1;
    CARRICK_MEMORY *m = bpf_map_lookup_elem(&CARRICK_MEMORIES, &slot);
    struct carrick_staged *staged = bpf_map_lookup_elem(&carrick_requests, &which);
    if (!m || !staged)
        return;
    copy->at = c->rx__.base;
    copy->left = len;
    copy->source = (uint32_t)to;
    for (uint32_t turn = 0; turn < CARRICK_PIECES && CARRICK_READ(copy->left) > 0; turn++) {
        uint64_t place = CARRICK_READ(copy->at) & (CARRICK_RING - 1), spot = CARRICK_READ(copy->source);
        uint64_t piece = carrick_copy_next(copy, CARRICK_RING - place, CARRICK_PIECE);
        CARRICK_OPAQUE(place);
        CARRICK_OPAQUE(spot);
        if (place >= CARRICK_RING || spot >= CARRICK_STAGED || piece > CARRICK_PIECE)
            return;
        (void)bpf_probe_read_kernel(staged->octets + spot, (uint32_t)piece, m->octets + CARRICK_RING_BEGIN + place);
        copy->source = spot + piece;
    }
}

/* As carrick_rx_flush of the runtime; `to` is 0 if the octets go nowhere, and has `room` else. */
CARRICK_APART uint64_t CARRICK_CONTEXT(rx_give)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t len,
                                                uint64_t to, uint64_t room) {
    if (!core || !c)
        return 0;
    struct carrick_rx *rx = &c->rx__;
    len = carrick_min64(len, rx->ready);
    if (to) {
        len = carrick_min64(len, room);
        CARRICK_CONTEXT(rx_read)(&core->copy, c, to, len);
    }
    carrick_rx_skip(rx, (uint32_t)len);
    return len;
}

CARRICK_INLINE uint64_t CARRICK_CONTEXT(rx_take)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t len,
                                                 struct carrick_addr to) {
    uint64_t at = CARRICK_FROM_ADDR(to);
    return CARRICK_CONTEXT(rx_give)(core, c, at ? carrick_min64(len, to.len) : len, carrick_len_there(to) ? at : 0,
                                    to.len);
}

#undef CARRICK_CONTEXT
#undef CARRICK_INSTANCE
#undef CARRICK_INSTANCES
#undef CARRICK_MEMORY
#undef CARRICK_MEMORIES
#undef CARRICK_RING
#undef CARRICK_RING_BEGIN
