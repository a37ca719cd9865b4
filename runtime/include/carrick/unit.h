/* SPDX-License-Identifier: MIT */
/*
 * Data units (paper 1 §5.1, §5.2, appendix D), whose bytes are in blocks (carrick/pool.h). Those that a context sends
 * are in one, a true ring in which data never moves: it holds mask + 1 bytes, a power of two; byte `offset` of the unit
 * is at offset & mask.
 */
#ifndef CARRICK_UNIT_H
#define CARRICK_UNIT_H

#include "carrick/pool.h"
#include "carrick/sum.h"

static inline void carrick_ring_read(const uint8_t *ring, uint64_t mask, uint64_t offset, uint8_t *to, uint64_t len) {
    uint64_t at = offset & mask, first = carrick_min64(len, mask + 1 - at);
    memcpy(to, ring + at, first);
    if (first < len)
        memcpy(to + first, ring, len - first);
}

/* The same; returns the Internet checksum's sum of what was read, or 0 if not `summed`. */
static inline uint64_t carrick_ring_read_sum(const uint8_t *ring, uint64_t mask, uint64_t offset, uint8_t *to,
                                             uint64_t len, bool summed) {
    if (!summed) {
        carrick_ring_read(ring, mask, offset, to, len);
        return 0;
    }
    uint64_t at = offset & mask, first = carrick_min64(len, mask + 1 - at);
    uint64_t sum = carrick_copy_sum(to, ring + at, first);
    return first == len ? sum : carrick_sum_join(sum, first, carrick_copy_sum(to + first, ring, len - first));
}

/* Appends; returns how many bytes were taken. */
static inline uint64_t carrick_tx_add(struct carrick_tx *tx, struct carrick_pool *pool, uint64_t slot,
                                      struct carrick_addr from, uint64_t len) {
    len = carrick_min64(carrick_min64(len, from.len), carrick_tx_room(tx, pool->mask));
    if (len == 0)
        return 0;
    carrick_pool_write(pool, slot, tx->end, from.ptr, len);
    tx->end += len;
    return len;
}

/* Gives the ring back if it holds nothing that is still to be sent: all is retired, or the context is gone. */
static inline void carrick_tx_vacate(const struct carrick_tx *tx, struct carrick_pool *pool, uint64_t slot) {
    if (!tx->pending && (tx->reclaimed == tx->end || !tx->open))
        carrick_pool_give_back(pool, &pool->tables[slot]);
}

/* Retires; returns how many bytes. */
static inline uint64_t carrick_tx_pass(struct carrick_tx *tx, struct carrick_pool *pool, uint64_t slot, uint64_t len) {
    len = carrick_tx_flush(tx, len);
    carrick_tx_vacate(tx, pool, slot);
    return len;
}

/* What left is taken back at once: nothing is left to do before a unit is used. */
static inline void carrick_tx_settle(struct carrick_tx *tx) {
    (void)tx;
}

/* Copies [lo, hi) where nothing is yet: bytes already there are kept. */
static inline void carrick_rx_fill(struct carrick_rx *rx, struct carrick_pool *pool, uint64_t slot, const uint8_t *from,
                                   uint32_t lo, uint32_t hi) {
    const struct carrick_rx_run *runs = carrick_pool_runs(pool, slot);
    uint32_t at = lo > rx->ready ? lo : rx->ready;
    for (uint32_t i = 0; i < rx->count && at < hi; i++) {
        uint32_t gap_end = runs[i].lo < hi ? runs[i].lo : hi;
        if (at < gap_end)
            carrick_pool_write(pool, slot, rx->base + at, from + (at - lo), gap_end - at);
        if (runs[i].hi > at)
            at = runs[i].hi;
    }
    if (at < hi)
        carrick_pool_write(pool, slot, rx->base + at, from + (at - lo), hi - at);
}

/* Bytes [lo, hi) from base; false if that needs more runs than there are. */
static inline bool carrick_rx_insert(struct carrick_rx *rx, struct carrick_pool *pool, uint64_t slot,
                                     const uint8_t *from, uint32_t lo, uint32_t hi) {
    if (lo <= rx->ready && rx->count == 0) { /* in order, as they mostly are */
        if (hi <= rx->ready)
            return true;
        carrick_pool_write(pool, slot, rx->base + rx->ready, from + (rx->ready - lo), hi - rx->ready);
        rx->ready = hi;
        return true;
    }
    struct carrick_rx_run *runs = carrick_pool_runs(pool, slot);
    if (lo <= rx->ready) {
        carrick_rx_fill(rx, pool, slot, from, lo, hi);
        if (hi > rx->ready)
            rx->ready = hi;
        uint16_t gone = 0;
        for (; gone < rx->count && runs[gone].lo <= rx->ready; gone++)
            if (runs[gone].hi > rx->ready)
                rx->ready = runs[gone].hi;
        rx->count = (uint16_t)(rx->count - gone);
        if (gone && rx->count)
            memmove(runs, runs + gone, rx->count * sizeof *runs);
        return true;
    }
    uint16_t i = 0;
    while (i < rx->count && runs[i].hi < lo)
        i++;
    uint16_t j = i;
    while (j < rx->count && runs[j].lo <= hi)
        j++;
    if (i == j && rx->count == CARRICK_RX_RUNS)
        return false;
    carrick_rx_fill(rx, pool, slot, from, lo, hi);
    if (i == j) {
        memmove(&runs[i + 1], &runs[i], (size_t)(rx->count - i) * sizeof *runs);
        runs[i] = (struct carrick_rx_run){lo, hi};
        rx->count++;
        return true;
    }
    runs[i].lo = runs[i].lo < lo ? runs[i].lo : lo;
    runs[i].hi = runs[j - 1].hi > hi ? runs[j - 1].hi : hi;
    memmove(&runs[i + 1], &runs[j], (size_t)(rx->count - j) * sizeof *runs);
    rx->count = (uint16_t)(rx->count - (j - i - 1));
    return true;
}

