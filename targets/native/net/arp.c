/* SPDX-License-Identifier: MIT */
/* ARP: says who we are, and finds out who the next hop is. */
#include "net/net.h"

#define ARP_LEN     28u
#define ARP_REQUEST 1u
#define ARP_REPLY   2u

#define ASK_AGAIN_NS 250000000u   /* a lost request costs little on a local wire */
#define ASK_TRIES    4u           /* then the frames that wait are dropped, after one second */
#define KNOWN_NS     60000000000u /* as long as Linux believes at most, by default */

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

static struct carrick_neighbour *arp_find(struct carrick_net *net, uint32_t address) {
    /* The place of an address is fixed by its last bits, where the hosts of a network differ; the next ones are tried
     * after it. */
    for (uint32_t i = 0; i < CARRICK_NEIGHBOURS; i++) {
        struct carrick_neighbour *n = &net->neighbours[(address + i) % CARRICK_NEIGHBOURS];
        if (n->state == CARRICK_NEIGHBOUR_FREE)
            return NULL;
        if (n->address == address)
            return n;
    }
    return NULL;
}

static struct carrick_neighbour *arp_add(struct carrick_net *net, uint32_t address) {
    for (uint32_t i = 0; i < CARRICK_NEIGHBOURS; i++) {
        struct carrick_neighbour *n = &net->neighbours[(address + i) % CARRICK_NEIGHBOURS];
        if (n->state == CARRICK_NEIGHBOUR_FREE)
            return n;
    }
    /* Full: its own first place is taken over. Places are never freed, so every search still ends where it must. */
    struct carrick_neighbour *n = &net->neighbours[address % CARRICK_NEIGHBOURS];
    net_waiting_settle(net, n->address, NULL);
    return n;
}

static void arp_learn(struct carrick_net *net, uint64_t now, uint32_t address, const uint8_t *mac, bool add) {
    struct carrick_neighbour *n = arp_find(net, address);
    if (!n && add)
        n = arp_add(net, address);
    if (!n)
        return;
    n->address = address;
    n->state = CARRICK_NEIGHBOUR_KNOWN;
    n->tries = 0;
    n->at = now + KNOWN_NS;
    memcpy(n->mac, mac, 6);
    net_waiting_settle(net, address, n->mac);
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
        arp_learn(net, now, from, arp + 8, for_us && operation == ARP_REQUEST);
    if (for_us && operation == ARP_REQUEST)
        arp_send(net, ARP_REPLY, arp + 8, from);
}

const uint8_t *net_arp_resolve(struct carrick_net *net, uint64_t now, uint32_t destination, uint32_t *hop) {
    *hop = net_hop(net, destination);
    if (*hop == 0)
        return NULL;
    struct carrick_neighbour *n = arp_find(net, *hop);
    if (n && n->state == CARRICK_NEIGHBOUR_KNOWN) {
        if (CARRICK_UNLIKELY(now >= n->at) &&
            n->tries < ASK_TRIES) { /* still good while we ask; learning sets it anew */
            arp_send(net, ARP_REQUEST, n->mac, n->address);
            n->tries++;
            n->at = now + ASK_AGAIN_NS;
        } else if (CARRICK_UNLIKELY(now >= n->at)) {
            n->state = CARRICK_NEIGHBOUR_ASKED;
            n->tries = 0;
            n->at = now;
            return NULL;
        }
        return n->mac;
    }
    if (!n) {
        n = arp_add(net, *hop);
        *n = (struct carrick_neighbour){.address = *hop, .state = CARRICK_NEIGHBOUR_ASKED, .at = now};
    } else if (n->tries > ASK_TRIES) { /* given up before: someone wants it again */
        n->tries = 0;
        n->at = now;
    }
    return NULL;
}

void net_arp_advance(struct carrick_net *net, uint64_t now) {
    for (uint32_t i = 0; net->config.ethernet && i < CARRICK_NEIGHBOURS; i++) {
        struct carrick_neighbour *n = &net->neighbours[i];
        if (n->state != CARRICK_NEIGHBOUR_ASKED || n->tries > ASK_TRIES || now < n->at)
            continue;
        if (++n->tries > ASK_TRIES) {
            net_waiting_settle(net, n->address, NULL);
        } else {
            arp_send(net, ARP_REQUEST, everyone, n->address);
            n->at = now + ASK_AGAIN_NS;
        }
    }
}

uint64_t carrick_net_deadline(const struct carrick_net *net) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; net->config.ethernet && i < CARRICK_NEIGHBOURS; i++) {
        const struct carrick_neighbour *n = &net->neighbours[i];
        if (n->state == CARRICK_NEIGHBOUR_ASKED && n->tries <= ASK_TRIES && n->at < first)
            first = n->at;
    }
    return first;
}
