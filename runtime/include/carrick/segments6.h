/* SPDX-License-Identifier: MIT */
/* Segment routing headers (RFC 8754 §2) of a program that reads and writes them: its C defines CARRICK_SEGMENTS, the
 * most addresses of a list, before it includes anything. The first address of a list is the last one of the path. */
#ifndef CARRICK_SEGMENTS6_H
#define CARRICK_SEGMENTS6_H

#include "carrick/ipv6.h"

#define CARRICK_IP6_SEGMENT_ROUTING 4u /* routing type */

/* Bytes of a segment routing header with a list of so many addresses; 0: the packet has none. */
CARRICK_INLINE uint32_t carrick_ip6_segments_len(uint32_t count) {
    return count ? CARRICK_IP6_SEGMENT * count + CARRICK_IP6_UNIT : 0;
}

/* The addresses of a packet that is made: no more than its list holds. */
CARRICK_INLINE uint32_t carrick_ip6_segment_count(const struct carrick_ip6 *ip) {
    return ip->segment_count < CARRICK_SEGMENTS ? ip->segment_count : CARRICK_SEGMENTS;
}

/* Bytes of the network headers of a packet that is made. */
CARRICK_INLINE uint32_t carrick_ip6_headers(const struct carrick_ip6 *ip) {
    return CARRICK_IP6_HEADER + carrick_ip6_segments_len(carrick_ip6_segment_count(ip));
}

/* Where the packet ends, as its pseudo-header says (RFC 8200 §8.1). */
CARRICK_INLINE const struct carrick_ip6_address *carrick_ip6_last(const struct carrick_ip6 *ip) {
    return ip->segments_left && carrick_ip6_segment_count(ip) ? &ip->segments[0] : &ip->dst;
}

/* A packet has no route until one is read. */
CARRICK_INLINE void carrick_ip6_no_segments(struct carrick_ip6 *ip) {
    memset(ip->segments, 0, sizeof ip->segments);
    ip->segment_tag = ip->segment_count = ip->segments_left = ip->segment_flags = 0;
}

/* Reads an extension header but for its list, of which the first CARRICK_IP6_UNIT bytes are at `p`. Returns the
 * addresses of the list; 0 if it is not one of segments, malformed, longer than the program's list, or the second one
 * of the packet. */
CARRICK_INLINE uint32_t carrick_ip6_read_route(uint8_t kind, const uint8_t *p, struct carrick_ip6 *ip) {
    uint32_t count = p[4] + 1u;
    if (kind != CARRICK_IP6_ROUTING || p[2] != CARRICK_IP6_SEGMENT_ROUTING || ip->segment_count ||
        count > CARRICK_SEGMENTS || 2 * count > p[1] || p[3] > count)
        return 0;
    ip->segment_count = (uint8_t)count;
    ip->segments_left = p[3];
    ip->segment_flags = p[5];
    ip->segment_tag = carrick_load16(p + 6);
    return count;
}

/* The same with its list, of a header all of which is there. */
static inline bool carrick_ip6_read_segments(uint8_t kind, const uint8_t *p, struct carrick_ip6 *ip) {
    uint32_t count = carrick_ip6_read_route(kind, p, ip);
    for (uint32_t i = 0; i < count; i++)
        ip->segments[i] = carrick_ip6_load(p + CARRICK_IP6_UNIT + CARRICK_IP6_SEGMENT * i);
    return count > 0;
}

/* The headers of a packet, as long as carrick_ip6_headers says, before `payload_len` bytes. */
static inline void carrick_ip6_build_routed(uint8_t *p, const struct carrick_ip6 *ip, uint32_t payload_len) {
    uint32_t count = carrick_ip6_segment_count(ip);
    carrick_ip6_build(p, ip, payload_len + carrick_ip6_segments_len(count));
    if (count == 0)
        return;
    p[6] = CARRICK_IP6_ROUTING;
    p += CARRICK_IP6_HEADER;
    p[0] = ip->protocol;
    p[1] = (uint8_t)(2 * count);
    p[2] = CARRICK_IP6_SEGMENT_ROUTING;
    p[3] = (uint8_t)(ip->segments_left < count ? ip->segments_left : count);
    p[4] = (uint8_t)(count - 1);
    p[5] = ip->segment_flags;
    carrick_store16(p + 6, ip->segment_tag);
    for (uint32_t i = 0; i < carrick_loop_end(count, CARRICK_SEGMENTS); i++) {
        if (i < count)
            carrick_ip6_store(p + CARRICK_IP6_UNIT + CARRICK_IP6_SEGMENT * i, ip->segments[i]);
    }
}

#endif
