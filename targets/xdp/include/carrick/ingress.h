/* SPDX-License-Identifier: MIT */
/* The program of packets that come to an endpoint, and the next hop of those that leave. */
#ifndef CARRICK_XDP_INGRESS_H
#define CARRICK_XDP_INGRESS_H

#include "carrick/reading.h"

#ifdef CARRICK_REPORT_PARSER
#include "carrick/reports.h"
#endif

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_UINT(max_entries, 1);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_own_device);
} carrick_own_device CARRICK_SECTION(".maps");

/* Whether a host takes in a packet, whose Ethernet header is in `core->out`: it is for this device alone (RFC 1122
 * §3.3.6), and from another host. */
CARRICK_INLINE bool CARRICK_OWN(hears)(const struct CARRICK_OWN(core) * core) {
    uint32_t only = 0;
    const struct carrick_own_device *device = bpf_map_lookup_elem(&carrick_own_device, &only);
    if (!device)
        return false;
    if (!device->attached)
        return true;
    if (device->mac != carrick_mac_number(core->out))
        return false;
    return carrick_net_comes_from(&core->ip.src, device) && !carrick_net_same(&core->ip.src, &core->address);
}

/* The frame, if it is a packet for this program: its network header is checked as everywhere, and what follows it is
 * copied to where the parser reads. Then CARRICK_XDP_TX is returned, and else what becomes of the frame: the kernel's
 * own stack never gets a packet of the program, which it would refuse (with a reset, for example). */
CARRICK_GLOBAL_FN int CARRICK_OWN(arrive)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    if (!core)
        return CARRICK_XDP_PASS;
    uint8_t *out = core->out;
    if (bpf_xdp_load_bytes(ctx, 0, out, CARRICK_ETHERNET) != 0 || carrick_load16(out + 12) != CARRICK_NET_TYPE)
        return CARRICK_XDP_PASS;
    int known = CARRICK_OWN(read)(ctx, core, &core->address);
    if (known >= 0 && !CARRICK_OWN(hears)(core))
        known = -1 - CARRICK_COUNT_IP_ADDRESS;
    if (known < 0) {
        uint32_t why = (uint32_t)(-1 - known);
        (void)CARRICK_OWN(refuse)(core, why);
        return CARRICK_OWN(is_own)(core, why) ? CARRICK_XDP_DROP : CARRICK_XDP_PASS;
    }
#ifdef CARRICK_REPORT_PARSER
    core->reported = core->ip.protocol == CARRICK_NET_ICMP;
    if (core->reported)
        return CARRICK_OWN(arrive_report)(ctx, core) ? CARRICK_XDP_TX : CARRICK_XDP_PASS;
#endif
    return CARRICK_OWN(see)(ctx, core) ? CARRICK_XDP_TX : CARRICK_XDP_DROP;
}

/* Whether the host has found that the device may lose what goes back by it (XDP_TX). */
CARRICK_INLINE bool CARRICK_OWN(address_one_way)(void) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    return shared && CARRICK_READ(shared->one_way) != 0;
}

/* Whether the program knows the next hop of the packet in `core->out`, and puts it there. An answer to whoever sent the
 * frame goes back to where that came from, any other packet by the way that the host has found. */
CARRICK_GLOBAL_FN int CARRICK_OWN(address)(struct CARRICK_OWN(core) * core) {
    if (!core)
        return 0;
    uint8_t *out = core->out, address[6];
    carrick_net_address to = carrick_net_destination(out + CARRICK_ETHERNET);
    carrick_store16(out + 12, CARRICK_NET_TYPE);
    bool answer = core->device == 0 || carrick_net_same(&to, &core->back),
         sure = core->device == 0 || (answer && !CARRICK_OWN(address_one_way)());
    if (answer)
        to = (carrick_net_address){0};
    struct carrick_next_hop *way = sure ? NULL : bpf_map_lookup_elem(&carrick_next_hops, &to);
    if (!sure && !way)
        return 0;
    if (answer) {
        memcpy(address, out, 6);
        memcpy(out, out + 6, 6);
        memcpy(out + 6, address, 6);
    } else if (way) {
        memcpy(out, way->to, 6);
        memcpy(out + 6, way->from, 6);
    }
    if (!way)
        return 1;
    uint64_t until = CARRICK_READ(way->until);
    if (until < core->now && __sync_val_compare_and_swap(&way->until, until, core->now + CARRICK_WAY_LASTS) == until) {
        core->report.kind = CARRICK_REPORT_WAY;
        core->report.number = 0;
        core->report.count = carrick_net_report(core->report.words, &to);
        (void)CARRICK_OWN(send_report)(core);
    }
    return 1;
}

