/* SPDX-License-Identifier: MIT */
/*
 * The packet of a program in the network that is looked at, and what becomes of its frame: what carrick/store.h of the
 * runtime is elsewhere, with the same names. carrick/stored.h has more of it for programs that store or copy packets.
 */
#ifndef CARRICK_STORE_H
#define CARRICK_STORE_H

#include "carrick/base.h"
#include "carrick/counters.h"

/* In place of an interface: all but that by which the frame came, or none. */
#define CARRICK_OTHERS  256u
#define CARRICK_NOWHERE 257u

/* Beside an interface: it is a copy of the packet that leaves by it. */
#define CARRICK_COPIED 256u

enum carrick_leaves {
    CARRICK_LEAVES_NOT,
    CARRICK_LEAVES_AS_IT_IS,
    CARRICK_LEAVES_WITH, /* the header in `core->out`, before the payload */
};

struct carrick_store {
    /* the frame that is there, and where its destination leads */
    uint8_t ethernet[16];
    carrick_net_address source, destination;
    uint32_t interface, toward;
    bool framed; /* there is one, of the program's version */
    /* its packet */
    bool gone; /* it has been said what becomes of it */
    uint32_t len, room;
    uint32_t leaves;
    uint32_t header, payload, payload_len; /* bytes of the new header; of the payload, where in the frame it is */
    /* the interface that the packet which leaves asks for, and what that means */
    uint32_t left_by, port;
#if CARRICK_STORES
    uint32_t capacity; /* packets that the program may store */
    bool queued;       /* a packet of this event waits for a frame; later ones do, too */
#endif
};

#include "carrick/passing.h"

CARRICK_INLINE void carrick_store_look(struct carrick_store *s, uint32_t len, uint32_t room) {
    s->len = len;
    s->room = room;
    s->gone = false;
    s->leaves = CARRICK_LEAVES_NOT;
#if CARRICK_STORES
    s->queued = false;
#endif
}

#if !CARRICK_STORES

CARRICK_INLINE void carrick_store_send(struct carrick_store *s, uint32_t interface, uint64_t *counters) {
    if (s->len > s->room) {
        counters[CARRICK_COUNT_TX_TOO_LONG]++;
        return;
    }
    s->leaves = CARRICK_LEAVES_AS_IT_IS;
    s->left_by = interface;
}

/* It leaves with a header of so many bytes, by an interface. */
CARRICK_INLINE void carrick_store_with(struct carrick_store *s, uint32_t header, uint32_t payload, uint32_t payload_len,
                                       uint32_t interface) {
    s->leaves = CARRICK_LEAVES_WITH;
    s->header = header;
    s->payload = payload;
    s->payload_len = payload_len;
    s->left_by = interface;
}
#endif

#endif
