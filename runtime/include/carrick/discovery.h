/* SPDX-License-Identifier: MIT */
/* Messages of neighbour discovery (RFC 4861), by which hosts find each other's hardware addresses. */
#ifndef CARRICK_DISCOVERY_H
#define CARRICK_DISCOVERY_H

#include "carrick/quoted6.h"

#define CARRICK_ROUTER_SOLICITATION 133u /* the first type of neighbour discovery */
#define CARRICK_SOLICITATION        135u
#define CARRICK_ADVERTISEMENT       136u
#define CARRICK_REDIRECT            137u /* the last type */
#define CARRICK_SOURCE_OPTION       1u   /* the hardware address of the sender */
#define CARRICK_TARGET_OPTION       2u   /* that of the target */
#define CARRICK_DISCOVERY_UNIT      8u   /* bytes: options have a multiple of it */
#define CARRICK_DISCOVERY_MESSAGE   24u  /* bytes of a solicitation or an advertisement without options */
#define CARRICK_DISCOVERY_HOPS      255u /* the hop limit of a packet that no router has forwarded */

/* Whether a packet, of which the header and the first CARRICK_ICMP6_HEADER bytes behind it are there, is one. */
CARRICK_INLINE bool carrick_is_discovery(const uint8_t *p) {
    uint8_t type = p[CARRICK_IP6_HEADER];
    return p[6] == CARRICK_ICMP6 && p[7] == CARRICK_DISCOVERY_HOPS && type >= CARRICK_ROUTER_SOLICITATION &&
           type <= CARRICK_REDIRECT;
}

#endif
