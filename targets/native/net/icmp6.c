/* SPDX-License-Identifier: MIT */
/* ICMPv6 (RFC 4443): echo requests are answered, so that a peer can see whether we are there; errors are for the core,
 * and neighbour discovery is for the neighbour cache. */
#include "carrick/report6.h"
#include "net/net.h"

#define ECHO_REQUEST 128u
#define ECHO_REPLY   129u
#define LAST_ERROR   4u /* of the types that programs know as reports */

uint8_t *net_icmp6_owe(struct carrick_net *net, const uint8_t *mac, const struct carrick_ip6 *ip, uint32_t len) {
    uint32_t headroom = carrick_net_headroom(net);
    uint8_t *frame = net_owe(net, headroom + CARRICK_IP6_HEADER + len);
    if (!frame)
        return NULL;
    if (headroom)
        net_ether(net, frame, mac, ETHER_IPV6);
    carrick_ip6_build(frame + headroom, ip, len);
    return frame + headroom + CARRICK_IP6_HEADER;
}

void net_icmp6_finish(const struct carrick_ip6 *ip, uint8_t *message, uint32_t len) {
    carrick_store16(message + 2, 0);
    uint64_t sum = carrick_sum_pseudo6(ip->src, ip->dst, CARRICK_ICMP6, len) + carrick_sum(message, len);
    carrick_store_sum(message + 2, sum);
}

static void icmp6_answer(struct carrick_net *net, const struct net_received *received, const struct carrick_ip6 *from,
                         const uint8_t *request) {
    struct carrick_ip6 ip = {
        .src = net->config.address6, .dst = from->src, .protocol = CARRICK_ICMP6, .ttl = 64, .tos = from->tos};
    uint8_t *message = net_icmp6_owe(net, received->mac, &ip, from->payload_len); /* back to where it came from */
    if (!message)
        return;
    memcpy(message, request, from->payload_len);
    message[0] = ECHO_REPLY;
    net_icmp6_finish(&ip, message, from->payload_len);
    net->counters[CARRICK_NET_ECHOES]++;
}

/* Where the message of a packet begins that is well formed, 0 else. */
static int icmp6_begin(const uint8_t *packet, uint32_t len, struct carrick_ip6 *ip) {
    int begin = carrick_ip6_parse(packet, len, carrick_ip6_destination(packet, len), CARRICK_ICMP6, ip);
    if (begin < 0 || ip->payload_len < CARRICK_ICMP6_HEADER)
        return 0;
    uint64_t sum = carrick_sum_pseudo6(ip->src, ip->dst, CARRICK_ICMP6, ip->payload_len);
    return carrick_sum_fold(sum + carrick_sum(packet + begin, ip->payload_len)) == 0 ? begin : 0;
}

bool net_icmp6_receive(struct carrick_net *net, uint64_t now, const struct net_received *received) {
    const uint8_t *packet = received->packet;
    uint32_t len = received->len;
    struct carrick_ip6 ip;
    uint32_t total = carrick_ip6_total(packet);
    if (packet[0] >> 4 != 6 || total > len)
        return true;
    bool readable = carrick_ip6_upper(packet, total, &ip) >= 0;
    if (CARRICK_LIKELY(readable && ip.protocol == net->config.protocol))
        return true;
    if (!readable || ip.protocol != CARRICK_ICMP6) {
        net_refuse6(net, now, received);
        return true;
    }
    int begin = icmp6_begin(packet, len, &ip);
    if (begin == 0) {
        net->counters[CARRICK_NET_BAD_ICMP]++;
        return false;
    }
    const uint8_t *message = packet + begin;
    if (!net_discovery_is_for_us(net, ip.dst)) { /* of a group that we are not in */
        net->counters[CARRICK_NET_OTHER_ICMP]++;
        return false;
    }
    bool to_one = carrick_ip6_same(ip.dst, net->config.address6) && !net_is_tentative(net);
    if (net->config.reports && to_one && message[0] >= 1 && message[0] <= LAST_ERROR)
        return true;
    if (net_discovery_receive(net, now, received, &ip, message))
        return false;
    bool wanted = to_one || net_is_group(ip.dst); /* also who asks all nodes is answered (RFC 4443 §4.2) */
    if (message[0] == ECHO_REQUEST && message[1] == 0 && wanted && !net_is_tentative(net) &&
        !carrick_address_is_unspecified(ip.src))
        icmp6_answer(net, received, &ip, message);
    else
        net->counters[CARRICK_NET_OTHER_ICMP]++;
    return false;
}
