/* SPDX-License-Identifier: MIT */
/* The network layer of a program over IPv4. carrick/network6.h has the same names for IPv6. */
#ifndef CARRICK_XDP_NETWORK_H
#define CARRICK_XDP_NETWORK_H

#include "carrick/ethernet.h"
#include "carrick/ipv4.h"

#define CARRICK_NET_HEADER  CARRICK_IP_HEADER
#define CARRICK_NET_LONGEST CARRICK_IP_HEADER
#define CARRICK_NET_TYPE    0x0800u /* in an Ethernet header (RFC 894) */
#define CARRICK_NET_ICMP    1u

/* An address, in host order; 0 is the unspecified one. */
typedef uint32_t carrick_net_address;

CARRICK_INLINE bool carrick_net_same(const carrick_net_address *a, const carrick_net_address *b) {
    return *a == *b;
}

/* Whether an address can be that of a single host. */
CARRICK_INLINE bool carrick_net_is_host(const carrick_net_address *a) {
    return carrick_is_host(*a);
}

/* Whether a packet with this source can come from another host (RFC 1122 §3.2.1.3). */
CARRICK_INLINE bool carrick_net_comes_from(const carrick_net_address *a, const struct carrick_own_device *device) {
    return carrick_is_host(*a) && *a >> 24 != 127 && *a != device->broadcast;
}

/* Bytes of a packet, as its header says. */
CARRICK_INLINE uint32_t carrick_net_total(const uint8_t *p) {
    return carrick_load16(p + 2);
}

/* The source in a header, and the destination. */
CARRICK_INLINE carrick_net_address carrick_net_source(const uint8_t *p) {
    return carrick_load32(p + 12);
}

CARRICK_INLINE carrick_net_address carrick_net_destination(const uint8_t *p) {
    return carrick_load32(p + 16);
}

/* Puts an address into a report; returns how many words it takes. */
CARRICK_INLINE uint32_t carrick_net_report(uint64_t *words, const carrick_net_address *address) {
    words[0] = *address;
    return 1;
}

/* An address as an argument of generated functions. */
#define CARRICK_NET_ARGUMENT(address) (address)

#endif
