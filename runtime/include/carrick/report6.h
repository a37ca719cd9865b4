/* SPDX-License-Identifier: MIT */
/* Errors that the network reports about a packet of this core: ICMPv6 (RFC 4443) with a part of the packet. */
#ifndef CARRICK_REPORT6_H
#define CARRICK_REPORT6_H

#include "carrick/ip6.h"
#include "carrick/quoted6.h"

/* Reads the quoted packet, of which at most `len` bytes are there. Returns 0, or the negative of (counter + 1) that
 * says what is wrong. */
static inline int carrick_quoted6_read(const uint8_t *p, uint32_t len, struct carrick_ip6_address address,
                                       uint8_t protocol, struct carrick_ip6 *ip, struct carrick_quoted6 *quoted) {
    int begin = carrick_quoted6_begins(p, len);
    if (begin < 0)
        return begin;
    uint32_t total = carrick_ip6_total(p), there = len < total ? len : total;
    begin = carrick_ip6_read(p, there, total, ip);
    return begin < 0 ? begin : carrick_quoted6_check((uint32_t)begin, there, total, &address, protocol, ip, quoted);
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
    int64_t mtu = carrick_quoted6_mtu(message);
    if (mtu < 0)
        return (int)mtu;
    *quoted = (struct carrick_quoted6){.mtu = (uint64_t)mtu, .from = ip->src, .kind = (uint8_t)kind};
    int wrong = carrick_quoted6_read(message + CARRICK_ICMP6_HEADER, whole - CARRICK_ICMP6_HEADER, address, protocol,
                                     ip, quoted);
    return wrong < 0 ? wrong : header + (int)CARRICK_ICMP6_HEADER;
}

#endif
