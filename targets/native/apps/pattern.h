/* SPDX-License-Identifier: MIT */
/* The bytes that both ends of a scripted transfer expect: a splitmix64 step of seed and offset for each eight of them.
 */
#ifndef CARRICK_APPS_PATTERN_H
#define CARRICK_APPS_PATTERN_H

#include <stdint.h>

static inline uint8_t carrick_pattern(uint64_t seed, uint64_t at) {
    uint64_t z = seed + (at / 8 + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (uint8_t)(z >> (at % 8 * 8));
}

static inline void carrick_pattern_fill(uint64_t seed, uint64_t at, uint8_t *out, uint32_t len) {
    for (uint32_t i = 0; i < len; i++)
        out[i] = carrick_pattern(seed, at + i);
}

/* The first of `len` bytes that is not as it should be; `len` if all are. */
static inline uint32_t carrick_pattern_check(uint64_t seed, uint64_t at, const uint8_t *got, uint32_t len) {
    uint32_t i = 0;
    while (i < len && got[i] == carrick_pattern(seed, at + i))
        i++;
    return i;
}

#endif
