/* SPDX-License-Identifier: MIT */
/* Completions: a ring of finished requests. A request is open from its call until its completion is taken. */
#ifndef CARRICK_CQ_H
#define CARRICK_CQ_H

#include "carrick/base.h"

struct carrick_cq {
    struct carrick_completion *ring; /* `capacity` of them, a power of two */
    uint32_t capacity, head, tail;
    uint32_t open; /* requests called and not taken */
};

/* False: the ring is full, which only a request completed twice can cause. */
static inline bool carrick_cq_put(struct carrick_cq *cq, uint64_t token, uint8_t status, uint64_t value) {
    if (cq->tail - cq->head == cq->capacity)
        return false;
    cq->ring[cq->tail++ & (cq->capacity - 1)] = (struct carrick_completion){token, value, status};
    return true;
}

static inline bool carrick_cq_take(struct carrick_cq *cq, struct carrick_completion *out) {
    if (cq->head == cq->tail)
        return false;
    *out = cq->ring[cq->head++ & (cq->capacity - 1)];
    if (cq->open)
        cq->open--;
    return true;
}

#endif
