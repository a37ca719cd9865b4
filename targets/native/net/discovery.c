/* SPDX-License-Identifier: MIT */
/* Neighbour discovery (RFC 4861 §7): says who we are, and finds out who the next hop is. */
#include "carrick/discovery.h"
#include "carrick/ethernet.h"
#include "carrick/report6.h"
#include "net/net.h"

#define FLAG_SOLICITED   UINT32_C(0x40000000)
#define FLAG_OVERRIDE    UINT32_C(0x20000000)
#define ALL_NODES_HIGH   (UINT64_C(0xff02) << 48)
#define ALL_NODES_LOW    UINT64_C(1)
#define SOLICITED_LOW    UINT64_C(0x1ff000000)
#define SOLICITED_SUFFIX UINT64_C(0xffffff)

/* The group of all that have the last bits of an address (RFC 4291 §2.7.1). */
static struct carrick_ip6_address solicited_node(struct carrick_ip6_address address) {
    return (struct carrick_ip6_address){ALL_NODES_HIGH, SOLICITED_LOW | (address.low & SOLICITED_SUFFIX)};
}

bool net_discovery_is_for_us(const struct carrick_net *net, struct carrick_ip6_address to) {
    const struct carrick_ip6_address all_nodes = {ALL_NODES_HIGH, ALL_NODES_LOW};
    return carrick_ip6_same(to, net->config.address6) || carrick_ip6_same(to, all_nodes) ||
           carrick_ip6_same(to, solicited_node(net->config.address6));
}

/* The hardware address of a group (RFC 2464 §7). */
static void group_mac(struct carrick_ip6_address group, uint8_t mac[6]) {
    mac[0] = mac[1] = 0x33;
    carrick_store32(mac + 2, (uint32_t)group.low);
}

/* The hardware address in an option of this kind; NULL: there is none. `*whole` becomes false if options are malformed
 * (RFC 4861 §4.6). */
static const uint8_t *option(const uint8_t *options, uint32_t len, uint8_t kind, bool *whole) {
    const uint8_t *found = NULL;
    while (len > 0) {
        uint32_t size = len >= 2 ? options[1] * CARRICK_DISCOVERY_UNIT : 0;
        if (size == 0 || size > len) {
            *whole = false;
            return NULL;
        }
        if (options[0] == kind && size == CARRICK_DISCOVERY_UNIT)
            found = options + 2;
        options += size;
        len -= size;
    }
    return found;
}

/* The fixed part of a solicitation or an advertisement, with so many bytes behind it; NULL as net_owe. */
static uint8_t *discovery_begin(struct carrick_net *net, uint8_t type, const uint8_t *mac, const struct carrick_ip6 *ip,
                                struct carrick_ip6_address target, uint32_t flags, uint32_t more) {
    uint8_t *message = net_icmp6_owe(net, mac, ip, CARRICK_DISCOVERY_MESSAGE + more);
    if (!message)
        return NULL;
    message[0] = type;
    message[1] = 0;
    carrick_store32(message + 4, flags);
    carrick_ip6_store(message + 8, target);
    net->counters[type == CARRICK_SOLICITATION ? CARRICK_NET_SOLICITATIONS : CARRICK_NET_ADVERTISEMENTS]++;
    return message;
}

/* A solicitation or an advertisement with one option: our hardware address. */
static void discovery_send(struct carrick_net *net, uint8_t type, const uint8_t *mac, struct carrick_ip6_address to,
                           struct carrick_ip6_address target, uint32_t flags) {
    struct carrick_ip6 ip = {
        .src = net->config.address6, .dst = to, .protocol = CARRICK_ICMP6, .ttl = CARRICK_DISCOVERY_HOPS};
    uint8_t *message = discovery_begin(net, type, mac, &ip, target, flags, CARRICK_DISCOVERY_UNIT);
    if (!message)
        return;
    message[CARRICK_DISCOVERY_MESSAGE] = type == CARRICK_SOLICITATION ? CARRICK_SOURCE_OPTION : CARRICK_TARGET_OPTION;
    message[CARRICK_DISCOVERY_MESSAGE + 1] = 1;
    memcpy(message + CARRICK_DISCOVERY_MESSAGE + 2, net->config.mac, 6);
    net_icmp6_finish(&ip, message, CARRICK_DISCOVERY_MESSAGE + CARRICK_DISCOVERY_UNIT);
}

void net_discovery_claim(struct carrick_net *net) {
    uint8_t everybody[6];
    struct carrick_ip6 ip = {
        .dst = solicited_node(net->config.address6), .protocol = CARRICK_ICMP6, .ttl = CARRICK_DISCOVERY_HOPS};
    group_mac(ip.dst, everybody);
    uint8_t *message = discovery_begin(net, CARRICK_SOLICITATION, everybody, &ip, net->config.address6, 0, 0);
    if (message)
        net_icmp6_finish(&ip, message, CARRICK_DISCOVERY_MESSAGE);
}

/* Another node has the address that we claim, or claims it as well (RFC 4862 §5.4.3, §5.4.4). */
static void lose_claim(struct carrick_net *net, const uint8_t *mac) {
    net->claiming = false;
    net->taken = true;
    memcpy(net->owner, mac, sizeof net->owner);
}

void net_discovery_ask(struct carrick_net *net, struct carrick_ip6_address address, const uint8_t *mac) {
    uint8_t everybody[6];
    struct carrick_ip6_address group = solicited_node(address);
    group_mac(group, everybody);
    discovery_send(net, CARRICK_SOLICITATION, mac ? mac : everybody, mac ? address : group, address, 0);
}

