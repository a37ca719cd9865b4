/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "carrick/ethernet.h"
#include "carrick/ip.h"
#include "carrick/store.h"
#include "net/net.h"
#include "net/stations.h"

const char *const carrick_bridge_counter_names[CARRICK_BRIDGE_COUNTERS] = {
    "bridge_passed",   "bridge_local", "bridge_short",   "bridge_unknown",  "bridge_no_interface",
    "bridge_too_long", "bridge_full",  "bridge_refused", "bridge_replaced",
};

bool carrick_bridge_open(struct carrick_bridge *bridge, struct carrick_port *const *ports, uint32_t count, bool six,
                         uint64_t seed) {
    *bridge = (struct carrick_bridge){.interfaces = count, .six = six};
    bridge->headroom = ports[0]->ethernet ? CARRICK_ETHER_HEADER : 0;
    for (uint32_t i = 0; i < count; i++)
        memcpy(bridge->own[i], ports[i]->mac, sizeof bridge->own[i]);
    bridge->macs = calloc(1, sizeof *bridge->macs);
    bridge->addresses = calloc(1, sizeof *bridge->addresses);
    if (!bridge->macs || !bridge->addresses)
        return false;
    bridge->macs->salt = bridge->addresses->salt = seed;
    return true;
}

void carrick_bridge_close(struct carrick_bridge *bridge) {
    free(bridge->macs);
    free(bridge->addresses);
    bridge->macs = bridge->addresses = NULL;
}

/* A hardware address as a station's. */
static struct carrick_ip6_address of_mac(const uint8_t *mac) {
    return (struct carrick_ip6_address){0, carrick_mac_number(mac)};
}

/* Whether an address of either version is one of a single host. */
static bool is_one(struct carrick_ip6_address address) {
    return carrick_address_is_ipv4(address) ? carrick_is_host((uint32_t)address.low)
                                            : !net_is_group(address) && !carrick_address_is_unspecified(address);
}

/* The source or the destination of a packet that has a whole header. */
static struct carrick_ip6_address address_in(const struct carrick_bridge *bridge, const uint8_t *packet, bool source) {
    return bridge->six ? carrick_ip6_load(packet + (source ? 8 : 24))
                       : carrick_address_of_ipv4(carrick_load32(packet + (source ? 12 : 16)));
}

/* An address was seen as a source. */
static void hear(struct carrick_bridge *bridge, struct carrick_stations *table, uint64_t now,
                 struct carrick_ip6_address address, uint32_t interface, const uint8_t *mac) {
    struct station *station = stations_note(table, now, address, &bridge->counters[CARRICK_BRIDGE_REPLACED]);
    station->seen = now;
    station->heard = true;
    station->interface = (uint8_t)interface;
    if (mac)
        memcpy(station->mac, mac, sizeof station->mac);
}

/* The hardware address that others use for a destination, which may be a router's. What it says itself is better. */
static void guess(struct carrick_bridge *bridge, uint64_t now, struct carrick_ip6_address address, const uint8_t *mac) {
    struct station *station =
        stations_note(bridge->addresses, now, address, &bridge->counters[CARRICK_BRIDGE_REPLACED]);
    if (station->heard)
        return;
    station->seen = now;
    memcpy(station->mac, mac, sizeof station->mac);
}

/* Somebody says its hardware address. */
static void announced(struct carrick_bridge *bridge, uint64_t now, struct carrick_ip6_address address,
                      const uint8_t *mac) {
    if (is_one(address) && !carrick_is_group(mac))
        hear(bridge, bridge->addresses, now, address, bridge->arrived_by, mac);
}

static void learn_arp(struct carrick_bridge *bridge, uint64_t now, const struct carrick_frame *f) {
    const uint8_t *arp = f->data + CARRICK_ETHER_HEADER;
    if (f->len < CARRICK_ETHER_HEADER + ARP_LEN || carrick_load16(arp + 2) != ETHER_IPV4 || arp[4] != 6 || arp[5] != 4)
        return;
    announced(bridge, now, carrick_address_of_ipv4(carrick_load32(arp + 14)), arp + 8);
}

/* Neighbour discovery passes as ARP does: true, if it is that. What its sender says of itself is learned. */
static bool learn_discovery(struct carrick_bridge *bridge, uint64_t now, const struct carrick_frame *f) {
    struct carrick_ip6_address address;
    const uint8_t *mac;
    if (!net_is_discovery(f->data + CARRICK_ETHER_HEADER, f->len - CARRICK_ETHER_HEADER, &address, &mac))
        return false;
    if (mac)
        announced(bridge, now, address, mac);
    return true;
}

static uint32_t others(const struct carrick_bridge *bridge) {
    return bridge->interfaces == 2 ? 1 - bridge->arrived_by : CARRICK_BRIDGE_OTHERS;
}

/* Where a destination leads; `mac`: the hardware address with which it goes there, NULL without Ethernet. */
static uint32_t route(struct carrick_bridge *bridge, uint64_t now, struct carrick_ip6_address destination,
                      const uint8_t *mac) {
    const struct station *station = NULL;
    if (mac && !carrick_is_group(mac))
        station = stations_find(bridge->macs, now, of_mac(mac));
    if (!station && !(mac && carrick_is_group(mac)))
        station = stations_find(bridge->addresses, now, destination);
    if (station && station->heard)
        return station->interface;
    return bridge->frame ? others(bridge) : CARRICK_BRIDGE_NOWHERE;
}

