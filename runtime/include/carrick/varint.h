/* SPDX-License-Identifier: MIT */
/* Variable-length integers (RFC 9000 §16): two bits give the length of a number below 2^62. */
#ifndef CARRICK_VARINT_H
#define CARRICK_VARINT_H

#include "carrick/base.h"

#define CARRICK_VARINT_MAX 0x3fffffffffffffffu

/* The fewest bytes for a number modulo 2^62. */
static inline uint32_t carrick_varint_len(uint64_t v) {
    v &= CARRICK_VARINT_MAX;
    return v < 0x40 ? 1 : v < 0x4000 ? 2 : v < 0x40000000 ? 4 : 8;
}

/* Reads a number; returns its length in bytes, 0 if there are fewer than that in `room`. */
static inline uint32_t carrick_varint_load(const uint8_t *p, uint32_t room, uint64_t *v) {
    if (room == 0)
        return 0;
    uint32_t len = 1u << (p[0] >> 6);
    if (room < len)
        return 0;
    uint64_t value = p[0] & 0x3f;
    for (uint32_t i = 1; i < len; i++)
        value = value << 8 | p[i];
    *v = value;
    return len;
}

/* Writes a number modulo 2^62 in the fewest bytes; returns how many. */
static inline uint32_t carrick_varint_store(uint8_t *p, uint64_t v) {
    uint32_t len = carrick_varint_len(v);
    v &= CARRICK_VARINT_MAX;
    for (uint32_t i = len; i-- > 0; v >>= 8)
        p[i] = (uint8_t)v;
    p[0] |= (uint8_t)(len == 8 ? 0xc0 : len == 4 ? 0x80 : len == 2 ? 0x40 : 0);
    return len;
}

#endif
