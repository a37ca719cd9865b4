/* SPDX-License-Identifier: MIT */
/* What the applications `memory` and `perf` agree on: who they are, what is where, and which bytes. */
#ifndef CARRICK_APPS_VERBS_H
#define CARRICK_APPS_VERBS_H

#include "apps/pattern.h"
#include "carrick/verbs.h"

#define VERBS_PLACES  16u     /* messages whose bytes differ; the next has those of the first */
#define VERBS_MESSAGE 262144u /* most bytes of a message */
#define VERBS_REGION  (VERBS_PLACES * VERBS_MESSAGE)
#define VERBS_ADDRESS UINT64_C(0x7000000000)
#define VERBS_OVER    0xffffffffu /* the immediate of the last message, each way */

enum verbs_key { VERBS_READ_KEY = 0x1001, VERBS_WRITTEN_KEY };
enum verbs_seed { VERBS_SENT = 1, VERBS_THERE }; /* of messages, and of the memory that is read */

/* The queue pair of `memory`, or of `perf`. */
static inline struct carrick_pair verbs_pair(bool passive, uint32_t peer) {
    static const uint32_t numbers[2] = {17, 18}, first[2] = {0x123456, 0xfffff0};
    return (struct carrick_pair){.local_qp = numbers[passive],
                                 .remote_qp = numbers[!passive],
                                 .address = peer,
                                 .send_psn = first[passive],
                                 .recv_psn = first[!passive]};
}

/* Where a message's bytes are, of a table of them, and of memory. */
static inline uint32_t verbs_place(uint64_t number, uint32_t len) {
    return (uint32_t)(number % VERBS_PLACES) * len;
}

#endif
