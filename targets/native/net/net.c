/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "net/admit.h"
#include "net/fragments.h"

#define IP_ICMP     1u
#define CLAIM_TAKES UINT64_C(1000000000) /* ns: one question, and RetransTimer of RFC 4861 §10 */

const char *const carrick_net_counter_names[CARRICK_NET_COUNTERS] = {
    "net_short",       "net_other_type",        "net_bad_arp",       "net_bad_icmp",       "net_other_icmp",
    "net_no_route",    "net_unresolved",        "net_waiting_full",  "net_replies_full",   "net_echoes",
    "net_arp_replies", "net_arp_requests",      "net_bad_discovery", "net_advertisements", "net_solicitations",
    "net_other_host",  "net_other_vlan",        "net_link_group",    "net_bad_source",     "net_fragments",
    "net_reassembled", "net_reassembly_failed", "net_icmp_errors",   "net_icmp_limited",
};

bool carrick_net_open(struct carrick_net *net, const struct carrick_net_config *config) {
    *net = (struct carrick_net){.config = *config};
    net->stride = (config->mtu + CARRICK_ETHER_HEADER + 63u) & ~63u;
    net->memory = calloc(CARRICK_WAITING + CARRICK_REPLIES, net->stride);
    if (!net->memory || !net_fragments_open(net)) {
        carrick_net_close(net);
        return false;
    }
    for (uint32_t i = 0; i < CARRICK_WAITING; i++)
        net->waiting[i].data = net->memory + (size_t)i * net->stride;
    for (uint32_t i = 0; i < CARRICK_REPLIES; i++)
        net->replies[i].data = net->memory + (size_t)(CARRICK_WAITING + i) * net->stride;
    return true;
}

void carrick_net_close(struct carrick_net *net) {
    free(net->memory);
    net->memory = NULL;
    net_fragments_close(net);
}

void carrick_net_claim(struct carrick_net *net, uint64_t now) {
    if (!net->config.six || !net->config.ethernet || net->config.whole)
        return;
    net->claiming = true;
    net->claim_until = now + CLAIM_TAKES;
    net_discovery_claim(net);
}

static const struct carrick_ip6_address no_hop = {0, 0};

/* The bits of a 64-bit half of an address that a prefix covers, of which so many are in this half. */
static uint64_t mask(uint32_t bits) {
    return bits == 0 ? 0 : bits >= 64 ? UINT64_MAX : ~(UINT64_MAX >> bits);
}

static bool on_link(const struct carrick_net_config *config, struct carrick_ip6_address to) {
    const uint64_t link_local = UINT64_C(0xfe80) << 48;
    uint32_t first = config->prefix < 64 ? config->prefix : 64;
    bool alike = ((to.high ^ config->address6.high) & mask(first)) == 0 &&
                 ((to.low ^ config->address6.low) & mask(config->prefix - first)) == 0;
    return alike || (to.high & mask(10)) == link_local;
}

static struct carrick_ip6_address hop_of_ipv4(const struct carrick_net_config *config, uint32_t to) {
    uint32_t covered = config->prefix == 0 ? 0 : ~(uint32_t)0 << (32 - config->prefix);
    uint32_t hop = ((to ^ config->address) & covered) == 0 ? to : config->gateway;
    return hop ? carrick_address_of_ipv4(hop) : no_hop;
}

/* The next hop to the address at `to` in a packet; no_hop: there is none. */
static struct carrick_ip6_address hop_of(const struct carrick_net_config *config, const uint8_t *to) {
    if (!config->six)
        return hop_of_ipv4(config, carrick_load32(to));
    struct carrick_ip6_address destination = carrick_ip6_load(to);
    return on_link(config, destination) ? destination : config->gateway6;
}

static bool is_hop(struct carrick_ip6_address hop) {
    return !carrick_address_is_unspecified(hop);
}

/* A packet for us came by this next hop. */
static void net_confirm(struct carrick_net *net, uint64_t now, const struct net_received *received) {
    const struct carrick_net_config *config = &net->config;
    const uint8_t *packet = received->packet;
    if (!config->ethernet || received->len < (config->six ? CARRICK_IP6_HEADER : CARRICK_IP_HEADER))
        return;
    bool ours = config->six ? carrick_ip6_same(carrick_ip6_load(packet + 24), config->address6)
                            : carrick_load32(packet + 16) == config->address;
    if (ours)
        neighbour_confirm(&net->neighbours, now, hop_of(config, packet + (config->six ? 8 : 12)), received->mac);
}

/* Whether a whole packet is for the core: also what is malformed, since the core counts why. */
static bool net_is_for_core(struct carrick_net *net, uint64_t now, const struct net_received *received) {
    if (net->config.six)
        return (received->len < CARRICK_IP6_HEADER || net_icmp6_receive(net, now, received)) && !net_is_tentative(net);
    if (received->len < CARRICK_IP_HEADER)
        return true;
    if (received->packet[9] == IP_ICMP)
        return net_icmp_receive(net, received);
    if (CARRICK_UNLIKELY(received->packet[9] != net->config.protocol))
        net_refuse(net, now, received);
    return true;
}

