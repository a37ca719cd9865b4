/* SPDX-License-Identifier: MIT */
/*
 * The way of requests to `egress`: a pair of devices of this process's own. It sends frames by the one, which is in a
 * network namespace of its own; the other one, beside the program's device, runs `egress` for each of them, which sends
 * packets on by the program's device. When the process dies, the namespace goes, and the devices with it.
 */
#ifndef CARRICK_KERNEL_INNER_H
#define CARRICK_KERNEL_INNER_H

#include "frames.h"

struct inner {
    struct frames frames;
    int link;      /* of `egress` and the device that runs it; -1: none */
    uint32_t gate; /* that device */
};

/* Makes the devices, for frames of so many octets, and has `egress` run. NULL, or what cannot be done; errno says why.
 */
const char *inner_open(struct inner *inner, int egress, uint32_t frame_octets);
void inner_close(struct inner *inner);

#endif
