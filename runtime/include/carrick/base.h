/* SPDX-License-Identifier: MIT */
/* What every module of the runtime and all generated code includes: types, octet order, small helpers. */
#ifndef CARRICK_BASE_H
#define CARRICK_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "carrick/program.h"

#define CARRICK_LIKELY(x)   __builtin_expect(!!(x), 1)
#define CARRICK_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Part of the runtime or of generated code that a program may not use. */
#define CARRICK_UNUSED __attribute__((unused))

static inline uint16_t carrick_load16(const uint8_t *p) {
    return (uint16_t)((p[0] << 8) | p[1]);
}

static inline uint32_t carrick_load32(const uint8_t *p) {
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static inline uint64_t carrick_load64(const uint8_t *p) {
    return ((uint64_t)carrick_load32(p) << 32) | carrick_load32(p + 4);
}

static inline void carrick_store16(uint8_t *p, uint16_t v) {
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline void carrick_store32(uint8_t *p, uint32_t v) {
    carrick_store16(p, (uint16_t)(v >> 16));
    carrick_store16(p + 2, (uint16_t)v);
}

static inline void carrick_store64(uint8_t *p, uint64_t v) {
    carrick_store32(p, (uint32_t)(v >> 32));
    carrick_store32(p + 4, (uint32_t)v);
}

/* Up to 64 bits, most significant first, from bit offset `at`. For fields that are not whole octets. */
static inline uint64_t carrick_load_bits(const uint8_t *p, uint32_t at, uint32_t bits) {
    uint64_t v = 0;
    for (uint32_t i = 0; i < bits; i++)
        v = (v << 1) | ((uint64_t)(p[(at + i) / 8] >> (7 - (at + i) % 8)) & 1);
    return v;
}

/* Into octets that are zero where the field goes. */
static inline void carrick_store_bits(uint8_t *p, uint32_t at, uint32_t bits, uint64_t v) {
    for (uint32_t i = 0; i < bits; i++)
        p[(at + i) / 8] |= (uint8_t)(((v >> (bits - 1 - i)) & 1) << (7 - (at + i) % 8));
}

static inline uint64_t carrick_min64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t carrick_max64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* The smallest power of two that is not below v (v at most 2^63). */
static inline uint64_t carrick_pow2(uint64_t v) {
    uint64_t p = 1;
    while (p < v)
        p <<= 1;
    return p;
}

/* The region without its first n octets, never past its end. */
static inline struct carrick_addr carrick_addr_skip(struct carrick_addr a, uint64_t n) {
    n = carrick_min64(n, a.len);
    if (a.ptr)
        a.ptr += n;
    a.len -= n;
    return a;
}

#endif
