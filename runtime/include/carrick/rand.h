/* SPDX-License-Identifier: MIT */
/* Randomness from a seed: PCG32 (O'Neill, XSH-RR 64/32) and SipHash-2-4 (Aumasson, Bernstein). */
#ifndef CARRICK_RAND_H
#define CARRICK_RAND_H

#include "carrick/arith.h"

struct carrick_pcg {
    uint64_t state, increment;
};

static inline uint32_t carrick_pcg_next(struct carrick_pcg *rng) {
    uint64_t old = rng->state;
    rng->state = old * 6364136223846793005u + rng->increment;
    uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t turn = (uint32_t)(old >> 59);
    return (shifted >> turn) | (shifted << ((32u - turn) & 31u));
}

static inline struct carrick_pcg carrick_pcg_make(uint64_t seed, uint64_t stream) {
    struct carrick_pcg rng = {0, (stream << 1) | 1u};
    carrick_pcg_next(&rng);
    rng.state += seed;
    carrick_pcg_next(&rng);
    return rng;
}

struct carrick_key {
    uint64_t k0, k1;
};

static inline struct carrick_key carrick_key_make(uint64_t seed) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 55);
    uint64_t words[4];
    for (int i = 0; i < 4; i++)
        words[i] = carrick_pcg_next(&rng);
    return (struct carrick_key){words[0] | (words[1] << 32), words[2] | (words[3] << 32)};
}

static inline uint64_t carrick_rotl(uint64_t v, int n) {
    return (v << n) | (v >> (64 - n));
}

static inline void carrick_sip_round(uint64_t v[4]) {
    v[0] += v[1];
    v[1] = carrick_rotl(v[1], 13) ^ v[0];
    v[0] = carrick_rotl(v[0], 32);
    v[2] += v[3];
    v[3] = carrick_rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = carrick_rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = carrick_rotl(v[1], 17) ^ v[2];
    v[2] = carrick_rotl(v[2], 32);
}

/* SipHash-2-4 of `count` words, each as 8 octets little-endian. */
static inline uint64_t carrick_siphash(struct carrick_key key, const uint64_t *words, uint32_t count) {
    uint64_t v[4] = {key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du, key.k0 ^ 0x6c7967656e657261u,
                     key.k1 ^ 0x7465646279746573u};
    for (uint32_t i = 0; i <= count; i++) {
        uint64_t m = i < count ? words[i] : (uint64_t)(count * 8u) << 56;
        v[3] ^= m;
        carrick_sip_round(v);
        carrick_sip_round(v);
        v[0] ^= m;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        carrick_sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* One step of the hash behind context tables: fast, and secret by its key, so that nobody can choose collisions
 * without knowing it. */
static inline uint64_t carrick_mix(uint64_t h, uint64_t word) {
    carrick_u128 product = (carrick_u128)(h ^ word) * 0x9e3779b97f4a7c15u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
