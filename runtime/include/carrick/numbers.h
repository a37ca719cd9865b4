/* SPDX-License-Identifier: MIT */
/*
 * Functions of numbers that generated code calls by name: docs/reference/language.md, "Operators". Results wrap.
 * Those of signed numbers take 64 bits; the caller casts the result to a narrower type.
 */
#ifndef CARRICK_NUMBERS_H
#define CARRICK_NUMBERS_H

#include "carrick/base.h"

static inline uint32_t carrick_min32(uint32_t a, uint32_t b) {
    return b < a ? b : a;
}

static inline uint32_t carrick_max32(uint32_t a, uint32_t b) {
    return a < b ? b : a;
}

static inline int64_t carrick_min_s(int64_t a, int64_t b) {
    return b < a ? b : a;
}

static inline int64_t carrick_max_s(int64_t a, int64_t b) {
    return a < b ? b : a;
}

static inline int64_t carrick_add_s(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t carrick_sub_s(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t carrick_mul_s(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline int64_t carrick_neg_s(int64_t a) {
    return (int64_t)(0 - (uint64_t)a);
}

static inline int64_t carrick_abs_s(int64_t a) {
    return a < 0 ? carrick_neg_s(a) : a;
}

static inline uint32_t carrick_div32(uint32_t a, uint32_t b) {
    return b ? a / b : 0;
}

static inline uint32_t carrick_rem32(uint32_t a, uint32_t b) {
    return b ? a % b : a;
}

/* 0 when shifted by more than the width. */
static inline uint32_t carrick_shl32(uint32_t a, uint64_t n) {
    return n < 32 ? a << (n & 31) : 0;
}

static inline uint32_t carrick_shr32(uint32_t a, uint64_t n) {
    return n < 32 ? a >> (n & 31) : 0;
}

static inline uint64_t carrick_shl64(uint64_t a, uint64_t n) {
    return n < 64 ? a << (n & 63) : 0;
}

static inline uint64_t carrick_shr64(uint64_t a, uint64_t n) {
    return n < 64 ? a >> (n & 63) : 0;
}

static inline int64_t carrick_shr_s(int64_t a, uint64_t n) {
    return a >> (n < 63 ? n & 63 : 63);
}

/* Serial number order: the distance from a to b is in 1..2^31. RFC 1982 orders no two numbers that are 2^31 apart; here
 * each is less than the other, so that of `a < b` and `a >= b` always one holds. */
static inline bool carrick_seq_lt(uint32_t a, uint32_t b) {
    return a - b > 0x7fffffffu;
}

static inline bool carrick_seq_le(uint32_t a, uint32_t b) {
    return !carrick_seq_lt(b, a);
}

static inline uint32_t carrick_seq_min(uint32_t a, uint32_t b) {
    return carrick_seq_lt(b, a) ? b : a;
}

static inline uint32_t carrick_seq_max(uint32_t a, uint32_t b) {
    return carrick_seq_lt(a, b) ? b : a;
}

#endif
