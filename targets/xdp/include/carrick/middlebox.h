/* SPDX-License-Identifier: MIT */
/* The program of frames that come to a program in the network, and where its packets go. */
#ifndef CARRICK_XDP_MIDDLEBOX_H
#define CARRICK_XDP_MIDDLEBOX_H

#include "carrick/bridge.h"

/* Puts the hardware address of an address into the frame that is made, as its source if `at` is 1: by the frame that is
 * there, else by the table. 0: it is not known. */
CARRICK_GLOBAL_FN int CARRICK_OWN(mac_of)(struct CARRICK_OWN(core) * core, const carrick_net_address *address,
                                          uint32_t at) {
    CARRICK_GIVEN(core && address);
    const struct carrick_store *s = &core->store;
    uint8_t *to = at ? core->out + 6 : core->out;
    if (s->framed && carrick_net_same(address, &s->destination)) {
        memcpy(to, s->ethernet, 6);
        return 1;
    }
    if (s->framed && carrick_net_same(address, &s->source)) {
        memcpy(to, s->ethernet + 6, 6);
        return 1;
    }
    const struct carrick_station *station = carrick_station(&carrick_addresses, address, core->now);
    CARRICK_GIVEN(station);
    memcpy(to, station->mac, 6);
    return 1;
}

/* The interface that a packet to `destination` asks for becomes a port. */
CARRICK_INLINE bool CARRICK_OWN(choose_port)(struct CARRICK_OWN(core) * core, const struct carrick_middlebox *middlebox,
                                             const carrick_net_address *destination) {
    struct carrick_store *s = &core->store;
    s->port = s->left_by;
    if (s->left_by == CARRICK_ROUTE) {
        bool same = s->framed && carrick_net_same(destination, &s->destination);
        s->port = same ? s->toward : (uint32_t)CARRICK_OWN(route)(core, destination, carrick_mac_number(core->out));
        if (s->port == CARRICK_NOWHERE)
            (void)carrick_count(CARRICK_MIDDLEBOX_UNKNOWN);
        return s->port != CARRICK_NOWHERE;
    }
    if (s->port >= middlebox->count)
        (void)carrick_count(CARRICK_MIDDLEBOX_NO_INTERFACE);
    return s->port < middlebox->count;
}

/* Puts the Ethernet header before the packet in `core->out`. 0: it can go nowhere. */
CARRICK_GLOBAL_FN int CARRICK_OWN(address)(struct CARRICK_OWN(core) * core) {
    const struct carrick_middlebox *middlebox = carrick_middlebox_here();
    if (!core || !middlebox)
        return 0;
    struct carrick_store *s = &core->store;
    uint8_t *out = core->out;
    carrick_store16(out + 12, CARRICK_NET_TYPE);
    if (core->device == 0) {
        out[5] = (uint8_t)s->left_by;
        return 1;
    }
    carrick_net_address source = carrick_net_source(out + CARRICK_ETHERNET);
    carrick_net_address to = carrick_net_destination(out + CARRICK_ETHERNET);
    if (!CARRICK_OWN(mac_of)(core, &to, 0)) {
        (void)carrick_count(CARRICK_MIDDLEBOX_UNKNOWN);
        return 0;
    }
    if (!CARRICK_OWN(choose_port)(core, middlebox, &to))
        return 0;
    if (!CARRICK_OWN(mac_of)(core, &source, 1) || carrick_is_group(out + 6))
        memcpy(out + 6, middlebox->own[carrick_at(s->port, CARRICK_INTERFACES_MOST)], 6);
    return 1;
}

/* Nobody else sends what a frame has no room for. */
CARRICK_INLINE int CARRICK_OWN(hand)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t len,
                                     uint32_t outside) {
    (void)ctx, (void)len;
    if (outside)
        core->counters[CARRICK_COUNT_TX_TOO_LONG]++;
    return 0;
}

