/* SPDX-License-Identifier: MIT */
/*
 * The fuzzer's bytes, read as numbers, and numbers put into packets. Behind the end of an input come bytes that its
 * beginning decides: a short input is a long run too.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fz_input {
    const uint8_t *at;
    size_t left;
    uint64_t state; /* of what comes behind the end */
};

static inline struct fz_input fz_input(const uint8_t *data, size_t size) {
    uint64_t first = 0;
    memcpy(&first, data, size < 4 ? size : 4);
    return (struct fz_input){data, size, (first + 1) * UINT64_C(0x9e3779b97f4a7c15)};
}

static inline uint8_t fz_u8(struct fz_input *in) {
    if (in->left == 0) { /* xorshift64: Marsaglia, Xorshift RNGs, 2003 */
        in->state ^= in->state << 13;
        in->state ^= in->state >> 7;
        in->state ^= in->state << 17;
        return (uint8_t)(in->state >> 32);
    }
    in->left--;
    return *in->at++;
}

static inline uint16_t fz_u16(struct fz_input *in) {
    unsigned high = fz_u8(in);
    return (uint16_t)(high << 8 | fz_u8(in));
}

static inline uint32_t fz_u32(struct fz_input *in) {
    uint32_t high = fz_u16(in);
    return high << 16 | fz_u16(in);
}

/* A number: the one given or near it, small, at an edge, or any. */
static inline uint64_t fz_number(struct fz_input *in, uint64_t given) {
    uint8_t way = fz_u8(in);
    uint64_t edge = UINT64_C(1) << (way % 64);
    switch (way >> 6) {
    case 0:
        return given + way % 64 - 32;
    case 1:
        return way % 64;
    case 2:
        return edge - fz_u8(in) % 3;
    default:
        return (uint64_t)fz_u32(in) << (way % 33);
    }
}

static inline void fz_put16(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void fz_put32(uint8_t *at, uint32_t value) {
    fz_put16(at, value >> 16);
    fz_put16(at + 2, value);
}

/* A number of `bits` bits (1 to 64) that begins at a bit of the packet. The bytes that it is in are there. */
static inline uint64_t fz_get_bits(const uint8_t *packet, uint32_t bit, uint32_t bits) {
    uint64_t value = 0;
    for (uint32_t i = bit; i < bit + bits; i++) {
        value = value << 1 | (packet[i / 8] >> (7 - i % 8) & 1u);
    }
    return value;
}

static inline void fz_put_bits(uint8_t *packet, uint32_t bit, uint32_t bits, uint64_t value) {
    for (uint32_t i = bit + bits; i-- > bit; value >>= 1) {
        uint8_t mask = (uint8_t)(1u << (7 - i % 8));
        packet[i / 8] = (uint8_t)((value & 1) != 0 ? packet[i / 8] | mask : packet[i / 8] & ~mask);
    }
}

enum { FZ_IP_HEADER = 20 };

/* Gives a packet the version, the lengths and the addresses that the network layer wants. */
static inline void fz_mend(uint8_t *packet, uint32_t len, uint8_t protocol, uint32_t from, uint32_t to) {
    if (len < FZ_IP_HEADER) {
        return;
    }
    packet[0] = 0x45;
    fz_put16(packet + 2, len);
    fz_put16(packet + 6, 0x4000); /* not a fragment */
    packet[9] = protocol;
    fz_put32(packet + 12, from);
    fz_put32(packet + 16, to);
}

#endif
