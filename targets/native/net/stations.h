/* SPDX-License-Identifier: MIT */
/* A bounded table of addresses, with where each was seen. */
#ifndef CARRICK_NET_STATIONS_H
#define CARRICK_NET_STATIONS_H

#include "carrick/bridge.h"

#define STATION_WAYS 4u /* slots in which an address can be */

struct station {
    struct carrick_ip6_address address; /* a hardware address in the low half, or an address as in carrick/address.h */
    uint64_t seen;                      /* when, last */
    uint8_t mac[6];
    bool used;  /* false: the slot is free */
    bool heard; /* it has sent something itself: `interface` is known */
    uint8_t interface;
};

struct carrick_stations {
    uint64_t salt;
    struct station all[CARRICK_STATIONS];
};

/* The station with an address, if it was seen lately; NULL: none. */
struct station *stations_find(struct carrick_stations *table, uint64_t now, struct carrick_ip6_address address);

/* The same, or a slot for it, of which only the address is set. `*replaced` counts stations that lose their slots. */
struct station *stations_note(struct carrick_stations *table, uint64_t now, struct carrick_ip6_address address,
                              uint64_t *replaced);

#endif
