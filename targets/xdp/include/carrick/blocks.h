/* SPDX-License-Identifier: MIT */
/*
 * Scheduling blocks in the kernel: what carrick/sched.h of the runtime does, on maps. Whoever looks at blocks holds all
 * of them (`held`). Each block notes from when on it can let out a packet, so that none has to be asked on the way
 * down; blocks with an input for each flow keep them in a heap (priorities, rates) or a list (round robin). Generated
 * code says how many blocks there are (CARRICK_BLOCKS), and what each begins with.
 */
#ifndef CARRICK_XDP_BLOCKS_H
#define CARRICK_XDP_BLOCKS_H

#include "carrick/input.h"
#include "carrick/xdp.h"

/* Inputs of a block that has none for each flow, at most. */
#define CARRICK_FEW 16u
/* Levels of a heap: what the loader makes room for has not more. */
#define CARRICK_LEVELS 24u
/* Turns of a round that are looked at for one packet. */
#define CARRICK_ROUND 128u

struct carrick_block {
    uint64_t order;   /* the last that was given to an input */
    uint64_t initial; /* the share of a new flow */
    uint64_t wakes;   /* from when on it can let out a packet; CARRICK_NEVER: not by itself */
    uint32_t base, count;
    uint32_t parent;      /* the input + 1 that it feeds */
    uint32_t busy;        /* how many of its inputs are */
    uint32_t first, last; /* of the round: input + 1 */
    uint32_t policy;
    uint32_t per_flow; /* 1: it has an input for each */
#ifdef CARRICK_OWNERS
    uint64_t credit; /* of time in which less was sent than the rate allows, so much counts for what comes later */
#endif
};

/* Programs' own blocks give none. */
#ifdef CARRICK_OWNERS
#define CARRICK_CREDIT(block) ((block)->credit)
#else
#define CARRICK_CREDIT(block) UINT64_C(0)
#endif

struct carrick_sched {
    uint32_t held;
    uint32_t begun;                              /* 1: the blocks are what they begin with */
    uint32_t free, fresh;                        /* free entry + 1; how many were ever used */
    uint32_t at, place;                          /* of a heap: what is being moved there, and where it stands */
    uint32_t next[CARRICK_QUEUE];                /* of an entry: entry + 1, of the same queue or free; 0: none */
    struct carrick_block blocks[CARRICK_BLOCKS]; /* each before those that feed it */
};

struct carrick_input_slot {
    struct carrick_input input;
    uint32_t heap;  /* the input that stands at this place of its block's heap */
    uint32_t begun; /* 1: it is what it begins with */
};

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_UINT(max_entries, 1);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_sched);
} carrick_blocks CARRICK_SECTION(".maps");

/* So many as all blocks have inputs: the loader knows. */
struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_UINT(max_entries, 1);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_input_slot);
} carrick_inputs CARRICK_SECTION(".maps");

CARRICK_INLINE struct carrick_sched *carrick_sched_here(void) {
    uint32_t only = 0;
    return bpf_map_lookup_elem(&carrick_blocks, &only);
}

CARRICK_INLINE struct carrick_block *carrick_block_at(struct carrick_sched *s, uint32_t block) {
    return &s->blocks[carrick_at(block, CARRICK_BLOCKS)];
}

CARRICK_INLINE struct carrick_input_slot *carrick_slot_at(uint32_t at) {
    return bpf_map_lookup_elem(&carrick_inputs, &at);
}

CARRICK_INLINE struct carrick_input *carrick_input_at(uint32_t at) {
    struct carrick_input_slot *slot = carrick_slot_at(at);
    return slot ? &slot->input : NULL;
}

/* The beginning of an input of a block that has a few, whose base, count and policy are known. `from`: the block + 1
 * that comes in; 0: it is a queue. */
CARRICK_INLINE void carrick_sched_input(struct carrick_sched *s, uint32_t block, uint32_t i, uint32_t from,
                                        uint64_t share) {
    struct carrick_block *b = carrick_block_at(s, block);
    struct carrick_input_slot *slot = carrick_slot_at(b->base + i);
    if (!slot)
        return;
    struct carrick_input *in = &slot->input;
    in->block = block;
    if (from)
        carrick_block_at(s, from - 1)->parent = b->base + i + 1;
    in->from = from;
    in->share = share;
    in->key = i;
    if (b->policy == CARRICK_RATE_LIMITER)
        carrick_input_due(in);
    slot->begun = 1;
}

