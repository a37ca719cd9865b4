/* SPDX-License-Identifier: MIT */
/*
 * Errors that the network reports about packets of the program, of programs that read them: the generated code says
 * which function does (CARRICK_REPORT_PARSER).
 */
#ifndef CARRICK_XDP_REPORTS_H
#define CARRICK_XDP_REPORTS_H

#include "carrick/quoted.h"

#if !CARRICK_WHOLE_SUM
#error "a program that reads reports sums whole packets"
#endif

/* A packet of ICMP, whose network header is checked and whose bytes are summed, and what it quotes: that is put where
 * the parser reads. 0: it is nothing for this program. */
CARRICK_GLOBAL_FN int CARRICK_OWN(arrive_report)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    if (!core)
        return 0;
    uint8_t *p = core->in;
    struct carrick_quoted *quoted = &core->quoted;
    quoted->from = core->ip.src;
    uint32_t len = core->packet.len, begin = core->begin;
    if (len < CARRICK_ICMP_HEADER)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_SHORT);
    if (bpf_xdp_load_bytes(ctx, begin, p, CARRICK_ICMP_HEADER) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
    if (carrick_sum_fold(core->sum) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_BAD_CHECKSUM);
    int kind = carrick_quoted_kind(p[0], p[1]);
    if (kind < 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_PROTOCOL);
    quoted->kind = (uint8_t)kind;
    quoted->mtu = carrick_quoted_mtu(p);
    begin += CARRICK_ICMP_HEADER;
    len -= CARRICK_ICMP_HEADER;
    if (len >= CARRICK_IP_HEADER && bpf_xdp_load_bytes(ctx, begin, p, CARRICK_IP_HEADER) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
    int wrong = carrick_quoted_check(p, len, core->address, CARRICK_PROTOCOL, &core->ip, quoted);
    if (wrong < 0)
        return CARRICK_OWN(refuse)(core, (uint32_t)(-1 - wrong));
    core->begin = begin + quoted->header;
    core->packet.len = quoted->len;
    return CARRICK_OWN(see)(ctx, core);
}

/* The parser that is for what came. */
CARRICK_INLINE void CARRICK_OWN(parse_any)(struct CARRICK_OWN(core) * core) {
    struct carrick_quoted *quoted = &core->quoted;
    if (core->reported)
        (void)CARRICK_REPORT_PARSER(core, &core->packet, &core->ip, quoted->kind, quoted->mtu, quoted->from);
    else
        (void)CARRICK_PARSER(core, &core->packet, &core->ip);
}

#endif
