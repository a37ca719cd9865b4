/* SPDX-License-Identifier: MIT */
/* The network layer of a program over IPv6. carrick/network4.h has the same names for IPv4. */
#ifndef CARRICK_XDP_NETWORK_H
#define CARRICK_XDP_NETWORK_H

#include "carrick/ethernet.h"
#include "carrick/ipv6.h"
#ifdef CARRICK_SEGMENTS
#include "carrick/segments6.h"
#endif

#define CARRICK_NET_HEADER  CARRICK_IP6_HEADER
#define CARRICK_NET_LONGEST CARRICK_IP6_LONGEST
#define CARRICK_NET_TYPE    0x86ddu /* in an Ethernet header (RFC 2464) */
#define CARRICK_NET_ICMP    58u

/* An address; `::` is the unspecified one. */
typedef struct carrick_ip6_address carrick_net_address;

CARRICK_INLINE bool carrick_net_same(const carrick_net_address *a, const carrick_net_address *b) {
    return a->high == b->high && a->low == b->low;
}

/* Whether an address can be that of a single host. */
CARRICK_INLINE bool carrick_net_is_host(const carrick_net_address *a) {
    return carrick_ip6_is_host(*a);
}

/* Whether a packet with this source can come from another host: not from `::1`, and not from an IPv4 address in an IPv6
 * one, which belongs to no interface (RFC 4291 §2.5). */
CARRICK_INLINE bool carrick_net_comes_from(const carrick_net_address *a, const struct carrick_own_device *device) {
    (void)device;
    return carrick_ip6_is_host(*a) && (a->high != 0 || (a->low != 1 && a->low >> 32 != 0xffff));
}

/* Bytes of a packet, as its header says. */
CARRICK_INLINE uint32_t carrick_net_total(const uint8_t *p) {
    return carrick_ip6_total(p);
}

/* The source in a header, and the destination. */
CARRICK_INLINE carrick_net_address carrick_net_source(const uint8_t *p) {
    return carrick_ip6_load(p + 8);
}

CARRICK_INLINE carrick_net_address carrick_net_destination(const uint8_t *p) {
    return carrick_ip6_load(p + 24);
}

/* Puts an address into a report; returns how many words it takes. */
CARRICK_INLINE uint32_t carrick_net_report(uint64_t *words, const carrick_net_address *address) {
    words[0] = address->high;
    words[1] = address->low;
    return 2;
}

/* An address as an argument of generated functions. */
#define CARRICK_NET_ARGUMENT(address) (&(address))

#endif
