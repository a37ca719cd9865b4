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

bool carrick_bridge_open(struct carrick_bridge *bridge, struct carrick_port *const *ports, uint32_t count,
                         uint64_t seed) {
    *bridge = (struct carrick_bridge){.interfaces = count};
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

/* An address was seen as a source. */
static void hear(struct carrick_bridge *bridge, struct carrick_stations *table, uint64_t now, uint64_t address,
                 uint32_t interface, const uint8_t *mac) {
    struct station *station = stations_note(table, now, address, &bridge->counters[CARRICK_BRIDGE_REPLACED]);
    station->seen = now;
    station->heard = true;
    station->interface = (uint8_t)interface;
    if (mac)
        memcpy(station->mac, mac, sizeof station->mac);
}

/* The hardware address that others use for a destination, which may be a router's. What it says itself is better. */
static void guess(struct carrick_bridge *bridge, uint64_t now, uint32_t address, const uint8_t *mac) {
    struct station *station =
        stations_note(bridge->addresses, now, address, &bridge->counters[CARRICK_BRIDGE_REPLACED]);
    if (station->heard)
        return;
    station->seen = now;
    memcpy(station->mac, mac, sizeof station->mac);
}

static void learn_arp(struct carrick_bridge *bridge, uint64_t now, uint32_t interface, const struct carrick_frame *f) {
    const uint8_t *arp = f->data + CARRICK_ETHER_HEADER;
    if (f->len < CARRICK_ETHER_HEADER + ARP_LEN || carrick_load16(arp + 2) != ETHER_IPV4 || arp[4] != 6 || arp[5] != 4)
        return;
    if (carrick_is_host(carrick_load32(arp + 14)) && !carrick_is_group(arp + 8))
        hear(bridge, bridge->addresses, now, carrick_load32(arp + 14), interface, arp + 8);
}

static uint32_t others(const struct carrick_bridge *bridge) {
    return bridge->interfaces == 2 ? 1 - bridge->arrived_by : CARRICK_BRIDGE_OTHERS;
}

/* Where an IPv4 destination leads; `mac`: the hardware address with which it goes there, NULL without Ethernet. */
static uint32_t route(struct carrick_bridge *bridge, uint64_t now, uint32_t destination, const uint8_t *mac) {
    const struct station *station = NULL;
    if (mac && !carrick_is_group(mac))
        station = stations_find(bridge->macs, now, carrick_mac_number(mac));
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

/* An IPv4 packet, or something malformed that claims to be one, which the core counts. */
static uint32_t receive_ipv4(struct carrick_bridge *bridge, uint64_t now, const struct carrick_frame *frame) {
    const uint8_t *packet = frame->data + bridge->headroom, *macs = bridge->headroom ? frame->data : NULL;
    bridge->frame = frame->data;
    if (frame->len < bridge->headroom + CARRICK_IP_HEADER) {
        bridge->source = bridge->destination = 0;
        return CARRICK_BRIDGE_CORE;
    }
    bridge->source = carrick_load32(packet + 12);
    bridge->destination = carrick_load32(packet + 16);
    if (carrick_is_host(bridge->source))
        hear(bridge, bridge->addresses, now, bridge->source, bridge->arrived_by, macs ? macs + 6 : NULL);
    if (macs && carrick_is_host(bridge->destination) && !carrick_is_group(macs))
        guess(bridge, now, bridge->destination, macs);
    bridge->toward = route(bridge, now, bridge->destination, macs);
    return bridge->toward == bridge->arrived_by ? local(bridge) : CARRICK_BRIDGE_CORE;
}

/* A frame that is not IPv4. */
static uint32_t receive_other(struct carrick_bridge *bridge, uint64_t now, const struct carrick_frame *frame) {
    const struct station *to = NULL;
    bridge->frame = NULL;
    if (bridge->headroom && !carrick_is_group(frame->data))
        to = stations_find(bridge->macs, now, carrick_mac_number(frame->data));
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
        return frame->data[0] >> 4 == 4 ? receive_ipv4(bridge, now, frame) : receive_other(bridge, now, frame);
    if (!carrick_is_group(frame->data + 6))
        hear(bridge, bridge->macs, now, carrick_mac_number(frame->data + 6), interface, NULL);
    uint32_t type = carrick_load16(frame->data + 12);
    if (type == ETHER_IPV4)
        return receive_ipv4(bridge, now, frame);
    if (type == ETHER_ARP)
        learn_arp(bridge, now, interface, frame);
    return receive_other(bridge, now, frame);
}

/* The hardware address of an IPv4 address: by the frame that arrived last, else by the table. NULL: not known. */
static const uint8_t *mac_of(struct carrick_bridge *bridge, uint64_t now, uint32_t address) {
    if (bridge->frame && address == bridge->destination)
        return bridge->frame;
    if (bridge->frame && address == bridge->source)
        return bridge->frame + 6;
    const struct station *station = stations_find(bridge->addresses, now, address);
    return station ? station->mac : NULL;
}

static uint32_t nowhere(struct carrick_bridge *bridge, enum carrick_bridge_counter why) {
    bridge->counters[why]++;
    return CARRICK_BRIDGE_NOWHERE;
}

uint32_t carrick_bridge_frame(struct carrick_bridge *bridge, uint64_t now, uint32_t interface, uint8_t *frame) {
    uint32_t source = carrick_load32(frame + bridge->headroom + 12);
    uint32_t destination = carrick_load32(frame + bridge->headroom + 16);
    const uint8_t *to = NULL, *from = NULL;
    if (bridge->headroom) {
        to = mac_of(bridge, now, destination);
        from = mac_of(bridge, now, source);
        if (!to)
            return nowhere(bridge, CARRICK_BRIDGE_UNKNOWN);
    }
    if (interface == CARRICK_ROUTE) {
        bool same = bridge->frame && destination == bridge->destination;
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
        carrick_store16(frame + 12, ETHER_IPV4);
    }
    return interface;
}
