/* SPDX-License-Identifier: MIT */
/*
 * What instances of a context receive: included once for each context that does. CARRICK_CONTEXT(name) is what the
 * generated code has under a name for it, CARRICK_INSTANCE its struct, of which CARRICK_INSTANCES is the map, and
 * CARRICK_MEMORY that of its bytes, of which CARRICK_MEMORIES is the map. The ring is the CARRICK_RING bytes from
 * CARRICK_RING_BEGIN on. Units that grow have none: their bytes are in blocks of CARRICK_BLOCK bytes, elements of the
 * map CARRICK_BLOCKS_OF, of which those that are free are in CARRICK_BLOCKS_FREE; the table in the memory of an
 * instance, CARRICK_TABLE entries long, says which are its own (carrick/pool.h of the runtime). CARRICK_GROWN is the
 * map of what all units grew by, and CARRICK_MOST what a unit grows to.
 */
#include "carrick/fetch.h"

#ifdef CARRICK_BLOCK
#define CARRICK_PLACES CARRICK_BLOCK

/* The place in the table of the block of a byte. */
CARRICK_INLINE uint32_t *CARRICK_CONTEXT(rx_entry)(CARRICK_MEMORY *m, uint64_t offset) {
    uint64_t number = offset / CARRICK_BLOCK & (CARRICK_TABLE - 1);
    CARRICK_BARRIER_VAR(number);
    return &m->blocks[carrick_at(number, CARRICK_TABLE)];
}

/* The bytes of a block, its number + 1; NULL: it is none. */
CARRICK_INLINE uint8_t *CARRICK_CONTEXT(rx_block)(uint32_t block) {
    block--;
    struct CARRICK_CONTEXT(block) *found = bpf_map_lookup_elem(&CARRICK_BLOCKS_OF, &block);
    return found ? found->octets : NULL;
}

/* The block of a byte; NULL: there is none. Also for who does not hold the instance. */
CARRICK_INLINE uint8_t *CARRICK_CONTEXT(rx_octets)(CARRICK_MEMORY *m, uint64_t offset) {
    return CARRICK_CONTEXT(rx_block)(CARRICK_READ(*CARRICK_CONTEXT(rx_entry)(m, offset)));
}

/* The same; if there is none yet, it is taken. NULL: nothing is to be had. */
CARRICK_INLINE uint8_t *CARRICK_CONTEXT(rx_octets_to_fill)(CARRICK_MEMORY *m, uint64_t offset) {
    uint32_t *entry = CARRICK_CONTEXT(rx_entry)(m, offset), block = *entry;
    if (!block) {
        if (bpf_map_pop_elem(&CARRICK_BLOCKS_FREE, &block))
            return NULL;
        *entry = ++block;
    }
    return CARRICK_CONTEXT(rx_block)(block);
}

/* Bytes of a unit up to `to` are over; `all`: it holds nothing behind them. */
CARRICK_GLOBAL_FN int CARRICK_CONTEXT(rx_pass)(uint32_t slot, uint64_t from, uint64_t to, uint32_t all) {
    CARRICK_MEMORY *m = bpf_map_lookup_elem(&CARRICK_MEMORIES, &slot);
    if (!m)
        return 0;
    uint64_t end = (to + (all ? CARRICK_BLOCK - 1 : 0)) / CARRICK_BLOCK;
    for (uint64_t number = from / CARRICK_BLOCK; number < end && CARRICK_GOES_ON; number++) {
        number = CARRICK_FORGOTTEN(number, m->blocks[0]);
        uint32_t *entry = &m->blocks[carrick_at(number & (CARRICK_TABLE - 1), CARRICK_TABLE)];
        uint32_t block = *entry - 1;
        if (*entry)
            (void)bpf_map_push_elem(&CARRICK_BLOCKS_FREE, &block, 0);
        *entry = 0;
    }
    return 0;
}

