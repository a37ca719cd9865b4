/* SPDX-License-Identifier: MIT */
/* The queue of blueprints of a program with scheduling blocks: entries wait at the inputs of these. */
#ifndef CARRICK_XDP_SCHEDULED_H
#define CARRICK_XDP_SCHEDULED_H

#include "carrick/blocks.h"

/* The blocks, held; NULL if another processor has them for too long. They begin when they are held first. */
CARRICK_INLINE struct carrick_sched *CARRICK_OWN(blocks)(struct CARRICK_OWN(core) * core) {
    struct carrick_sched *s = carrick_sched_here();
    if (!s)
        return NULL;
    if (!carrick_hold(&s->held)) {
        core->busy++;
        return NULL;
    }
    if (!s->begun)
        (void)CARRICK_OWN(blocks_begin)(core);
    return s;
}

/* Others may have them, once it is known from when on a packet can leave. */
CARRICK_INLINE void CARRICK_OWN(blocks_left)(struct carrick_sched *s) {
    (void)carrick_sched_look(CARRICK_OWN(shared)());
    carrick_release(&s->held);
}

/* The entry at a place, of those that are held with the blocks; NULL never. */
CARRICK_INLINE struct CARRICK_OWN(entry) * CARRICK_OWN(queued_entry)(uint32_t place) {
    return bpf_map_lookup_elem(&carrick_queue, &place);
}

/* The entry whose turn it is, held with the blocks; NULL if none may leave at this moment. `place`: the input that it
 * comes by. */
CARRICK_INLINE struct CARRICK_OWN(entry) *
    CARRICK_OWN(oldest)(struct CARRICK_OWN(core) * core, struct carrick_shared *shared, uint64_t *place) {
    if (CARRICK_READ(shared->queue_head) == CARRICK_READ(shared->queue_tail) || CARRICK_READ(shared->due) > core->now)
        return NULL;
    struct carrick_sched *s = CARRICK_OWN(blocks)(core);
    if (!s)
        return NULL;
    uint32_t at = carrick_sched_next(core->now);
    const struct carrick_input *in = carrick_input_at(at);
    struct CARRICK_OWN(entry) *e = in ? CARRICK_OWN(queued_entry)(in->first - 1) : NULL;
    *place = at;
    if (e && (core->roomy || !e->carries))
        return e;
    carrick_release(&s->held);
    return NULL;
}

/* A packet was made of it, whose bytes in `core->out` are so many; 0: it was dropped. */
CARRICK_INLINE void CARRICK_OWN(taken)(struct CARRICK_OWN(core) * core, struct carrick_shared *shared,
                                       struct CARRICK_OWN(entry) * e, uint64_t place, uint32_t len) {
    struct carrick_sched *s = carrick_sched_here();
    if (!s)
        return;
    uint32_t out = core->last;
    if (out)
        e->waits = false;
    uint64_t octets = len ? len + core->payload.len : 0;
    (void)carrick_sched_sent((uint32_t)place, octets, out, core->now);
#ifdef CARRICK_OWNERS
    (void)carrick_owner_sent(e->owner, octets, out);
#endif
    if (out)
        shared->queue_head++;
    CARRICK_OWN(blocks_left)(s);
}

#endif
