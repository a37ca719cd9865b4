/* SPDX-License-Identifier: MIT */
/*
 * What a program in the network learns of the hosts at its interfaces: by which of them a hardware address is reached
 * (IEEE 802.1D), and which hardware address a packet to an IP address has. An address that was not seen for five
 * minutes counts as unknown; a new one takes the place of one that was not used for long.
 */
#ifndef CARRICK_XDP_STATIONS_H
#define CARRICK_XDP_STATIONS_H

#include "carrick/ethernet.h"
#include "carrick/store.h"
#include "carrick/xdp.h"

/* ns: how old an address gets before it is written again that it was seen */
#define CARRICK_STATION_FRESH UINT64_C(1000000000)

struct carrick_station {
    uint64_t seen;
    uint8_t mac[6];
    uint8_t heard; /* 1: it has sent something itself, and `interface` is known */
    uint8_t interface;
};

#define CARRICK_STATION_MAP(name, number)                                                                              \
    struct {                                                                                                           \
        CARRICK_UINT(type, CARRICK_MAP_LRU_HASH);                                                                      \
        CARRICK_TYPE(key, number);                                                                                     \
        CARRICK_TYPE(value, struct carrick_station);                                                                   \
        CARRICK_UINT(max_entries, CARRICK_STATIONS);                                                                   \
    } name CARRICK_SECTION(".maps")

CARRICK_STATION_MAP(carrick_macs, uint64_t);
CARRICK_STATION_MAP(carrick_addresses, carrick_net_address);

/* The devices, by the numbers of their interfaces. */
struct {
    CARRICK_UINT(type, CARRICK_MAP_DEVMAP);
    CARRICK_UINT(key_size, 4);
    CARRICK_UINT(value_size, 8); /* struct bpf_devmap_val: the device, and no program */
    CARRICK_UINT(max_entries, CARRICK_INTERFACES_MOST);
} carrick_ports CARRICK_SECTION(".maps");

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_middlebox);
    CARRICK_UINT(max_entries, 1);
} carrick_middlebox CARRICK_SECTION(".maps");

struct carrick_bridge_counts {
    uint64_t of[CARRICK_MIDDLEBOX_COUNTERS];
};

struct {
    CARRICK_UINT(type, CARRICK_MAP_PERCPU_ARRAY);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_bridge_counts);
    CARRICK_UINT(max_entries, 1);
} carrick_bridge CARRICK_SECTION(".maps");

CARRICK_INLINE uint32_t carrick_count(enum carrick_middlebox_counter which) {
    uint32_t only = 0;
    struct carrick_bridge_counts *counts = bpf_map_lookup_elem(&carrick_bridge, &only);
    if (counts)
        counts->of[which]++;
    return CARRICK_NOWHERE;
}

/* Of such a number: it is the address of several. */
#define CARRICK_GROUP ((uint64_t)1 << 40)

/* What is known of an address; NULL: nothing. */
CARRICK_INLINE struct carrick_station *carrick_station(void *table, const void *address, uint64_t now) {
    struct carrick_station *station = bpf_map_lookup_elem(table, address);
    return station && now - station->seen <= CARRICK_STATION_LASTS ? station : NULL;
}

/* An address was seen as a source, or, if it was not `heard`, as a destination: what it says itself is better. */
CARRICK_INLINE void carrick_station_note(void *table, const void *address, uint64_t now, const uint8_t *mac, bool heard,
                                         uint32_t interface) {
    const struct carrick_station *known = carrick_station(table, address, now);
    if (known && known->heard && !heard)
        return;
    if (known && known->heard == heard && known->interface == interface &&
        carrick_mac_number(known->mac) == carrick_mac_number(mac) && now - known->seen < CARRICK_STATION_FRESH)
        return;
    struct carrick_station station = {.seen = now, .heard = heard, .interface = (uint8_t)interface};
    memcpy(station.mac, mac, sizeof station.mac);
    (void)bpf_map_update_elem(table, address, &station, 0);
}

#endif
