/* SPDX-License-Identifier: MIT */
/*
 * A socket of AF_XDP (Documentation/networking/af_xdp.rst in the kernel's source): frames in memory that this process
 * shares with the kernel, and rings that tell whose they are. Which arriving frames come here, a program at the device
 * says.
 */
#ifndef CARRICK_PORTS_XSK_H
#define CARRICK_PORTS_XSK_H

#include "carrick/port.h"

/* A ring of descriptors or addresses: what is behind `*consumed` and before `*produced` waits for whoever consumes. */
struct carrick_xsk_ring {
    uint32_t *produced, *consumed;
    const uint32_t *flags;
    void *entries;
    uint32_t mask;
    void *memory; /* NULL: not mapped */
    size_t octets;
};

struct carrick_xsk {
    int fd; /* -1: not open */
    uint32_t frame_octets;
    uint8_t *memory;
    size_t octets;
    struct carrick_xsk_ring fill, arrived, sending, sent;
    uint32_t put;               /* descriptors to send that there ever were */
    uint32_t *free, free_count; /* the frames to send that nobody has */
    uint32_t lent;              /* of those that arrived, as many are the caller's */
};

struct carrick_xsk_config {
    uint32_t device, queue;      /* in this thread's network namespace */
    uint32_t frame_octets;       /* 2048 or 4096 */
    uint32_t receiving, sending; /* frames: powers of two; nothing is received if `receiving` is 0 */
    uint16_t flags;              /* of bind: XDP_COPY, ... */
};

/* The bytes of a received frame for which frames of this size have room. */
uint32_t carrick_xsk_room(uint32_t frame_octets);

/* False: errno says why. To be closed anyway. */
bool carrick_xsk_open(struct carrick_xsk *xsk, const struct carrick_xsk_config *config);
void carrick_xsk_close(struct carrick_xsk *xsk);

/* Frames that arrived, at most `count`. They are the caller's until the next call. */
uint32_t carrick_xsk_receive(struct carrick_xsk *xsk, struct carrick_frame *frames, uint32_t count);

/* Frames that nobody has, at most `count`, to be written; `len` is their room. */
uint32_t carrick_xsk_reserve(struct carrick_xsk *xsk, struct carrick_frame *frames, uint32_t count);
/* The first `count` of them are to go, with so many bytes; those with none stay. Returns how many go. */
uint32_t carrick_xsk_commit(struct carrick_xsk *xsk, const struct carrick_frame *frames, uint32_t count);
/* Lets go what is to. False: some of it has to wait, since the device does not take more now. */
bool carrick_xsk_push(struct carrick_xsk *xsk);
/* Whether some of what is to go has not. */
bool carrick_xsk_waiting(const struct carrick_xsk *xsk);
/* Takes back what was sent; returns how many frames nobody has. */
uint32_t carrick_xsk_free(struct carrick_xsk *xsk);

#endif
