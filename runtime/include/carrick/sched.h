/* SPDX-License-Identifier: MIT */
/*
 * Scheduling blocks: which queue sends next. A block lets out the packets of its inputs in the order of its policy; an
 * input is a queue or what another block lets out. The blocks are a tree, the outermost is the first. Blocks with an
 * input for each flow keep them in a timing wheel (rate limiter), a heap (priorities) or a list (round robin); the
 * others have at most 16 and look at those that are busy.
 */
#ifndef CARRICK_SCHED_H
#define CARRICK_SCHED_H

#include "carrick/input.h"
#include "carrick/timer.h"

struct carrick_block {
    uint64_t order;   /* the last that was given to an input */
    uint64_t initial; /* the share of a new flow */
    uint32_t base, count;
    uint32_t parent;      /* the input + 1 that it feeds */
    uint32_t busy;        /* how many of its inputs are */
    uint32_t mask;        /* which, if it has a few */
    uint32_t first, last; /* of the round: input + 1 */
    uint8_t policy;
    bool per_flow;
    uint32_t *heap;
    struct carrick_timer *timers;
    struct carrick_wheel *wheel;
};

struct carrick_sched {
    struct carrick_block *blocks;
    struct carrick_input *inputs;
};

static inline void carrick_heap_put(struct carrick_sched *s, struct carrick_block *b, uint32_t place, uint32_t at) {
    b->heap[place] = at;
    s->inputs[at].place = place;
}

/* Moves the input at a place of the heap to where it belongs. */
static inline void carrick_heap_settle(struct carrick_sched *s, struct carrick_block *b, uint32_t place) {
    uint32_t at = b->heap[place];
    const struct carrick_input *in = &s->inputs[at];
    for (; place && carrick_input_before(in, &s->inputs[b->heap[(place - 1) / 2]]); place = (place - 1) / 2)
        carrick_heap_put(s, b, place, b->heap[(place - 1) / 2]);
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child + 1 < b->busy && carrick_input_before(&s->inputs[b->heap[child + 1]], &s->inputs[b->heap[child]]))
            child++;
        if (child >= b->busy || !carrick_input_before(&s->inputs[b->heap[child]], in))
            break;
        carrick_heap_put(s, b, place, b->heap[child]);
        place = child;
    }
    carrick_heap_put(s, b, place, at);
}

static inline void carrick_round_push(struct carrick_sched *s, struct carrick_block *b, uint32_t at) {
    s->inputs[at].place = 0;
    if (b->last)
        s->inputs[b->last - 1].place = at + 1;
    else
        b->first = at + 1;
    b->last = at + 1;
}

static inline uint32_t carrick_round_pop(struct carrick_sched *s, struct carrick_block *b) {
    uint32_t at = b->first - 1;
    b->first = s->inputs[at].place;
    if (!b->first)
        b->last = 0;
    return at;
}

/* Puts a busy input where its key says. */
static inline void carrick_input_enter(struct carrick_sched *s, struct carrick_block *b, uint32_t at) {
    struct carrick_input *in = &s->inputs[at];
    if (!b->per_flow) {
        b->mask |= (uint32_t)1 << (at - b->base);
    } else if (b->policy == CARRICK_STRICT_PRIORITY) {
        carrick_heap_put(s, b, b->busy - 1, at);
        carrick_heap_settle(s, b, b->busy - 1);
    } else if (in->key != CARRICK_NEVER) {
        struct carrick_timer *t = &b->timers[at - b->base];
        t->slot = at;
        t->deadline = in->key;
        carrick_wheel_place(b->wheel, t);
    }
}