/* len bytes at `from` belong at `offset` of the unit. */
static inline enum carrick_rx_result carrick_rx_add(struct carrick_rx *rx, struct carrick_pool *pool, uint64_t slot,
                                                    struct carrick_addr from, uint64_t len, uint64_t offset) {
    len = carrick_min64(len, from.len);
    if (offset < rx->base) {
        uint64_t old = carrick_min64(len, rx->base - offset);
        from = carrick_addr_skip(from, old);
        len -= old;
        offset = rx->base;
    }
    if (len == 0)
        return CARRICK_RX_ALL; /* wherever it belongs: nothing of it is cut */
    uint64_t lo = offset - rx->base, limit = carrick_min64(rx->room, rx->size - rx->base);
    if (lo >= limit)
        return CARRICK_RX_CUT;
    enum carrick_rx_result result = CARRICK_RX_ALL;
    if (len > limit - lo) {
        len = limit - lo;
        result = CARRICK_RX_CUT;
    }
    bool taken = carrick_rx_insert(rx, pool, slot, from.ptr, (uint32_t)lo, (uint32_t)(lo + len));
    return taken ? result : CARRICK_RX_FULL;
}

/* The next bytes go to `to` (nowhere if it is none); returns how many. */
static inline uint64_t carrick_rx_flush(struct carrick_rx *rx, struct carrick_pool *pool, uint64_t slot, uint64_t len,
                                        struct carrick_addr to) {
    len = carrick_min64(len, rx->ready);
    if (to.ptr) {
        len = carrick_min64(len, to.len);
        carrick_pool_read(pool, slot, rx->base, to.ptr, len);
    }
    rx->base += len;
    rx->ready -= (uint32_t)len;
    carrick_pool_pass(pool, slot, rx->base - len, rx->base, rx->ready == 0 && rx->count == 0);
    struct carrick_rx_run *runs = carrick_pool_runs(pool, slot);
    for (uint16_t i = 0; i < rx->count; i++) {
        runs[i].lo -= (uint32_t)len;
        runs[i].hi -= (uint32_t)len;
    }
    return len;
}

/* Drops what is behind a gap and lies beyond `room` bytes from base. */
static inline void carrick_rx_cut(struct carrick_rx *rx, struct carrick_pool *pool, uint64_t slot, uint64_t room) {
    struct carrick_rx_run *runs = carrick_pool_runs(pool, slot);
    uint64_t end = rx->base + carrick_rx_held(rx, runs);
    while (rx->count && runs[rx->count - 1u].lo >= room)
        rx->count--;
    if (rx->count && runs[rx->count - 1u].hi > room)
        runs[rx->count - 1u].hi = (uint32_t)room;
    uint64_t held = carrick_rx_held(rx, runs), partly = held ? pool->mask : 0; /* the block where it ends stays */
    carrick_pool_pass(pool, slot, rx->base + held + partly, end, true);
}

/* Resizes its buffer to `size` bytes, unless it holds more than that in order or the pool has less. */
static inline void carrick_rx_resize(struct carrick_rx *rx, struct carrick_pool *pool, uint64_t slot, uint64_t size) {
    uint64_t room = carrick_rx_fitting(size, pool->least, pool->most);
    uint64_t left = pool->left + (rx->room - pool->least), grown = room - pool->least;
    if (room < rx->ready || grown > left)
        return;
    if (room < carrick_rx_held(rx, carrick_pool_runs(pool, slot)))
        carrick_rx_cut(rx, pool, slot, room);
    pool->left = left - grown;
    rx->room = room;
}

/* The unit is over. */
static inline void carrick_rx_close(struct carrick_rx *rx, struct carrick_pool *pool, uint64_t slot) {
    if (!rx->open)
        return;
    carrick_pool_pass(pool, slot, rx->base, rx->base + carrick_rx_held(rx, carrick_pool_runs(pool, slot)), true);
    pool->left += rx->room - pool->least;
    rx->open = false;
}

/* The unit begins, empty. */
static inline void carrick_rx_begin(struct carrick_rx *rx, struct carrick_pool *pool, uint64_t slot, uint64_t size) {
    carrick_rx_close(rx, pool, slot);
    carrick_rx_open(rx, size, pool->least);
}

#endif
