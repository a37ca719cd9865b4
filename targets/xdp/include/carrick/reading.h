/* SPDX-License-Identifier: MIT */
/* What a program reads of a frame that came: its network header, the sum of what follows, and what a parser sees. */
#ifndef CARRICK_XDP_READING_H
#define CARRICK_XDP_READING_H

#include "carrick/arrived.h"

#if CARRICK_READS_FRAMES
/* Copies the frame to where the program can read all of it. 0: it is longer than one may be, or is not there. */
CARRICK_GLOBAL_FN int CARRICK_OWN(take)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    struct carrick_arrived *arrived = carrick_arrived_here();
    CARRICK_GIVEN(core && arrived);
    uint64_t len = core->frame_len;
    CARRICK_BARRIER_VAR(len);
    return len > 0 && len <= CARRICK_FRAME_MAX && bpf_xdp_load_bytes(ctx, 0, arrived->octets, (uint32_t)len) == 0;
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
    uint32_t seen = core->packet.len;
    CARRICK_BARRIER_VAR(seen);
    if (seen > CARRICK_SEEN)
        seen = CARRICK_SEEN;
    if (seen > 0 && bpf_xdp_load_bytes(ctx, core->begin, core->in, seen) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
    return 1;
}

/* What follows the network headers of a packet, which have so many bytes: it is summed. Returns that number, or the
 * negative of (counter + 1) that says what is wrong. */
CARRICK_INLINE int CARRICK_OWN(read_payload)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t header) {
    (void)ctx;
    core->packet.len = core->ip.payload_len;
    core->begin = CARRICK_ETHERNET + header;
    core->frame_len = core->begin + core->packet.len;
#if CARRICK_READS_FRAMES
    if (!CARRICK_OWN(take)(ctx, core))
        return -1 - CARRICK_COUNT_IP_LENGTH;
#endif
#if CARRICK_WHOLE_SUM
    core->sum = CARRICK_OWN(sum_at)(core->begin, core->packet.len);
#endif
    return (int)header;
}

#ifdef CARRICK_IPV6
#include "carrick/reading6.h"
#else
#include "carrick/reading4.h"
#endif

#endif
