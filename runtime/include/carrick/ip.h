/* SPDX-License-Identifier: MIT */
/* The network layer of a core: IPv4 headers (RFC 791). */
#ifndef CARRICK_IP_H
#define CARRICK_IP_H

#include "carrick/base.h"
#include "carrick/counters.h"
#include "carrick/sum.h"

#define CARRICK_IP_HEADER 20u

/* The pseudo-header of RFC 9293 §3.1, from registers: to sum what was just written in smaller pieces makes a processor
 * wait for it. */
static inline uint64_t carrick_sum_pseudo(uint32_t src, uint32_t dst, uint8_t protocol, uint32_t len) {
    return (uint64_t)CARRICK_SWAP(32, src) + CARRICK_SWAP(32, dst) + CARRICK_SWAP(32, protocol) + CARRICK_SWAP(32, len);
}

/* What a parser and a packet know of the network header. Addresses in host order. */
struct carrick_ip {
    uint32_t src, dst;
    uint16_t payload_len;
    uint8_t protocol, ttl, tos, interface;
};

/* The destination of a packet that is long enough to have one. */
static inline uint32_t carrick_ip_destination(const uint8_t *p, uint32_t len) {
    return len < CARRICK_IP_HEADER ? 0 : carrick_load32(p + 16);
}

/* Checks a received packet. Returns where its payload begins, or the negative of (counter + 1) that says why not. */
static inline int carrick_ip_parse(const uint8_t *p, uint32_t len, uint32_t address, uint8_t protocol,
                                   struct carrick_ip *ip) {
    if (len < CARRICK_IP_HEADER)
        return -1 - CARRICK_COUNT_IP_SHORT;
    if (p[0] >> 4 != 4)
        return -1 - CARRICK_COUNT_IP_VERSION;
    uint32_t header = (uint32_t)(p[0] & 15) * 4, total = carrick_load16(p + 2);
    if (header < CARRICK_IP_HEADER || header > total || total > len)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    uint64_t sum = header == CARRICK_IP_HEADER ? carrick_sum(p, CARRICK_IP_HEADER) : carrick_sum(p, header);
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
    ip->payload_len = (uint16_t)(total - header);
    ip->protocol = p[9];
    ip->ttl = p[8];
    ip->tos = p[1];
    return (int)header;
}

/* A header before `payload_len` octets. */
static inline void carrick_ip_build(uint8_t *p, const struct carrick_ip *ip, uint32_t payload_len,
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
