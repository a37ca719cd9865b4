/* SPDX-License-Identifier: MIT */
/* What a program reads of a frame that came: its network header, the sum of what follows, and what a parser sees. */
#ifndef CARRICK_XDP_READING_H
#define CARRICK_XDP_READING_H

#include "carrick/units.h"

/* Where the bytes of the frame are. */
CARRICK_INLINE void *CARRICK_OWN(frame)(struct xdp_md *ctx) {
    uint64_t at;
    __asm__ volatile("%0 = *(u32 *)(%1 + 0)" : "=r"(at) : "r"(ctx));
    return (void *)(uintptr_t)at;
}

/* Where they end. */
CARRICK_INLINE void *CARRICK_OWN(frame_end)(struct xdp_md *ctx) {
    uint64_t at;
    __asm__ volatile("%0 = *(u32 *)(%1 + 4)" : "=r"(at) : "r"(ctx));
    return (void *)(uintptr_t)at;
}

#if CARRICK_WHOLE_SUM
/* Adds up so many bytes of the frame. 0: they are not there. */
CARRICK_GLOBAL_FN int CARRICK_OWN(add_up_piece)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t begin,
                                                uint32_t piece) {
    if (!core || piece > CARRICK_SUMMED)
        return 0;
    CARRICK_BARRIER_VAR(begin);
    if (piece == CARRICK_SUMMED && begin < CARRICK_FRAME_MAX) {
        uint8_t *octets = (uint8_t *)CARRICK_OWN(frame)(ctx) + begin;
        if (octets + CARRICK_SUMMED <= (uint8_t *)CARRICK_OWN(frame_end)(ctx)) {
            core->sum += (uint32_t)bpf_csum_diff(NULL, 0, octets, CARRICK_SUMMED, 0);
            return 1;
        }
    }
    CARRICK_BARRIER_VAR(piece);
    if (piece == 0 || bpf_xdp_load_bytes(ctx, begin, core->piece, piece) != 0)
        return 0;
    core->sum += carrick_sum_piece(core->piece, piece);
    return 1;
}

/* The sum of all bytes behind the network header. 0: they are not there. */
CARRICK_GLOBAL_FN int CARRICK_OWN(add_up)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    if (!core)
        return 0;
    uint32_t len = core->packet.len, begin = core->begin;
    core->sum = 0;
    for (uint32_t at = 0; at < CARRICK_FRAME_MAX && at < len; at += CARRICK_SUMMED)
        if (!CARRICK_OWN(add_up_piece)(ctx, core, begin + at, (uint32_t)carrick_min64(len - at, CARRICK_SUMMED)))
            return 0;
    return 1;
}
#endif

/* Copies the beginning of what is parsed, which is `packet.len` bytes from `begin` on, to where the parser reads. */
CARRICK_INLINE int CARRICK_OWN(see)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
#if CARRICK_LOOKS
    core->looked = 0;
#endif
#if CARRICK_FRAMES
    core->packet.rest[0] = 0;
    core->packet.rest[1] = core->packet.len;
#endif
    core->frame = (uint64_t)(uintptr_t)CARRICK_OWN(frame)(ctx);
    uint32_t seen = core->packet.len;
    CARRICK_BARRIER_VAR(seen);
    if (seen > CARRICK_SEEN)
        seen = CARRICK_SEEN;
    if (seen > 0 && bpf_xdp_load_bytes(ctx, core->begin, core->in, seen) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
    return 1;
}

/* Reads the network header behind the Ethernet header, of a packet to this address: how long it is, or the negative of
 * (counter + 1) that says why it is none for this program. */
CARRICK_INLINE int CARRICK_OWN(read)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t address) {
    core->room = (uint32_t)bpf_xdp_get_buff_len(ctx);
    uint32_t len = core->room - CARRICK_ETHERNET;
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_IP_HEADER) != 0)
        return -1 - CARRICK_COUNT_IP_SHORT;
    const uint8_t *p = core->in;
    int known = carrick_ip_begin(p, len);
    if (known < 0)
        return known;
    uint32_t header = (uint32_t)known;
    CARRICK_BARRIER_VAR(header);
    if (header < CARRICK_IP_HEADER || header > 60)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, header) != 0)
        return -1 - CARRICK_COUNT_IP_SHORT;
    uint8_t protocol = CARRICK_PROTOCOL;
#ifdef CARRICK_REPORT_PARSER
    if (p[9] == CARRICK_ICMP)
        protocol = CARRICK_ICMP;
#endif
    uint64_t sum = carrick_sum_piece(p, header);
    known = carrick_ip_read(p, header, sum, address, protocol, &core->ip);
    if (known < 0)
        return known;
    core->packet.len = core->ip.payload_len;
    core->begin = CARRICK_ETHERNET + header;
    core->frame_len = core->begin + core->packet.len;
#if CARRICK_WHOLE_SUM
    if (!CARRICK_OWN(add_up)(ctx, core))
        return -1 - CARRICK_COUNT_IP_SHORT;
#endif
    return known;
}

#endif
