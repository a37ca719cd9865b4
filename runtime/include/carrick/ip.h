/* SPDX-License-Identifier: MIT */
/* The network layer of a core: IPv4 headers (RFC 791) and the Internet checksum (RFC 1071). */
#ifndef CARRICK_IP_H
#define CARRICK_IP_H

#include "carrick/base.h"
#include "carrick/counters.h"

#define CARRICK_IP_HEADER 20u

/* What the smallest vector unit holds: wider ones would go by way of the stack where the machine has none. */
typedef uint64_t carrick_lanes __attribute__((vector_size(16), aligned(8)));

/* The ones' complement sum of n octets, read as 16-bit words in the machine's order; not folded. Sums of pieces add up
 * as long as every piece but the last has an even length. */
static inline uint64_t carrick_sum(const uint8_t *p, size_t n) {
    carrick_lanes low = {0}, high = {0}, low_b = {0}, high_b = {0};
    uint64_t sum = 0;
    for (; n >= 32; p += 32, n -= 32) {
        carrick_lanes w, w_b;
        memcpy(&w, p, 16);
        memcpy(&w_b, p + 16, 16);
        low += w & 0xffffffffu;
        high += w >> 32;
        low_b += w_b & 0xffffffffu;
        high_b += w_b >> 32;
    }
    low += high + low_b + high_b;
    for (int i = 0; i < 2; i++)
        sum += (low[i] & 0xffffffffu) + (low[i] >> 32);
    for (; n >= 4; p += 4, n -= 4) {
        uint32_t w;
        memcpy(&w, p, 4);
        sum += w;
    }
    uint8_t rest[4] = {0};
    for (size_t i = 0; i < n; i++)
        rest[i] = p[i];
    uint32_t w;
    memcpy(&w, rest, 4);
    return sum + w;
}

/* The checksum as it stands in a header: store its octets as they are. */
static inline uint16_t carrick_sum_fold(uint64_t sum) {
    sum = (sum & 0xffffffffu) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static inline void carrick_store_sum(uint8_t *p, uint64_t sum) {
    uint16_t folded = carrick_sum_fold(sum);
    memcpy(p, &folded, 2);
}

/* The pseudo-header of RFC 9293 §3.1. */
static inline uint64_t carrick_sum_pseudo(uint32_t src, uint32_t dst, uint8_t protocol, uint32_t len) {
    uint8_t p[12];
    carrick_store32(p, src);
    carrick_store32(p + 4, dst);
    p[8] = 0;
    p[9] = protocol;
    carrick_store16(p + 10, (uint16_t)len);
    return carrick_sum(p, sizeof p);
}

/* What a parser and a packet know of the network header. Addresses in host order. */
struct carrick_ip {
    uint32_t src, dst;
    uint16_t payload_len;
    uint8_t protocol, ttl, tos;
};

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
    if (carrick_sum_fold(carrick_sum(p, header)) != 0)
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

static inline void carrick_ip_build(uint8_t *p, const struct carrick_ip *ip, uint16_t identification) {
    p[0] = 0x45;
    p[1] = ip->tos;
    carrick_store16(p + 2, (uint16_t)(CARRICK_IP_HEADER + ip->payload_len));
    carrick_store16(p + 4, identification);
    carrick_store16(p + 6, 0x4000); /* do not fragment */
    p[8] = ip->ttl;
    p[9] = ip->protocol;
    carrick_store16(p + 10, 0);
    carrick_store32(p + 12, ip->src);
    carrick_store32(p + 16, ip->dst);
    carrick_store_sum(p + 10, carrick_sum(p, CARRICK_IP_HEADER));
}

#endif