/* The packet in the frame is the kernel's own stack's to send, which asks for a neighbour that nobody knows yet. One
 * that the frame has no room for is in `core->out`. Only so many bytes wait for the host: what strangers have it send
 * delays no completion, and takes no place of one. */
CARRICK_GLOBAL_FN int CARRICK_OWN(hand)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t len,
                                        uint32_t outside) {
    if (!core)
        return 0;
    CARRICK_BARRIER_VAR(len);
    if (len < CARRICK_NET_HEADER || len > sizeof core->report.words)
        return 0;
    if (outside && len > sizeof core->out - CARRICK_ETHERNET)
        return 0;
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    if (!shared || (int64_t)(CARRICK_READ(shared->handed) - CARRICK_READ(shared->handed_sent)) >= CARRICK_HANDED_MOST) {
        core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;
        return 0;
    }
    long lost = outside ? bpf_probe_read_kernel(core->report.words, len, core->out + CARRICK_ETHERNET)
                        : bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->report.words, len);
    if (lost)
        return 0;
    __sync_fetch_and_add(&shared->handed, len);
    core->report.kind = CARRICK_REPORT_SEND;
    core->report.number = len;
    core->report.count = (len + 7) / 8;
    int there = CARRICK_OWN(send_report)(core);
    if (!there)
        __sync_fetch_and_add(&shared->handed, -(uint64_t)len);
    return there;
}

#include "carrick/leaving.h"

/* What becomes of a frame with this verdict that did not come by the device. */
CARRICK_INLINE int CARRICK_OWN(out)(struct CARRICK_OWN(core) * core, int verdict) {
    return core->device && verdict == CARRICK_XDP_TX ? (int)bpf_redirect(core->device, 0) : verdict;
}

/* Packets of the program are its own: what it issues for one leaves in its frame, and one that it refuses is dropped.
 * All others go on to the kernel. */
CARRICK_SECTION("xdp") int ingress(struct xdp_md *ctx) {
    struct CARRICK_OWN(core) *core = CARRICK_OWN(here)();
    if (!core)
        return CARRICK_XDP_PASS;
    core->now = core->clock ? core->clock - 1 : bpf_ktime_get_ns();
    core->wanted = 0;
    int arrived = CARRICK_OWN(arrive)(ctx, core);
    if (arrived != CARRICK_XDP_TX)
        return arrived == CARRICK_XDP_DROP ? CARRICK_XDP_DROP : CARRICK_XDP_PASS;
    core->counters[CARRICK_COUNT_RX_PACKETS]++;
    core->chain.handle = 0;
#if CARRICK_CLAIMED
    core->chain.event = 0;
#endif
#ifdef CARRICK_OWNERS
    core->owner = core->chain.owner = 0;
#endif
#if CARRICK_GATHERS
    CARRICK_OWN(burst_goes_on)(core);
#endif
    core->chain.raised_count = core->waiting_count = core->level_count = 0;
    core->chain.stopped = core->chain.deleted = core->chain.dropped = false;
#ifdef CARRICK_REPORT_PARSER
    CARRICK_OWN(parse_any)(core);
#else
    (void)CARRICK_PARSER(core, &core->packet, &core->ip);
#endif
    if (core->chain.raised_count == 0) {
        if (!core->chain.dropped)
            (void)CARRICK_OWN(refuse)(core, CARRICK_COUNT_UNPARSED);
        return CARRICK_XDP_DROP;
    }
    core->taken++;
#ifdef CARRICK_REPORT_PARSER
    core->back = core->reported ? core->quoted.from : core->ip.src;
#else
    core->back = core->ip.src;
#endif
    core->vacant = !core->paced;
    core->alone = false;
    core->roomy = CARRICK_OWN(roomy)(ctx, core);
    CARRICK_OWN(run_parsed)(core);
    bool stays = core->paced;
#if CARRICK_GATHERS
    stays = stays || CARRICK_OWN(burst_waits)(core);
    CARRICK_OWN(burst_grows)(core);
#endif
    int verdict = stays ? CARRICK_XDP_DROP : CARRICK_OWN(leave)(ctx, core);
    CARRICK_OWN(call_host)(core);
    bool back = verdict != CARRICK_XDP_TX || !CARRICK_OWN(address_one_way)();
    return back ? verdict : (int)bpf_redirect(core->device, 0);
}

#endif
