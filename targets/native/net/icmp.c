/* SPDX-License-Identifier: MIT */
/* ICMP: echo requests are answered, so that a peer can see whether we are there; errors are for the core. */
#include "net/net.h"

#define ICMP_ECHO_REPLY   0u
#define ICMP_UNREACHABLE  3u
#define ICMP_ECHO_REQUEST 8u
#define ICMP_EXCEEDED     11u
#define ICMP_PARAMETER    12u
#define ICMP_HEADER       8u
#define IP_TTL            64u

/* The length of the ICMP message in a packet that is well formed and for us, 0 else. */
static uint32_t icmp_len(const struct carrick_net *net, const uint8_t *packet, uint32_t len) {
    struct carrick_ip ip;
    int header = carrick_ip_parse(packet, len, net->config.address, packet[9], &ip);
    if (header < 0 || ip.payload_len < ICMP_HEADER)
        return 0;
    return carrick_sum_fold(carrick_sum(packet + header, ip.payload_len)) == 0 ? ip.payload_len : 0;
}

static void icmp_answer(struct carrick_net *net, const struct net_received *received, uint32_t icmp) {
    const uint8_t *packet = received->packet;
    uint32_t headroom = carrick_net_headroom(net), total = CARRICK_IP_HEADER + icmp;
    uint8_t *reply = net_owe(net, headroom + total);
    if (!reply)
        return;
    if (headroom)
        net_ether(net, reply, received->mac, ETHER_IPV4); /* back to where it came from */
    uint8_t *out = reply + headroom, *message = out + CARRICK_IP_HEADER;
    struct carrick_ip ip = {.src = net->config.address,
                            .dst = carrick_load32(packet + 12),
                            .protocol = packet[9],
                            .ttl = IP_TTL,
                            .tos = packet[1]};
    carrick_ip_build(out, &ip, icmp, 0);
    memcpy(message, packet + (packet[0] & 15) * 4, icmp);
    message[0] = ICMP_ECHO_REPLY;
    carrick_store16(message + 2, 0);
    carrick_store_sum(message + 2, carrick_sum(message, icmp));
    net->counters[CARRICK_NET_ECHOES]++;
}

bool net_icmp_receive(struct carrick_net *net, const struct net_received *received) {
    const uint8_t *packet = received->packet;
    uint32_t icmp = icmp_len(net, packet, received->len);
    if (icmp == 0) {
        net->counters[CARRICK_NET_BAD_ICMP]++;
        return false;
    }
    const uint8_t *message = packet + (packet[0] & 15) * 4;
    uint8_t type = message[0];
    if (net->config.reports && (type == ICMP_UNREACHABLE || type == ICMP_EXCEEDED || type == ICMP_PARAMETER))
        return true;
    if (type == ICMP_ECHO_REQUEST && message[1] == 0)
        icmp_answer(net, received, icmp);
    else
        net->counters[CARRICK_NET_OTHER_ICMP]++;
    return false;
}