/* Something waits at an input. */
static inline void carrick_sched_join(struct carrick_sched *s, uint32_t at, uint64_t now) {
    while (!s->inputs[at].busy) {
        struct carrick_input *in = &s->inputs[at];
        struct carrick_block *b = &s->blocks[in->block];
        in->busy = true;
        b->busy++;
        if (b->policy == CARRICK_DRR) {
            in->deficit = (int64_t)in->share;
            carrick_round_push(s, b, at);
        } else {
            if (b->policy == CARRICK_RATE_LIMITER)
                carrick_input_resume(in, now, 0);
            in->order = ++b->order;
            carrick_input_enter(s, b, at);
        }
        if (!b->parent)
            return;
        at = b->parent - 1;
    }
}

/* Charges an input for a packet that was sent; `busy`: more packets are queued there. */
static inline void carrick_input_pay(struct carrick_sched *s, uint32_t at, uint64_t octets, bool busy, uint64_t now) {
    struct carrick_input *in = &s->inputs[at];
    struct carrick_block *b = &s->blocks[in->block];
    in->busy = busy;
    b->busy -= !busy;
    if (b->policy == CARRICK_DRR) {
        in->deficit -= (int64_t)octets;
        if (!busy)
            carrick_round_pop(s, b);
        return;
    }
    if (!b->per_flow && !busy)
        b->mask &= ~((uint32_t)1 << (at - b->base));
    if (busy)
        in->order = ++b->order;
    if (b->policy == CARRICK_STRICT_PRIORITY) {
        if (!b->per_flow)
            return;
        uint32_t place = in->place;
        if (!busy && place < b->busy)
            carrick_heap_put(s, b, place, b->heap[b->busy]);
        if (place < b->busy)
            carrick_heap_settle(s, b, place);
        return;
    }
    carrick_input_charge(in, octets, now, CARRICK_LATENESS);
    if (b->per_flow) {
        carrick_timer_stop(b->wheel, &b->timers[at - b->base]);
        if (busy)
            carrick_input_enter(s, b, at);
    }
}

/* A packet was made of the first entry of a queue, which may have left it. */
static inline void carrick_sched_sent(struct carrick_sched *s, uint32_t at, uint64_t octets, uint64_t now) {
    bool busy = s->inputs[at].first != 0;
    for (;;) {
        const struct carrick_block *b = &s->blocks[s->inputs[at].block];
        carrick_input_pay(s, at, octets, busy, now);
        if (!b->parent)
            return;
        busy = b->busy != 0;
        at = b->parent - 1;
    }
}

/* Whether a block can let out a packet at this moment. */
static inline bool carrick_sched_ready(struct carrick_sched *s, uint32_t block, uint64_t now) {
    const struct carrick_block *b = &s->blocks[block];
    bool limited = b->policy == CARRICK_RATE_LIMITER;
    if (b->per_flow)
        return limited ? carrick_wheel_peek(b->wheel, now) != NULL : b->busy != 0;
    for (uint32_t i = 0; b->busy && i < b->count; i++) {
        const struct carrick_input *in = &s->inputs[b->base + i];
        if (in->busy && (!limited || in->key <= now) && (!in->from || carrick_sched_ready(s, in->from - 1, now)))
            return true;
    }
    return false;
}

/* Moves the turn on to an input that has something left to send; CARRICK_NO_INPUT if none can at this moment. */
static inline uint32_t carrick_sched_turn(struct carrick_sched *s, uint32_t block, uint64_t now) {
    struct carrick_block *b = &s->blocks[block];
    if (!carrick_sched_ready(s, block, now))
        return CARRICK_NO_INPUT;
    for (;;) {
        uint32_t at = b->first - 1;
        struct carrick_input *in = &s->inputs[at];
        bool ready = !in->from || carrick_sched_ready(s, in->from - 1, now);
        if (ready && in->deficit > 0)
            return at;
        if (ready)
            in->deficit += (int64_t)in->share;
        carrick_round_push(s, b, carrick_round_pop(s, b));
    }
}

