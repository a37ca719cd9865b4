/* SPDX-License-Identifier: MIT */
/* What is made of a sum of the Internet checksum (RFC 1071): carrick/sum.h says what a sum is. */
#ifndef CARRICK_FOLD_H
#define CARRICK_FOLD_H

#include "carrick/bounds.h"

/* 16 bits that are congruent to the sum. */
CARRICK_INLINE uint16_t carrick_sum_16(uint64_t sum) {
    sum += (sum << 32) | (sum >> 32); /* the upper half: 32 bits, the carry come round */
    uint32_t half = (uint32_t)(sum >> 32);
    half += (half << 16) | (half >> 16);
    return (uint16_t)(half >> 16);
}

/* The sum of a piece of `len` bytes and the piece that follows it. */
CARRICK_INLINE uint64_t carrick_sum_join(uint64_t first, size_t len, uint64_t second) {
    return first + (len & 1 ? __builtin_bswap16(carrick_sum_16(second)) : second);
}

/* Returns the checksum in the byte order of a header: store its bytes unchanged. */
CARRICK_INLINE uint16_t carrick_sum_fold(uint64_t sum) {
    return (uint16_t)~carrick_sum_16(sum);
}

/* What an engine of checksums begins with, which adds all that follows. */
CARRICK_INLINE void carrick_store_part(uint8_t *p, uint64_t sum) {
    uint16_t part = carrick_sum_16(sum);
    memcpy(p, &part, 2);
}

CARRICK_INLINE void carrick_store_sum(uint8_t *p, uint64_t sum) {
    uint16_t folded = carrick_sum_fold(sum);
    memcpy(p, &folded, 2);
}

#endif
