/* SPDX-License-Identifier: MIT */
/* How packets leave that a program makes: in the frame that is there. What includes this has `address`, which puts the
 * next hop before a packet, and `hand`, for packets that cannot leave so; of a program that stores packets also
 * `leave_stored`. */
#ifndef CARRICK_XDP_LEAVING_H
#define CARRICK_XDP_LEAVING_H

#include "carrick/units.h"

/* The packet that was made, in the frame that is there. */
CARRICK_INLINE int CARRICK_OWN(fill)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t len) {
    CARRICK_BARRIER_VAR(len);
    if (len < CARRICK_NET_HEADER || len > sizeof core->out - CARRICK_ETHERNET)
        return CARRICK_XDP_DROP;
    int known = CARRICK_OWN(address)(core);
    uint32_t frame = CARRICK_ETHERNET + len, more = (uint32_t)core->payload.len;
    if (bpf_xdp_adjust_tail(ctx, (int)(frame + more - core->room)) != 0) {
        if (!more && core->device)
            (void)CARRICK_OWN(hand)(ctx, core, len, 1);
        else
            core->counters[CARRICK_COUNT_TX_TOO_LONG]++;
        return CARRICK_XDP_DROP;
    }
    if (bpf_xdp_store_bytes(ctx, 0, core->out, frame) != 0) {
        core->counters[CARRICK_COUNT_TX_TOO_LONG]++;
        return CARRICK_XDP_DROP;
    }
#if CARRICK_PAYLOADS
    if (more && !CARRICK_OWN(payload_show)(ctx, core, frame))
        return CARRICK_XDP_DROP;
#endif
    if (known)
        return CARRICK_XDP_TX;
    (void)CARRICK_OWN(hand)(ctx, core, len + more, 0);
    return CARRICK_XDP_DROP;
}

/* Whether the frame that came can take any packet. Devices hand over some that have no room behind them. */
CARRICK_INLINE bool CARRICK_OWN(roomy)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    uint32_t whole = CARRICK_ETHERNET + core->mtu;
    if ((CARRICK_PAYLOADS == 0 && CARRICK_STORES == 0) || core->room >= whole)
        return true;
    if (bpf_xdp_adjust_tail(ctx, (int)(whole - core->room)) != 0)
        return false;
    core->room = whole;
    return true;
}

/* The frame that is there takes the oldest packet, if there is one. */
CARRICK_INLINE int CARRICK_OWN(leave)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    uint64_t place = 0;
    bool alone = core->alone;
    core->vacant = core->alone = false;
    if (!shared)
        return CARRICK_XDP_DROP;
#if CARRICK_STORES
    if (CARRICK_READ(shared->leaving) != 0)
        return CARRICK_OWN(leave_stored)(ctx, core, shared);
#endif
    struct CARRICK_OWN(entry) *e = alone ? &core->entry : CARRICK_OWN(oldest)(core, shared, &place);
    if (!e)
        return CARRICK_XDP_DROP;
    uint32_t len = (uint32_t)CARRICK_OWN(packet)(core, e);
    uint32_t sent = core->last ? e->sent : 0;
    core->sent = sent;
    if (sent) {
        core->sent_handle = e->handle;
        core->brought = e->brought;
    }
    if (!alone)
        CARRICK_OWN(taken)(core, shared, e, place, len);
    CARRICK_UNUSED bool out = core->last && core->whole;
    int verdict = CARRICK_OWN(fill)(ctx, core, len);
#if CARRICK_PAYLOADS
    if (out)
        (void)CARRICK_OWN(payload_sent)(core, &core->payload);
#endif
    if (sent) {
        (void)CARRICK_OWN(sent)(core);
        CARRICK_OWN(run_sent)(core);
    }
    return verdict;
}

/* The host has to watch timers that were started. It may sleep, and what has to be done would come too late. */
CARRICK_INLINE void CARRICK_OWN(call_host)(struct CARRICK_OWN(core) * core) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    carrick_timers_told(&core->timers, shared, core->clock);
    if (!core->device || !shared || !carrick_calls(shared))
        return;
    core->report.kind = CARRICK_REPORT_CALL;
    core->report.number = 0;
    core->report.count = 0;
    (void)CARRICK_OWN(send_report)(core);
}

#endif