/* Drops what is behind a gap and lies beyond `room` bytes from base. */
CARRICK_GLOBAL_FN int CARRICK_CONTEXT(rx_cut)(CARRICK_INSTANCE *c, uint32_t room) {
    if (!c)
        return 0;
    struct carrick_rx *rx = &c->rx__;
    uint64_t end = rx->base + carrick_rx_held(rx, rx->runs), count = 0;
    for (uint32_t i = 0; i < CARRICK_RX_RUNS; i++) {
        uint64_t there = carrick_below(i, rx->count) & carrick_below(rx->runs[i].lo, room);
        rx->runs[i].hi = (uint32_t)carrick_choose64(there, carrick_least(rx->runs[i].hi, room), rx->runs[i].hi);
        count += there;
    }
    rx->count = (uint16_t)count;
    uint64_t held = carrick_rx_held(rx, rx->runs);
    uint64_t partly = held ? CARRICK_BLOCK - 1 : 0; /* the block where it ends stays */
    return CARRICK_CONTEXT(rx_pass)(c->slot__, rx->base + held + partly, end, 1);
}

/* Other processors grow their units at the same time: what is too much is given back at once. */
CARRICK_INLINE void CARRICK_CONTEXT(rx_grow)(struct carrick_rx *rx, uint64_t room, uint64_t pool) {
    uint32_t only = 0;
    uint64_t *grown = bpf_map_lookup_elem(&CARRICK_GROWN, &only);
    if (!grown)
        return;
    uint64_t more = room - rx->room; /* modulo 2^64 */
    if (__sync_fetch_and_add(grown, more) + more > pool && room > rx->room)
        (void)__sync_fetch_and_add(grown, 0 - more);
    else
        rx->room = room;
}
#else
#define CARRICK_PLACES CARRICK_RING

CARRICK_INLINE uint8_t *CARRICK_CONTEXT(rx_octets)(CARRICK_MEMORY *m, CARRICK_UNUSED uint64_t offset) {
    return m->octets + CARRICK_RING_BEGIN;
}

CARRICK_INLINE uint8_t *CARRICK_CONTEXT(rx_octets_to_fill)(CARRICK_MEMORY *m, uint64_t offset) {
    return CARRICK_CONTEXT(rx_octets)(m, offset);
}
#endif

/* Gives a unit room for `size` bytes, unless it holds more than that in order or the pool has less. */
CARRICK_INLINE void CARRICK_CONTEXT(rx_room)(CARRICK_INSTANCE *c, CARRICK_UNUSED uint64_t size,
                                             CARRICK_UNUSED uint64_t pool) {
    (void)c;
#ifdef CARRICK_BLOCK
    struct carrick_rx *rx = &c->rx__;
    uint64_t room = carrick_rx_fitting(size, CARRICK_RING, CARRICK_MOST);
    if (room < rx->ready)
        return;
    if (room < carrick_rx_held(rx, rx->runs))
        (void)CARRICK_CONTEXT(rx_cut)(c, (uint32_t)room);
    CARRICK_CONTEXT(rx_grow)(rx, room, pool);
#endif
}

/* The unit is over. */
CARRICK_INLINE void CARRICK_CONTEXT(rx_close)(CARRICK_INSTANCE *c) {
#ifdef CARRICK_BLOCK
    struct carrick_rx *rx = &c->rx__;
    if (rx->open) {
        (void)CARRICK_CONTEXT(rx_pass)(c->slot__, rx->base, rx->base + carrick_rx_held(rx, rx->runs), 1);
        rx->ready = rx->count = 0;
        CARRICK_CONTEXT(rx_grow)(rx, CARRICK_RING, 0);
    }
#endif
    c->rx__.open = false;
}

CARRICK_INLINE void CARRICK_CONTEXT(rx_start)(CARRICK_INSTANCE *c, uint64_t size) {
    CARRICK_CONTEXT(rx_close)(c);
    c->opened__++;
    carrick_rx_open(&c->rx__, size, CARRICK_RING);
}