/* The input by which a block's next packet comes; CARRICK_NO_INPUT if none can at this moment. */
static inline uint32_t carrick_sched_pick(struct carrick_sched *s, uint32_t block, uint64_t now) {
    const struct carrick_block *b = &s->blocks[block];
    bool limited = b->policy == CARRICK_RATE_LIMITER;
    if (b->policy == CARRICK_DRR)
        return carrick_sched_turn(s, block, now);
    if (b->per_flow && limited) {
        const struct carrick_timer *t = carrick_wheel_peek(b->wheel, now);
        return t ? t->slot : CARRICK_NO_INPUT;
    }
    if (b->per_flow)
        return b->busy ? b->heap[0] : CARRICK_NO_INPUT;
    uint32_t best = CARRICK_NO_INPUT;
    for (uint32_t mask = b->mask; mask; mask &= mask - 1) {
        uint32_t at = b->base + (uint32_t)__builtin_ctz(mask);
        const struct carrick_input *in = &s->inputs[at];
        if (limited && in->key > now)
            continue;
        if (best != CARRICK_NO_INPUT && !carrick_input_before(in, &s->inputs[best]))
            continue;
        if (!in->from || carrick_sched_ready(s, in->from - 1, now))
            best = at;
    }
    return best;
}

/* The queue that sends next, or CARRICK_NO_INPUT if none can at this moment. */
static inline uint32_t carrick_sched_next(struct carrick_sched *s, uint64_t now) {
    uint32_t at = carrick_sched_pick(s, 0, now);
    while (at != CARRICK_NO_INPUT && s->inputs[at].from)
        at = carrick_sched_pick(s, s->inputs[at].from - 1, now);
    return at;
}

/* The first moment at which a block can let out a packet, CARRICK_NEVER if none comes by itself. */
static inline uint64_t carrick_sched_wakes(const struct carrick_sched *s, uint32_t block) {
    const struct carrick_block *b = &s->blocks[block];
    bool limited = b->policy == CARRICK_RATE_LIMITER;
    if (b->per_flow && limited) {
        const struct carrick_timer *t = carrick_wheel_first(b->wheel);
        return t ? t->deadline : CARRICK_NEVER;
    }
    if (b->per_flow)
        return b->busy ? 0 : CARRICK_NEVER;
    uint64_t first = CARRICK_NEVER;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct carrick_input *in = &s->inputs[b->base + i];
        if (!in->busy)
            continue;
        uint64_t at = in->from ? carrick_sched_wakes(s, in->from - 1) : 0;
        first = carrick_min64(first, limited ? carrick_max64(at, in->key) : at);
    }
    return first;
}

static inline void carrick_sched_rate(struct carrick_sched *s, uint32_t at, uint64_t rate, uint64_t now) {
    struct carrick_input *in = &s->inputs[at];
    struct carrick_block *b = &s->blocks[in->block];
    carrick_input_rate(in, rate, now);
    if (!in->busy)
        return;
    in->order = ++b->order;
    if (b->per_flow) {
        carrick_timer_stop(b->wheel, &b->timers[at - b->base]);
        carrick_input_enter(s, b, at);
    }
}

static inline void carrick_sched_prio(struct carrick_sched *s, uint32_t at, uint64_t prio) {
    struct carrick_input *in = &s->inputs[at];
    struct carrick_block *b = &s->blocks[in->block];
    in->key = prio;
    if (in->busy && b->per_flow)
        carrick_heap_settle(s, b, in->place);
}

/* The beginning of an input, whose share is one that blocks take; base and count of its block are known. `from`: the
 * block that comes in; 0: it is a queue.
 */
static inline void carrick_sched_input(struct carrick_sched *s, uint32_t block, uint32_t i, uint32_t from,
                                       uint64_t share) {
    struct carrick_block *b = &s->blocks[block];
    struct carrick_input *in = &s->inputs[b->base + i];
    in->block = block;
    if (from)
        s->blocks[from].parent = b->base + i + 1;
    in->from = from ? from + 1 : 0;
    in->share = share;
    b->initial = share;
    in->key = b->per_flow ? 0 : i;
    if (b->policy == CARRICK_RATE_LIMITER)
        carrick_input_due(in);
}

#endif
