/* SPDX-License-Identifier: MIT */
/* A ring of frame buffers of one size, for ports whose device can refuse: frames wait here until it takes them. */
#ifndef CARRICK_PORTS_QUEUE_H
#define CARRICK_PORTS_QUEUE_H

#include <stdlib.h>

#include "carrick/port.h"

struct carrick_queue {
    uint8_t *memory;
    uint32_t *lens;
    uint32_t stride, depth; /* depth: a power of two */
    uint32_t before;        /* bytes before a frame that are sent with it, and are the port's */
    uint32_t head, tail;    /* count up, or begin again where nothing waits */
    uint32_t refused;       /* the place of the frame that was dropped last */
};

#define CARRICK_QUEUE_LINE 64u

/* False: out of memory. */
static inline bool carrick_queue_make_after(struct carrick_queue *q, uint32_t before, uint32_t frame_max,
                                            uint32_t depth) {
    uint32_t stride = frame_max + (before ? CARRICK_QUEUE_LINE : 0) + CARRICK_QUEUE_LINE - 1;
    *q = (struct carrick_queue){
        .stride = stride / CARRICK_QUEUE_LINE * CARRICK_QUEUE_LINE, .depth = depth, .before = before};
    q->memory = aligned_alloc(64, (size_t)q->stride * depth);
    q->lens = calloc(depth, sizeof *q->lens);
    return q->memory && q->lens;
}

static inline bool carrick_queue_make(struct carrick_queue *q, uint32_t frame_max, uint32_t depth) {
    return carrick_queue_make_after(q, 0, frame_max, depth);
}

static inline void carrick_queue_free(struct carrick_queue *q) {
    free(q->memory);
    free(q->lens);
}

static inline uint8_t *carrick_queue_at(const struct carrick_queue *q, uint32_t n) {
    return q->memory + (size_t)(n & (q->depth - 1)) * q->stride + (q->before ? CARRICK_QUEUE_LINE : 0);
}

static inline uint32_t *carrick_queue_len(const struct carrick_queue *q, uint32_t n) {
    return &q->lens[n & (q->depth - 1)];
}

static inline uint32_t carrick_queue_used(const struct carrick_queue *q) {
    return q->tail - q->head;
}

/* The free places after the tail, at most `count`. */
static inline uint32_t carrick_queue_reserve(const struct carrick_queue *q, struct carrick_frame *frames,
                                             uint32_t count, uint32_t room) {
    uint32_t free_places = q->depth - carrick_queue_used(q);
    if (count > free_places)
        count = free_places;
    for (uint32_t i = 0; i < count; i++)
        frames[i] = (struct carrick_frame){.data = carrick_queue_at(q, q->tail + i), .len = room};
    return count;
}

/* Takes over the first `count` reserved places. */
static inline void carrick_queue_commit(struct carrick_queue *q, const struct carrick_frame *frames, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        *carrick_queue_len(q, q->tail + i) = frames[i].len;
    q->tail += count;
}

#endif
