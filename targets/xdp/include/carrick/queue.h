/* SPDX-License-Identifier: MIT */
/* The queue of blueprints of a program without scheduling blocks: a ring of entries, which several processors fill and
 * empty. */
#ifndef CARRICK_XDP_QUEUE_H
#define CARRICK_XDP_QUEUE_H

#include "carrick/bursts.h"
#include "carrick/units.h"

/* Whether the frame that is there is for what is issued: that of a packet in the network is, once it was dropped. One
 * of a program that stores packets is first for those. */
CARRICK_INLINE bool CARRICK_OWN(frame_free)(const struct CARRICK_OWN(core) * core) {
#if CARRICK_STORES
    return core == NULL;
#elif defined(CARRICK_MIDDLEBOX)
    return core->store.gone && core->store.leaves == CARRICK_LEAVES_NOT;
#else
    return core != NULL;
#endif
}

/* Whether what is issued now leaves in the frame that is there, before all that waits. */
CARRICK_INLINE bool CARRICK_OWN(fits)(struct CARRICK_OWN(core) * core) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    return core->vacant && CARRICK_OWN(frame_free)(core) && shared &&
           CARRICK_READ(shared->queue_head) == CARRICK_READ(shared->queue_tail);
}

/* The place behind the last entry of the queue; NULL if there is none. What reserves it publishes it. */
CARRICK_INLINE struct CARRICK_OWN(entry) * CARRICK_OWN(reserve)(uint64_t *place) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    if (!shared)
        return NULL;
    for (uint32_t turn = 0; turn < 16; turn++) {
        uint64_t tail = CARRICK_READ(shared->queue_tail);
        uint32_t at = (uint32_t)tail & (CARRICK_QUEUE - 1);
        struct CARRICK_OWN(entry) *e = bpf_map_lookup_elem(&carrick_queue, &at);
        if (!e || CARRICK_READ(shared->queue_tail) - CARRICK_READ(shared->queue_head) >= CARRICK_QUEUE)
            return NULL;
        if (__sync_val_compare_and_swap(&shared->queue_tail, tail, tail + 1) == tail) {
            *place = tail;
            return e;
        }
    }
    return NULL;
}

/* The entry at a place of the queue, held; NULL if it is not there, or somebody is at it. */
CARRICK_INLINE struct CARRICK_OWN(entry) * CARRICK_OWN(queued_entry)(uint64_t place) {
    uint32_t at = (uint32_t)place & (CARRICK_QUEUE - 1);
    struct CARRICK_OWN(entry) *e = bpf_map_lookup_elem(&carrick_queue, &at);
    if (!e || !carrick_hold(&e->held))
        return NULL;
    if (CARRICK_READ(e->turn) == place / CARRICK_QUEUE * 2 + 1)
        return e;
    carrick_release(&e->held);
    return NULL;
}

/* The oldest entry that waits, held; NULL if there is none, or somebody is at it. Any is for a frame with room. */
CARRICK_INLINE struct CARRICK_OWN(entry) *
    CARRICK_OWN(oldest)(struct CARRICK_OWN(core) * core, struct carrick_shared *shared, uint64_t *place) {
    *place = CARRICK_READ(shared->queue_head);
    return !core->roomy || *place == CARRICK_READ(shared->queue_tail) ? NULL : CARRICK_OWN(queued_entry)(*place);
}

/* A packet was made of it. */
CARRICK_INLINE void CARRICK_OWN(taken)(struct CARRICK_OWN(core) * core, struct carrick_shared *shared,
                                       struct CARRICK_OWN(entry) * e, uint64_t place, uint32_t len) {
    (void)len;
    if (core->last) {
        carrick_publish(&e->turn);
        shared->queue_head = place + 1;
#if CARRICK_GATHERS
        if (CARRICK_READ(shared->gathered) != 0)
            (void)__sync_fetch_and_add(&shared->gathered, -(uint64_t)1);
#endif
    }
    carrick_release(&e->held);
}

#endif
