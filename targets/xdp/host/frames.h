/* SPDX-License-Identifier: MIT */
/*
 * Frames that this process sends by a device, in memory that it shares with the kernel: a socket of AF_XDP
 * (Documentation/networking/af_xdp.rst in the kernel's source), which receives nothing.
 */
#ifndef CARRICK_KERNEL_FRAMES_H
#define CARRICK_KERNEL_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* That can be on their way at once: fewer than a device of a pair takes without loss (256). A power of two. */
#define FRAMES 128u

/* A ring of descriptors or addresses: what is behind `*consumed` and before `*produced` waits for whoever consumes. */
struct frames_ring {
    uint32_t *produced, *consumed;
    void *entries;
    void *memory;
    size_t octets;
};

struct frames {
    int fd; /* -1: not open */
    uint32_t frame_octets;
    uint8_t *memory;
    struct frames_ring sending, sent;
    uint32_t put;        /* descriptors that there ever were */
    uint32_t free_count; /* frames that nobody has */
    uint32_t free[FRAMES];
};

/* Opens a socket of this thread's network namespace on the device with this index, for frames of so many octets at
 * most. False: errno says why. */
bool frames_open(struct frames *frames, uint32_t device, uint32_t frame_octets);
void frames_close(struct frames *frames);

/* The octets of a frame that nobody has; NULL: all are on their way. */
uint8_t *frames_take(struct frames *frames);
/* The frame that was taken last is to go, with so many octets. */
void frames_put(struct frames *frames, const uint8_t *frame, uint32_t octets);
/* Lets go what was put. False: some of it has to wait, since the device does not take more now. */
bool frames_push(struct frames *frames);
/* Whether some of what was put has not gone. */
bool frames_waiting(const struct frames *frames);
/* How many frames nobody has. */
uint32_t frames_free(struct frames *frames);

#endif
