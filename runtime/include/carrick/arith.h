/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of the language where C leaves it undefined: docs/reference/language.md, "Operators".
 * Operands come widened to 64 bits; the caller casts the result to its type.
 */
#ifndef CARRICK_ARITH_H
#define CARRICK_ARITH_H

#include "carrick/numbers.h"
#include "carrick/wide.h"

CARRICK_INLINE uint64_t carrick_div_u(uint64_t a, uint64_t b) {
    return b ? a / b : 0;
}

CARRICK_INLINE uint64_t carrick_rem_u(uint64_t a, uint64_t b) {
    return b ? a % b : a;
}

/* What a rate pays for a byte: bits times 10^9. */
#define CARRICK_OCTET UINT64_C(8000000000)

/* How long so many bytes take, in nanoseconds. */
CARRICK_INLINE int64_t carrick_bytes_per_rate(uint64_t bytes, uint64_t rate) {
    return rate ? (int64_t)carrick_wide_div(carrick_wide_mul(bytes, CARRICK_OCTET), rate) : 0;
}

/* The rate of so many bytes in a time, in bits per second. */
CARRICK_INLINE uint64_t carrick_bytes_per_duration(uint64_t bytes, int64_t duration) {
    return duration > 0 ? carrick_wide_div(carrick_wide_mul(bytes, CARRICK_OCTET), (uint64_t)duration) : 0;
}

/* How many bytes fit a time. */
CARRICK_INLINE uint64_t carrick_rate_times_duration(uint64_t rate, int64_t duration) {
    return duration > 0 ? carrick_wide_div(carrick_wide_mul(rate, (uint64_t)duration), CARRICK_OCTET) : 0;
}

#endif
