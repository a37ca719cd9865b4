/* SPDX-License-Identifier: MIT */
/* What a program over IPv4 reads of a report: ICMP (RFC 792). carrick/reports6.h has the same names for IPv6. */
#ifndef CARRICK_XDP_REPORTS_VERSION_H
#define CARRICK_XDP_REPORTS_VERSION_H

#include "carrick/quoted.h"

#define CARRICK_NET_ICMP_HEADER CARRICK_ICMP_HEADER

/* What the checksum of a message covers beside it. */
CARRICK_INLINE uint64_t CARRICK_OWN(report_pseudo)(const struct CARRICK_OWN(core) * core) {
    (void)core;
    return 0;
}

/* What the message in `core->in` says. 0, or the negative of (counter + 1) that says why it is nothing for a program.
 */
CARRICK_INLINE int CARRICK_OWN(report_says)(struct CARRICK_OWN(core) * core) {
    const uint8_t *p = core->in;
    int kind = carrick_quoted_kind(p[0], p[1]);
    if (kind < 0)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    core->quoted.kind = (uint8_t)kind;
    core->quoted.mtu = carrick_quoted_mtu(p);
    return 0;
}

/* Reads the quoted packet, of which `len` bytes are in the frame, from `begin` on. Returns 0, or the same negative. */
CARRICK_INLINE int CARRICK_OWN(report_quotes)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t begin,
                                              uint32_t len) {
    if (len >= CARRICK_IP_HEADER && bpf_xdp_load_bytes(ctx, begin, core->in, CARRICK_IP_HEADER) != 0)
        return -1 - CARRICK_COUNT_IP_SHORT;
    return carrick_quoted_check(core->in, len, core->address, CARRICK_PROTOCOL, &core->ip, &core->quoted);
}

#endif
