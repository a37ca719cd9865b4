/* SPDX-License-Identifier: MIT */
/*
 * The program of frames that come to a program in the network. Between the interfaces is a learning bridge, as natively
 * (carrick/bridge.h there):
 *
 *     frame that arrives            where it goes
 *     -----------------------------------------------------------------------------
 *     not IPv4 (ARP, IPv6, ...)     to the other interfaces as it is: one, if the destination was learned
 *     IPv4                          to the program
 *     to a host of the same side    nowhere
 */
#ifndef CARRICK_XDP_MIDDLEBOX_H
#define CARRICK_XDP_MIDDLEBOX_H

#include "carrick/reading.h"
#include "carrick/stations.h"

#define CARRICK_ETHER_IPV4 0x0800u
#define CARRICK_ETHER_ARP  0x0806u
#define CARRICK_ARP        28u /* bytes of ARP for IPv4 over Ethernet (RFC 826) */
/* In place of an interface: the program has the packet. */
#define CARRICK_PROGRAM 258u

CARRICK_INLINE struct carrick_middlebox *carrick_middlebox_here(void) {
    uint32_t only = 0;
    return bpf_map_lookup_elem(&carrick_middlebox, &only);
}

/* By which interface the frame came. */
CARRICK_INLINE uint32_t carrick_arrived_by(const struct carrick_middlebox *middlebox, uint32_t device) {
    for (uint32_t i = 0; i < CARRICK_INTERFACES_MOST; i++)
        if (middlebox->devices[i] == device)
            return i;
    return CARRICK_INTERFACES_MOST;
}

/* The others than that by which the frame came. */
CARRICK_INLINE uint32_t carrick_others(const struct carrick_store *s, const struct carrick_middlebox *middlebox) {
    return middlebox->count == 2 ? 1 - (s->interface & 1) : CARRICK_OTHERS;
}

/* Where an IPv4 destination leads with this hardware address. */
CARRICK_GLOBAL_FN int CARRICK_OWN(route)(struct CARRICK_OWN(core) * core, uint32_t destination, uint64_t mac) {
    struct carrick_middlebox *middlebox = carrick_middlebox_here();
    if (!core || !middlebox)
        return (int)CARRICK_NOWHERE;
    const struct carrick_station *station = NULL;
    if (!(mac & CARRICK_GROUP)) {
        station = carrick_station(&carrick_macs, mac, core->now);
        if (!station)
            station = carrick_station(&carrick_addresses, destination, core->now);
    }
    if (station && station->heard)
        return station->interface;
    return (int)(core->store.framed ? carrick_others(&core->store, middlebox) : CARRICK_NOWHERE);
}

/* An IPv4 packet, or something malformed that claims to be one, which the program counts. */
CARRICK_INLINE uint32_t CARRICK_OWN(enter_ipv4)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core,
                                                const struct carrick_middlebox *middlebox) {
    struct carrick_store *s = &core->store;
    const uint8_t *p = core->in;
    s->framed = true;
    s->source = s->destination = 0;
    s->toward = carrick_others(s, middlebox);
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_IP_HEADER) != 0)
        return CARRICK_PROGRAM;
    s->source = carrick_load32(p + 12);
    s->destination = carrick_load32(p + 16);
    if (carrick_is_host(s->source))
        carrick_station_note(&carrick_addresses, s->source, core->now, s->ethernet + 6, true, s->interface);
    if (carrick_is_host(s->destination) && !carrick_is_group(s->ethernet))
        carrick_station_note(&carrick_addresses, s->destination, core->now, s->ethernet, false, 0);
    s->toward = (uint32_t)CARRICK_OWN(route)(core, s->destination, carrick_mac_number(s->ethernet));
    return s->toward == s->interface ? carrick_count(CARRICK_MIDDLEBOX_LOCAL) : CARRICK_PROGRAM;
}

CARRICK_INLINE void CARRICK_OWN(learn_arp)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    const uint8_t *arp = core->in;
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_ARP) != 0 ||
        carrick_load16(arp + 2) != CARRICK_ETHER_IPV4 || arp[4] != 6 || arp[5] != 4)
        return;
    if (carrick_is_host(carrick_load32(arp + 14)) && !carrick_is_group(arp + 8))
        carrick_station_note(&carrick_addresses, carrick_load32(arp + 14), core->now, arp + 8, true,
                             core->store.interface);
}

/* A frame that is not IPv4. */
CARRICK_INLINE uint32_t CARRICK_OWN(enter_other)(struct CARRICK_OWN(core) * core,
                                                 const struct carrick_middlebox *middlebox) {
    const struct carrick_store *s = &core->store;
    const struct carrick_station *to = NULL;
    if (!carrick_is_group(s->ethernet))
        to = carrick_station(&carrick_macs, carrick_mac_number(s->ethernet), core->now);
    if (to && to->interface == s->interface)
        return carrick_count(CARRICK_MIDDLEBOX_LOCAL);
    (void)carrick_count(CARRICK_MIDDLEBOX_PASSED);
    return to ? to->interface : carrick_others(s, middlebox);
}

