/* SPDX-License-Identifier: MIT */
/* The network layer of a core: which IPv4 headers it takes (RFC 791). */
#ifndef CARRICK_IP_H
#define CARRICK_IP_H

#include "carrick/counters.h"
#include "carrick/ipv4.h"
#include "carrick/sum.h"

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

#endif
