/* SPDX-License-Identifier: MIT */
/* The network layer of a core over IPv6: which headers it takes (RFC 8200). */
#ifndef CARRICK_IP6_H
#define CARRICK_IP6_H

#include "carrick/ipv6.h"
#ifdef CARRICK_SEGMENTS
#include "carrick/segments6.h"
#endif
#include "carrick/sum.h"

/* The destination of a packet that is long enough to have one. */
static inline struct carrick_ip6_address carrick_ip6_destination(const uint8_t *p, uint32_t len) {
    return len < CARRICK_IP6_HEADER ? (struct carrick_ip6_address){0} : carrick_ip6_load(p + 24);
}

/* Whether a node that knows none of these options takes a packet that has them (RFC 8200 §4.2). */
static inline bool carrick_ip6_skips(const uint8_t *p, uint32_t len) {
    for (uint32_t at = 0; at < len;) {
        if (p[at] == 0) {
            at++;
            continue;
        }
        if (!carrick_ip6_skips_option(p[at]) || len - at < 2 || len - at - 2 < p[at + 1])
            return false;
        at += 2u + p[at + 1];
    }
    return true;
}

/* Whether an extension header, all of which is there, lets the packet be taken: 0, or the negative of (counter + 1).
 * What the program reads of it is in `ip`. */
static inline int carrick_ip6_step(uint8_t kind, const uint8_t *p, uint32_t size,
                                   CARRICK_UNUSED struct carrick_ip6 *ip) {
#ifdef CARRICK_SEGMENTS
    if (carrick_ip6_read_segments(kind, p, ip))
        return 0;
#endif
    if (!carrick_ip6_has_options(kind))
        return carrick_ip6_extension(kind, p);
    return carrick_ip6_skips(p + 2, size - 2) ? 0 : -1 - CARRICK_COUNT_IP_PROTOCOL;
}

/* Where in a packet of `len` bytes the headers end; the protocol behind them (RFC 8200 §4) is in `ip`. Or the negative
 * of (counter + 1) that says why the packet is not taken. */
static inline int carrick_ip6_upper(const uint8_t *p, uint32_t len, struct carrick_ip6 *ip) {
#ifdef CARRICK_SEGMENTS
    carrick_ip6_no_segments(ip);
#endif
    uint8_t next = p[6];
    uint32_t at = CARRICK_IP6_HEADER;
    for (uint32_t n = 0; n <= CARRICK_IP6_EXTENSIONS; n++) {
        if (CARRICK_LIKELY(!carrick_ip6_extends(next, at))) {
            ip->protocol = next;
            return (int)at;
        }
        if (len - at < CARRICK_IP6_UNIT)
            return -1 - CARRICK_COUNT_IP_LENGTH;
        uint32_t size = carrick_ip6_extension_len(next, p + at);
        if (len - at < size)
            return -1 - CARRICK_COUNT_IP_LENGTH;
        int refused = carrick_ip6_step(next, p + at, size, ip);
        if (refused)
            return refused;
        next = p[at];
        at += size;
    }
    return -1 - CARRICK_COUNT_IP_PROTOCOL;
}

/* Reads the headers of a packet of which `len` bytes are there, all headers among them. `total` is the whole packet's.
 * Returns as carrick_ip6_upper. */
static inline int carrick_ip6_read(const uint8_t *p, uint32_t len, uint32_t total, struct carrick_ip6 *ip) {
    int begin = carrick_ip6_upper(p, len, ip);
    if (begin >= 0)
        carrick_ip6_fields(p, (uint32_t)begin, total, ip);
    return begin;
}

/* Checks a received packet. Returns where its payload begins, or the negative of (counter + 1) that says why not. */
static inline int carrick_ip6_parse(const uint8_t *p, uint32_t len, struct carrick_ip6_address address,
                                    uint8_t protocol, struct carrick_ip6 *ip) {
    if (len < CARRICK_IP6_HEADER)
        return -1 - CARRICK_COUNT_IP_SHORT;
    if (p[0] >> 4 != 6)
        return -1 - CARRICK_COUNT_IP_VERSION;
    uint32_t total = carrick_ip6_total(p);
    if (total > len)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    int begin = carrick_ip6_read(p, total, total, ip);
    if (begin < 0)
        return begin;
    if (ip->protocol != protocol)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    if (!carrick_ip6_same(ip->dst, address))
        return -1 - CARRICK_COUNT_IP_ADDRESS;
#if defined(CARRICK_SEGMENTS) && !defined(CARRICK_SEGMENTS_ON_PATH)
    if (ip->segments_left)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
#endif
    return begin;
}

#endif
