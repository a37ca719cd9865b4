/* SPDX-License-Identifier: MIT */
/* What an error that the network reports says, and the packet that it quotes, over IPv6 (RFC 4443). */
#ifndef CARRICK_QUOTED6_H
#define CARRICK_QUOTED6_H

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

/* The variant of `report_t` of a destination that cannot be reached (RFC 4443 §3.1), by code; -1: an unknown one. */
CARRICK_INLINE int carrick_quoted6_unreachable(uint8_t code) {
    if (code == 0)
        return 0;
    if (code == 2 || code == 3)
        return 1;
    return code == 4 ? 3 : code <= 6 ? 6 : -1;
}

/* The variant of `report_t` of a type and a code; -1: the message reports no error, or an unknown one. */
CARRICK_INLINE int carrick_quoted6_kind(uint8_t type, uint8_t code) {
    if (type == 1)
        return carrick_quoted6_unreachable(code);
    if (type == CARRICK_ICMP6_TOO_BIG)
        return code == 0 ? 4 : -1;
    if (type == 3)
        return code <= 1 ? 7 + code : -1;
    if (type == 4)
        return code == 1 ? 2 : code == 0 || code == 2 ? 9 : -1;
    return -1;
}

/* The MTU of a message, less the network header: 0, it says none; or the negative of (counter + 1) if it is below what
 * every link carries (RFC 8201 §4). */
CARRICK_INLINE int64_t carrick_quoted6_mtu(const uint8_t *message) {
    if (message[0] != CARRICK_ICMP6_TOO_BIG)
        return 0;
    uint32_t next_hop = carrick_load32(message + 4);
    return next_hop < CARRICK_IP6_LEAST_MTU ? -1 - CARRICK_COUNT_IP_LENGTH : (int64_t)next_hop - CARRICK_IP6_LONGEST;
}

/* Whether the first bytes of a quoted packet, of which `len` are there, are an IPv6 header: 0, or the negative of
 * (counter + 1). */
CARRICK_INLINE int carrick_quoted6_begins(const uint8_t *p, uint32_t len) {
    if (len < CARRICK_IP6_HEADER)
        return -1 - CARRICK_COUNT_SHORT;
    return p[0] >> 4 == 6 ? 0 : -1 - CARRICK_COUNT_IP_VERSION;
}

/* Checks a quoted packet of `total` bytes, of which `there` are quoted. Its headers end at `begin`, and their fields
 * are in `ip`: the address of the core is the source. Returns 0, or the negative of (counter + 1) that says what is
 * wrong. */
CARRICK_INLINE int carrick_quoted6_check(uint32_t begin, uint32_t there, uint32_t total,
                                         const struct carrick_ip6_address *address, uint8_t protocol,
                                         const struct carrick_ip6 *ip, struct carrick_quoted6 *quoted) {
    if (total < begin + CARRICK_QUOTED6_LEAST)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    if (there < begin + CARRICK_QUOTED6_LEAST)
        return -1 - CARRICK_COUNT_SHORT;
    if (ip->protocol != protocol)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    if (ip->src.high != address->high || ip->src.low != address->low)
        return -1 - CARRICK_COUNT_IP_ADDRESS;
    quoted->header = begin;
    quoted->len = there - begin;
    return 0;
}

#endif
