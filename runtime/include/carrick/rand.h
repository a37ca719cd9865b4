/* SPDX-License-Identifier: MIT */
/* Randomness from a seed: PCG32 (O'Neill, XSH-RR 64/32). */
#ifndef CARRICK_RAND_H
#define CARRICK_RAND_H

#include "carrick/arith.h"
#include "carrick/pcg.h"
#include "carrick/siphash.h"

struct carrick_pcg {
    uint64_t state, increment;
};

static inline uint32_t carrick_pcg_next(struct carrick_pcg *rng) {
    uint64_t old = rng->state;
    rng->state = carrick_pcg_step(old, rng->increment);
    return carrick_pcg_output(old);
}

static inline struct carrick_pcg carrick_pcg_make(uint64_t seed, uint64_t stream) {
    struct carrick_pcg rng = {0, (stream << 1) | 1u};
    carrick_pcg_next(&rng);
    rng.state += seed;
    carrick_pcg_next(&rng);
    return rng;
}

static inline struct carrick_key carrick_key_make(uint64_t seed) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 55);
    uint64_t words[4];
    for (int i = 0; i < 4; i++)
        words[i] = carrick_pcg_next(&rng);
    return (struct carrick_key){words[0] | (words[1] << 32), words[2] | (words[3] << 32)};
}

/* One step of the hash behind context tables: fast, and secret by its key, so that an attacker without the
 * key cannot choose collisions. */
static inline uint64_t carrick_mix(uint64_t h, uint64_t word) {
    carrick_wide product = carrick_wide_mul(h ^ word, 0x9e3779b97f4a7c15u);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
