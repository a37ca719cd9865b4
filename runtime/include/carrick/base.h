/* SPDX-License-Identifier: MIT */
/* What every module of the runtime and all generated code includes: types, byte order, small helpers. */
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
/* A function that is seldom called: as a part of its callers it would only take their registers. */
#define CARRICK_APART __attribute__((noinline, unused)) static
#ifndef CARRICK_CONSTANTS
#define CARRICK_CONSTANTS /* what a constant array has more, where a target keeps them in a place of their own */
#endif

/* In one piece and then turned round: compilers assemble bytes in ways that make a processor wait. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CARRICK_SWAP(bits, v) __builtin_bswap##bits(v)
#else
#define CARRICK_SWAP(bits, v) (v)
#endif

#define CARRICK_LOAD_STORE(bits)                                                                                       \
    static inline uint##bits##_t carrick_load##bits(const uint8_t *p) {                                                \
        uint##bits##_t v;                                                                                              \
        memcpy(&v, p, sizeof v);                                                                                       \
        return CARRICK_SWAP(bits, v);                                                                                  \
    }                                                                                                                  \
    static inline void carrick_store##bits(uint8_t *p, uint##bits##_t v) {                                             \
        v = CARRICK_SWAP(bits, v);                                                                                     \
        memcpy(p, &v, sizeof v);                                                                                       \
    }

/* carrick_load16, carrick_store16, ...: numbers as the network has them, at any address. */
CARRICK_LOAD_STORE(16)
CARRICK_LOAD_STORE(32)
CARRICK_LOAD_STORE(64)

/* 1 to 64 bits, most significant first, from bit offset `at`. For fields that are not whole bytes; with constants for
 * `at` and `bits` the loops fall away. */
static inline uint64_t carrick_load_bits(const uint8_t *p, uint32_t at, uint32_t bits) {
    uint32_t first = at / 8, end = (at + bits + 7) / 8, below = end * 8 - at - bits;
    uint64_t v = 0;
    for (uint32_t i = first; i < end - 1; i++)
        v = (v << 8) | p[i];
    v = (v << (8 - below)) | (uint64_t)p[end - 1] >> below;
    return v & (UINT64_MAX >> (64 - bits));
}

/* Into bytes that are zero where the field goes. */
static inline void carrick_store_bits(uint8_t *p, uint32_t at, uint32_t bits, uint64_t v) {
    uint32_t first = at / 8, end = (at + bits + 7) / 8, below = end * 8 - at - bits;
    v &= UINT64_MAX >> (64 - bits);
    p[end - 1] |= (uint8_t)(v << below);
    v >>= 8 - below;
    for (uint32_t i = end - 1; i > first; i--, v >>= 8)
        p[i - 1] |= (uint8_t)v;
}

/* In place of the bytes of an option: the list ends there. */
#define CARRICK_END_OF_OPTIONS UINT32_MAX

static inline uint64_t carrick_min64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static inline uint64_t carrick_max64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* a - b, or 0 where b is greater. */
static inline uint32_t carrick_sat_sub32(uint32_t a, uint32_t b) {
    return a > b ? a - b : 0;
}

static inline uint64_t carrick_sat_sub64(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}

/* The smallest power of two that is not below v (v at most 2^63). */
static inline uint64_t carrick_pow2(uint64_t v) {
    uint64_t p = 1;
    while (p < v)
        p <<= 1;
    return p;
}

/* The region without its first n bytes, never past its end. */
static inline struct carrick_addr carrick_addr_skip(struct carrick_addr a, uint64_t n) {
    n = carrick_min64(n, a.len);
    if (a.ptr)
        a.ptr += n;
    a.len -= n;
    return a;
}

/* Under AddressSanitizer, what is between two arrays of a core is forbidden, as what is between two allocations. Memory
 * that is mapped anew may still have what was forbidden there before, so an array is permitted where it is placed.
 */
#if defined(__SANITIZE_ADDRESS__)
#define CARRICK_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CARRICK_ASAN
#endif
#endif
#ifdef CARRICK_ASAN
#include <sanitizer/asan_interface.h>
#define CARRICK_REDZONE              64u
#define CARRICK_FORBID(from, octets) __asan_poison_memory_region(from, octets)
#define CARRICK_PERMIT(from, octets) __asan_unpoison_memory_region(from, octets)
#else
#define CARRICK_REDZONE              0u
#define CARRICK_FORBID(from, octets) ((void)(from), (void)(octets))
#define CARRICK_PERMIT(from, octets) ((void)(from), (void)(octets))
#endif

/* The next array of a layout, on a cache line of its own; with base NULL nothing is placed. */
static inline uint8_t *carrick_place(uint8_t *base, size_t *at, uint64_t octets) {
    size_t begin = *at;
    *at += (size_t)((octets + CARRICK_REDZONE + 63) / 64 * 64);
    if (!base)
        return NULL;
    CARRICK_PERMIT(base + begin, octets);
    CARRICK_FORBID(base + begin + octets, *at - begin - octets);
    return base + begin;
}

/* Whether a checksum says that a packet is damaged. A build for a fuzzer, which knows no sums, lets it pass. */
static inline bool carrick_damaged(bool damaged) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    volatile bool looked_at = damaged;
    (void)looked_at;
    return false;
#else
    return damaged;
#endif
}

#endif