/* Somebody asks for a hardware address (RFC 4861 §7.2.3, §7.2.4). */
static bool take_solicitation(struct carrick_net *net, const struct net_received *received,
                              const struct carrick_ip6 *ip, const uint8_t *message) {
    bool whole = true, nobody = carrick_address_is_unspecified(ip->src);
    struct carrick_ip6_address target = carrick_ip6_load(message + 8);
    const uint8_t *mac = option(message + CARRICK_DISCOVERY_MESSAGE, ip->payload_len - CARRICK_DISCOVERY_MESSAGE,
                                CARRICK_SOURCE_OPTION, &whole);
    if (!whole || net_is_group(target) || net_is_group(ip->src) || carrick_ip6_same(ip->src, net->config.address6) ||
        (nobody && (mac || !net_is_group(ip->dst))) || (mac && carrick_is_group(mac)))
        return false;
    if (!carrick_ip6_same(target, net->config.address6))
        return true;
    if (net_is_tentative(net)) { /* our own question, if the link brings it back, is no other node's */
        if (nobody && memcmp(received->mac, net->config.mac, 6) != 0)
            lose_claim(net, received->mac);
        return true;
    }
    if (mac && neighbour_announced(&net->neighbours, ip->src, mac, true))
        net_waiting_settle(net, ip->src, mac);
    if (!nobody) {
        discovery_send(net, CARRICK_ADVERTISEMENT, received->mac, ip->src, target, FLAG_SOLICITED | FLAG_OVERRIDE);
        return true;
    }
    /* It wants to know whether it may take our address: all are told that it may not. */
    const struct carrick_ip6_address all_nodes = {ALL_NODES_HIGH, ALL_NODES_LOW};
    uint8_t everybody[6];
    group_mac(all_nodes, everybody);
    discovery_send(net, CARRICK_ADVERTISEMENT, everybody, all_nodes, target, FLAG_OVERRIDE);
    return true;
}

/* A neighbour says its hardware address (RFC 4861 §7.2.5). */
static bool take_advertisement(struct carrick_net *net, uint64_t now, const struct net_received *received,
                               const struct carrick_ip6 *ip, const uint8_t *message) {
    bool whole = true;
    uint32_t flags = carrick_load32(message + 4);
    struct carrick_neighbours *cache = &net->neighbours;
    struct carrick_ip6_address target = carrick_ip6_load(message + 8);
    const uint8_t *mac = option(message + CARRICK_DISCOVERY_MESSAGE, ip->payload_len - CARRICK_DISCOVERY_MESSAGE,
                                CARRICK_TARGET_OPTION, &whole);
    const uint8_t *known = neighbour_mac(cache, target);
    bool ours = carrick_ip6_same(target, net->config.address6);
    if (!whole || net_is_group(target) || (ours && !net_is_tentative(net)) || (mac && carrick_is_group(mac)) ||
        (net_is_group(ip->dst) && (flags & FLAG_SOLICITED)))
        return false;
    if (ours) {
        lose_claim(net, mac ? mac : received->mac);
        return true;
    }
    if (!mac && !known)
        return true;
    if (known && mac && !(flags & FLAG_OVERRIDE) && memcmp(known, mac, 6) != 0) {
        neighbour_doubt(cache, target);
        return true;
    }
    uint8_t said[6];
    memcpy(said, mac ? mac : known, sizeof said);
    bool can_go = flags & FLAG_SOLICITED ? neighbour_answered(cache, now, target, said)
                                         : neighbour_announced(cache, target, said, false);
    if (can_go)
        net_waiting_settle(net, target, said);
    return true;
}

bool net_is_discovery(const uint8_t *packet, uint32_t len, struct carrick_ip6_address *address, const uint8_t **mac) {
    const uint8_t *message = packet + CARRICK_IP6_HEADER;
    *mac = NULL;
    if (len < CARRICK_IP6_HEADER + CARRICK_ICMP6_HEADER || !carrick_is_discovery(packet))
        return false;
    uint32_t payload = carrick_ip6_total(packet) - CARRICK_IP6_HEADER;
    bool whole = payload >= CARRICK_DISCOVERY_MESSAGE && payload <= len - CARRICK_IP6_HEADER,
         solicits = message[0] == CARRICK_SOLICITATION;
    if (!whole || (!solicits && message[0] != CARRICK_ADVERTISEMENT))
        return true;
    *address = carrick_ip6_load(solicits ? packet + 8 : message + 8);
    const uint8_t *said = option(message + CARRICK_DISCOVERY_MESSAGE, payload - CARRICK_DISCOVERY_MESSAGE,
                                 solicits ? CARRICK_SOURCE_OPTION : CARRICK_TARGET_OPTION, &whole);
    uint64_t sum =
        carrick_sum_pseudo6(carrick_ip6_load(packet + 8), carrick_ip6_load(packet + 24), CARRICK_ICMP6, payload);
    if (whole && carrick_sum_fold(sum + carrick_sum(message, payload)) == 0)
        *mac = said;
    return true;
}

bool net_discovery_receive(struct carrick_net *net, uint64_t now, const struct net_received *received,
                           const struct carrick_ip6 *ip, const uint8_t *message) {
    uint8_t type = message[0];
    if (!net->config.ethernet || (type != CARRICK_SOLICITATION && type != CARRICK_ADVERTISEMENT))
        return false;
    /* One in fragments could pass by what looks for forged ones on its way (RFC 6980 §5). */
    bool valid = !received->reassembled && message[1] == 0 && ip->ttl == CARRICK_DISCOVERY_HOPS &&
                 ip->payload_len >= CARRICK_DISCOVERY_MESSAGE &&
                 (type == CARRICK_SOLICITATION ? take_solicitation(net, received, ip, message)
                                               : take_advertisement(net, now, received, ip, message));
    net->counters[CARRICK_NET_BAD_DISCOVERY] += !valid;
    return true;
}
