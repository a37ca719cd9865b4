/* SPDX-License-Identifier: MIT */
/* The network layer of a core: which IPv4 headers it takes (RFC 791). */
#ifndef CARRICK_IP_H
#define CARRICK_IP_H

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
    int begin = carrick_ip_begin(p, len);
    if (begin < 0)
        return begin;
    uint32_t header = (uint32_t)begin;
    uint64_t sum = header == CARRICK_IP_HEADER ? carrick_sum(p, CARRICK_IP_HEADER) : carrick_sum(p, header);
    return carrick_ip_read(p, header, sum, address, protocol, ip);
}

#endif
