/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of the language where C leaves it undefined: docs/reference/language.md, "Operators".
 * Operands come widened to 64 bits; the caller casts the result to its type.
 */
#ifndef CARRICK_ARITH_H
#define CARRICK_ARITH_H

#include "carrick/numbers.h"

static inline uint64_t carrick_div_u(uint64_t a, uint64_t b) {
    return b ? a / b : 0;
}

static inline uint64_t carrick_rem_u(uint64_t a, uint64_t b) {
    return b ? a % b : a;
}

static inline int64_t carrick_div_s(int64_t a, int64_t b) {
    if (b == 0)
        return 0;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline int64_t carrick_rem_s(int64_t a, int64_t b) {
    if (b == 0)
        return a;
    return b == -1 ? 0 : a % b;
}

__extension__ typedef unsigned __int128 carrick_u128;

/* How long so many octets take, in nanoseconds. */
static inline int64_t carrick_bytes_per_rate(uint64_t bytes, uint64_t rate) {
    return rate ? (int64_t)(uint64_t)((carrick_u128)bytes * 8000000000u / rate) : 0;
}

/* The rate of so many octets in a time, in bits per second. */
static inline uint64_t carrick_bytes_per_duration(uint64_t bytes, int64_t duration) {
    return duration > 0 ? (uint64_t)((carrick_u128)bytes * 8000000000u / (uint64_t)duration) : 0;
}

/* How many octets fit a time. */
static inline uint64_t carrick_rate_times_duration(uint64_t rate, int64_t duration) {
    return duration > 0 ? (uint64_t)((carrick_u128)rate * (uint64_t)duration / 8000000000u) : 0;
}

#endif
