/* SPDX-License-Identifier: MIT */
/*
 * What is between the ports of a program in the network and its core: a learning bridge. It learns from traffic by
 * which interface a hardware address is reached (IEEE 802.1D), and which hardware address a packet to an IP address
 * has. Ports without Ethernet carry bare packets: there, only IP addresses are learned. Owns both tables, which are
 * bounded: an address that was not seen for five minutes is forgotten, and a new one may take the slot of one that is
 * known for longest without being seen.
 *
 *     frame that arrives            where it goes
 *     -----------------------------------------------------------------------------
 *     IP of the program's version   to the core
 *     neighbour discovery, ARP,     to the other ports as it is: one, if the destination was learned
 *       the other version, ...
 *     to a host of the same port    nowhere
 *
 * A packet from the core keeps the hardware addresses of the frame whose packet the core was given last, where the
 * IP addresses are the same: a forwarded packet its header, an answer the header the other way round. All other
 * addresses are found in the table. A packet to an address that was never seen is dropped, and counted.
 */
#ifndef CARRICK_BRIDGE_H
#define CARRICK_BRIDGE_H

#include "carrick/address.h"
#include "carrick/ethernet.h"
#include "carrick/port.h"

enum carrick_bridge_counter {
    CARRICK_BRIDGE_PASSED,       /* frames that the program does not see, sent on */
    CARRICK_BRIDGE_LOCAL,        /* frames to a host of the port by which they arrived */
    CARRICK_BRIDGE_SHORT,        /* frames shorter than their header */
    CARRICK_BRIDGE_UNKNOWN,      /* from the core: to an address that was never seen */
    CARRICK_BRIDGE_NO_INTERFACE, /* from the core: by an interface that the node does not have */
    CARRICK_BRIDGE_TOO_LONG,     /* longer than a port's MTU */
    CARRICK_BRIDGE_FULL,         /* the port took no more */
    CARRICK_BRIDGE_REFUSED,      /* packets that the core did not take */
    CARRICK_BRIDGE_REPLACED,     /* addresses forgotten because others took their slots */
    CARRICK_BRIDGE_COUNTERS
};

/* In the order of the enum. */
extern const char *const carrick_bridge_counter_names[CARRICK_BRIDGE_COUNTERS];

/* Where a frame goes: the number of an interface, or one of these. */
#define CARRICK_BRIDGE_OTHERS  0x100u /* all interfaces but the one by which the last frame arrived */
#define CARRICK_BRIDGE_CORE    0x101u
#define CARRICK_BRIDGE_NOWHERE 0x102u

struct carrick_stations;

struct carrick_bridge {
    struct carrick_stations *macs, *addresses;
    uint32_t interfaces;
    uint32_t headroom; /* bytes before a packet in a frame: of the Ethernet header, or 0 */
    bool six;          /* the program's packets are of IPv6 */
    uint8_t own[CARRICK_INTERFACES][6];
    uint64_t counters[CARRICK_BRIDGE_COUNTERS];
    /* The frame that arrived last, until carrick_bridge_forget. */
    const uint8_t *frame; /* NULL: none, or one that the program does not see */
    uint32_t arrived_by;
    uint32_t toward;                                /* where its destination leads */
    struct carrick_ip6_address source, destination; /* as in carrick/address.h */
};

/* Ports with Ethernet, or all without. `six`: packets of the program are of IPv6. `seed` keeps slots of the tables
 * secret. False: out of memory. */
bool carrick_bridge_open(struct carrick_bridge *bridge, struct carrick_port *const *ports, uint32_t count, bool six,
                         uint64_t seed);
void carrick_bridge_close(struct carrick_bridge *bridge);

/* Learns from a frame that arrived by an interface. Returns where it goes; CARRICK_BRIDGE_CORE: its packet, which is
 * behind the headroom, to the core. The frame must stay until carrick_bridge_forget or the next frame. */
uint32_t carrick_bridge_receive(struct carrick_bridge *bridge, uint64_t now, uint32_t interface,
                                const struct carrick_frame *frame);

/* What the core does from now on does not answer a packet. */
static inline void carrick_bridge_forget(struct carrick_bridge *bridge) {
    bridge->frame = NULL;
}

/* Writes the Ethernet header before a packet that the core made at the headroom of `frame`, and that is to be sent by
 * an interface, or CARRICK_ROUTE. Returns where the frame goes; CARRICK_BRIDGE_NOWHERE is counted. */
uint32_t carrick_bridge_frame(struct carrick_bridge *bridge, uint64_t now, uint32_t interface, uint8_t *frame);

#endif
