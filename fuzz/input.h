/* SPDX-License-Identifier: MIT */
/* The fuzzer's octets, read as numbers, and IPv4 packets with the sums that let them pass the first gates. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fz_input {
    const uint8_t *at;
    size_t left;
};

/* The next octet, 0 after the end. */
static inline uint8_t fz_u8(struct fz_input *in) {
    if (in->left == 0) {
        return 0;
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

static inline void fz_put16(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void fz_put32(uint8_t *at, uint32_t value) {
    fz_put16(at, value >> 16);
    fz_put16(at + 2, value);
}

static inline uint32_t fz_get32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline uint32_t fz_get16(const uint8_t *at) {
    return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t fz_sum(const uint8_t *data, uint32_t len, uint32_t sum) {
    for (uint32_t i = 0; i + 1 < len; i += 2) {
        sum += fz_get16(data + i);
    }
    return (len & 1) != 0 ? sum + ((uint32_t)data[len - 1] << 8) : sum;
}

static inline uint16_t fz_fold(uint32_t sum) {
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint16_t)~sum;
}

/* Where the Internet checksum of a TCP segment stands, after the IPv4 header of 20 octets. */
enum { FZ_IP_HEADER = 20, FZ_CHECKSUM_AT = FZ_IP_HEADER + 16 };

/* Gives a packet the version, lengths, addresses and sums that the network layer and the parser want. */
static inline void fz_mend(uint8_t *packet, uint32_t len, uint8_t protocol, uint32_t from, uint32_t to) {
    if (len < FZ_IP_HEADER) {
        return;
    }
    packet[0] = 0x45;
    fz_put16(packet + 2, len);
    fz_put16(packet + 6, 0x4000); /* not a fragment */
    packet[9] = protocol;
    fz_put16(packet + 10, 0);
    fz_put32(packet + 12, from);
    fz_put32(packet + 16, to);
    fz_put16(packet + 10, fz_fold(fz_sum(packet, FZ_IP_HEADER, 0)));
    if (len < FZ_CHECKSUM_AT + 2) {
        return;
    }
    fz_put16(packet + FZ_CHECKSUM_AT, 0);
    uint32_t pseudo = fz_sum(packet + 12, 8, protocol) + len - FZ_IP_HEADER;
    fz_put16(packet + FZ_CHECKSUM_AT, fz_fold(fz_sum(packet + FZ_IP_HEADER, len - FZ_IP_HEADER, pseudo)));
}

#endif
