/* SPDX-License-Identifier: MIT */
/*
 * Packets that travel in one frame: what an engine of segmentation takes (the sender's device would have cut it), or
 * one of reception has put together. The frame has the header of the first packet and the payload of all; a header of
 * virtio (1.2, 5.1.6.1) says how much of it each packet has, and which engine that is. Here the packets are made, as
 * Linux makes them.
 */
#ifndef CARRICK_PORTS_SEGMENTS_H
#define CARRICK_PORTS_SEGMENTS_H

#include <linux/virtio_net.h>

#include "carrick/port.h"

/* Of Linux 6.2. */
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

/* The longest frame of this kind: 16 bits count the bytes of its IP packet. */
#define CARRICK_SEGMENTS_MOST (65535u + CARRICK_ETHER_HEADER)

struct carrick_engine;

struct carrick_segments {
    const struct carrick_engine *engine;
    const uint8_t *frame;
    uint32_t transport; /* where the header behind that of IP is */
    uint32_t headers;   /* bytes before the payload */
    uint32_t payload;   /* bytes of all */
    uint32_t size;      /* of the payload of each but the last */
    uint32_t done;      /* bytes of which packets are made */
    bool six;
};

/* Whether the frame, of Ethernet, is of this kind and has all that `how` says. `frame` must stay as long as packets are
 * made of it. */
bool carrick_segments_begin(struct carrick_segments *all, const uint8_t *frame, uint32_t len,
                            const struct virtio_net_hdr *how);

static inline bool carrick_segments_left(const struct carrick_segments *all) {
    return all->done < all->payload;
}

/* The longest of the frames that are left. */
static inline uint32_t carrick_segments_longest(const struct carrick_segments *all) {
    uint32_t left = all->payload - all->done;
    return all->headers + (left < all->size ? left : all->size);
}

/* What virtio's header says of a frame that an engine is to make packets of, with `segment` bytes of payload in each;
 * 0: of one packet, whose checksums are made. False: there is no engine for it. */
bool carrick_segments_describe(const uint8_t *frame, uint32_t len, uint16_t segment, struct virtio_net_hdr *how);

/* Writes the next frame, and returns its length. There must be one left, and room for the longest. */
uint32_t carrick_segments_next(struct carrick_segments *all, uint8_t *out);

#endif
