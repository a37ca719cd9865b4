/* SPDX-License-Identifier: MIT */
/* What a program over IPv6 reads of a report: ICMPv6 (RFC 4443). carrick/reports4.h has the same names for IPv4. */
#ifndef CARRICK_XDP_REPORTS_VERSION_H
#define CARRICK_XDP_REPORTS_VERSION_H

#include "carrick/quoted6.h"

#define CARRICK_NET_ICMP_HEADER CARRICK_ICMP6_HEADER

/* What the checksum of a message covers beside it (RFC 8200 §8.1). */
CARRICK_INLINE uint64_t CARRICK_OWN(report_pseudo)(const struct CARRICK_OWN(core) * core) {
    return carrick_sum_pseudo6(core->ip.src, core->ip.dst, CARRICK_ICMP6, core->packet.len);
}

/* What the message in `core->in` says. 0, or the negative of (counter + 1) that says why it is nothing for a program.
 */
CARRICK_INLINE int CARRICK_OWN(report_says)(struct CARRICK_OWN(core) * core) {
    const uint8_t *p = core->in;
    int kind = carrick_quoted6_kind(p[0], p[1]);
    if (kind < 0)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    int64_t mtu = carrick_quoted6_mtu(p);
    if (mtu < 0)
        return (int)mtu;
    core->quoted.kind = (uint8_t)kind;
    core->quoted.mtu = (uint64_t)mtu;
    return 0;
}

/* Reads the quoted packet, of which `len` bytes are in the frame, from `begin` on. Returns 0, or the same negative. */
CARRICK_INLINE int CARRICK_OWN(report_quotes)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t begin,
                                              uint32_t len) {
    if (len >= CARRICK_IP6_HEADER && bpf_xdp_load_bytes(ctx, begin, core->in, CARRICK_IP6_HEADER) != 0)
        return -1 - CARRICK_COUNT_IP_SHORT;
    int known = carrick_quoted6_begins(core->in, len);
    if (known < 0)
        return known;
    uint32_t total = carrick_ip6_total(core->in), there = len < total ? len : total;
    known = CARRICK_OWN(read_headers)(ctx, core, begin, there, total);
    if (known < 0)
        return known;
    return carrick_quoted6_check((uint32_t)known, there, total, &core->address, CARRICK_PROTOCOL, &core->ip,
                                 &core->quoted);
}

#endif
