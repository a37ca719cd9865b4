/* SPDX-License-Identifier: MIT */
/*
 * What a data unit knows of its octets (paper 1 §5.1, §5.2, appendix D): where they begin and end, which may be
 * overwritten, which are there. No octet is touched here.
 */
#ifndef CARRICK_EXTENT_H
#define CARRICK_EXTENT_H

#include "carrick/base.h"

/* What is to be sent. base <= end; reclaimed <= base; end - reclaimed <= capacity. */
struct carrick_tx {
    uint64_t base;      /* the first octet that is still held */
    uint64_t end;       /* one past the last */
    uint64_t reclaimed; /* the first octet that may not be overwritten yet */
    uint64_t size;      /* where the unit ends, UINT64_MAX if it does not */
    uint64_t floor;     /* no queued payload begins before it; of meaning while there is one */
    uint32_t pending;   /* queued blueprints with a payload of this unit */
    bool open;
};

static inline void carrick_tx_open(struct carrick_tx *tx, uint64_t size) {
    uint32_t pending = tx->pending;
    *tx = (struct carrick_tx){.size = size, .pending = pending, .open = true};
}

/* How many octets would be taken now. */
static inline uint64_t carrick_tx_room(const struct carrick_tx *tx, uint64_t mask) {
    if (!tx->open)
        return 0;
    return carrick_min64(mask + 1 - (tx->end - tx->reclaimed), tx->size - tx->end);
}

/* Retires; returns how many octets. */
static inline uint64_t carrick_tx_flush(struct carrick_tx *tx, uint64_t len) {
    len = carrick_min64(len, tx->end - tx->base);
    tx->base += len;
    tx->reclaimed = tx->pending == 0 ? tx->base : carrick_max64(tx->reclaimed, carrick_min64(tx->base, tx->floor));
    return len;
}

/* A blueprint whose payload begins there is queued. */
static inline void carrick_tx_queued(struct carrick_tx *tx, uint64_t offset) {
    tx->floor = tx->pending++ == 0 ? offset : carrick_min64(tx->floor, offset);
}

/* A queued blueprint with a payload of this unit is out. */
static inline void carrick_tx_sent(struct carrick_tx *tx) {
    if (--tx->pending == 0)
        tx->reclaimed = tx->base;
}

/* Octets [lo, hi) from the unit's base that are there, beyond the in-order ones. */
struct carrick_rx_run {
    uint32_t lo, hi;
};

#define CARRICK_RX_RUNS 16u

/* What was received. `ready` octets from base are in order; the runs lie above, ascending, not touching. */
struct carrick_rx {
    uint64_t base; /* the first octet that was not flushed */
    uint64_t size; /* where the unit ends, UINT64_MAX if it does not */
    uint32_t ready;
    uint16_t count;
    bool open;
    struct carrick_rx_run runs[CARRICK_RX_RUNS];
};

static inline void carrick_rx_open(struct carrick_rx *rx, uint64_t size) {
    rx->base = 0;
    rx->size = size;
    rx->ready = 0;
    rx->count = 0;
    rx->open = true;
}

enum carrick_rx_result { CARRICK_RX_ALL, CARRICK_RX_CUT, CARRICK_RX_FULL };

#endif
