/* SPDX-License-Identifier: MIT */
/* What the files of net/ share. */
#ifndef CARRICK_NET_NET_H
#define CARRICK_NET_NET_H

#include "carrick/ip.h"
#include "carrick/ipv6.h"
#include "carrick/net.h"

#define ETHER_IPV4 0x0800u
#define ETHER_ARP  0x0806u
#define ETHER_IPV6 0x86ddu
#define ARP_LEN    28u

/* Whether an address of IPv6 is one of a group. */
static inline bool net_is_group(struct carrick_ip6_address address) {
    return address.high >> 56 == 0xff;
}

/* What a port received, without the header of its frame. */
struct net_received {
    const uint8_t *packet;
    uint32_t len;
    uint32_t type;      /* of Ethernet */
    const uint8_t *mac; /* of the node that sent the frame; NULL: the port has no Ethernet */
    bool to_group;      /* the frame was for several nodes */
    bool reassembled;   /* it came in fragments */
};

/* A frame to be sent later; NULL (counted) if too many are owed already. `len` is the whole frame's. */
uint8_t *net_owe(struct carrick_net *net, uint32_t len);

static inline void net_ether(const struct carrick_net *net, uint8_t *frame, const uint8_t *to, uint16_t type) {
    memcpy(frame, to, 6);
    memcpy(frame + 6, net->config.mac, 6);
    carrick_store16(frame + 12, type);
}

/* An ARP packet, without its Ethernet header. */
void net_arp_receive(struct carrick_net *net, uint64_t now, const uint8_t *arp, uint32_t len);

/* Asks for the hardware address of a neighbour: the one that was known last, or everybody if `mac` is NULL. */
void net_arp_ask(struct carrick_net *net, uint32_t address, const uint8_t *mac);
void net_discovery_ask(struct carrick_net *net, struct carrick_ip6_address address, const uint8_t *mac);

/* Whether the address is not ours yet, or never will be: nothing is answered in its name. */
static inline bool net_is_tentative(const struct carrick_net *net) {
    return net->claiming || net->taken;
}

/* Asks who has our address, in the name of nobody. */
void net_discovery_claim(struct carrick_net *net);

/* An ICMP packet with its IPv4 header. True: it is for the core. */
bool net_icmp_receive(struct carrick_net *net, const struct net_received *received);

/* The same of an IPv6 packet: of ICMPv6, neighbour discovery is among it. */
bool net_icmp6_receive(struct carrick_net *net, uint64_t now, const struct net_received *received);

/* Reports to the sender of a packet that is whole that the program is not of its protocol, if it is not. */
void net_refuse(struct carrick_net *net, uint64_t now, const struct net_received *received);

/* The same of a packet of IPv6 that is complete, also where it has a header or an option that is not known. */
void net_refuse6(struct carrick_net *net, uint64_t now, const struct net_received *received);

/* Reports to the sender of a first fragment, of which the beginning is there, that others did not arrive in time. */
void net_refuse_late(struct carrick_net *net, uint64_t now, const struct net_received *first);

/* Reports to the sender of a fragment of IPv6 that it has a wrong field, at so many bytes from its beginning, or that
 * its chain of headers is not whole: codes of a parameter problem. */
void net_refuse_fragment6(struct carrick_net *net, uint64_t now, const struct net_received *received, uint8_t code,
                          uint32_t pointer);
#define NET_BAD_FIELD 0u
#define NET_BAD_CHAIN 3u

/* Bytes of a packet that an error quotes, at most: the error has 576 bytes (RFC 1812 §4.3.2.3), or the least MTU of
 * IPv6. */
#define NET_QUOTED  548u
#define NET_QUOTED6 1232u

/* A message of ICMPv6 that was checked, if it is one of neighbour discovery: true. `ip` is its header. */
bool net_discovery_receive(struct carrick_net *net, uint64_t now, const struct net_received *received,
                           const struct carrick_ip6 *ip, const uint8_t *message);

/* Whether a packet, which may be shorter than its header, is one of neighbour discovery between other nodes (RFC 4861
 * §4). *mac is the hardware address that its sender gives for *address; NULL: it gives none. */
bool net_is_discovery(const uint8_t *packet, uint32_t len, struct carrick_ip6_address *address, const uint8_t **mac);

/* Whether a packet is for our address, or one of the groups that we are in. */
bool net_discovery_is_for_us(const struct carrick_net *net, struct carrick_ip6_address to);

/* A frame to be sent later, with a message of ICMPv6 of `len` bytes: where to write the message; NULL as net_owe.
 * net_icmp6_finish makes its checksum. */
uint8_t *net_icmp6_owe(struct carrick_net *net, const uint8_t *mac, const struct carrick_ip6 *ip, uint32_t len);
void net_icmp6_finish(const struct carrick_ip6 *ip, uint8_t *message, uint32_t len);

/* Sends on what waits for `hop`, or drops it if `mac` is NULL. */
void net_waiting_settle(struct carrick_net *net, struct carrick_ip6_address hop, const uint8_t *mac);

#endif
