/* SPDX-License-Identifier: MIT */
/*
 * Headers that wait for the end of a burst. A packet brings a header without payload, such as an acknowledgement, and
 * the next packet of the same connection, a microsecond later, brings one that stands for both (a coalescing rule). So
 * while a connection's packets come close together, its headers stay in the queue, and few of them leave. The first
 * packets of a burst are still answered at once, for a sender that has a small window waits for that.
 */
#ifndef CARRICK_XDP_BURSTS_H
#define CARRICK_XDP_BURSTS_H

#include "carrick/units.h"

/* A burst goes on if its next packet comes within so many ns. */
#define CARRICK_BURST_GAP 50000u
/* A header waits so many ns at most, */
#define CARRICK_GATHERED_FOR 100000u
/* and for so many packets at most; for fewer near the beginning: half of those that came. */
#define CARRICK_GATHERED_MOST 64u

#if CARRICK_GATHERS
/* A packet has come: whether it is one of a burst, of any connection. */
CARRICK_INLINE void CARRICK_OWN(burst_goes_on)(struct CARRICK_OWN(core) * core) {
    core->gathers = core->device && !core->paced && core->now - core->arrived < CARRICK_BURST_GAP;
    core->arrived = core->now;
}

/* All that a packet asks for has been done. A pause makes a burst half as long: a long one goes on after it. */
CARRICK_INLINE void CARRICK_OWN(burst_grows)(struct CARRICK_OWN(core) * core) {
    if (core->chain.handle != core->burst_handle)
        core->burst = 0;
    core->burst = core->gathers ? core->burst + 1 : core->burst / 2;
    core->burst_handle = core->chain.handle;
}

/* Whether a header of this context waits in the queue, where it could leave in the frame that is there. */
CARRICK_INLINE bool CARRICK_OWN(gathers)(const struct CARRICK_OWN(core) * core) {
    return core->gathers && core->chain.handle == core->burst_handle;
}

/* An entry is in the queue now. The queue is in no hurry as long as all entries in it are headers that `gather`. */
CARRICK_INLINE void CARRICK_OWN(queued)(struct CARRICK_OWN(core) * core, bool gather) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    if (!shared)
        return;
    if (gather && __sync_fetch_and_add(&shared->gathered, 1) == 0) {
        shared->due = core->now + CARRICK_GATHERED_FOR;
        core->skipped = 0;
    } else if (!gather && CARRICK_READ(shared->gathered) != 0) {
        shared->gathered = shared->due = 0;
    }
}

/* Whether the frame that is there leaves without what waits. */
CARRICK_INLINE bool CARRICK_OWN(burst_waits)(struct CARRICK_OWN(core) * core) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    if (!shared || !core->gathers || core->alone)
        return false;
    uint64_t waiting = CARRICK_READ(shared->queue_tail) - CARRICK_READ(shared->queue_head);
    if (waiting == 0 || CARRICK_READ(shared->gathered) != waiting)
        return false;
    if (++core->skipped < carrick_min64(core->burst / 2, CARRICK_GATHERED_MOST) &&
        core->now < CARRICK_READ(shared->due))
        return true;
    shared->gathered = shared->due = 0;
    return false;
}
#endif

#endif
