/* SPDX-License-Identifier: MIT */
/*
 * Numbers of 128 bits, and signed division, on a machine without them: what carrick/wide.h of the runtime is elsewhere,
 * with the same names and results.
 */
#ifndef CARRICK_WIDE_H
#define CARRICK_WIDE_H

#include "carrick/kernel.h"

typedef struct {
    uint64_t high, low;
} carrick_wide;

CARRICK_INLINE carrick_wide carrick_wide_mul(uint64_t a, uint64_t b) {
    uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xffffffffu);
    return (carrick_wide){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (low & 0xffffffffu)};
}

CARRICK_INLINE carrick_wide carrick_wide_shifted(uint64_t a) {
    return (carrick_wide){a >> 32, a << 32};
}

/* The lower 64 bits of the quotient, bit by bit; b is not 0. Apart, as all loops here: else the verifier follows each
 * anew wherever there is a division. */
CARRICK_GLOBAL_FN uint64_t carrick_wide_quotient(uint64_t high, uint64_t low, uint64_t b) {
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

CARRICK_INLINE uint64_t carrick_wide_div(carrick_wide a, uint64_t b) {
    return carrick_wide_quotient(a.high, a.low, b);
}

CARRICK_INLINE uint64_t carrick_wide_high(carrick_wide a) {
    return a.high;
}

CARRICK_INLINE uint64_t carrick_wide_fixed(carrick_wide a) {
    return a.high << 32 | a.low >> 32;
}

CARRICK_INLINE uint32_t carrick_wide_rest(carrick_wide a) {
    return (uint32_t)a.low;
}

/* Apart: of what it says of one root the verifier would conclude on the next. */
CARRICK_GLOBAL_FN int carrick_square_fits(uint64_t root, uint64_t a) {
    carrick_wide square = carrick_wide_mul(root, root);
    return square.high < a >> 32 || (square.high == a >> 32 && square.low <= a << 32);
}

CARRICK_GLOBAL_FN int carrick_cube_fits(uint64_t root, uint64_t a) {
    carrick_wide square = carrick_wide_mul(root, root);
    carrick_wide low = carrick_wide_mul(square.low, root);
    uint64_t high = square.high * root + low.high; /* roots that are tried stay below 1.5 * 2^42, cubes below 2^128 */
    return high < a || (high == a && low.low == 0);
}

CARRICK_INLINE int64_t carrick_div_s(int64_t a, int64_t b) {
    uint64_t of = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, by = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    uint64_t quotient = by ? of / by : 0;
    return (int64_t)((a < 0) != (b < 0) ? 0 - quotient : quotient);
}

CARRICK_INLINE int64_t carrick_rem_s(int64_t a, int64_t b) {
    uint64_t of = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, by = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    uint64_t rest = by ? of % by : of;
    return (int64_t)(a < 0 ? 0 - rest : rest);
}

#endif