#if CARRICK_STORES
/* The packet of a slot, in the frame that is there. */
CARRICK_GLOBAL_FN int CARRICK_OWN(bring_stored)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t slot) {
    struct carrick_held *h = carrick_held_at(slot);
    if (!core || !h)
        return CARRICK_XDP_DROP;
    uint32_t len = h->len;
    CARRICK_BARRIER_VAR(len);
    if (len < CARRICK_NET_HEADER || len > CARRICK_FRAME_MAX)
        return CARRICK_XDP_DROP;
    memcpy(core->out + CARRICK_ETHERNET, h->octets, CARRICK_NET_HEADER);
    core->store.left_by = h->interface;
    core->counters[CARRICK_COUNT_TX_FORWARDED]++;
    if (!CARRICK_OWN(address)(core))
        return CARRICK_XDP_DROP;
    if (bpf_xdp_adjust_tail(ctx, (int)(CARRICK_ETHERNET + len - core->room)) != 0 ||
        bpf_xdp_store_bytes(ctx, 0, core->out, CARRICK_ETHERNET) != 0 ||
        bpf_xdp_store_bytes(ctx, CARRICK_ETHERNET, h->octets, len) != 0) {
        core->counters[CARRICK_COUNT_TX_TOO_LONG]++;
        return CARRICK_XDP_DROP;
    }
    return CARRICK_XDP_TX;
}

/* The frame takes the oldest packet that was stored or copied and leaves. */
CARRICK_INLINE int CARRICK_OWN(leave_stored)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core,
                                             struct carrick_shared *shared) {
    uint32_t slot = 0;
    if (!core->roomy || bpf_map_pop_elem(&carrick_leaving, &slot) != 0)
        return CARRICK_XDP_DROP;
    int verdict = CARRICK_OWN(bring_stored)(ctx, core, slot);
    (void)__sync_fetch_and_add(&shared->leaving, -(uint64_t)1);
    (void)carrick_held_forget(slot);
    return verdict;
}
#endif

#include "carrick/leaving.h"

/* The frame by the interface that was found for it. */
CARRICK_INLINE int CARRICK_OWN(by)(uint32_t port) {
    if (port == CARRICK_OTHERS)
        return (int)bpf_redirect_map(&carrick_ports, 0, CARRICK_TO_OTHERS);
    return port < CARRICK_INTERFACES_MOST ? (int)bpf_redirect_map(&carrick_ports, port, 0) : CARRICK_XDP_DROP;
}

CARRICK_INLINE int CARRICK_OWN(out)(struct CARRICK_OWN(core) * core, int verdict) {
    return core->device && verdict == CARRICK_XDP_TX ? CARRICK_OWN(by)(core->store.port) : verdict;
}

/* The packet leaves as it came, without what is behind it in the frame. */
CARRICK_INLINE int CARRICK_OWN(on_as_it_is)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    const struct carrick_middlebox *middlebox = carrick_middlebox_here();
    struct carrick_store *s = &core->store;
    if (!middlebox || bpf_xdp_adjust_tail(ctx, (int)(CARRICK_ETHERNET + s->len - core->room)) != 0)
        return CARRICK_XDP_DROP;
    if (core->device == 0) {
        s->ethernet[5] = (uint8_t)s->left_by;
        return bpf_xdp_store_bytes(ctx, 0, s->ethernet, CARRICK_ETHERNET) == 0 ? CARRICK_XDP_TX : CARRICK_XDP_DROP;
    }
    memcpy(core->out, s->ethernet, CARRICK_ETHERNET);
    return CARRICK_OWN(choose_port)(core, middlebox, &s->destination) ? CARRICK_XDP_TX : CARRICK_XDP_DROP;
}

/* The packet leaves with the header in `core->out`, and the payload where it is. */
CARRICK_INLINE int CARRICK_OWN(on_with)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    const struct carrick_store *s = &core->store;
    uint32_t header = CARRICK_ETHERNET + s->header, end = s->payload + s->payload_len;
    int moved = (int)(s->payload - header);
    if (!CARRICK_OWN(address)(core) || bpf_xdp_adjust_tail(ctx, (int)(end - core->room)) != 0)
        return CARRICK_XDP_DROP;
    if (moved != 0 && bpf_xdp_adjust_head(ctx, moved) != 0) {
        core->counters[CARRICK_COUNT_TX_TOO_LONG]++;
        return CARRICK_XDP_DROP;
    }
    CARRICK_BARRIER_VAR(header);
    if (header < CARRICK_ETHERNET + CARRICK_NET_HEADER || header > sizeof core->out ||
        bpf_xdp_store_bytes(ctx, 0, core->out, header) != 0)
        return CARRICK_XDP_DROP;
    return CARRICK_XDP_TX;
}