static uint32_t local(struct carrick_bridge *bridge) {
    bridge->counters[CARRICK_BRIDGE_LOCAL]++;
    return CARRICK_BRIDGE_NOWHERE;
}

/* A packet of the program's version, or something malformed that claims to be one, which the core counts. */
static uint32_t receive_packet(struct carrick_bridge *bridge, uint64_t now, const struct carrick_frame *frame) {
    const uint8_t *packet = frame->data + bridge->headroom, *macs = bridge->headroom ? frame->data : NULL;
    bridge->frame = frame->data;
    if (frame->len < bridge->headroom + (bridge->six ? CARRICK_IP6_HEADER : CARRICK_IP_HEADER)) {
        bridge->source = bridge->destination = (struct carrick_ip6_address){0};
        return CARRICK_BRIDGE_CORE;
    }
    bridge->source = address_in(bridge, packet, true);
    bridge->destination = address_in(bridge, packet, false);
    if (is_one(bridge->source))
        hear(bridge, bridge->addresses, now, bridge->source, bridge->arrived_by, macs ? macs + 6 : NULL);
    if (macs && is_one(bridge->destination) && !carrick_is_group(macs))
        guess(bridge, now, bridge->destination, macs);
    bridge->toward = route(bridge, now, bridge->destination, macs);
    return bridge->toward == bridge->arrived_by ? local(bridge) : CARRICK_BRIDGE_CORE;
}

/* A frame that the program does not see. */
static uint32_t receive_other(struct carrick_bridge *bridge, uint64_t now, const struct carrick_frame *frame) {
    const struct station *to = NULL;
    bridge->frame = NULL;
    if (bridge->headroom && !carrick_is_group(frame->data))
        to = stations_find(bridge->macs, now, of_mac(frame->data));
    if (to && to->interface == bridge->arrived_by)
        return local(bridge);
    bridge->counters[CARRICK_BRIDGE_PASSED]++;
    return to ? to->interface : others(bridge);
}

uint32_t carrick_bridge_receive(struct carrick_bridge *bridge, uint64_t now, uint32_t interface,
                                const struct carrick_frame *frame) {
    bridge->arrived_by = interface;
    bridge->toward = others(bridge);
    if (frame->len < bridge->headroom || frame->len == 0) {
        bridge->counters[CARRICK_BRIDGE_SHORT]++;
        return CARRICK_BRIDGE_NOWHERE;
    }
    if (bridge->headroom == 0)
        return frame->data[0] >> 4 == (bridge->six ? 6 : 4) ? receive_packet(bridge, now, frame)
                                                            : receive_other(bridge, now, frame);
    if (!carrick_is_group(frame->data + 6))
        hear(bridge, bridge->macs, now, of_mac(frame->data + 6), interface, NULL);
    uint32_t type = carrick_load16(frame->data + 12);
    if (type == (bridge->six ? ETHER_IPV6 : ETHER_IPV4) && !(bridge->six && learn_discovery(bridge, now, frame)))
        return receive_packet(bridge, now, frame);
    if (type == ETHER_ARP && !bridge->six)
        learn_arp(bridge, now, frame);
    return receive_other(bridge, now, frame);
}

/* The hardware address of an address: by the frame that arrived last, else by the table. NULL: not known. */
static const uint8_t *mac_of(struct carrick_bridge *bridge, uint64_t now, struct carrick_ip6_address address) {
    if (bridge->frame && carrick_ip6_same(address, bridge->destination))
        return bridge->frame;
    if (bridge->frame && carrick_ip6_same(address, bridge->source))
        return bridge->frame + 6;
    const struct station *station = stations_find(bridge->addresses, now, address);
    return station ? station->mac : NULL;
}

static uint32_t nowhere(struct carrick_bridge *bridge, enum carrick_bridge_counter why) {
    bridge->counters[why]++;
    return CARRICK_BRIDGE_NOWHERE;
}

uint32_t carrick_bridge_frame(struct carrick_bridge *bridge, uint64_t now, uint32_t interface, uint8_t *frame) {
    const uint8_t *packet = frame + bridge->headroom;
    struct carrick_ip6_address source = address_in(bridge, packet, true),
                               destination = address_in(bridge, packet, false);
    const uint8_t *to = NULL, *from = NULL;
    if (bridge->headroom) {
        to = mac_of(bridge, now, destination);
        from = mac_of(bridge, now, source);
        if (!to)
            return nowhere(bridge, CARRICK_BRIDGE_UNKNOWN);
    }
    if (interface == CARRICK_ROUTE) {
        bool same = bridge->frame && carrick_ip6_same(destination, bridge->destination);
        interface = same ? bridge->toward : route(bridge, now, destination, to);
        if (interface == CARRICK_BRIDGE_NOWHERE)
            return nowhere(bridge, CARRICK_BRIDGE_UNKNOWN);
    } else if (interface >= bridge->interfaces) {
        return nowhere(bridge, CARRICK_BRIDGE_NO_INTERFACE);
    }
    if (bridge->headroom) {
        memcpy(frame, to, 6);
        memcpy(frame + 6,
               from && !carrick_is_group(from) ? from : bridge->own[interface < bridge->interfaces ? interface : 0], 6);
        carrick_store16(frame + 12, bridge->six ? ETHER_IPV6 : ETHER_IPV4);
    }
    return interface;
}
