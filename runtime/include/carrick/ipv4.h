/* SPDX-License-Identifier: MIT */
/* IPv4 headers (RFC 791), as a core knows and writes them. */
#ifndef CARRICK_IPV4_H
#define CARRICK_IPV4_H

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

/* A header before `payload_len` octets. */
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
