/* SPDX-License-Identifier: MIT */
/*
 * The Internet checksum (RFC 1071). A sum is not folded: it is a 64-bit count of 16-bit words in the machine's order.
 * Sums of pieces add up, as long as every piece but the last has an even length; carrick_sum_join takes odd ones too.
 */
#ifndef CARRICK_SUM_H
#define CARRICK_SUM_H

#include "carrick/fold.h"

/* The bytes that fill no vectors, copied to `to` if `copy`. */
static inline uint64_t carrick_sum_rest(bool copy, uint8_t *to, const uint8_t *from, size_t n) {
    uint64_t sum = 0;
    size_t at = 0;
    for (; at + 8 <= n; at += 8) {
        uint64_t w;
        memcpy(&w, from + at, 8);
        if (copy)
            memcpy(to + at, &w, 8);
        sum += w;
        sum += sum < w; /* the carry comes round */
    }
    sum = (sum & 0xffffffffu) + (sum >> 32);
    for (; at + 2 <= n; at += 2) {
        uint16_t w;
        memcpy(&w, from + at, 2);
        if (copy)
            memcpy(to + at, &w, 2);
        sum += w;
    }
    if (at < n) {
        if (copy)
            to[at] = from[at];
        sum += __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? from[at] : (uint32_t)from[at] << 8;
    }
    return sum;
}

/*
 * One body, for vectors of 16 bytes, which every 64-bit machine has, and of 32, where the processor has them. Of each
 * 64-bit lane only the whole and its upper half are added up: the sum of the lower halves is what the upper ones leave.
 */
#define CARRICK_SUM_STEP(lanes, copy, to, from, at, whole, upper)                                                      \
    do {                                                                                                               \
        lanes w;                                                                                                       \
        memcpy(&w, from + at, sizeof w);                                                                               \
        if (copy)                                                                                                      \
            memcpy(to + at, &w, sizeof w);                                                                             \
        whole += w;                                                                                                    \
        upper += w >> 32;                                                                                              \
    } while (0)

#define CARRICK_SUM_BODY(lanes, copy, to, from, n)                                                                     \
    const size_t width = sizeof(lanes);                                                                                \
    lanes whole = {0}, upper = {0}, whole_b = {0}, upper_b = {0};                                                      \
    for (; n >= 4 * width; from += 4 * width, n -= 4 * width) {                                                        \
        CARRICK_SUM_STEP(lanes, copy, to, from, 0, whole, upper);                                                      \
        CARRICK_SUM_STEP(lanes, copy, to, from, width, whole_b, upper_b);                                              \
        CARRICK_SUM_STEP(lanes, copy, to, from, 2 * width, whole, upper);                                              \
        CARRICK_SUM_STEP(lanes, copy, to, from, 3 * width, whole_b, upper_b);                                          \
        if (copy)                                                                                                      \
            to += 4 * width;                                                                                           \
    }                                                                                                                  \
    for (; n >= width; from += width, n -= width) {                                                                    \
        CARRICK_SUM_STEP(lanes, copy, to, from, 0, whole, upper);                                                      \
        if (copy)                                                                                                      \
            to += width;                                                                                               \
    }                                                                                                                  \
    upper += upper_b;                                                                                                  \
    whole += whole_b + upper - (upper << 32);                                                                          \
    uint64_t sum = carrick_sum_rest(copy, to, from, n);                                                                \
    for (unsigned i = 0; i < sizeof(lanes) / 8; i++)                                                                   \
        sum += whole[i];                                                                                               \
    return sum

typedef uint64_t carrick_lanes_2 __attribute__((vector_size(16), aligned(8)));

static uint64_t CARRICK_UNUSED carrick_sum_base(const uint8_t *from, size_t n) {
    uint8_t *to = NULL;
    CARRICK_SUM_BODY(carrick_lanes_2, false, to, from, n);
}

static uint64_t CARRICK_UNUSED carrick_copy_sum_base(uint8_t *to, const uint8_t *from, size_t n) {
    CARRICK_SUM_BODY(carrick_lanes_2, true, to, from, n);
}

/* Below so many bytes the wider vectors do not pay for being asked for. */
#define CARRICK_SUM_SHORT 128u

#if defined(__x86_64__)

typedef uint64_t carrick_lanes_4 __attribute__((vector_size(32), aligned(8)));

__attribute__((target("avx2"))) static uint64_t CARRICK_UNUSED carrick_sum_wide(const uint8_t *from, size_t n) {
    uint8_t *to = NULL;
    CARRICK_SUM_BODY(carrick_lanes_4, false, to, from, n);
}

__attribute__((target("avx2"))) static uint64_t CARRICK_UNUSED carrick_copy_sum_wide(uint8_t *to, const uint8_t *from,
                                                                                     size_t n) {
    CARRICK_SUM_BODY(carrick_lanes_4, true, to, from, n);
}

#define CARRICK_HAS_WIDE() __builtin_cpu_supports("avx2")

#else

#define CARRICK_HAS_WIDE()    false
#define carrick_sum_wide      carrick_sum_base
#define carrick_copy_sum_wide carrick_copy_sum_base

#endif

/* The sum of n bytes. */
static inline uint64_t carrick_sum(const uint8_t *p, size_t n) {
    if (n < CARRICK_SUM_SHORT)
        return carrick_sum_rest(false, NULL, p, n);
    return CARRICK_HAS_WIDE() ? carrick_sum_wide(p, n) : carrick_sum_base(p, n);
}

/* Copies n bytes and returns their sum. The regions do not overlap. */
static inline uint64_t carrick_copy_sum(uint8_t *to, const uint8_t *from, size_t n) {
    if (n < CARRICK_SUM_SHORT)
        return carrick_sum_rest(true, to, from, n);
    return CARRICK_HAS_WIDE() ? carrick_copy_sum_wide(to, from, n) : carrick_copy_sum_base(to, from, n);
}

#endif
