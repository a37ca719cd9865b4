/* SPDX-License-Identifier: MIT */
#include "net/stations.h"

#include "carrick/ipv6.h"

#define SETS (CARRICK_STATIONS / STATION_WAYS)

/* The slots of an address. Whoever does not know the salt cannot choose addresses that share them. */
static struct station *slots(struct carrick_stations *table, struct carrick_ip6_address address) {
    uint64_t hash = (address.high ^ table->salt) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = ((hash ^ (hash >> 29)) + (address.low ^ table->salt)) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 32) ^ (table->salt << 17)) * UINT64_C(0xd6e8feb86659fd93);
    return &table->all[(hash >> 32) % SETS * STATION_WAYS];
}

static bool is_old(const struct station *station, uint64_t now) {
    return !station->used || now - station->seen > CARRICK_STATION_LASTS;
}

static bool has(const struct station *station, struct carrick_ip6_address address) {
    return station->used && carrick_ip6_same(station->address, address);
}

struct station *stations_find(struct carrick_stations *table, uint64_t now, struct carrick_ip6_address address) {
    struct station *set = slots(table, address);
    for (uint32_t i = 0; i < STATION_WAYS; i++)
        if (has(&set[i], address))
            return is_old(&set[i], now) ? NULL : &set[i];
    return NULL;
}

struct station *stations_note(struct carrick_stations *table, uint64_t now, struct carrick_ip6_address address,
                              uint64_t *replaced) {
    struct station *found = stations_find(table, now, address), *set = slots(table, address), *oldest = set;
    if (found)
        return found;
    for (uint32_t i = 0; i < STATION_WAYS; i++) {
        if (has(&set[i], address) || !set[i].used) {
            oldest = &set[i];
            break;
        }
        if (set[i].seen < oldest->seen)
            oldest = &set[i];
    }
    *replaced += !is_old(oldest, now);
    *oldest = (struct station){.address = address, .used = true, .seen = now};
    return oldest;
}
