/* SPDX-License-Identifier: MIT */
/* IPv6 headers (RFC 8200), as a core knows and writes them. */
#ifndef CARRICK_IPV6_H
#define CARRICK_IPV6_H

#include "carrick/counters.h"
#include "carrick/fold.h"

#define CARRICK_IP6_HEADER     40u
#define CARRICK_IP6_LEAST_MTU  1280u /* bytes of a packet that every link carries (RFC 8200 §5) */
#define CARRICK_IP6_EXTENSIONS 8u    /* extension headers of a received packet, at most */
#define CARRICK_IP6_UNIT       8u    /* bytes: extension headers have a multiple of it */
#define CARRICK_IP6_SEGMENT    16u   /* bytes of an address in a segment routing header */

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
#ifdef CARRICK_SEGMENTS
    uint8_t segment_count, segments_left, segment_flags;
    uint16_t segment_tag;
    struct carrick_ip6_address segments[CARRICK_SEGMENTS];
#endif
};

/* Bytes of the longest network headers that a program sends. */
#ifdef CARRICK_SEGMENTS
#define CARRICK_IP6_LONGEST (CARRICK_IP6_HEADER + CARRICK_IP6_UNIT + CARRICK_SEGMENTS * CARRICK_IP6_SEGMENT)
#else
#define CARRICK_IP6_LONGEST CARRICK_IP6_HEADER
#endif

CARRICK_INLINE struct carrick_ip6_address carrick_ip6_load(const uint8_t *p) {
    return (struct carrick_ip6_address){carrick_load64(p), carrick_load64(p + 8)};
}

CARRICK_INLINE void carrick_ip6_store(uint8_t *p, struct carrick_ip6_address a) {
    carrick_store64(p, a.high);
    carrick_store64(p + 8, a.low);
}

CARRICK_INLINE bool carrick_ip6_same(struct carrick_ip6_address a, struct carrick_ip6_address b) {
    return a.high == b.high && a.low == b.low;
}

/* Whether an address can be a host's: not unspecified, and not multicast (RFC 4291). */
CARRICK_INLINE bool carrick_ip6_is_host(struct carrick_ip6_address a) {
    return a.high >> 56 != 0xff && (a.high | a.low) != 0;
}

/* Bytes of a packet, as its header says. */
CARRICK_INLINE uint32_t carrick_ip6_total(const uint8_t *p) {
    return CARRICK_IP6_HEADER + carrick_load16(p + 4);
}

/* Whether the header of this kind that begins at `at` in a packet is an extension header, behind which others follow.
 */
CARRICK_INLINE bool carrick_ip6_extends(uint8_t kind, uint32_t at) {
    return kind == CARRICK_IP6_ROUTING || kind == CARRICK_IP6_FRAGMENT || kind == CARRICK_IP6_DESTINATION ||
           (kind == CARRICK_IP6_HOP_BY_HOP && at == CARRICK_IP6_HEADER);
}

/* Bytes of an extension header, of which the first CARRICK_IP6_UNIT are there. */
CARRICK_INLINE uint32_t carrick_ip6_extension_len(uint8_t kind, const uint8_t *p) {
    return kind == CARRICK_IP6_FRAGMENT ? CARRICK_IP6_UNIT : (p[1] + 1u) * CARRICK_IP6_UNIT;
}

/* Whether an extension header consists of options. */
CARRICK_INLINE bool carrick_ip6_has_options(uint8_t kind) {
    return kind == CARRICK_IP6_HOP_BY_HOP || kind == CARRICK_IP6_DESTINATION;
}

/* Whether a node that does not know an option of this kind takes the packet: its two highest bits are 0 (RFC 8200
 * §4.2). */
CARRICK_INLINE bool carrick_ip6_skips_option(uint8_t kind) {
    return kind >> 6 == 0;
}

/* Whether an extension header without options, of which the first CARRICK_IP6_UNIT bytes are there, lets the packet be
 * taken: 0, or the negative of (counter + 1). */
CARRICK_INLINE int carrick_ip6_extension(uint8_t kind, const uint8_t *p) {
    const uint16_t fragment = 0xfff9; /* offset and "more fragments"; 0 in a packet that is whole (RFC 6946) */
    if (kind == CARRICK_IP6_FRAGMENT)
        return carrick_load16(p + 2) & fragment ? -1 - CARRICK_COUNT_IP_FRAGMENT : 0;
    return p[3] == 0 ? 0 : -1 - CARRICK_COUNT_IP_PROTOCOL;
}

/* Reads the fields of a header, behind which the payload of a packet of `total` bytes begins at `begin`; not the
 * protocol, which is in the last extension header. */
CARRICK_INLINE void carrick_ip6_fields(const uint8_t *p, uint32_t begin, uint32_t total, struct carrick_ip6 *ip) {
    ip->src = carrick_ip6_load(p + 8);
    ip->dst = carrick_ip6_load(p + 24);
    ip->payload_len = (uint16_t)(total - begin);
    ip->ttl = p[7];
    ip->tos = (uint8_t)(carrick_load16(p) >> 4);
}

/* A header before `payload_len` bytes. Its flow label is 0 (RFC 6437 §2). */
CARRICK_INLINE void carrick_ip6_build(uint8_t *p, const struct carrick_ip6 *ip, uint32_t payload_len) {
    carrick_store32(p, 0x60000000u | (uint32_t)ip->tos << 20);
    carrick_store32(p + 4, payload_len << 16 | (uint32_t)ip->protocol << 8 | ip->ttl);
    carrick_store64(p + 8, ip->src.high);
    carrick_store64(p + 16, ip->src.low);
    carrick_store64(p + 24, ip->dst.high);
    carrick_store64(p + 32, ip->dst.low);
}

/* The sum of 64 bits, in two halves so that none of it is lost. */
CARRICK_INLINE uint64_t carrick_sum_halves(uint64_t number) {
    uint64_t swapped = CARRICK_SWAP(64, number);
    return (swapped >> 32) + (uint32_t)swapped;
}

/* The pseudo-header of RFC 8200 §8.1, from registers. A macro, since a compiler for the kernel copies an argument that
 * is a struct byte by byte. */
#define carrick_sum_pseudo6(src, dst, protocol, len)                                                                   \
    (carrick_sum_halves((src).high) + carrick_sum_halves((src).low) + carrick_sum_halves((dst).high) +                 \
     carrick_sum_halves((dst).low) + CARRICK_SWAP(32, (uint32_t)(protocol)) + CARRICK_SWAP(32, (uint32_t)(len)))

#endif