/* An input of a block, which is of a flow if the block has one for each: those begin when they are used first. */
CARRICK_INLINE struct carrick_input *carrick_input_of(struct carrick_block *b, uint32_t block, uint32_t at) {
    struct carrick_input_slot *slot = carrick_slot_at(at);
    if (!slot)
        return NULL;
    if (!slot->begun) {
        slot->begun = 1;
        slot->input.block = block;
        slot->input.share = b->initial;
        if (b->policy == CARRICK_RATE_LIMITER)
            carrick_input_due(&slot->input);
    }
    return &slot->input;
}

/* Round robin. */

CARRICK_INLINE void carrick_round_push(struct carrick_block *b, struct carrick_input *in, uint32_t at) {
    in->place = 0;
    struct carrick_input *last = b->last ? carrick_input_at(b->last - 1) : NULL;
    if (last)
        last->place = at + 1;
    else
        b->first = at + 1;
    b->last = at + 1;
}

CARRICK_INLINE void carrick_round_pop(struct carrick_block *b, const struct carrick_input *in) {
    b->first = in->place;
    if (!b->first)
        b->last = 0;
}

/* Heaps. What moves, and where to, stands in memory: the verifier follows no number through the levels. */

CARRICK_INLINE void carrick_heap_put(const struct carrick_block *b, uint32_t place, uint32_t at) {
    struct carrick_input_slot *there = carrick_slot_at(b->base + place);
    struct carrick_input *in = carrick_input_at(at);
    if (!there || !in)
        return;
    there->heap = at;
    in->place = place;
}

CARRICK_INLINE uint32_t carrick_heap_at(const struct carrick_block *b, uint32_t place) {
    const struct carrick_input_slot *there = carrick_slot_at(b->base + place);
    return there ? there->heap : 0;
}

/* Whether the input at one place of the heap goes before one that is looked for a place. */
CARRICK_INLINE bool carrick_heap_before(uint32_t a, uint32_t b) {
    const struct carrick_input *one = carrick_input_at(a), *other = carrick_input_at(b);
    return one && other && carrick_input_before(one, other);
}

/* Moves `s->at` up from `s->place`, as far as it goes before others. */
CARRICK_INLINE void carrick_heap_up(struct carrick_sched *s, const struct carrick_block *b) {
    for (uint32_t level = 0; level < CARRICK_LEVELS; level++) {
        uint32_t place = CARRICK_READ(s->place);
        if (place == 0)
            break;
        uint32_t above = (place - 1) / 2, there = carrick_heap_at(b, above);
        if (!carrick_heap_before(CARRICK_READ(s->at), there))
            break;
        carrick_heap_put(b, place, there);
        s->place = above;
    }
}

/* And down. */
CARRICK_INLINE void carrick_heap_down(struct carrick_sched *s, const struct carrick_block *b) {
    for (uint32_t level = 0; level < CARRICK_LEVELS; level++) {
        uint32_t place = CARRICK_READ(s->place), below = 2 * place + 1;
        if (below + 1 < b->busy && carrick_heap_before(carrick_heap_at(b, below + 1), carrick_heap_at(b, below)))
            below++;
        if (below >= b->busy)
            break;
        uint32_t there = carrick_heap_at(b, below);
        if (!carrick_heap_before(there, CARRICK_READ(s->at)))
            break;
        carrick_heap_put(b, place, there);
        s->place = below;
    }
}

/* Moves an input of a heap from a place of it to where it belongs. */
CARRICK_INLINE void carrick_heap_settle(struct carrick_sched *s, const struct carrick_block *b, uint32_t place,
                                        uint32_t at) {
    s->at = at;
    s->place = place;
    carrick_heap_up(s, b);
    carrick_heap_down(s, b);
    carrick_heap_put(b, CARRICK_READ(s->place), CARRICK_READ(s->at));
}

/* When. */

/* From when on a block can let out a packet, by its inputs. */
CARRICK_INLINE uint64_t carrick_block_wakes(struct carrick_sched *s, const struct carrick_block *b) {
    bool limited = b->policy == CARRICK_RATE_LIMITER;
    if (b->busy == 0)
        return CARRICK_NEVER;
    if (b->per_flow) {
        const struct carrick_input *in = limited ? carrick_input_at(carrick_heap_at(b, 0)) : NULL;
        return in ? in->key : 0;
    }
    uint64_t first = CARRICK_NEVER;
    for (uint32_t i = 0; i < CARRICK_FEW && i < b->count; i++) {
        const struct carrick_input *in = carrick_input_at(b->base + i);
        if (!in || !in->busy)
            continue;
        uint64_t at = in->from ? carrick_block_at(s, in->from - 1)->wakes : 0;
        first = carrick_min64(first, limited ? carrick_max64(at, in->key) : at);
    }
    return first;
}

