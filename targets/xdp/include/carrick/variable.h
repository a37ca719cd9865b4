/* SPDX-License-Identifier: MIT */
/* Variable-length integers (RFC 9000, section 16), as in carrick/varint.h of the runtime, each verified once: a number
 * is read and written with all the eight bytes that it can take, without a branch that the verifier would follow. */
#ifndef CARRICK_XDP_VARIABLE_H
#define CARRICK_XDP_VARIABLE_H

#include "carrick/kernel.h"

#define CARRICK_VARINT_MAX 0x3fffffffffffffffu

struct carrick_eight {
    uint8_t octets[8];
};

/* Bytes of which there are at least eight. */
CARRICK_INLINE struct carrick_eight *carrick_eight(const uint8_t *octets) {
    return (struct carrick_eight *)(uintptr_t)octets;
}

/* The two bits that say how long a number modulo 2^62 is at least. */
CARRICK_INLINE uint32_t carrick_varint_bits(uint64_t v) {
    v &= CARRICK_VARINT_MAX;
    return 3 - carrick_below(v, 0x40) - carrick_below(v, 0x4000) - carrick_below(v, 0x40000000);
}

/* How many bytes that is. */
CARRICK_INLINE uint32_t carrick_varint_len(uint64_t v) {
    return 1u << carrick_varint_bits(v);
}

/* Reads a number; returns how many bytes it takes, 0 if `room` has not as many. */
CARRICK_GLOBAL_FN uint32_t carrick_varint_load_eight(const struct carrick_eight *from, uint32_t room, uint64_t *v) {
    if (!from || !v)
        return 0;
    uint64_t all = carrick_load64(from->octets);
    uint32_t len = 1u << (all >> 62);
    CARRICK_BARRIER_VAR(len);
    if (room < len)
        return 0;
    *v = (all & CARRICK_VARINT_MAX) >> (64 - 8 * len);
    return len;
}

/* Writes a number modulo 2^62 in the fewest bytes; returns how many. Those behind it are then anything. */
CARRICK_GLOBAL_FN uint32_t carrick_varint_store_eight(struct carrick_eight *to, uint64_t v) {
    if (!to)
        return 0;
    uint64_t bits = carrick_varint_bits(v);
    CARRICK_BARRIER_VAR(bits);
    uint32_t len = 1u << (bits & 3);
    carrick_store64(to->octets, (v & CARRICK_VARINT_MAX) << (64 - 8 * len) | bits << 62);
    return len;
}

#define carrick_varint_load(from, room, v) carrick_varint_load_eight(carrick_eight(from), room, v)
#define carrick_varint_store(to, v)        carrick_varint_store_eight(carrick_eight(to), v)

#endif
