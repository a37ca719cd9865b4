/* SPDX-License-Identifier: MIT */
/* The least that a test needs: a check that says where it failed, and random numbers from a fixed seed. */
#ifndef CARRICK_CHECK_H
#define CARRICK_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include "carrick/rand.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A number below `bound`. */
static inline uint32_t check_below(struct carrick_pcg *rng, uint32_t bound) {
    return (uint32_t)(((uint64_t)carrick_pcg_next(rng) * bound) >> 32);
}

static inline int check_passed(const char *name, int tests) {
    printf("%s: %d passed, 0 failed\n", name, tests);
    return 0;
}

#endif
