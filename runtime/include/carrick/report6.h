/* SPDX-License-Identifier: MIT */
/* Errors that the network reports about a packet of this core: ICMPv6 (RFC 4443) with a part of the packet. */
#ifndef CARRICK_REPORT6_H
#define CARRICK_REPORT6_H

#include "carrick/ipv6.h"

#define CARRICK_ICMP6         58u
#define CARRICK_ICMP6_HEADER  8u
#define CARRICK_ICMP6_TOO_BIG 2u
#define CARRICK_QUOTED6_LEAST 8u /* bytes behind the network header that a report must quote */

/* What is reported, and which part of the packet is quoted. */
struct carrick_quoted6 {
    uint64_t mtu;                    /* bytes behind the network header that the next hop carries; 0: it is not said */
    struct carrick_ip6_address from; /* who says it */
    uint32_t header;                 /* bytes of the quoted network headers */
    uint32_t len;                    /* quoted bytes behind them */
    uint8_t kind;                    /* number of a variant of `report_t` */
};

/* The variant of `report_t` of a type and a code; -1: the message reports no error, or an unknown one. */
static inline int carrick_quoted6_kind(uint8_t type, uint8_t code) {
    static const int8_t unreachable[7] = {0, 6, 1, 1, 3, 6, 6}; /* RFC 4443 §3.1, by code */
    switch (type) {
    case 1:
        return code < sizeof unreachable ? unreachable[code] : -1;
    case CARRICK_ICMP6_TOO_BIG:
        return code == 0 ? 4 : -1;
    case 3:
        return code <= 1 ? 7 + code : -1;
    case 4:
        return code == 1 ? 2 : code == 0 || code == 2 ? 9 : -1;
    default:
        return -1;
    }
}

/* Checks the quoted packet, of which `len` bytes are there. Fills in what stands in its header: the address of the
 * core is its source. Returns 0, or the negative of (counter + 1) that says what is wrong. */
static inline int carrick_quoted6_check(const uint8_t *p, uint32_t len, struct carrick_ip6_address address,
                                        uint8_t protocol, struct carrick_ip6 *ip, struct carrick_quoted6 *quoted) {
    if (len < CARRICK_IP6_HEADER)
        return -1 - CARRICK_COUNT_SHORT;
    if (p[0] >> 4 != 6)
        return -1 - CARRICK_COUNT_IP_VERSION;
    uint32_t total = carrick_ip6_total(p), there = len < total ? len : total;
    int begin = carrick_ip6_read(p, there, total, ip);
    if (begin < 0)
        return begin;
    uint32_t header = (uint32_t)begin;
    if (total < header + CARRICK_QUOTED6_LEAST)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    if (len < header + CARRICK_QUOTED6_LEAST)
        return -1 - CARRICK_COUNT_SHORT;
    if (ip->protocol != protocol)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    if (!carrick_ip6_same(ip->src, address))
        return -1 - CARRICK_COUNT_IP_ADDRESS;
    quoted->header = header;
    quoted->len = there - header;
    return 0;
}

/* Checks a received packet that is none of the protocol. Returns where the quoted packet begins, or the negative of
 * (counter + 1) that says why there is none. */
static inline int carrick_report6_parse(const uint8_t *p, uint32_t len, struct carrick_ip6_address address,
                                        uint8_t protocol, struct carrick_ip6 *ip, struct carrick_quoted6 *quoted) {
    int header = carrick_ip6_parse(p, len, address, CARRICK_ICMP6, ip);
    if (header < 0)
        return header;
    const uint8_t *message = p + header;
    uint32_t whole = ip->payload_len;
    if (whole < CARRICK_ICMP6_HEADER)
        return -1 - CARRICK_COUNT_SHORT;
    uint64_t sum = carrick_sum_pseudo6(ip->src, ip->dst, CARRICK_ICMP6, whole) + carrick_sum(message, whole);
    if (carrick_damaged(carrick_sum_fold(sum) != 0))
        return -1 - CARRICK_COUNT_BAD_CHECKSUM;
    int kind = carrick_quoted6_kind(message[0], message[1]);
    if (kind < 0)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    *quoted = (struct carrick_quoted6){.from = ip->src, .kind = (uint8_t)kind};
    if (message[0] == CARRICK_ICMP6_TOO_BIG) {
        uint32_t next_hop = carrick_load32(message + 4);
        /* No link carries less (RFC 8201 §4). */
        if (next_hop < CARRICK_IP6_LEAST_MTU)
            return -1 - CARRICK_COUNT_IP_LENGTH;
        quoted->mtu = next_hop - CARRICK_IP6_HEADER;
    }
    int wrong = carrick_quoted6_check(message + CARRICK_ICMP6_HEADER, whole - CARRICK_ICMP6_HEADER, address, protocol,
                                      ip, quoted);
    return wrong < 0 ? wrong : header + (int)CARRICK_ICMP6_HEADER;
}

#endif
