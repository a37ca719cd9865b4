/* SPDX-License-Identifier: MIT */
/*
 * What a program in the network does with the current packet. carrick/store.h of each target includes this after its
 * struct carrick_store, which has a member `gone`: an instruction was issued for the packet.
 */
#ifndef CARRICK_PASSING_H
#define CARRICK_PASSING_H

#include "carrick/bounds.h"
#include "carrick/counters.h"

/* The interface by which a packet goes where its destination leads. */
#define CARRICK_ROUTE 255u

/* The interface that a number means; all above CARRICK_ROUTE mean one that no node has. */
CARRICK_INLINE uint32_t carrick_interface(uint64_t number) {
    return number > CARRICK_ROUTE ? CARRICK_ROUTE - 1 : (uint32_t)number;
}

/* The packet leaves as it is. Each target has its own way. */
CARRICK_INLINE void carrick_store_send(struct carrick_store *s, uint32_t interface, uint64_t *counters);

/* Whether it is still to be said what becomes of the packet. */
CARRICK_INLINE bool carrick_store_decide(struct carrick_store *s, uint64_t *counters) {
    if (s->gone) {
        counters[CARRICK_COUNT_PACKET_GONE]++;
        return false;
    }
    s->gone = true;
    return true;
}

/* The packet goes where its destination leads, unless something else was said of it. */
CARRICK_INLINE void carrick_store_pass(struct carrick_store *s, uint64_t *counters) {
    if (s->gone)
        return;
    s->gone = true;
    carrick_store_send(s, CARRICK_ROUTE, counters);
}

#endif