/* Finds out from when on each block can let out a packet, those first that feed others. */
CARRICK_GLOBAL_FN int carrick_sched_look(struct carrick_shared *shared) {
    struct carrick_sched *s = carrick_sched_here();
    if (!s || !shared)
        return 0;
    for (uint32_t n = CARRICK_BLOCKS; n > 0; n--)
        s->blocks[n - 1].wakes = carrick_block_wakes(s, &s->blocks[n - 1]);
    (void)__sync_lock_test_and_set(&shared->due, s->blocks[0].wakes);
    return 0;
}

/* What happens. */

/* Something waits at an input of a block. */
CARRICK_INLINE void carrick_sched_join(struct carrick_sched *s, uint32_t at, uint64_t now) {
    s->at = at;
    for (uint32_t level = 0; level < CARRICK_BLOCKS; level++) {
        at = CARRICK_READ(s->at);
        struct carrick_input *in = carrick_input_at(at);
        if (!in || in->busy)
            return;
        struct carrick_block *b = carrick_block_at(s, in->block);
        in->busy = true;
        b->busy++;
        if (b->policy == CARRICK_DRR) {
            in->deficit = (int64_t)in->share;
            carrick_round_push(b, in, at);
        } else {
            if (b->policy == CARRICK_RATE_LIMITER)
                carrick_input_resume(in, now, CARRICK_CREDIT(b));
            in->order = ++b->order;
            if (b->per_flow) {
                s->place = b->busy - 1;
                carrick_heap_up(s, b);
                carrick_heap_put(b, CARRICK_READ(s->place), at);
            }
        }
        if (!b->parent)
            return;
        s->at = b->parent - 1;
    }
}

/* A place among the entries, + 1; 0: there is none. */
CARRICK_INLINE uint32_t carrick_sched_reserve(struct carrick_sched *s) {
    uint32_t place = s->free;
    if (!place)
        return s->fresh < CARRICK_QUEUE ? ++s->fresh : 0;
    s->free = s->next[carrick_at(place - 1, CARRICK_QUEUE)];
    return place;
}

/* The entry at a place waits now, behind the last one of the queue that is input `at` of a block. */
CARRICK_GLOBAL_FN int carrick_sched_put(uint32_t place, uint32_t block, uint32_t at, uint64_t now) {
    struct carrick_sched *s = carrick_sched_here();
    if (!s)
        return 0;
    struct carrick_input *in = carrick_input_of(carrick_block_at(s, block), block, at);
    if (!in)
        return 0;
    s->next[carrick_at(place - 1, CARRICK_QUEUE)] = 0;
    if (in->last)
        s->next[carrick_at(in->last - 1, CARRICK_QUEUE)] = place;
    else
        in->first = place;
    in->last = place;
    carrick_sched_join(s, at, now);
    return 0;
}

/* The first entry of a queue is out. */
CARRICK_INLINE void carrick_sched_leave(struct carrick_sched *s, struct carrick_input *in) {
    uint32_t place = in->first;
    uint32_t *next = &s->next[carrick_at(place - 1, CARRICK_QUEUE)];
    in->first = *next;
    if (!in->first)
        in->last = 0;
    *next = s->free;
    s->free = place;
}

/* An input that is in a heap has another key, or has nothing left to send. */
CARRICK_INLINE void carrick_heap_moved(struct carrick_sched *s, const struct carrick_block *b,
                                       const struct carrick_input *in, uint32_t at, bool busy) {
    uint32_t place = in->place;
    if (!busy)
        at = carrick_heap_at(b, b->busy);
    if (place < b->busy)
        carrick_heap_settle(s, b, place, at);
}

/* A packet that came by an input is out, and perhaps nothing more waits there. */
CARRICK_INLINE void carrick_input_pay(struct carrick_block *b, struct carrick_input *in, uint64_t octets, bool busy,
                                      uint64_t now) {
    in->busy = busy;
    b->busy -= !busy;
    if (b->policy == CARRICK_DRR) {
        in->deficit -= (int64_t)octets;
        if (!busy)
            carrick_round_pop(b, in);
        return;
    }
    if (busy)
        in->order = ++b->order;
    if (b->policy == CARRICK_RATE_LIMITER)
        carrick_input_charge(in, octets, now, carrick_max64(CARRICK_CREDIT(b), CARRICK_LATENESS));
}

/* A packet of so many bytes was made of the first entry of a queue, which left it if it is `out`. */
CARRICK_GLOBAL_FN int carrick_sched_sent(uint32_t at, uint64_t octets, uint32_t out, uint64_t now) {
    struct carrick_sched *s = carrick_sched_here();
    struct carrick_input *in = carrick_input_at(at);
    if (!s || !in)
        return 0;
    if (out)
        carrick_sched_leave(s, in);
    struct carrick_block *b = carrick_block_at(s, in->block);
    bool busy = in->first != 0;
    carrick_input_pay(b, in, octets, busy, now);
    if (b->per_flow && b->policy != CARRICK_DRR)
        carrick_heap_moved(s, b, in, at, busy);
    for (uint32_t level = 1; level < CARRICK_BLOCKS && b->parent; level++) {
        busy = b->busy != 0;
        in = carrick_input_at(b->parent - 1);
        if (!in)
            return 0;
        b = carrick_block_at(s, in->block);
        carrick_input_pay(b, in, octets, busy, now);
    }
    return 0;
}

