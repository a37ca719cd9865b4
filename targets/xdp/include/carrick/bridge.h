/* SPDX-License-Identifier: MIT */
/*
 * The learning bridge between the interfaces of a program in the network, as natively (carrick/bridge.h there):
 *
 *     frame that arrives                     where it goes
 *     -----------------------------------------------------------------------------------
 *     IP of the program's version            to the program
 *     ARP, neighbour discovery, all others   to the other interfaces as it is: one, if the destination was learned
 *     to a host of the same side             nowhere
 */
#ifndef CARRICK_XDP_BRIDGE_H
#define CARRICK_XDP_BRIDGE_H

#include "carrick/reading.h"
#include "carrick/stations.h"

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

/* Where a destination leads with this hardware address. */
CARRICK_GLOBAL_FN int CARRICK_OWN(route)(struct CARRICK_OWN(core) * core, const carrick_net_address *destination,
                                         uint64_t mac) {
    struct carrick_middlebox *middlebox = carrick_middlebox_here();
    if (!core || !middlebox || !destination)
        return (int)CARRICK_NOWHERE;
    const struct carrick_station *station = NULL;
    if (!(mac & CARRICK_GROUP)) {
        station = carrick_station(&carrick_macs, &mac, core->now);
        if (!station)
            station = carrick_station(&carrick_addresses, destination, core->now);
    }
    if (station && station->heard)
        return station->interface;
    return (int)(core->store.framed ? carrick_others(&core->store, middlebox) : CARRICK_NOWHERE);
}

/* The hardware address of a host, which says it itself. */
CARRICK_INLINE void CARRICK_OWN(announced)(struct CARRICK_OWN(core) * core, const carrick_net_address *address,
                                           const uint8_t *mac) {
    if (carrick_net_is_host(address) && !carrick_is_group(mac))
        carrick_station_note(&carrick_addresses, address, core->now, mac, true, core->store.interface);
}

#ifdef CARRICK_IPV6
#include "carrick/bridge6.h"
#else
#include "carrick/bridge4.h"
#endif

/* A packet of the program's version, or something malformed that claims to be one, which the program counts. */
CARRICK_INLINE uint32_t CARRICK_OWN(enter_packet)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core,
                                                  const struct carrick_middlebox *middlebox) {
    struct carrick_store *s = &core->store;
    s->framed = true;
    s->source = s->destination = (carrick_net_address){0};
    s->toward = carrick_others(s, middlebox);
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_NET_HEADER) != 0)
        return CARRICK_PROGRAM;
    s->source = carrick_net_source(core->in);
    s->destination = carrick_net_destination(core->in);
    if (carrick_net_is_host(&s->source))
        carrick_station_note(&carrick_addresses, &s->source, core->now, s->ethernet + 6, true, s->interface);
    if (carrick_net_is_host(&s->destination) && !carrick_is_group(s->ethernet))
        carrick_station_note(&carrick_addresses, &s->destination, core->now, s->ethernet, false, 0);
    s->toward = (uint32_t)CARRICK_OWN(route)(core, &s->destination, carrick_mac_number(s->ethernet));
    return s->toward == s->interface ? carrick_count(CARRICK_MIDDLEBOX_LOCAL) : CARRICK_PROGRAM;
}

/* A frame that the program does not see. */
CARRICK_INLINE uint32_t CARRICK_OWN(enter_other)(struct CARRICK_OWN(core) * core,
                                                 const struct carrick_middlebox *middlebox) {
    const struct carrick_store *s = &core->store;
    const struct carrick_station *to = NULL;
    uint64_t mac = carrick_mac_number(s->ethernet);
    if (!carrick_is_group(s->ethernet))
        to = carrick_station(&carrick_macs, &mac, core->now);
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
    uint64_t from = carrick_mac_number(s->ethernet + 6);
    if (!carrick_is_group(s->ethernet + 6))
        carrick_station_note(&carrick_macs, &from, core->now, s->ethernet + 6, true, s->interface);
    uint32_t type = carrick_load16(s->ethernet + 12);
    if (CARRICK_OWN(resolves)(ctx, core, type) || type != CARRICK_NET_TYPE)
        return (int)CARRICK_OWN(enter_other)(core, middlebox);
    return (int)CARRICK_OWN(enter_packet)(ctx, core, middlebox);
}

#endif