/* Whether a frame has a packet for the core, which is then in `received`. */
static bool net_sort(struct carrick_net *net, uint64_t now, const struct carrick_frame *frame,
                     struct net_received *received) {
    const struct carrick_net_config *config = &net->config;
    uint32_t own = config->six ? ETHER_IPV6 : ETHER_IPV4;
    if (!config->ethernet)
        *received = (struct net_received){.packet = frame->data, .len = frame->len, .type = own};
    else if (!net_open_frame(net, frame, received))
        return false;
    if (received->type == ETHER_ARP && !config->six) {
        net_arp_receive(net, now, received->packet, received->len);
        return false;
    }
    if (received->type != own) {
        net->counters[CARRICK_NET_OTHER_TYPE]++;
        return false;
    }
    if (!net_admits(net, received))
        return false;
    net_confirm(net, now, received);
    return net_is_whole(net, now, received) && net_is_for_core(net, now, received);
}

uint32_t carrick_net_receive(struct carrick_net *net, uint64_t now, const struct carrick_frame *frames, uint32_t count,
                             const uint8_t **packets, uint32_t *lens) {
    uint32_t n = 0;
    for (; net->config.whole && n < count; n++) {
        packets[n] = frames[n].data;
        lens[n] = frames[n].len;
    }
    net_fragments_release(net);
    for (uint32_t i = n; i < count; i++) {
        struct net_received received;
        if (!net_sort(net, now, &frames[i], &received))
            continue;
        packets[n] = received.packet;
        lens[n++] = received.len;
    }
    return n;
}

static void waiting_put(struct carrick_net *net, struct carrick_ip6_address hop, const struct carrick_frame *frame) {
    if (frame->segment != 0) { /* it is longer than a place */
        net->counters[CARRICK_NET_UNRESOLVED]++;
        return;
    }
    for (uint32_t i = 0; i < CARRICK_WAITING; i++) {
        struct carrick_frame *place = &net->waiting[i];
        if (place->len != 0)
            continue;
        place->len = frame->len + CARRICK_ETHER_HEADER;
        memcpy(place->data + CARRICK_ETHER_HEADER, frame->data + CARRICK_ETHER_HEADER, frame->len);
        net->waiting_for[i] = hop;
        return;
    }
    net->counters[CARRICK_NET_WAITING_FULL]++;
}

void carrick_net_frame(struct carrick_net *net, uint64_t now, struct carrick_frame *frame) {
    if (!net->config.ethernet || net->config.whole || frame->len == 0)
        return;
    bool six = net->config.six;
    struct carrick_ip6_address hop = no_hop;
    if (frame->len >= (six ? CARRICK_IP6_HEADER : CARRICK_IP_HEADER))
        hop = hop_of(&net->config, frame->data + CARRICK_ETHER_HEADER + (six ? 24 : 16));
    const struct carrick_neighbour *n = is_hop(hop) ? neighbour_use(&net->neighbours, now, hop) : NULL;
    if (CARRICK_LIKELY(n && neighbour_has_mac(n))) {
        net_ether(net, frame->data, n->mac, six ? ETHER_IPV6 : ETHER_IPV4);
        frame->len += CARRICK_ETHER_HEADER;
        return;
    }
    if (!is_hop(hop))
        net->counters[CARRICK_NET_NO_ROUTE]++;
    else if (n)
        waiting_put(net, hop, frame);
    else
        net->counters[CARRICK_NET_WAITING_FULL]++;
    frame->len = 0;
}

void net_waiting_settle(struct carrick_net *net, struct carrick_ip6_address hop, const uint8_t *mac) {
    for (uint32_t i = 0; i < CARRICK_WAITING; i++) {
        struct carrick_frame *place = &net->waiting[i];
        if (place->len == 0 || !carrick_ip6_same(net->waiting_for[i], hop))
            continue;
        uint8_t *owed = mac ? net_owe(net, place->len) : NULL;
        if (owed) {
            memcpy(owed, place->data, place->len);
            net_ether(net, owed, mac, net->config.six ? ETHER_IPV6 : ETHER_IPV4);
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
    if (net->replies_tail - net->replies_head == CARRICK_REPLIES || len > net->config.mtu + carrick_net_headroom(net)) {
        net->counters[CARRICK_NET_REPLIES_FULL]++;
        return NULL;
    }
    struct carrick_frame *reply = &net->replies[net->replies_tail++ % CARRICK_REPLIES];
    reply->len = len;
    return reply->data;
}

/* Asks neighbours where it is time to, gives up where it is time to. */
static void net_advance(struct carrick_net *net, uint64_t now) {
    const struct carrick_neighbour *n;
    enum neighbour_step step;
    net->claiming = net->claiming && now < net->claim_until;
    net_fragments_advance(net, now);
    while (net->config.ethernet && (step = neighbour_advance(&net->neighbours, now, &n)) != NEIGHBOUR_NOTHING) {
        const uint8_t *mac = step == NEIGHBOUR_ASK ? NULL : n->mac;
        if (step == NEIGHBOUR_GIVE_UP)
            net_waiting_settle(net, n->address, NULL);
        else if (net->config.six)
            net_discovery_ask(net, n->address, mac);
        else
            net_arp_ask(net, (uint32_t)n->address.low, mac);
    }
}

uint64_t carrick_net_deadline(const struct carrick_net *net) {
    uint64_t first = net_fragments_deadline(net);
    uint64_t asks = net->config.ethernet ? neighbour_deadline(&net->neighbours) : UINT64_MAX;
    first = asks < first ? asks : first;
    return net->claiming && net->claim_until < first ? net->claim_until : first;
}

uint32_t carrick_net_owed(struct carrick_net *net, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    net_advance(net, now);
    uint32_t n = 0;
    for (; n < count && net->replies_head != net->replies_tail; n++) {
        const struct carrick_frame *reply = &net->replies[net->replies_head++ % CARRICK_REPLIES];
        memcpy(frames[n].data, reply->data, reply->len);
        frames[n].len = reply->len;
    }
    return n;
}
