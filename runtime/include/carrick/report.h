/* SPDX-License-Identifier: MIT */
/* Errors that the network reports about a packet of this core: ICMP (RFC 792) with a part of the packet. */
#ifndef CARRICK_REPORT_H
#define CARRICK_REPORT_H

#include "carrick/ip.h"
#include "carrick/quoted.h"

/* Checks a received packet that is none of the protocol. Returns where the quoted packet begins, or the negative of
 * (counter + 1) that says why there is none. */
static inline int carrick_report_parse(const uint8_t *p, uint32_t len, uint32_t address, uint8_t protocol,
                                       struct carrick_ip *ip, struct carrick_quoted *quoted) {
    int header = carrick_ip_parse(p, len, address, CARRICK_ICMP, ip);
    if (header < 0)
        return header;
    const uint8_t *message = p + header;
    if (ip->payload_len < CARRICK_ICMP_HEADER)
        return -1 - CARRICK_COUNT_SHORT;
    uint32_t len_quoted = ip->payload_len - CARRICK_ICMP_HEADER;
    if (carrick_damaged(carrick_sum_fold(carrick_sum(message, ip->payload_len)) != 0))
        return -1 - CARRICK_COUNT_BAD_CHECKSUM;
    int kind = carrick_quoted_kind(message[0], message[1]);
    if (kind < 0)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    *quoted = (struct carrick_quoted){.mtu = carrick_quoted_mtu(message), .from = ip->src, .kind = (uint8_t)kind};
    int wrong = carrick_quoted_check(message + CARRICK_ICMP_HEADER, len_quoted, address, protocol, ip, quoted);
    return wrong < 0 ? wrong : header + (int)CARRICK_ICMP_HEADER;
}

#endif
