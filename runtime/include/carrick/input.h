/* SPDX-License-Identifier: MIT */
/* An input of a scheduling block, and what it is owed: the arithmetic of the blocks, wherever these keep their inputs.
 */
#ifndef CARRICK_INPUT_H
#define CARRICK_INPUT_H

#include "carrick/arith.h"

#define CARRICK_NO_INPUT UINT32_MAX
#define CARRICK_TOP_RATE UINT64_C(1000000000000000) /* bits per second */
#define CARRICK_LATENESS UINT64_C(1000000)          /* nanoseconds that a rate limiter makes good */

enum carrick_policy { CARRICK_STRICT_PRIORITY, CARRICK_DRR, CARRICK_RATE_LIMITER };

struct carrick_input {
    uint64_t key;         /* the priority, or the moment from which it may send */
    uint64_t order;       /* of those with one key the least goes first */
    uint64_t share;       /* the quantum, or the rate */
    uint64_t owed, since; /* what was owed then, in bits times 10^9 */
    uint64_t rest;        /* of it, what is less than the rate pays in a nanosecond */
    int64_t deficit;
    uint32_t block;       /* that it is of */
    uint32_t from;        /* the block + 1 that comes in here; 0: it is a queue */
    uint32_t first, last; /* of a queue: entry + 1; 0: none waits */
    uint32_t place;       /* in the heap; of round robin the input + 1 whose turn is next */
    bool busy;
};

/* Finds out from when on an input may send, by its rate. */
static inline void carrick_input_due(struct carrick_input *in) {
    uint64_t after = in->share ? in->owed / in->share : 0;
    in->rest = in->owed - after * in->share;
    if (!in->share)
        in->key = CARRICK_NEVER;
    else if (after > CARRICK_NEVER - 1 - in->since)
        in->key = CARRICK_NEVER - 1;
    else
        in->key = in->since + after;
}

static inline bool carrick_input_before(const struct carrick_input *a, const struct carrick_input *b) {
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* Something waits again at an input with a rate: what was sent before may be paid, and of the time since then at most
 * `credit` counts for what is sent now. */
static inline void carrick_input_resume(struct carrick_input *in, uint64_t now, uint64_t credit) {
    if (in->key >= now)
        return;
    in->since = carrick_max64(in->key, now > credit ? now - credit : 0);
    in->owed = 0;
    carrick_input_due(in);
}

/* So many bytes went out by an input with a rate, which makes good so much of what they were late. */
static inline void carrick_input_charge(struct carrick_input *in, uint64_t octets, uint64_t now, uint64_t lateness) {
    in->since = carrick_max64(in->key, now > lateness ? now - lateness : 0);
    in->owed = in->rest + octets * CARRICK_OCTET;
    carrick_input_due(in);
}

/* What the old rate has not paid is left to the new one. */
static inline void carrick_input_rate(struct carrick_input *in, uint64_t rate, uint64_t now) {
    if (now < in->key) {
        in->owed -= (now - in->since) * in->share;
        in->since = now;
    } else {
        in->since = in->key;
        in->owed = 0;
    }
    in->share = carrick_min64(rate, CARRICK_TOP_RATE);
    carrick_input_due(in);
}

#endif
