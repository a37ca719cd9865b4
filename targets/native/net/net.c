/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "net/net.h"

#define IP_ICMP 1u

const char *const carrick_net_counter_names[CARRICK_NET_COUNTERS] = {
    "net_short",      "net_other_type",   "net_bad_arp",      "net_bad_icmp", "net_other_icmp",  "net_no_route",
    "net_unresolved", "net_waiting_full", "net_replies_full", "net_echoes",   "net_arp_replies", "net_arp_requests",
};

bool carrick_net_open(struct carrick_net *net, const struct carrick_net_config *config) {
    *net = (struct carrick_net){.config = *config};
    net->stride = (config->mtu + CARRICK_ETHER_HEADER + 63u) & ~63u;
    net->memory = calloc(CARRICK_WAITING + CARRICK_REPLIES, net->stride);
    if (!net->memory)
        return false;
    for (uint32_t i = 0; i < CARRICK_WAITING; i++)
        net->waiting[i].data = net->memory + (size_t)i * net->stride;
    for (uint32_t i = 0; i < CARRICK_REPLIES; i++)
        net->replies[i].data = net->memory + (size_t)(CARRICK_WAITING + i) * net->stride;
    return true;
}

void carrick_net_close(struct carrick_net *net) {
    free(net->memory);
    net->memory = NULL;
}

/* A packet for us came by this next hop. */
static void net_confirm(struct carrick_net *net, uint64_t now, const uint8_t *frame, const uint8_t *packet,
                        uint32_t len) {
    if (net->config.ethernet && len >= CARRICK_IP_HEADER && carrick_load32(packet + 16) == net->config.address)
        neighbour_confirm(&net->neighbours, now, net_hop(net, carrick_load32(packet + 12)), frame + 6);
}

uint32_t carrick_net_receive(struct carrick_net *net, uint64_t now, const struct carrick_frame *frames, uint32_t count,
                             const uint8_t **packets, uint32_t *lens) {
    uint32_t n = 0;
    uint32_t skip = carrick_net_headroom(net);
    for (; net->config.whole && n < count; n++) {
        packets[n] = frames[n].data;
        lens[n] = frames[n].len;
    }
    for (uint32_t i = n; i < count; i++) {
        const uint8_t *packet = frames[i].data + skip;
        uint32_t len = frames[i].len - skip;
        uint32_t type = ETHER_IPV4;
        if (frames[i].len < skip) {
            net->counters[CARRICK_NET_SHORT]++;
            continue;
        }
        if (skip)
            type = carrick_load16(frames[i].data + 12);
        if (type == ETHER_ARP) {
            net_arp_receive(net, now, packet, len);
            continue;
        }
        if (type != ETHER_IPV4) {
            net->counters[CARRICK_NET_OTHER_TYPE]++;
            continue;
        }
        net_confirm(net, now, frames[i].data, packet, len);
        if (len >= CARRICK_IP_HEADER && packet[9] == IP_ICMP && !net_icmp_receive(net, &frames[i], packet, len))
            continue;
        packets[n] = packet; /* also what is malformed: the core counts why */
        lens[n++] = len;
    }
    return n;
}

uint32_t net_hop(const struct carrick_net *net, uint32_t destination) {
    uint32_t prefix = net->config.prefix;
    uint32_t mask = prefix == 0 ? 0 : ~(uint32_t)0 << (32 - prefix);
    bool on_link = ((destination ^ net->config.address) & mask) == 0;
    return on_link ? destination : net->config.gateway;
}

static void waiting_put(struct carrick_net *net, uint32_t hop, const struct carrick_frame *frame) {
    for (uint32_t i = 0; i < CARRICK_WAITING; i++) {
        struct carrick_frame *place = &net->waiting[i];
        if (place->len != 0)
            continue;
        place->len = frame->len + CARRICK_ETHER_HEADER;
        memcpy(place->data + CARRICK_ETHER_HEADER, frame->data + CARRICK_ETHER_HEADER, frame->len);
        carrick_store32(place->data, hop); /* until the hardware address comes here */
        return;
    }
    net->counters[CARRICK_NET_WAITING_FULL]++;
}

void carrick_net_frame(struct carrick_net *net, uint64_t now, struct carrick_frame *frame) {
    if (!net->config.ethernet || net->config.whole || frame->len == 0)
        return;
    uint32_t hop = 0;
    if (frame->len >= CARRICK_IP_HEADER)
        hop = net_hop(net, carrick_load32(frame->data + CARRICK_ETHER_HEADER + 16));
    const struct carrick_neighbour *n = hop ? neighbour_use(&net->neighbours, now, hop) : NULL;
    if (CARRICK_LIKELY(n && neighbour_has_mac(n))) {
        net_ether(net, frame->data, n->mac, ETHER_IPV4);
        frame->len += CARRICK_ETHER_HEADER;
        return;
    }
    if (hop == 0)
        net->counters[CARRICK_NET_NO_ROUTE]++;
    else if (n)
        waiting_put(net, hop, frame);
    else
        net->counters[CARRICK_NET_WAITING_FULL]++;
    frame->len = 0;
}

void net_waiting_settle(struct carrick_net *net, uint32_t hop, const uint8_t *mac) {
    for (uint32_t i = 0; i < CARRICK_WAITING; i++) {
        struct carrick_frame *place = &net->waiting[i];
        if (place->len == 0 || carrick_load32(place->data) != hop)
            continue;
        uint8_t *owed = mac ? net_owe(net, place->len) : NULL;
        if (owed) {
            memcpy(owed, place->data, place->len);
            net_ether(net, owed, mac, ETHER_IPV4);
        } else if (!mac) {
            net->counters[CARRICK_NET_UNRESOLVED]++;
        }
        place->len = 0;
    }
}

bool carrick_net_waits(const struct carrick_net *net) {
    for (uint32_t i = 0; i < CARRICK_WAITING; i++)
        if (net->waiting[i].len != 0)
            return true;
    return false;
}

uint8_t *net_owe(struct carrick_net *net, uint32_t len) {
    if (net->replies_tail - net->replies_head == CARRICK_REPLIES || len > net->stride) {
        net->counters[CARRICK_NET_REPLIES_FULL]++;
        return NULL;
    }
    struct carrick_frame *reply = &net->replies[net->replies_tail++ % CARRICK_REPLIES];
    reply->len = len;
    return reply->data;
}

uint32_t carrick_net_owed(struct carrick_net *net, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    net_arp_advance(net, now);
    uint32_t n = 0;
    for (; n < count && net->replies_head != net->replies_tail; n++) {
        const struct carrick_frame *reply = &net->replies[net->replies_head++ % CARRICK_REPLIES];
        memcpy(frames[n].data, reply->data, reply->len);
        frames[n].len = reply->len;
    }
    return n;
}