/* What becomes of the frame of a packet that all of its events have seen. */
CARRICK_GLOBAL_FN int CARRICK_OWN(go_on)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    if (!core)
        return CARRICK_XDP_DROP;
    core->counters[CARRICK_COUNT_TX_FORWARDED]++;
    return core->store.leaves == CARRICK_LEAVES_WITH ? CARRICK_OWN(on_with)(ctx, core)
                                                     : CARRICK_OWN(on_as_it_is)(ctx, core);
}

/* The packet in the frame. 1: the program reads it; -1: it is none that it can read, and goes on; 0: it is malformed.
 */
CARRICK_GLOBAL_FN int CARRICK_OWN(arrive)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    CARRICK_GIVEN(core);
    carrick_net_address to = {0};
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_NET_HEADER) == 0)
        to = carrick_net_destination(core->in);
    int known = CARRICK_OWN(read)(ctx, core, &to);
    bool other = known == -1 - CARRICK_COUNT_IP_FRAGMENT || known == -1 - CARRICK_COUNT_IP_PROTOCOL;
    if (known < 0 && !other)
        return CARRICK_OWN(refuse)(core, (uint32_t)(-1 - known));
    carrick_store_look(&core->store, carrick_net_total(core->in), core->mtu);
#if CARRICK_STORES
    core->store.capacity = CARRICK_STORE_CAPACITY(core);
#endif
    core->ip.interface = (uint8_t)core->store.interface;
    return other ? -1 : CARRICK_OWN(see)(ctx, core);
}

/* What the program makes of the packet. */
CARRICK_INLINE void CARRICK_OWN(handle)(struct CARRICK_OWN(core) * core) {
    core->counters[CARRICK_COUNT_RX_PACKETS]++;
    core->chain.handle = 0;
#if CARRICK_CLAIMED
    core->chain.event = 0;
#endif
    core->chain.raised_count = core->waiting_count = core->level_count = 0;
    core->chain.stopped = core->chain.deleted = core->chain.dropped = false;
    (void)CARRICK_PARSER(core, &core->packet, &core->ip);
    if (core->chain.raised_count == 0 && !core->chain.dropped)
        (void)CARRICK_OWN(refuse)(core, CARRICK_COUNT_UNPARSED);
    CARRICK_OWN(run_parsed)(core);
}

CARRICK_SECTION("xdp") int ingress(struct xdp_md *ctx) {
    struct CARRICK_OWN(core) *core = CARRICK_OWN(here)();
    if (!core)
        return CARRICK_XDP_DROP;
    core->now = core->clock ? core->clock - 1 : bpf_ktime_get_ns();
    core->wanted = 0;
    core->back = (carrick_net_address){0};
    uint32_t to = (uint32_t)CARRICK_OWN(enter)(ctx, core);
    if (to != CARRICK_PROGRAM)
        return CARRICK_OWN(by)(to);
    int known = CARRICK_OWN(arrive)(ctx, core);
    if (known == 0)
        return CARRICK_XDP_DROP;
    core->taken++;
    core->vacant = !core->paced;
    core->alone = false;
    core->roomy = CARRICK_OWN(roomy)(ctx, core);
    if (known > 0)
        CARRICK_OWN(handle)(core);
    carrick_store_pass(&core->store, core->counters);
    int verdict = CARRICK_XDP_DROP;
    if (core->store.leaves != CARRICK_LEAVES_NOT)
        verdict = CARRICK_OWN(go_on)(ctx, core);
    else if (!core->paced)
        verdict = CARRICK_OWN(leave)(ctx, core);
    CARRICK_OWN(call_host)(core);
    return CARRICK_OWN(out)(core, verdict);
}

#endif
