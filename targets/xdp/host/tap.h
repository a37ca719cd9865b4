/* SPDX-License-Identifier: MIT */
/*
 * The way of requests to `egress`: a TAP device of this process's own, which runs it. What the process writes to the
 * device is a frame that came by it, and nobody else can make one come. Packets of `egress` go on by the program's
 * device. When the process dies, the device goes with it.
 */
#ifndef CARRICK_KERNEL_TAP_H
#define CARRICK_KERNEL_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "carrick/layout.h"

struct tap {
    int fd, link; /* of the device, and of `egress` on it; -1: none */
    uint8_t *frame;
    uint32_t octets;      /* of a frame */
    uint32_t count, most; /* requests in the one that goes next, and that fit */
};

/* Makes the device, for frames of so many bytes, and has `egress` run. NULL, or what cannot be done; errno says why.
 */
const char *tap_open(struct tap *tap, int egress, uint32_t octets);
void tap_close(struct tap *tap);

/* Whether there is room for a request now; what is there may have to go first. */
bool tap_room(struct tap *tap);
/* Puts a request, for which there is room, into the frame that goes next. */
void tap_put(struct tap *tap, const struct carrick_host_request *host_request);
/* Lets go what was put: when this returns, `egress` has run. False: it has to wait, for want of memory. */
bool tap_push(struct tap *tap);

#endif
