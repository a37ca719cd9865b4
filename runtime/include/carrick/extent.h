/* SPDX-License-Identifier: MIT */
/*
 * What a data unit knows of its bytes (paper 1 §5.1, §5.2, appendix D): where they begin and end, which may be
 * overwritten, which are there. No byte is touched here.
 */
#ifndef CARRICK_EXTENT_H
#define CARRICK_EXTENT_H

#include "carrick/bounds.h"

/* What is to be sent. base <= end; reclaimed <= base; end - reclaimed <= capacity. */
struct carrick_tx {
    uint64_t base;      /* the first byte that is still held */
    uint64_t end;       /* one past the last */
    uint64_t reclaimed; /* the first byte that may not be overwritten yet */
    uint64_t size;      /* where the unit ends, UINT64_MAX if it does not */
    uint64_t floor[2];  /* no queued payload of a round begins before it; of meaning while there is one */
    uint64_t pending;   /* queued blueprints with a payload of this unit, 32 bits for each round */
    uint16_t round;     /* that of the next one */
    bool open;
};

/* Packets of what was there before may still be leaving. */
CARRICK_INLINE void carrick_tx_open(struct carrick_tx *tx, uint64_t size) {
    tx->base = tx->end = tx->reclaimed = tx->floor[0] = tx->floor[1] = 0;
    tx->size = size;
    tx->round = 0;
    tx->open = true;
}

/* How many bytes would be taken now. */
CARRICK_INLINE uint64_t carrick_tx_room(const struct carrick_tx *tx, uint64_t mask) {
    if (!tx->open)
        return 0;
    return carrick_min64(mask + 1 - (tx->end - tx->reclaimed), tx->size - tx->end);
}

/* Of `len` bytes from `from` on, those that are there: how many, and where they begin. */
CARRICK_INLINE uint64_t carrick_tx_held(const struct carrick_tx *tx, uint64_t *from, uint64_t len) {
    uint64_t to = len > UINT64_MAX - *from ? UINT64_MAX : *from + len;
    *from = carrick_max64(*from, tx->reclaimed);
    uint64_t end = carrick_min64(to, tx->end);
    return tx->open && end > *from ? end - *from : 0;
}

/* One queued blueprint of a round. */
CARRICK_INLINE uint64_t carrick_tx_one(uint16_t round) {
    return (uint64_t)1 << (round ? 32 : 0);
}

/* What lies before all payloads that are queued, and was retired, may be overwritten. */
CARRICK_INLINE void carrick_tx_reclaim(struct carrick_tx *tx, uint64_t pending) {
    uint64_t first = (uint32_t)pending ? tx->floor[0] : UINT64_MAX;
    uint64_t second = pending >> 32 ? tx->floor[1] : UINT64_MAX;
    uint64_t free = carrick_min64(tx->base, carrick_min64(first, second));
    tx->reclaimed = carrick_max64(tx->reclaimed, free);
}

/* Retires; returns how many bytes. */
CARRICK_INLINE uint64_t carrick_tx_flush(struct carrick_tx *tx, uint64_t len) {
    len = carrick_min64(len, tx->end - tx->base);
    tx->base += len;
    carrick_tx_reclaim(tx, tx->pending);
    return len;
}

/*
 * The round of a payload that begins there and is queued while so many are. While something is always queued, bytes
 * still are to come free: which payload is the first is known for each round, and one begins when none of the other is
 * left.
 */
CARRICK_INLINE uint16_t carrick_tx_round(struct carrick_tx *tx, uint64_t offset, uint64_t pending) {
    uint32_t same = (uint32_t)(tx->round ? pending >> 32 : pending),
             other = (uint32_t)(tx->round ? pending : pending >> 32);
    if (same && !other) {
        tx->round ^= 1;
        same = 0;
    }
    uint64_t *floor = &tx->floor[tx->round & 1];
    *floor = same ? carrick_min64(*floor, offset) : offset;
    return tx->round;
}

/* Counts a queued blueprint whose payload begins at the offset. Returns its round, an argument of carrick_tx_sent. */
CARRICK_INLINE uint16_t carrick_tx_queued(struct carrick_tx *tx, uint64_t offset) {
    uint16_t round = carrick_tx_round(tx, offset, CARRICK_READ(tx->pending));
    CARRICK_ADD(tx->pending, carrick_tx_one(round));
    return round;
}

/* A queued blueprint with a payload of this unit is out. */
CARRICK_INLINE void carrick_tx_sent(struct carrick_tx *tx, uint16_t round) {
    tx->pending -= carrick_tx_one(round);
    carrick_tx_reclaim(tx, tx->pending);
}

/* Bytes [lo, hi) from the unit's base that are there, beyond the in-order ones. */
struct carrick_rx_run {
    uint32_t lo, hi;
};

/* A power of two. Generated code says how many its windows remember, if these are more. */
#ifndef CARRICK_RX_RUNS
#define CARRICK_RX_RUNS 16u
#endif

/* What was received. `ready` bytes from base are in order; the runs lie above, ascending, not touching. */
struct carrick_rx {
    uint64_t base; /* the first byte that was not flushed */
    uint64_t size; /* where the unit ends, UINT64_MAX if it does not */
    uint64_t room; /* size of the buffer, from base on: a power of two */
    uint32_t ready;
    uint16_t count;
    bool open;
    CARRICK_IN_UNIT(struct carrick_rx_run runs[CARRICK_RX_RUNS];)
};

CARRICK_INLINE void carrick_rx_open(struct carrick_rx *rx, uint64_t size, uint64_t room) {
    rx->base = 0;
    rx->size = size;
    rx->room = room;
    rx->ready = 0;
    rx->count = 0;
    rx->open = true;
}

/* Returns the size of its buffer in bytes, with those that it holds; 0: there is no unit. */
CARRICK_INLINE uint64_t carrick_rx_size(const struct carrick_rx *rx) {
    return rx->open ? rx->room : 0;
}

/* Returns how many bytes it holds, with the gaps between them. */
CARRICK_INLINE uint64_t carrick_rx_held(const struct carrick_rx *rx, const struct carrick_rx_run *runs) {
    return rx->count ? runs[(rx->count - 1u) % CARRICK_RX_RUNS].hi : rx->ready;
}

/* Returns the buffer size for a unit that requests `size` bytes: a power of two between two others. */
CARRICK_INLINE uint64_t carrick_rx_fitting(uint64_t size, uint64_t least, uint64_t most) {
    size = carrick_max64(carrick_min64(size, most), least) - 1;
    size |= size >> 1;
    size |= size >> 2;
    size |= size >> 4;
    size |= size >> 8;
    size |= size >> 16;
    return (size | size >> 32) + 1;
}

enum carrick_rx_result { CARRICK_RX_ALL, CARRICK_RX_CUT, CARRICK_RX_FULL };

#endif
