/* SPDX-License-Identifier: MIT */
/* IPv4 headers (RFC 791), as a core knows and writes them. */
#ifndef CARRICK_IPV4_H
#define CARRICK_IPV4_H

#include "carrick/counters.h"
#include "carrick/fold.h"

#define CARRICK_IP_HEADER 20u

/* The pseudo-header of RFC 9293 §3.1, from registers: to sum what was just written in smaller pieces makes a processor
 * wait for it. */
CARRICK_INLINE uint64_t carrick_sum_pseudo(uint32_t src, uint32_t dst, uint8_t protocol, uint32_t len) {
    return (uint64_t)CARRICK_SWAP(32, src) + CARRICK_SWAP(32, dst) + CARRICK_SWAP(32, protocol) + CARRICK_SWAP(32, len);
}

/* What a parser and a packet know of the network header. Addresses in host order. */
struct carrick_ip {
    uint32_t src, dst;
    uint16_t payload_len;
    uint8_t protocol, ttl, tos, interface;
};

/* How long the header of a packet of `len` bytes is, or the negative of (counter + 1) that says why it is none. */
CARRICK_INLINE int carrick_ip_begin(const uint8_t *p, uint32_t len) {
    if (p[0] >> 4 != 4)
        return -1 - CARRICK_COUNT_IP_VERSION;
    uint32_t header = (uint32_t)(p[0] & 15) * 4, total = carrick_load16(p + 2);
    if (header < CARRICK_IP_HEADER || header > total || total > len)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    return (int)header;
}

/* Reads the header, whose sum is known: how long it is, or the same negative. */
CARRICK_INLINE int carrick_ip_read(const uint8_t *p, uint32_t header, uint64_t sum, uint32_t address, uint8_t protocol,
                                   struct carrick_ip *ip) {
    if (carrick_damaged(carrick_sum_fold(sum) != 0))
        return -1 - CARRICK_COUNT_IP_CHECKSUM;
    if (carrick_load16(p + 6) & 0x3fff)
        return -1 - CARRICK_COUNT_IP_FRAGMENT;
    if (p[9] != protocol)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    ip->dst = carrick_load32(p + 16);
    if (ip->dst != address)
        return -1 - CARRICK_COUNT_IP_ADDRESS;
    ip->src = carrick_load32(p + 12);
    ip->payload_len = (uint16_t)(carrick_load16(p + 2) - header);
    ip->protocol = p[9];
    ip->ttl = p[8];
    ip->tos = p[1];
    return (int)header;
}

/* A header before `payload_len` bytes. */
CARRICK_INLINE void carrick_ip_build(uint8_t *p, const struct carrick_ip *ip, uint32_t payload_len,
                                     uint16_t identification) {
    const uint32_t do_not_fragment = 0x4000;
    uint32_t first = 0x45000000u | (uint32_t)ip->tos << 16 | (CARRICK_IP_HEADER + payload_len);
    uint32_t second = (uint32_t)identification << 16 | do_not_fragment;
    uint32_t third = (uint32_t)ip->ttl << 24 | (uint32_t)ip->protocol << 16;
    uint64_t sum = (uint64_t)CARRICK_SWAP(32, first) + CARRICK_SWAP(32, second) + CARRICK_SWAP(32, third) +
                   CARRICK_SWAP(32, ip->src) + CARRICK_SWAP(32, ip->dst);
    carrick_store32(p, first);
    carrick_store32(p + 4, second);
    carrick_store32(p + 8, third);
    carrick_store32(p + 12, ip->src);
    carrick_store32(p + 16, ip->dst);
    carrick_store_sum(p + 10, sum);
}

#endif
