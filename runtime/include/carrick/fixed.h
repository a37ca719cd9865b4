/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point numbers: 32 bits before and 32 behind the point, two's complement. Results wrap to 64 bits;
 * docs/reference/language.md, "Operators".
 */
#ifndef CARRICK_FIXED_H
#define CARRICK_FIXED_H

#include "carrick/arith.h"

CARRICK_INLINE uint64_t carrick_magnitude(int64_t a) {
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

CARRICK_INLINE int64_t carrick_signed(uint64_t magnitude, bool negative) {
    return (int64_t)(negative ? 0 - magnitude : magnitude);
}

/* a * b, b fixed-point, rounded down: of a negative product, what is cut off makes it one less. */
CARRICK_INLINE int64_t carrick_scale_s(int64_t a, int64_t b) {
    carrick_wide all = carrick_wide_mul(carrick_magnitude(a), carrick_magnitude(b));
    bool negative = (a < 0) != (b < 0);
    return carrick_signed(carrick_wide_fixed(all) + (negative && carrick_wide_rest(all) ? 1 : 0), negative);
}

/* The same of an unsigned number; a negative factor counts as 0. */
CARRICK_INLINE uint64_t carrick_scale_u(uint64_t a, int64_t b) {
    return b > 0 ? carrick_wide_fixed(carrick_wide_mul(a, (uint64_t)b)) : 0;
}

/* a / b as a fixed-point number, rounded toward zero; 0 by 0. */
CARRICK_INLINE int64_t carrick_ratio_u(uint64_t a, uint64_t b) {
    return b ? (int64_t)carrick_wide_div(carrick_wide_shifted(a), b) : 0;
}

CARRICK_INLINE int64_t carrick_ratio_s(int64_t a, int64_t b) {
    uint64_t ratio = (uint64_t)carrick_ratio_u(carrick_magnitude(a), carrick_magnitude(b));
    return carrick_signed(ratio, (a < 0) != (b < 0));
}

CARRICK_GLOBAL_FN uint64_t carrick_square_root(uint64_t of) {
    uint64_t root = 0;
    for (uint32_t i = 0; i < 48; i++) {
        uint64_t more = root | (uint64_t)1 << (47 - i);
        if (carrick_square_fits(more, of))
            root = more;
    }
    return root;
}

CARRICK_GLOBAL_FN uint64_t carrick_cube_root(uint64_t of) {
    uint64_t root = 0;
    for (uint32_t i = 0; i < 43; i++) {
        uint64_t more = root | (uint64_t)1 << (42 - i);
        if (carrick_cube_fits(more, of))
            root = more;
    }
    return root;
}

/* The logarithm to base 2, rounded down, or less by one in the last place; 0 of what is not above 0. The number's
 * digits behind its first one become a part of 1: each time this is squared, one more digit of the logarithm shows. */
CARRICK_GLOBAL_FN int64_t carrick_fixed_log2(int64_t a) {
    if (a <= 0)
        return 0;
    uint64_t part = (uint64_t)a, log = 0;
    for (uint32_t width = 32; width > 0; width /= 2) {
        bool low = part >> (64 - width) == 0;
        part <<= low ? width : 0;
        log += low ? width : 0;
    }
    log = 31 - log;
    for (uint32_t digit = 0; digit < 32; digit++) {
        part = carrick_wide_high(carrick_wide_mul(part, part));
        uint64_t more = part >> 63;
        part <<= 1 - more;
        log = log << 1 | more;
    }
    return (int64_t)log;
}

/* The square root, rounded down; 0 of a negative number. */
CARRICK_INLINE int64_t carrick_fixed_sqrt(int64_t a) {
    return (int64_t)carrick_square_root(a > 0 ? (uint64_t)a : 0);
}

/* The cube root, rounded toward zero. */
CARRICK_INLINE int64_t carrick_fixed_cbrt(int64_t a) {
    return carrick_signed(carrick_cube_root(carrick_magnitude(a)), a < 0);
}

#endif
