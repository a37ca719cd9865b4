/* SPDX-License-Identifier: MIT */
/* What the files of net/ share. */
#ifndef CARRICK_NET_NET_H
#define CARRICK_NET_NET_H

#include "carrick/ip.h"
#include "carrick/net.h"

#define ETHER_IPV4 0x0800u
#define ETHER_ARP  0x0806u
#define ARP_LEN    28u

/* A frame to be sent later; NULL (counted) if too many are owed already. `len` is the whole frame's. */
uint8_t *net_owe(struct carrick_net *net, uint32_t len);

static inline void net_ether(const struct carrick_net *net, uint8_t *frame, const uint8_t *to, uint16_t type) {
    memcpy(frame, to, 6);
    memcpy(frame + 6, net->config.mac, 6);
    carrick_store16(frame + 12, type);
}

/* An ARP packet, without its Ethernet header. */
void net_arp_receive(struct carrick_net *net, uint64_t now, const uint8_t *arp, uint32_t len);

/* Asks neighbours where it is time to, gives up where it is time to. */
void net_arp_advance(struct carrick_net *net, uint64_t now);

/* An ICMP packet with its IPv4 header; `frame` is the frame around it. True: it is for the core. */
bool net_icmp_receive(struct carrick_net *net, const struct carrick_frame *frame, const uint8_t *packet, uint32_t len);

/* Sends on what waits for `hop`, or drops it if `mac` is NULL. */
void net_waiting_settle(struct carrick_net *net, uint32_t hop, const uint8_t *mac);

/* The next hop to a destination, 0: none. */
uint32_t net_hop(const struct carrick_net *net, uint32_t destination);

#endif
