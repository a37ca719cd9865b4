/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point numbers: 32 bits before and 32 behind the point, two's complement. Results wrap to 64 bits;
 * docs/reference/language.md, "Operators".
 */
#ifndef CARRICK_FIXED_H
#define CARRICK_FIXED_H

#include "carrick/arith.h"

__extension__ typedef __int128 carrick_i128;

/* a * b, b fixed-point, rounded down. */
static inline int64_t carrick_scale_s(int64_t a, int64_t b) {
    return (int64_t)(((carrick_i128)a * b) >> 32);
}

/* The same of an unsigned number; a negative factor counts as 0. */
static inline uint64_t carrick_scale_u(uint64_t a, int64_t b) {
    return b > 0 ? (uint64_t)(((carrick_u128)a * (uint64_t)b) >> 32) : 0;
}

/* a / b as a fixed-point number, rounded toward zero; 0 by 0. */
static inline int64_t carrick_ratio_s(int64_t a, int64_t b) {
    return b ? (int64_t)((carrick_i128)a * ((int64_t)1 << 32) / b) : 0;
}

static inline int64_t carrick_ratio_u(uint64_t a, uint64_t b) {
    return b ? (int64_t)(uint64_t)(((carrick_u128)a << 32) / b) : 0;
}

/* The square root, rounded down; 0 of a negative number. */
static inline int64_t carrick_fixed_sqrt(int64_t a) {
    carrick_u128 of = (carrick_u128)(uint64_t)(a > 0 ? a : 0) << 32;
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 47; bit; bit >>= 1)
        if ((carrick_u128)(root | bit) * (root | bit) <= of)
            root |= bit;
    return (int64_t)root;
}

/* The cube root, rounded toward zero. */
static inline int64_t carrick_fixed_cbrt(int64_t a) {
    carrick_u128 of = (carrick_u128)(a < 0 ? 0 - (uint64_t)a : (uint64_t)a) << 64;
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 42; bit; bit >>= 1)
        if ((carrick_u128)(root | bit) * (root | bit) * (root | bit) <= of)
            root |= bit;
    return a < 0 ? -(int64_t)root : (int64_t)root;
}

#endif
