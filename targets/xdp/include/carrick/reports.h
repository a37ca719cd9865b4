/* SPDX-License-Identifier: MIT */
/*
 * Errors that the network reports about packets of the program, of programs that read them: the generated code says
 * which function does (CARRICK_REPORT_PARSER).
 */
#ifndef CARRICK_XDP_REPORTS_H
#define CARRICK_XDP_REPORTS_H

#ifdef CARRICK_IPV6
#include "carrick/reports6.h"
#else
#include "carrick/reports4.h"
#endif

#if !CARRICK_WHOLE_SUM
#error "a program that reads reports sums whole packets"
#endif

/* A packet of ICMP, whose network header is checked and whose bytes are summed, and what it quotes: that is put where
 * the parser reads. 0: it is nothing for this program. */
CARRICK_GLOBAL_FN int CARRICK_OWN(arrive_report)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    if (!core)
        return 0;
    uint8_t *p = core->in;
    uint32_t len = core->packet.len, begin = core->begin;
    core->quoted.from = core->ip.src;
    if (len < CARRICK_NET_ICMP_HEADER)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_SHORT);
    if (bpf_xdp_load_bytes(ctx, begin, p, CARRICK_NET_ICMP_HEADER) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
    if (carrick_sum_fold(core->sum + CARRICK_OWN(report_pseudo)(core)) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_BAD_CHECKSUM);
    int wrong = CARRICK_OWN(report_says)(core);
    if (wrong == 0)
        wrong = CARRICK_OWN(report_quotes)(ctx, core, begin + CARRICK_NET_ICMP_HEADER, len - CARRICK_NET_ICMP_HEADER);
    if (wrong < 0)
        return CARRICK_OWN(refuse)(core, (uint32_t)(-1 - wrong));
    core->begin = begin + CARRICK_NET_ICMP_HEADER + core->quoted.header;
    core->packet.len = core->quoted.len;
    return CARRICK_OWN(see)(ctx, core);
}

/* The parser that is for what came. */
CARRICK_INLINE void CARRICK_OWN(parse_any)(struct CARRICK_OWN(core) * core) {
    if (core->reported)
        (void)CARRICK_REPORT_PARSER(core, &core->packet, &core->ip, core->quoted.kind, core->quoted.mtu,
                                    CARRICK_NET_ARGUMENT(core->quoted.from));
    else
        (void)CARRICK_PARSER(core, &core->packet, &core->ip);
}

#endif
