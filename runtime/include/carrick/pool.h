/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes of units are: in blocks that all units of one kind of a context share. A unit takes one when bytes
 * come for it, and gives it back when nothing of them is needed any more, so one that holds nothing takes no memory.
 * Byte `offset` of a unit is in the block that its table names at offset / block, modulo the table's length: as long as
 * twice the largest unit, so that two blocks never meet there. Units that do not grow are one block each, in which
 * offsets wrap; TX units are such ones.
 */
#ifndef CARRICK_POOL_H
#define CARRICK_POOL_H

#include "carrick/extent.h"
#include "carrick/program.h"

#define CARRICK_BLOCK_MOST 65536u
/* The largest unit is so many blocks at most, unless they are the largest there are. */
#define CARRICK_BLOCKS_MANY 128u

struct carrick_pool {
    uint8_t *octets;             /* of all blocks */
    uint32_t *tables;            /* for each slot `turn` + 1 entries: a block + 1; 0: none */
    struct carrick_rx_run *runs; /* of each slot CARRICK_RX_RUNS, for RX units; what comes in order touches none */
    uint32_t *free;              /* blocks that were given back; the last one is taken first */
    uint64_t least, most, left;  /* of a unit's buffer; bytes by which units may still grow */
    uint64_t mask, turn;         /* a block has mask + 1 bytes */
    uint32_t shift;              /* and is 1 << shift */
    uint32_t free_count, fresh;
};

/* Returns the bytes of a block, for units of `least` bytes that grow to `most`. */
static inline uint64_t carrick_pool_block(uint64_t least, uint64_t most) {
    if (least >= most)
        return least;
    return carrick_min64(CARRICK_BLOCK_MOST, carrick_max64(least, most / CARRICK_BLOCKS_MANY));
}

/* Lays it out from `base` (NULL: nowhere) + `at` on: for `slots` units that grow by `growth` together. All are at most
 * 2^30, so nothing overflows. */
static inline void carrick_pool_layout(struct carrick_pool *pool, uint8_t *base, size_t *at, uint64_t slots,
                                       uint64_t least, uint64_t most, uint64_t growth) {
    pool->least = carrick_pow2(least);
    pool->most = carrick_max64(pool->least, carrick_pow2(most));
    pool->left = growth;
    uint64_t block = carrick_pool_block(pool->least, pool->most), each = 1;
    pool->mask = block - 1;
    pool->turn = 0;
    if (pool->least < pool->most) {
        pool->turn = 2 * pool->most / block - 1;
        each = carrick_max64(pool->least, block) / block + 1; /* a unit seldom begins where a block does */
    }
    pool->shift = 0;
    while (block >> pool->shift > 1)
        pool->shift++;
    uint64_t blocks = slots * each + growth / block;
    pool->tables = (uint32_t *)(void *)carrick_place(base, at, slots * (pool->turn + 1) * sizeof(uint32_t));
    pool->free = (uint32_t *)(void *)carrick_place(base, at, blocks * sizeof(uint32_t));
    pool->octets = carrick_place(base, at, blocks * block);
}

/* Behind carrick_pool_layout, for RX units: what they know of gaps. */
static inline void carrick_pool_layout_runs(struct carrick_pool *pool, uint8_t *base, size_t *at, uint64_t slots) {
    pool->runs = (struct carrick_rx_run *)(void *)carrick_place(base, at, slots * CARRICK_RX_RUNS * sizeof *pool->runs);
}

static inline struct carrick_rx_run *carrick_pool_runs(const struct carrick_pool *pool, uint64_t slot) {
    return pool->runs + slot * CARRICK_RX_RUNS;
}

static inline uint32_t *carrick_pool_entry(const struct carrick_pool *pool, uint64_t slot, uint64_t number) {
    return &pool->tables[slot * (pool->turn + 1) + (number & pool->turn)];
}

/* Where the `len` bytes of a unit from `offset` on are; NULL if they are not all in one block that the unit has. */
static inline uint8_t *carrick_pool_whole(const struct carrick_pool *pool, uint64_t slot, uint64_t offset,
                                          uint64_t len) {
    uint64_t block = *carrick_pool_entry(pool, slot, offset >> pool->shift), at = offset & pool->mask;
    return block && len <= pool->mask + 1 - at ? pool->octets + ((block - 1) << pool->shift) + at : NULL;
}

/* Where a byte of a unit is, in a block that is taken if there is none yet; *len is cut to what follows there. */
static inline uint8_t *carrick_pool_at(struct carrick_pool *pool, uint64_t slot, uint64_t offset, uint64_t *len) {
    uint32_t *block = carrick_pool_entry(pool, slot, offset >> pool->shift);
    if (!*block)
        *block = pool->free_count ? pool->free[--pool->free_count] : ++pool->fresh;
    *len = carrick_min64(*len, pool->mask + 1 - (offset & pool->mask));
    return carrick_pool_whole(pool, slot, offset, *len);
}

CARRICK_APART void carrick_pool_write_pieces(struct carrick_pool *pool, uint64_t slot, uint64_t offset,
                                             const uint8_t *from, uint64_t len) {
    for (uint64_t done = 0, piece; done < len; done += piece) {
        piece = len - done;
        uint8_t *to = carrick_pool_at(pool, slot, offset + done, &piece);
        memcpy(to, from + done, piece);
    }
}

static inline void carrick_pool_write(struct carrick_pool *pool, uint64_t slot, uint64_t offset, const uint8_t *from,
                                      uint64_t len) {
    uint8_t *to = carrick_pool_whole(pool, slot, offset, len);
    if (to)
        memcpy(to, from, len);
    else
        carrick_pool_write_pieces(pool, slot, offset, from, len);
}

CARRICK_APART void carrick_pool_read_pieces(struct carrick_pool *pool, uint64_t slot, uint64_t offset, uint8_t *to,
                                            uint64_t len) {
    for (uint64_t done = 0, piece; done < len; done += piece) {
        piece = len - done;
        const uint8_t *from = carrick_pool_at(pool, slot, offset + done, &piece);
        memcpy(to + done, from, piece);
    }
}

static inline void carrick_pool_read(struct carrick_pool *pool, uint64_t slot, uint64_t offset, uint8_t *to,
                                     uint64_t len) {
    const uint8_t *from = carrick_pool_whole(pool, slot, offset, len);
    if (from)
        memcpy(to, from, len);
    else
        carrick_pool_read_pieces(pool, slot, offset, to, len);
}

/* The block of a unit that does not grow: its ring of mask + 1 bytes. It has one while it holds bytes. */
static inline const uint8_t *carrick_pool_ring(const struct carrick_pool *pool, uint64_t slot) {
    return pool->octets + ((uint64_t)(pool->tables[slot] - 1) << pool->shift);
}

static inline void carrick_pool_give_back(struct carrick_pool *pool, uint32_t *block) {
    if (*block)
        pool->free[pool->free_count++] = *block;
    *block = 0;
}

/* Bytes [from, to) of a unit are over; `all`: it holds nothing behind them. */
static inline void carrick_pool_pass(struct carrick_pool *pool, uint64_t slot, uint64_t from, uint64_t to, bool all) {
    if (!pool->turn && !all)
        return;
    uint64_t end = (to + (all ? pool->mask : 0)) >> pool->shift;
    for (uint64_t number = from >> pool->shift; number < end; number++)
        carrick_pool_give_back(pool, carrick_pool_entry(pool, slot, number));
}

#endif
