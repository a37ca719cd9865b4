/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of the language on a machine without signed division and without 128 bits: what carrick/arith.h and
 * carrick/fixed.h are elsewhere, with the same names and results.
 */
#ifndef CARRICK_XDP_WIDE_H
#define CARRICK_XDP_WIDE_H

/* Those of the runtime are not to be included beside these. */
#define CARRICK_ARITH_H
#define CARRICK_FIXED_H

#include "carrick/kernel.h"
#include "carrick/numbers.h"

CARRICK_INLINE uint64_t carrick_div_u(uint64_t a, uint64_t b) {
    return b ? a / b : 0;
}

CARRICK_INLINE uint64_t carrick_rem_u(uint64_t a, uint64_t b) {
    return b ? a % b : a;
}

CARRICK_INLINE uint64_t carrick_magnitude(int64_t a) {
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

CARRICK_INLINE int64_t carrick_signed(uint64_t magnitude, bool negative) {
    return (int64_t)(negative ? 0 - magnitude : magnitude);
}

CARRICK_INLINE int64_t carrick_div_s(int64_t a, int64_t b) {
    return carrick_signed(carrick_div_u(carrick_magnitude(a), carrick_magnitude(b)), (a < 0) != (b < 0));
}

CARRICK_INLINE int64_t carrick_rem_s(int64_t a, int64_t b) {
    return carrick_signed(carrick_rem_u(carrick_magnitude(a), carrick_magnitude(b)), a < 0);
}

struct carrick_wide {
    uint64_t high, low;
};

CARRICK_INLINE struct carrick_wide carrick_wide_mul(uint64_t a, uint64_t b) {
    uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xffffffffu);
    return (struct carrick_wide){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (low & 0xffffffffu)};
}

/* The lower 64 bits of the quotient, bit by bit; b is not 0. Apart, as all loops here: else the verifier follows each
 * anew wherever there is a division. */
CARRICK_APART uint64_t carrick_wide_quotient(uint64_t high, uint64_t low, uint64_t b) {
    if (b == 0)
        return 0;
    uint64_t rest = high % b;
    for (uint32_t bit = 0; bit < 64; bit++) {
        uint64_t carry = rest >> 63;
        rest = rest << 1 | low >> 63;
        low <<= 1;
        if (carry || rest >= b) {
            rest -= b;
            low |= 1;
        }
    }
    return low;
}

CARRICK_INLINE uint64_t carrick_wide_div(struct carrick_wide a, uint64_t b) {
    return carrick_wide_quotient(a.high, a.low, b);
}

CARRICK_INLINE int64_t carrick_bytes_per_rate(uint64_t bytes, uint64_t rate) {
    return rate ? (int64_t)carrick_wide_div(carrick_wide_mul(bytes, 8000000000u), rate) : 0;
}

CARRICK_INLINE uint64_t carrick_bytes_per_duration(uint64_t bytes, int64_t duration) {
    return duration > 0 ? carrick_wide_div(carrick_wide_mul(bytes, 8000000000u), (uint64_t)duration) : 0;
}

CARRICK_INLINE uint64_t carrick_rate_times_duration(uint64_t rate, int64_t duration) {
    return duration > 0 ? carrick_wide_div(carrick_wide_mul(rate, (uint64_t)duration), 8000000000u) : 0;
}

CARRICK_INLINE uint64_t carrick_wide_fixed(struct carrick_wide a) {
    return a.high << 32 | a.low >> 32;
}

/* Rounded down: of a negative product, what is cut off makes it one less. */
CARRICK_INLINE int64_t carrick_scale_s(int64_t a, int64_t b) {
    struct carrick_wide all = carrick_wide_mul(carrick_magnitude(a), carrick_magnitude(b));
    uint64_t whole = carrick_wide_fixed(all);
    bool negative = (a < 0) != (b < 0);
    return carrick_signed(whole + (negative && (all.low & 0xffffffffu) ? 1 : 0), negative);
}

CARRICK_INLINE uint64_t carrick_scale_u(uint64_t a, int64_t b) {
    return b > 0 ? carrick_wide_fixed(carrick_wide_mul(a, (uint64_t)b)) : 0;
}

CARRICK_INLINE int64_t carrick_ratio_u(uint64_t a, uint64_t b) {
    return b ? (int64_t)carrick_wide_div((struct carrick_wide){a >> 32, a << 32}, b) : 0;
}

CARRICK_INLINE int64_t carrick_ratio_s(int64_t a, int64_t b) {
    return carrick_signed((uint64_t)carrick_ratio_u(carrick_magnitude(a), carrick_magnitude(b)), (a < 0) != (b < 0));
}

/* root * root <= a * 2^32, for roots below 2^48. Apart: of what it says of one root the verifier would conclude on the
 * next. */
CARRICK_APART int carrick_square_fits(uint64_t root, uint64_t a) {
    struct carrick_wide square = carrick_wide_mul(root, root);
    return square.high < a >> 32 || (square.high == a >> 32 && square.low <= a << 32);
}

CARRICK_APART uint64_t carrick_square_root(uint64_t of) {
    uint64_t root = 0;
    for (uint32_t i = 0; i < 48; i++) {
        uint64_t more = root | (uint64_t)1 << (47 - i);
        if (carrick_square_fits(more, of))
            root = more;
    }
    return root;
}

CARRICK_INLINE int64_t carrick_fixed_sqrt(int64_t a) {
    return (int64_t)carrick_square_root(a > 0 ? (uint64_t)a : 0);
}

/* root^3 <= a * 2^64, for roots below 2^43. */
CARRICK_APART int carrick_cube_fits(uint64_t root, uint64_t a) {
    struct carrick_wide square = carrick_wide_mul(root, root);
    struct carrick_wide low = carrick_wide_mul(square.low, root);
    uint64_t high = square.high * root + low.high; /* roots that are tried stay below 1.5 * 2^42, cubes below 2^128 */
    return high < a || (high == a && low.low == 0);
}

CARRICK_APART uint64_t carrick_cube_root(uint64_t of) {
    uint64_t root = 0;
    for (uint32_t i = 0; i < 43; i++) {
        uint64_t more = root | (uint64_t)1 << (42 - i);
        if (carrick_cube_fits(more, of))
            root = more;
    }
    return root;
}

CARRICK_INLINE int64_t carrick_fixed_cbrt(int64_t a) {
    return carrick_signed(carrick_cube_root(carrick_magnitude(a)), a < 0);
}

#endif
