/* SPDX-License-Identifier: MIT */
/* Addresses of both versions of the Internet Protocol: an IPv4 address is ::ffff:a.b.c.d (RFC 4291 §2.5.5.2), as in
 * sockets. */
#ifndef CARRICK_ADDRESS_H
#define CARRICK_ADDRESS_H

#include "carrick/program.h"

#define CARRICK_MAPPED UINT64_C(0xffff) /* before the bits of an IPv4 address */

static inline struct carrick_ip6_address carrick_address_of_ipv4(uint32_t address) {
    return (struct carrick_ip6_address){0, CARRICK_MAPPED << 32 | address};
}

static inline bool carrick_address_is_ipv4(struct carrick_ip6_address address) {
    return address.high == 0 && address.low >> 32 == CARRICK_MAPPED;
}

/* `::` (RFC 4291 §2.5.2) */
static inline bool carrick_address_is_unspecified(struct carrick_ip6_address address) {
    return (address.high | address.low) == 0;
}

/* `::` or 0.0.0.0 */
static inline bool carrick_address_is_any(struct carrick_ip6_address address) {
    return carrick_address_is_unspecified(address) || (address.high == 0 && address.low == CARRICK_MAPPED << 32);
}

#endif