/* So many bytes of the source to offset `at` of the unit. */
CARRICK_INLINE void CARRICK_CONTEXT(rx_store)(struct carrick_copy *copy, CARRICK_MEMORY *m, uint64_t at, uint64_t len) {
    copy->at = at;
    copy->left = len;
    for (uint32_t turn = 0; turn < CARRICK_PIECES && CARRICK_READ(copy->left) > 0; turn++) {
        uint64_t place = CARRICK_READ(copy->at) & (CARRICK_PLACES - 1);
        uint8_t *octets = CARRICK_CONTEXT(rx_octets_to_fill)(m, CARRICK_READ(copy->at));
        uint64_t piece = carrick_copy_next(copy, CARRICK_PLACES - place, CARRICK_PIECE);
        CARRICK_BARRIER_VAR(place);
        if (!octets || place >= CARRICK_PLACES)
            return;
        carrick_copy_piece(copy, octets + place, piece);
    }
}

/* Copies a segment where nothing is yet, before each run and behind the last, and notes it. Where it is stands in
 * memory, so that the verifier follows this once, and not for every way in which it was cut. */
CARRICK_INLINE void CARRICK_CONTEXT(rx_fill)(struct carrick_copy *copy, struct carrick_rx *rx, CARRICK_MEMORY *m) {
    for (uint32_t i = 0; CARRICK_READ(copy->done) < CARRICK_READ(copy->hi) && CARRICK_GOES_ON; i++) {
        i = CARRICK_FORGOTTEN(i, rx->ready);
        uint64_t there = carrick_below(i, CARRICK_READ(rx->count));
        struct carrick_rx_run run = rx->runs[i & (CARRICK_RX_RUNS - 1)];
        uint64_t begin = CARRICK_READ(copy->done), hi = CARRICK_READ(copy->hi);
        uint64_t end = carrick_choose64(there, carrick_least(run.lo, hi), hi);
        copy->source = CARRICK_READ(copy->begin) + begin;
        copy->done = carrick_choose64(there, carrick_choose64(carrick_below(begin, run.hi), run.hi, begin), hi);
        if (begin < end)
            CARRICK_CONTEXT(rx_store)(copy, m, CARRICK_READ(rx->base) + begin, end - begin);
    }
    carrick_rx_note(rx, copy);
}

/* As carrick_rx_add of the runtime. */
CARRICK_GLOBAL_FN int CARRICK_CONTEXT(rx_copy)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t from,
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
    uint64_t limit = carrick_min64(rx->room, rx->size - base);
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
    return (enum carrick_rx_result)CARRICK_CONTEXT(rx_copy)(
        core, c, CARRICK_FROM_ADDR(from), carrick_min64(len, carrick_len_there(&core->open, from)), offset);
}

/* Bytes of the ring from offset `at` on to the memory of a request. */
CARRICK_GLOBAL_FN int CARRICK_CONTEXT(rx_read)(struct CARRICK_OWN(core) * core, uint32_t slot, uint64_t at, uint64_t to,
                                               uint64_t len) {
    uint32_t which = (uint32_t)(to >> 32) - 1;
    CARRICK_MEMORY *m = bpf_map_lookup_elem(&CARRICK_MEMORIES, &slot);
    struct carrick_staged *staged = bpf_map_lookup_elem(&carrick_requests, &which);
    if (!core || !m || !staged)
        return 0;
    struct carrick_copy *copy = &core->copy;
    copy->at = at;
    copy->left = len;
    copy->source = (uint32_t)to;
    for (uint32_t turn = 0; turn < CARRICK_PIECES && CARRICK_READ(copy->left) > 0; turn++) {
        uint64_t place = CARRICK_READ(copy->at) & (CARRICK_PLACES - 1), spot = CARRICK_READ(copy->source);
        const uint8_t *octets = CARRICK_CONTEXT(rx_octets)(m, CARRICK_READ(copy->at));
        uint64_t piece = carrick_copy_next(copy, CARRICK_PLACES - place, CARRICK_PIECE);
        CARRICK_BARRIER_VAR(place);
        CARRICK_BARRIER_VAR(spot);
        if (!octets || place >= CARRICK_PLACES || spot >= CARRICK_STAGED || piece > CARRICK_PIECE)
            return 0;
        carrick_move(staged->octets + spot, piece, octets + place);
        copy->source = spot + piece;
    }
    return 0;
}

