/* SPDX-License-Identifier: MIT */
/* The program of the host's own frames: requests, timers, and packets that wait. */
#ifndef CARRICK_XDP_EGRESS_H
#define CARRICK_XDP_EGRESS_H

#include "carrick/leaving.h"

/* Runs the request at this place of the frame. 0: there is none. */
CARRICK_INLINE int CARRICK_OWN(asked)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t at) {
    if (bpf_xdp_load_bytes(ctx, at, &core->request, sizeof core->request) != 0)
        return 0;
    core->wanted = 0;
#ifdef CARRICK_OWNERS
    bool says = core->request.kind == CARRICK_REQUEST_CALL && core->request.owner < CARRICK_OWNERS;
    core->owner = says ? core->request.owner : 0;
#endif
    core->chain.raised_count = core->waiting_count = core->level_count = 0;
    if (core->request.kind == CARRICK_REQUEST_CALL)
        (void)CARRICK_OWN(call)(core);
    else if (core->request.kind == CARRICK_REQUEST_TIMER)
        (void)CARRICK_OWN(fire)(core);
    CARRICK_OWN(run_host_request)(core);
    core->ahead.len = 0;
    return 1;
}

/* Requests that the host makes for applications, timers and packets that wait: their frame takes the oldest of these,
 * which leaves by the device of the program, whichever the frame came by. */
CARRICK_SECTION("xdp") int egress(struct xdp_md *ctx) {
    struct CARRICK_OWN(core) *core = CARRICK_OWN(here)();
    if (!core)
        return CARRICK_XDP_DROP;
    core->now = core->clock ? core->clock - 1 : bpf_ktime_get_ns();
    core->back = (carrick_net_address){0};
    core->frame_len = 0;
#ifdef CARRICK_MIDDLEBOX
    core->store.framed = false;
    core->store.gone = true;
    core->store.leaves = CARRICK_LEAVES_NOT;
#endif
    core->room = (uint32_t)bpf_xdp_get_buff_len(ctx);
    struct carrick_host_request *first = &core->request;
    if (bpf_xdp_load_bytes(ctx, 0, core->out, CARRICK_ETHERNET) != 0 ||
        carrick_load16(core->out + 12) != CARRICK_REQUEST_TYPE ||
        bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, first, sizeof *first) != 0)
        return CARRICK_XDP_DROP;
    bool hold = first->flags & CARRICK_REQUEST_HOLD || (core->paced && first->kind != CARRICK_REQUEST_PACKET);
    core->vacant = !hold;
    core->alone = false;
#if CARRICK_GATHERS
    core->gathers = false;
#endif
    core->roomy = true;
    for (uint32_t n = 0; n < CARRICK_ASKED_AT_ONCE && CARRICK_GOES_ON; n++) {
        n = CARRICK_FORGOTTEN(n, first->more);
        if (!CARRICK_OWN(asked)(ctx, core, CARRICK_ETHERNET + n * (uint32_t)sizeof *first) ||
            !CARRICK_READ(first->more))
            break;
    }
    int verdict = hold ? CARRICK_XDP_DROP : CARRICK_OWN(leave)(ctx, core);
    CARRICK_OWN(call_host)(core);
    return CARRICK_OWN(out)(core, verdict);
}

#endif
