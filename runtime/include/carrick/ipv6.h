/* SPDX-License-Identifier: MIT */
/* IPv6 headers (RFC 8200): which ones a core takes, and how it writes them. */
#ifndef CARRICK_IPV6_H
#define CARRICK_IPV6_H

#include "carrick/counters.h"
#include "carrick/sum.h"

#define CARRICK_IP6_HEADER     40u
#define CARRICK_IP6_LEAST_MTU  1280u /* bytes of a packet that every link carries (RFC 8200 §5) */
#define CARRICK_IP6_EXTENSIONS 8u    /* extension headers of a received packet, at most */
#define CARRICK_IP6_UNIT       8u    /* bytes: extension headers have a multiple of it */

enum carrick_ip6_next {
    CARRICK_IP6_HOP_BY_HOP = 0,
    CARRICK_IP6_ROUTING = 43,
    CARRICK_IP6_FRAGMENT = 44,
    CARRICK_IP6_DESTINATION = 60,
};

/* What a parser and a packet know of the network header. */
struct carrick_ip6 {
    struct carrick_ip6_address src, dst;
    uint16_t payload_len;
    uint8_t protocol, ttl, tos, interface;
};

static inline struct carrick_ip6_address carrick_ip6_load(const uint8_t *p) {
    return (struct carrick_ip6_address){carrick_load64(p), carrick_load64(p + 8)};
}

static inline void carrick_ip6_store(uint8_t *p, struct carrick_ip6_address a) {
    carrick_store64(p, a.high);
    carrick_store64(p + 8, a.low);
}

static inline bool carrick_ip6_same(struct carrick_ip6_address a, struct carrick_ip6_address b) {
    return a.high == b.high && a.low == b.low;
}

/* The destination of a packet that is long enough to have one. */
static inline struct carrick_ip6_address carrick_ip6_destination(const uint8_t *p, uint32_t len) {
    return len < CARRICK_IP6_HEADER ? (struct carrick_ip6_address){0} : carrick_ip6_load(p + 24);
}

/* Bytes of a packet, as its header says. */
static inline uint32_t carrick_ip6_total(const uint8_t *p) {
    return CARRICK_IP6_HEADER + carrick_load16(p + 4);
}

/* Whether a node that knows none of these options takes a packet that has them (RFC 8200 §4.2). */
static inline bool carrick_ip6_skips(const uint8_t *p, uint32_t len) {
    for (uint32_t at = 0; at < len;) {
        if (p[at] == 0) {
            at++;
            continue;
        }
        /* The two highest bits of a kind: skip it, if they are 0. */
        if (p[at] >> 6 != 0 || len - at < 2 || len - at - 2 < p[at + 1])
            return false;
        at += 2u + p[at + 1];
    }
    return true;
}

/* Whether an extension header of `len` bytes lets the packet be taken: 0, or the negative of (counter + 1). */
static inline int carrick_ip6_extension(uint8_t kind, const uint8_t *p, uint32_t len) {
    const uint16_t fragment = 0xfff9; /* offset and "more fragments"; 0 in a packet that is whole (RFC 6946) */
    if (kind == CARRICK_IP6_FRAGMENT)
        return carrick_load16(p + 2) & fragment ? -1 - CARRICK_COUNT_IP_FRAGMENT : 0;
    bool taken = kind == CARRICK_IP6_ROUTING ? p[3] == 0 : carrick_ip6_skips(p + 2, len - 2);
    return taken ? 0 : -1 - CARRICK_COUNT_IP_PROTOCOL;
}

/* Where in a packet of `len` bytes the headers end, and the protocol behind them (RFC 8200 §4); or the negative of
 * (counter + 1) that says why the packet is not taken. */
static inline int carrick_ip6_upper(const uint8_t *p, uint32_t len, uint8_t *protocol) {
    uint8_t next = p[6];
    uint32_t at = CARRICK_IP6_HEADER;
    for (uint32_t n = 0; n <= CARRICK_IP6_EXTENSIONS; n++) {
        bool first = next == CARRICK_IP6_HOP_BY_HOP && at == CARRICK_IP6_HEADER;
        if (CARRICK_LIKELY(!first && next != CARRICK_IP6_ROUTING && next != CARRICK_IP6_FRAGMENT &&
                           next != CARRICK_IP6_DESTINATION)) {
            *protocol = next;
            return (int)at;
        }
        if (len - at < CARRICK_IP6_UNIT)
            return -1 - CARRICK_COUNT_IP_LENGTH;
        uint32_t size = next == CARRICK_IP6_FRAGMENT ? CARRICK_IP6_UNIT : (p[at + 1] + 1u) * CARRICK_IP6_UNIT;
        if (len - at < size)
            return -1 - CARRICK_COUNT_IP_LENGTH;
        int refused = carrick_ip6_extension(next, p + at, size);
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
    int begin = carrick_ip6_upper(p, len, &ip->protocol);
    if (begin < 0)
        return begin;
    ip->src = carrick_ip6_load(p + 8);
    ip->dst = carrick_ip6_load(p + 24);
    ip->payload_len = (uint16_t)(total - (uint32_t)begin);
    ip->ttl = p[7];
    ip->tos = (uint8_t)(carrick_load16(p) >> 4);
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
    return begin;
}

/* A header before `payload_len` bytes. Its flow label is 0 (RFC 6437 §2). */
CARRICK_INLINE void carrick_ip6_build(uint8_t *p, const struct carrick_ip6 *ip, uint32_t payload_len) {
    carrick_store32(p, 0x60000000u | (uint32_t)ip->tos << 20);
    carrick_store32(p + 4, payload_len << 16 | (uint32_t)ip->protocol << 8 | ip->ttl);
    carrick_ip6_store(p + 8, ip->src);
    carrick_ip6_store(p + 24, ip->dst);
}

/* The sum of an address, in two halves so that none of it is lost. */
CARRICK_INLINE uint64_t carrick_sum_ip6(struct carrick_ip6_address a) {
    uint64_t high = CARRICK_SWAP(64, a.high), low = CARRICK_SWAP(64, a.low);
    return (high >> 32) + (uint32_t)high + (low >> 32) + (uint32_t)low;
}

/* The pseudo-header of RFC 8200 §8.1, from registers. */
CARRICK_INLINE uint64_t carrick_sum_pseudo6(struct carrick_ip6_address src, struct carrick_ip6_address dst,
                                            uint8_t protocol, uint32_t len) {
    return carrick_sum_ip6(src) + carrick_sum_ip6(dst) + CARRICK_SWAP(32, (uint32_t)protocol) + CARRICK_SWAP(32, len);
}

#endif