/* Copies what is readable to the memory of a request that will be handled next. */
CARRICK_GLOBAL_FN int CARRICK_CONTEXT(rx_ahead)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t to,
                                                uint64_t len) {
    if (!core || !c || c->rx__.ready < CARRICK_AHEAD_LEAST || !carrick_hold(&c->held__))
        return 0;
    struct carrick_ahead *ahead = &core->ahead;
    ahead->handle = c->live__ == 1 && c->rx__.open ? CARRICK_CONTEXT(handle)(c) : 0;
    ahead->base = c->rx__.base;
    ahead->opened = c->opened__;
    ahead->to = to;
    len = carrick_min64(len, c->rx__.ready);
    carrick_release(&c->held__);
    if (!CARRICK_READ(ahead->handle))
        return 0;
    (void)CARRICK_CONTEXT(rx_read)(core, c->slot__, CARRICK_READ(ahead->base), to, len);
    ahead->len = len;
    return 0;
}

/* How many of the next bytes are there already. */
CARRICK_INLINE uint64_t CARRICK_CONTEXT(rx_there)(const struct carrick_ahead *ahead, const CARRICK_INSTANCE *c,
                                                  uint64_t to) {
    bool same = ahead->to == to && ahead->base == c->rx__.base && ahead->opened == c->opened__ &&
                ahead->handle == CARRICK_CONTEXT(handle)(c);
    return same ? ahead->len : 0;
}

/* As carrick_rx_flush of the runtime; `to` is 0 if the bytes go nowhere, and has `room` else. */
CARRICK_GLOBAL_FN uint64_t CARRICK_CONTEXT(rx_give)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t len,
                                                    uint64_t to, uint64_t room) {
    if (!core || !c)
        return 0;
    struct carrick_rx *rx = &c->rx__;
    len = carrick_min64(len, rx->ready);
    if (to) {
        len = carrick_min64(len, room);
        uint64_t there = CARRICK_CONTEXT(rx_there)(&core->ahead, c, to);
        if (there < len)
            (void)CARRICK_CONTEXT(rx_read)(core, c->slot__, rx->base + there, to + there, len - there);
    }
    carrick_rx_skip(rx, (uint32_t)len);
#ifdef CARRICK_BLOCK
    (void)CARRICK_CONTEXT(rx_pass)(c->slot__, rx->base - len, rx->base, rx->ready == 0 && rx->count == 0);
#endif
    return len;
}

CARRICK_INLINE uint64_t CARRICK_CONTEXT(rx_take)(struct CARRICK_OWN(core) * core, CARRICK_INSTANCE *c, uint64_t len,
                                                 struct carrick_addr to) {
    uint64_t at = CARRICK_FROM_ADDR(to);
    return CARRICK_CONTEXT(rx_give)(core, c, at ? carrick_min64(len, to.len) : len,
                                    carrick_len_there(&core->open, to) ? at : 0, to.len);
}

#undef CARRICK_CONTEXT
#undef CARRICK_INSTANCE
#undef CARRICK_INSTANCES
#undef CARRICK_MEMORY
#undef CARRICK_MEMORIES
#undef CARRICK_RING
#undef CARRICK_RING_BEGIN
#undef CARRICK_PLACES
#undef CARRICK_BLOCK
#undef CARRICK_BLOCKS_OF
#undef CARRICK_BLOCKS_FREE
#undef CARRICK_TABLE
#undef CARRICK_GROWN
#undef CARRICK_MOST