CARRICK_GLOBAL_FN int carrick_sched_rate(uint32_t block, uint32_t at, uint64_t rate, uint64_t now) {
    struct carrick_sched *s = carrick_sched_here();
    if (!s)
        return 0;
    struct carrick_block *b = carrick_block_at(s, block);
    struct carrick_input *in = carrick_input_of(b, block, at);
    if (!in)
        return 0;
    carrick_input_rate(in, rate, now);
    if (!in->busy)
        return 0;
    in->order = ++b->order;
    if (b->per_flow)
        carrick_heap_settle(s, b, in->place, at);
    return 0;
}

CARRICK_GLOBAL_FN int carrick_sched_prio(uint32_t block, uint32_t at, uint64_t prio) {
    struct carrick_sched *s = carrick_sched_here();
    if (!s)
        return 0;
    struct carrick_block *b = carrick_block_at(s, block);
    struct carrick_input *in = carrick_input_of(b, block, at);
    if (!in)
        return 0;
    in->key = prio;
    if (in->busy && b->per_flow)
        carrick_heap_settle(s, b, in->place, at);
    return 0;
}

/* Which packet. */

/* Whether a packet of an input's can go now, by what feeds it. */
CARRICK_INLINE bool carrick_input_ready(struct carrick_sched *s, const struct carrick_input *in, uint64_t now) {
    return in->busy && (!in->from || carrick_block_at(s, in->from - 1)->wakes <= now);
}

/* Moves the turn on to an input that has something left to send. Where the quanta are small and the inputs many, this
 * goes on when a packet is asked for the next time. */
CARRICK_INLINE uint32_t carrick_sched_turn(struct carrick_sched *s, struct carrick_block *b, uint64_t now) {
    for (uint32_t turn = 0; turn < CARRICK_ROUND; turn++) {
        uint32_t at = CARRICK_READ(b->first) - 1;
        struct carrick_input *in = carrick_input_at(at);
        if (!in)
            return CARRICK_NO_INPUT;
        bool ready = carrick_input_ready(s, in, now);
        if (ready && in->deficit > 0)
            return at;
        if (ready)
            in->deficit += (int64_t)in->share;
        carrick_round_pop(b, in);
        carrick_round_push(b, in, at);
    }
    return CARRICK_NO_INPUT;
}

/* Of the inputs of a block that has a few, the one whose turn it is. */
CARRICK_INLINE uint32_t carrick_sched_best(struct carrick_sched *s, const struct carrick_block *b, uint64_t now) {
    s->at = CARRICK_NO_INPUT;
    for (uint32_t i = 0; i < CARRICK_FEW && i < b->count; i++) {
        uint32_t at = b->base + i, before = CARRICK_READ(s->at);
        const struct carrick_input *in = carrick_input_at(at);
        if (!in || !carrick_input_ready(s, in, now) || (b->policy == CARRICK_RATE_LIMITER && in->key > now))
            continue;
        if (before == CARRICK_NO_INPUT || carrick_heap_before(at, before))
            s->at = at;
    }
    return CARRICK_READ(s->at);
}

/* The input by which a block's next packet comes, now that it can let one out. */
CARRICK_GLOBAL_FN uint32_t carrick_sched_pick(uint32_t block, uint64_t now) {
    struct carrick_sched *s = carrick_sched_here();
    if (!s)
        return CARRICK_NO_INPUT;
    struct carrick_block *b = carrick_block_at(s, block);
    if (b->wakes > now)
        return CARRICK_NO_INPUT;
    if (b->policy == CARRICK_DRR)
        return carrick_sched_turn(s, b, now);
    return b->per_flow ? carrick_heap_at(b, 0) : carrick_sched_best(s, b, now);
}

/* The queue that sends next, or CARRICK_NO_INPUT if none can at this moment. */
CARRICK_GLOBAL_FN uint32_t carrick_sched_next(uint64_t now) {
    uint32_t at = carrick_sched_pick(0, now);
    for (uint32_t level = 1; level < CARRICK_BLOCKS; level++) {
        const struct carrick_input *in = carrick_input_at(at);
        if (!in || !in->from)
            break;
        at = carrick_sched_pick(in->from - 1, now);
    }
    return at;
}

#endif
