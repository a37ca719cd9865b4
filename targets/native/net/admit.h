/* SPDX-License-Identifier: MIT */
/* Which frames and packets are for us: README.md has the table. */
#ifndef CARRICK_NET_ADMIT_H
#define CARRICK_NET_ADMIT_H

#include "carrick/ethernet.h"
#include "carrick/quoted6.h"
#include "net/net.h"

#define ETHER_TAG         0x8100u /* IEEE 802.1Q */
#define ETHER_SERVICE_TAG 0x88a8u /* IEEE 802.1ad */
#define VLAN_ID           0x0fffu

/* Finds the packet in a frame of Ethernet. False (counted): the frame is for others. */
static inline bool net_open_frame(struct carrick_net *net, const struct carrick_frame *frame,
                                  struct net_received *received) {
    const uint8_t *ether = frame->data;
    uint32_t header = CARRICK_ETHER_HEADER;
    *received = (struct net_received){.mac = ether + 6, .to_group = carrick_is_group(ether)};
    if (frame->len < header) {
        net->counters[CARRICK_NET_SHORT]++;
        return false;
    }
    if (!received->to_group && memcmp(ether, net->config.mac, 6) != 0) {
        net->counters[CARRICK_NET_OTHER_HOST]++;
        return false;
    }
    received->type = carrick_load16(ether + 12);
    /* The tag of a frame that belongs to no VLAN has a priority alone (IEEE 802.1Q §6.7). */
    if (CARRICK_UNLIKELY(received->type == ETHER_TAG || received->type == ETHER_SERVICE_TAG)) {
        header += CARRICK_VLAN_TAG;
        if (frame->len < header || carrick_load16(ether + 14) & VLAN_ID) {
            net->counters[frame->len < header ? CARRICK_NET_SHORT : CARRICK_NET_OTHER_VLAN]++;
            return false;
        }
        received->type = carrick_load16(ether + 16);
    }
    received->packet = ether + header;
    received->len = frame->len - header;
    return true;
}

/* Whether a packet to us can have this source (RFC 1122 §3.2.1.3): not 0.0.0.0/8, 127/8, a group, a broadcast, or our
 * own address. Who has 240/4 is a host, as in Linux. */
static inline bool net_is_source(const struct carrick_net_config *config, uint32_t source) {
    uint32_t host = config->prefix < 31 ? ~(uint32_t)0 >> config->prefix : 0;
    bool broadcast = host && ((source ^ config->address) | host) == host && (source & host) == host;
    uint32_t net = source >> 24;
    return net != 0 && net != 127 && net >> 4 != 0xe && ~source != 0 && source != config->address && !broadcast;
}

/* The same of IPv6 (RFC 4291 §2.5.3, §2.7): not `::1`, a group, an IPv4 address, or our own address, but where we ask
 * whether another node has it. `::` is what a node has that asks for an address of its own. */
static inline bool net_is_source6(const struct carrick_net *net, const uint8_t *packet) {
    struct carrick_ip6_address source = carrick_ip6_load(packet + 8);
    bool loopback = source.high == 0 && source.low == 1;
    bool own = carrick_ip6_same(source, net->config.address6) && !net_is_tentative(net);
    bool nobody = carrick_address_is_unspecified(source) && packet[6] != CARRICK_ICMP6;
    return !net_is_group(source) && !loopback && !carrick_address_is_ipv4(source) && !own && !nobody;
}

/* Whether a packet may be for us: by its addresses, and those of its frame. False: counted. */
static inline bool net_admits(struct carrick_net *net, const struct net_received *received) {
    const struct carrick_net_config *config = &net->config;
    const uint8_t *packet = received->packet;
    if (received->len < (config->six ? CARRICK_IP6_HEADER : CARRICK_IP_HEADER))
        return true; /* the core counts why it cannot be read */
    bool groups = config->six ? packet[24] == 0xff : carrick_load32(packet + 16) != config->address;
    if (CARRICK_UNLIKELY(received->to_group && !groups)) {
        net->counters[CARRICK_NET_LINK_GROUP]++;
        return false;
    }
    bool from_host = config->six ? net_is_source6(net, packet) : net_is_source(config, carrick_load32(packet + 12));
    if (CARRICK_LIKELY(from_host))
        return true;
    net->counters[CARRICK_NET_BAD_SOURCE]++;
    return false;
}

#endif
