/* SPDX-License-Identifier: MIT */
/*
 * Numbers of 128 bits, and signed division, for carrick/arith.h and carrick/fixed.h. A target whose machine
 * has neither has a header of the same name with the same functions, which the compiler finds first.
 */
#ifndef CARRICK_WIDE_H
#define CARRICK_WIDE_H

#include "carrick/bounds.h"

__extension__ typedef unsigned __int128 carrick_wide;

CARRICK_INLINE carrick_wide carrick_wide_mul(uint64_t a, uint64_t b) {
    return (carrick_wide)a * b;
}

/* a * 2^32. */
CARRICK_INLINE carrick_wide carrick_wide_shifted(uint64_t a) {
    return (carrick_wide)a << 32;
}

/* The lower 64 bits of the quotient; b is not 0. */
CARRICK_INLINE uint64_t carrick_wide_div(carrick_wide a, uint64_t b) {
    return (uint64_t)(a / b);
}

/* a / 2^64. */
CARRICK_INLINE uint64_t carrick_wide_high(carrick_wide a) {
    return (uint64_t)(a >> 64);
}

/* a / 2^32, modulo 2^64, and what that cuts off. */
CARRICK_INLINE uint64_t carrick_wide_fixed(carrick_wide a) {
    return (uint64_t)(a >> 32);
}

CARRICK_INLINE uint32_t carrick_wide_rest(carrick_wide a) {
    return (uint32_t)a;
}

/* root^2 <= a * 2^32, for roots below 2^48; root^3 <= a * 2^64, for roots below 2^43. */
CARRICK_INLINE bool carrick_square_fits(uint64_t root, uint64_t a) {
    return (carrick_wide)root * root <= (carrick_wide)a << 32;
}

CARRICK_INLINE bool carrick_cube_fits(uint64_t root, uint64_t a) {
    return (carrick_wide)root * root * root <= (carrick_wide)a << 64;
}

CARRICK_INLINE int64_t carrick_div_s(int64_t a, int64_t b) {
    if (b == 0)
        return 0;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

CARRICK_INLINE int64_t carrick_rem_s(int64_t a, int64_t b) {
    if (b == 0)
        return a;
    return b == -1 ? 0 : a % b;
}

#endif
