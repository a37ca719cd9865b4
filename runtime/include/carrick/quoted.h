/* SPDX-License-Identifier: MIT */
/* What an error that the network reports says, and the packet that it quotes (RFC 792). */
#ifndef CARRICK_QUOTED_H
#define CARRICK_QUOTED_H

#include "carrick/counters.h"
#include "carrick/ipv4.h"

#define CARRICK_ICMP         1u
#define CARRICK_ICMP_HEADER  8u
#define CARRICK_QUOTED_LEAST 8u /* bytes behind the network header that every report quotes */

/* What is reported, and which part of the packet is quoted. */
struct carrick_quoted {
    uint64_t mtu;    /* bytes behind the network header that the next hop carries; 0: it is not said */
    uint32_t from;   /* who says it */
    uint32_t header; /* bytes of the quoted network header */
    uint32_t len;    /* quoted bytes behind it */
    uint8_t kind;    /* number of a variant of `report_t` */
};

/* The variant of `report_t` of a type and a code; -1: the message reports no error, or an unknown one. */
CARRICK_INLINE int carrick_quoted_kind(uint8_t type, uint8_t code) {
    if (type == 11)
        return code <= 1 ? 7 + code : -1;
    if (type != 3)
        return type == 12 && code <= 2 ? 9 : -1;
    if (code <= 5)
        return code;
    if (code == 6 || code == 11)
        return 0;
    if (code == 7 || code == 8 || code == 12)
        return 1;
    return code <= 15 ? 6 : -1;
}

/* Checks the quoted packet, of which `len` bytes are there. Fills in the fields of its header: the address of the
 * core is its source. Returns 0, or the negative of (counter + 1) that names the error. */
CARRICK_INLINE int carrick_quoted_check(const uint8_t *p, uint32_t len, uint32_t address, uint8_t protocol,
                                        struct carrick_ip *ip, struct carrick_quoted *quoted) {
    if (len < CARRICK_IP_HEADER)
        return -1 - CARRICK_COUNT_SHORT;
    if (p[0] >> 4 != 4)
        return -1 - CARRICK_COUNT_IP_VERSION;
    uint32_t header = (uint32_t)(p[0] & 15) * 4, total = carrick_load16(p + 2);
    if (header < CARRICK_IP_HEADER || total < header + CARRICK_QUOTED_LEAST)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    if (len < header + CARRICK_QUOTED_LEAST)
        return -1 - CARRICK_COUNT_SHORT;
    if (carrick_load16(p + 6) & 0x1fff)
        return -1 - CARRICK_COUNT_IP_FRAGMENT;
    if (p[9] != protocol)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    if (carrick_load32(p + 12) != address)
        return -1 - CARRICK_COUNT_IP_ADDRESS;
    *ip = (struct carrick_ip){.src = address,
                              .dst = carrick_load32(p + 16),
                              .payload_len = (uint16_t)(total - header),
                              .protocol = protocol,
                              .ttl = p[8],
                              .tos = p[1]};
    quoted->header = header;
    quoted->len = (len < total ? len : total) - header;
    return 0;
}

/* The MTU of a message, less the network header; 0: it says none. A link carries at least 68 bytes (RFC 791). */
CARRICK_INLINE uint64_t carrick_quoted_mtu(const uint8_t *message) {
    uint32_t next_hop = message[0] == 3 && message[1] == 4 ? carrick_load16(message + 6) : 0;
    return next_hop < 68 ? 0 : next_hop - CARRICK_IP_HEADER;
}

#endif