/* A frame of the loader, which says by which interface it came. */
CARRICK_INLINE uint32_t CARRICK_OWN(enter_here)(struct CARRICK_OWN(core) * core) {
    struct carrick_store *s = &core->store;
    s->interface = s->ethernet[11];
    s->framed = true;
    return CARRICK_PROGRAM;
}

/* A frame: the bridge learns from it, and says where it goes. */
CARRICK_GLOBAL_FN int CARRICK_OWN(enter)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    CARRICK_GIVEN(core);
    struct carrick_store *s = &core->store;
    const struct carrick_middlebox *middlebox = carrick_middlebox_here();
    CARRICK_GIVEN(middlebox);
    s->framed = false;
    if (bpf_xdp_load_bytes(ctx, 0, s->ethernet, CARRICK_ETHERNET) != 0)
        return (int)carrick_count(CARRICK_MIDDLEBOX_SHORT);
    if (core->device == 0)
        return (int)CARRICK_OWN(enter_here)(core);
    s->interface = carrick_arrived_by(middlebox, ctx->ingress_ifindex);
    if (!carrick_is_group(s->ethernet + 6))
        carrick_station_note(&carrick_macs, carrick_mac_number(s->ethernet + 6), core->now, s->ethernet + 6, true,
                             s->interface);
    uint32_t type = carrick_load16(s->ethernet + 12);
    if (type == CARRICK_ETHER_IPV4)
        return (int)CARRICK_OWN(enter_ipv4)(ctx, core, middlebox);
    if (type == CARRICK_ETHER_ARP)
        CARRICK_OWN(learn_arp)(ctx, core);
    return (int)CARRICK_OWN(enter_other)(core, middlebox);
}

/* Puts the hardware address of an IPv4 address at `to`: by the frame that is there, else by the table. 0: it is not
 * known. */
CARRICK_GLOBAL_FN int CARRICK_OWN(mac_of)(struct CARRICK_OWN(core) * core, uint32_t address, uint32_t at) {
    CARRICK_GIVEN(core);
    const struct carrick_store *s = &core->store;
    uint8_t *to = at ? core->out + 6 : core->out;
    if (s->framed && address == s->destination) {
        memcpy(to, s->ethernet, 6);
        return 1;
    }
    if (s->framed && address == s->source) {
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
                                             uint32_t destination) {
    struct carrick_store *s = &core->store;
    s->port = s->left_by;
    if (s->left_by == CARRICK_ROUTE) {
        bool same = s->framed && destination == s->destination;
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
    carrick_store16(out + 12, CARRICK_ETHER_IPV4);
    if (core->device == 0) {
        out[5] = (uint8_t)s->left_by;
        return 1;
    }
    uint32_t source = carrick_load32(out + CARRICK_ETHERNET + 12), to = carrick_load32(out + CARRICK_ETHERNET + 16);
    if (!CARRICK_OWN(mac_of)(core, to, 0)) {
        (void)carrick_count(CARRICK_MIDDLEBOX_UNKNOWN);
        return 0;
    }
    if (!CARRICK_OWN(choose_port)(core, middlebox, to))
        return 0;
    if (!CARRICK_OWN(mac_of)(core, source, 1) || carrick_is_group(out + 6))
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
    return CARRICK_OWN(choose_port)(core, middlebox, s->destination) ? CARRICK_XDP_TX : CARRICK_XDP_DROP;
}

/* The packet leaves with the header in `core->out`, and the payload where it is. */
CARRICK_INLINE int CARRICK_OWN(on_with)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    const struct carrick_store *s = &core->store;
    uint32_t header = CARRICK_BEGIN + s->header, end = s->payload + s->payload_len;
    int moved = (int)(s->payload - header);
    if (!CARRICK_OWN(address)(core) || bpf_xdp_adjust_tail(ctx, (int)(end - core->room)) != 0)
        return CARRICK_XDP_DROP;
    if (moved != 0 && bpf_xdp_adjust_head(ctx, moved) != 0) {
        core->counters[CARRICK_COUNT_TX_TOO_LONG]++;
        return CARRICK_XDP_DROP;
    }
    CARRICK_BARRIER_VAR(header);
    if (header < CARRICK_BEGIN || header > sizeof core->out || bpf_xdp_store_bytes(ctx, 0, core->out, header) != 0)
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
    uint8_t *destination = core->in;
    bool there = bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET + 16, destination, 4) == 0;
    carrick_net_address to = there ? carrick_load32(destination) : 0;
    int known = CARRICK_OWN(read)(ctx, core, &to);
    bool other = known == -1 - CARRICK_COUNT_IP_FRAGMENT || known == -1 - CARRICK_COUNT_IP_PROTOCOL;
    if (known < 0 && !other)
        return CARRICK_OWN(refuse)(core, (uint32_t)(-1 - known));
    carrick_store_look(&core->store, carrick_load16(core->in + 2), core->mtu);
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
    core->back = 0;
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
