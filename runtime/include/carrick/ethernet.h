/* SPDX-License-Identifier: MIT */
/* Hardware addresses, and what learning bridges of all targets agree on. */
#ifndef CARRICK_ETHERNET_H
#define CARRICK_ETHERNET_H

#include "carrick/bounds.h"

#define CARRICK_STATIONS      8192u                  /* addresses in a table, at most: a power of two */
#define CARRICK_STATION_LASTS UINT64_C(300000000000) /* ns: the ageing time of IEEE 802.1D */

CARRICK_INLINE uint64_t carrick_mac_number(const uint8_t *mac) {
    return (uint64_t)carrick_load16(mac) << 32 | carrick_load32(mac + 2);
}

/* Whether it is the address of several. */
CARRICK_INLINE bool carrick_is_group(const uint8_t *mac) {
    return mac[0] & 1;
}

/* Whether an IPv4 address can be a host's: not 0.0.0.0/8, multicast or broadcast. */
CARRICK_INLINE bool carrick_is_host(uint32_t address) {
    return address >> 24 != 0 && address < 0xe0000000u;
}

#endif
