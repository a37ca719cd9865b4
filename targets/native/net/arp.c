/* SPDX-License-Identifier: MIT */
/* ARP: says who we are, and finds out who the next hop is. */
#include "net/net.h"

#define ARP_REQUEST 1u
#define ARP_REPLY   2u

static const uint8_t everyone[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void arp_send(struct carrick_net *net, uint16_t operation, const uint8_t *to_mac, uint32_t to) {
    static const uint8_t nobody[6] = {0};
    uint8_t *frame = net_owe(net, CARRICK_ETHER_HEADER + ARP_LEN);
    if (!frame)
        return;
    net_ether(net, frame, to_mac, ETHER_ARP);
    uint8_t *arp = frame + CARRICK_ETHER_HEADER;
    carrick_store16(arp, 1); /* Ethernet */
    carrick_store16(arp + 2, ETHER_IPV4);
    arp[4] = 6;
    arp[5] = 4;
    carrick_store16(arp + 6, operation);
    memcpy(arp + 8, net->config.mac, 6);
    carrick_store32(arp + 14, net->config.address);
    memcpy(arp + 18, operation == ARP_REQUEST ? nobody : to_mac, 6);
    carrick_store32(arp + 24, to);
    net->counters[operation == ARP_REQUEST ? CARRICK_NET_ARP_REQUESTS : CARRICK_NET_ARP_REPLIES]++;
}

/* What the sender of a packet says of itself. */
static void arp_learn(struct carrick_net *net, uint64_t now, uint32_t address, const uint8_t *mac, uint16_t operation,
                      bool for_us) {
    struct carrick_neighbours *cache = &net->neighbours;
    struct carrick_ip6_address who = carrick_address_of_ipv4(address);
    bool can_go = operation == ARP_REPLY && for_us
                      ? neighbour_answered(cache, now, who, mac)
                      : neighbour_announced(cache, who, mac, operation == ARP_REQUEST && for_us);
    if (can_go)
        net_waiting_settle(net, who, mac);
}

void net_arp_receive(struct carrick_net *net, uint64_t now, const uint8_t *arp, uint32_t len) {
    if (len < ARP_LEN || carrick_load16(arp) != 1 || carrick_load16(arp + 2) != ETHER_IPV4 || arp[4] != 6 ||
        arp[5] != 4) {
        net->counters[CARRICK_NET_BAD_ARP]++;
        return;
    }
    uint16_t operation = carrick_load16(arp + 6);
    uint32_t from = carrick_load32(arp + 14);
    bool for_us = carrick_load32(arp + 24) == net->config.address;
    if (from == net->config.address || (arp[8] & 1)) { /* someone has our address, or claims to be a group */
        net->counters[CARRICK_NET_BAD_ARP]++;
        return;
    }
    if (from != 0)
        arp_learn(net, now, from, arp + 8, operation, for_us);
    if (for_us && operation == ARP_REQUEST)
        arp_send(net, ARP_REPLY, arp + 8, from);
}

void net_arp_ask(struct carrick_net *net, uint32_t address, const uint8_t *mac) {
    arp_send(net, ARP_REQUEST, mac ? mac : everyone, address);
}
