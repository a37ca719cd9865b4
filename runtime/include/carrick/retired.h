/* SPDX-License-Identifier: MIT */
/*
 * The instances of a context that `new_ctx` may delete (`retire_ctx`): a list in the order in which they were retired.
 * Its links are the members `older__` and `newer__` of the instances: the slot + 1 of the next one on that side,
 * CARRICK_RETIRED_END where there is none, 0 of an instance that is not retired.
 */
#ifndef CARRICK_RETIRED_H
#define CARRICK_RETIRED_H

#include <stdint.h>

#define CARRICK_RETIRED_END UINT32_MAX

struct carrick_retired {
    uint32_t oldest, newest; /* slot + 1; 0: none is retired */
    uint32_t held;           /* 1: a processor changes the list, where several work on a core */
};

#endif
