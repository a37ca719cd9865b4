/* SPDX-License-Identifier: MIT */
/*
 * What instances of a context send: included once for each context that does. CARRICK_CONTEXT(name) is what the
 * generated code has under a name for it, CARRICK_INSTANCE its struct, of which CARRICK_INSTANCES is the map, and
 * CARRICK_MEMORY that of its bytes, of which CARRICK_MEMORIES is the map. The ring is the CARRICK_RING bytes from
 * CARRICK_RING_BEGIN on.
 */
#include "carrick/fetch.h"

/* How many bytes would be taken now. */
CARRICK_INLINE uint64_t CARRICK_CONTEXT(tx_room)(CARRICK_INSTANCE *c) {
    carrick_tx_settle(&c->tx__);
    return carrick_tx_room(&c->tx__, CARRICK_RING - 1);
}

/* As carrick_tx_add of the runtime. */
CARRICK_GLOBAL_FN uint64_t CARRICK_CONTEXT(tx_copy)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t from,
                                                    uint64_t len) {
    if (!core || !c)
        return 0;
    len = carrick_min64(len, CARRICK_CONTEXT(tx_room)(c));
    uint32_t slot = c->slot__;
    CARRICK_MEMORY *m = len ? bpf_map_lookup_elem(&CARRICK_MEMORIES, &slot) : NULL;
    if (!m || !CARRICK_OWN(fetch)(core, from, len))
        return 0;
    carrick_ring_put(&core->copy, m->octets + CARRICK_RING_BEGIN, CARRICK_RING, c->tx__.end, len);
    c->tx__.end += len;
    return len;
}

CARRICK_INLINE uint64_t CARRICK_CONTEXT(tx_put)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c,
                                                struct carrick_addr from, uint64_t len) {
    return CARRICK_CONTEXT(tx_copy)(core, c, CARRICK_FROM_ADDR(from),
                                    carrick_min64(len, carrick_len_there(&core->open, from)));
}

CARRICK_INLINE uint64_t CARRICK_CONTEXT(tx_pass)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t len) {
    (void)core;
    return carrick_tx_flush(&c->tx__, len);
}

/* The sum of the bytes of the ring at a place (RFC 1071). */
CARRICK_GLOBAL_FN uint64_t CARRICK_CONTEXT(tx_add_up)(CARRICK_MEMORY *m, uint64_t place, uint32_t piece) {
    if (!m || place >= CARRICK_RING || piece > CARRICK_SUMMED)
        return 0;
    return carrick_sum_piece(m->octets + CARRICK_RING_BEGIN + place, piece);
}

/* The sum of bytes of the ring, from offset `at` on, in pieces, of which the end of the ring may make one odd. */
CARRICK_GLOBAL_FN uint64_t CARRICK_CONTEXT(tx_sum)(CARRICK_MEMORY *m, uint64_t at, uint64_t len) {
    uint64_t sum = 0, done = 0;
    for (uint32_t turn = 0; turn < CARRICK_SUMS && done < len; turn++) {
        uint64_t place = at & (CARRICK_RING - 1);
        uint64_t piece = carrick_min64(carrick_min64(len - done, CARRICK_RING - place), CARRICK_SUMMED);
        sum = carrick_sum_join(sum, done, CARRICK_CONTEXT(tx_add_up)(m, place, (uint32_t)piece));
        at += piece;
        done += piece;
    }
    return sum;
}

/* The bytes of the ring at a place to the frame. */
CARRICK_GLOBAL_FN int CARRICK_CONTEXT(tx_give)(struct xdp_md *ctx, CARRICK_MEMORY *m, uint64_t place, uint32_t begin,
                                               uint32_t piece) {
    if (!m || place >= CARRICK_RING || piece > CARRICK_PIECE)
        return 0;
    CARRICK_BARRIER_VAR(piece);
    return piece == 0 || bpf_xdp_store_bytes(ctx, begin, m->octets + CARRICK_RING_BEGIN + place, piece) == 0;
}

/* Bytes of the ring, from offset `at` on, to the frame, from `begin` on. */
CARRICK_GLOBAL_FN int CARRICK_CONTEXT(tx_show)(struct xdp_md *ctx, CARRICK_MEMORY *m, uint64_t at, uint32_t begin,
                                               uint64_t len) {
    int there = 1;
    for (uint32_t turn = 0; turn < CARRICK_PIECES && len > 0; turn++) {
        uint64_t place = at & (CARRICK_RING - 1);
        uint64_t piece = carrick_min64(carrick_min64(len, CARRICK_RING - place), CARRICK_PIECE);
        there &= CARRICK_CONTEXT(tx_give)(ctx, m, place, begin, (uint32_t)piece);
        at += piece;
        begin += (uint32_t)piece;
        len -= piece;
    }
    return there;
}

/* Bytes of the ring, from `offset` on, to what is put together. */
CARRICK_INLINE void CARRICK_CONTEXT(tx_lay)(struct carrick_laid *assembly_buffer, uint32_t at, CARRICK_MEMORY *m,
                                            uint64_t offset, uint64_t len) {
    uint64_t place = offset & (CARRICK_RING - 1), first = carrick_min64(len, CARRICK_RING - place);
    carrick_lay(assembly_buffer, at, m->octets + CARRICK_RING_BEGIN + place, first);
    carrick_lay(assembly_buffer, at + first, m->octets + CARRICK_RING_BEGIN, len - first);
}

/* A payload of a unit is out. A slot that only waited for it is free. */
CARRICK_INLINE void CARRICK_CONTEXT(tx_out)(struct CARRICK_OWN(core) * core, uint32_t slot, uint16_t round) {
    CARRICK_INSTANCE *c = bpf_map_lookup_elem(&CARRICK_INSTANCES, &slot);
    if (!c || !carrick_tx_left(&c->tx__, round) || CARRICK_READ(c->live__) != 2 || !carrick_hold(&c->held__))
        return;
    bool idle = c->live__ == 2 && CARRICK_READ(c->tx__.pending) == 0;
    if (idle)
        CARRICK_CONTEXT(vacate)(c);
    carrick_release(&c->held__);
    if (idle)
        CARRICK_CONTEXT(free)(core, slot);
}

#undef CARRICK_CONTEXT
#undef CARRICK_INSTANCE
#undef CARRICK_INSTANCES
#undef CARRICK_MEMORY
#undef CARRICK_MEMORIES
#undef CARRICK_RING
#undef CARRICK_RING_BEGIN
