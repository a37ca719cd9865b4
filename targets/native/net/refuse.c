/* SPDX-License-Identifier: MIT */
/*
 * What a node must say of packets that it cannot take: ICMP destination unreachable (RFC 1122 §3.2.2.1), time exceeded
 * where fragments are missing, and for IPv6 also parameter problems (RFC 8200 §4, RFC 4443 §3.4). At most
 * ERRORS_AT_ONCE at once, and then one in ERROR_EACH_NS; never about an error, and never to a group or about a packet
 * to one, but where RFC 4443 §2.4 wants it.
 */
#include "carrick/quoted6.h"
#include "net/net.h"

#define ICMP_UNREACHABLE     3u
#define ICMP_NO_PROTOCOL     2u
#define ICMP_NO_PORT         3u
#define ICMP_EXCEEDED        11u
#define ICMP_ECHO            8u
#define ICMP_REASSEMBLY      1u /* the code, also of ICMPv6 */
#define ICMP_HEADER          8u
#define ICMP6_UNREACHABLE    1u
#define ICMP6_NO_PORT        4u
#define ICMP6_EXCEEDED       3u
#define ICMP6_PARAMETER      4u
#define ICMP6_NEXT_HEADER    1u
#define ICMP6_OPTION         2u
#define ICMP6_FIRST_QUESTION 128u /* smaller types are errors */
#define IP_ICMP              1u
#define IP_UDP               17u
#define IP6_NOTHING          59u
#define TTL                  64u
#define ERRORS_AT_ONCE       50u
#define ERROR_EACH_NS        UINT64_C(10000000)

/* An error of ICMPv6. */
struct error6 {
    uint8_t type, code;
    uint32_t pointer;
    bool to_groups; /* also about a packet to a group */
};

/* Whether one more error may be sent now. */
static bool may_send(struct carrick_net *net, uint64_t now) {
    uint64_t free_at = net->errors_until > now ? net->errors_until : now;
    bool may = free_at - now <= (ERRORS_AT_ONCE - 1) * ERROR_EACH_NS;
    if (may)
        net->errors_until = free_at + ERROR_EACH_NS;
    net->counters[may ? CARRICK_NET_ERRORS : CARRICK_NET_ERRORS_LIMITED]++;
    return may;
}

/* Bytes of a packet that are quoted: those of `total` that are there, `most` at most. */
static uint32_t quoted_len(const struct net_received *received, uint32_t total, uint32_t most) {
    uint32_t there = received->len < total ? received->len : total;
    return there < most ? there : most;
}

static void send_error(struct carrick_net *net, uint64_t now, const struct net_received *received, uint8_t type,
                       uint8_t code) {
    uint32_t headroom = carrick_net_headroom(net);
    uint32_t quoted = quoted_len(received, carrick_load16(received->packet + 2), NET_QUOTED);
    uint32_t len = ICMP_HEADER + quoted;
    uint8_t *frame = may_send(net, now) ? net_owe(net, headroom + CARRICK_IP_HEADER + len) : NULL;
    if (!frame)
        return;
    if (headroom)
        net_ether(net, frame, received->mac, ETHER_IPV4); /* back to where it came from */
    uint8_t *message = frame + headroom + CARRICK_IP_HEADER;
    const struct carrick_ip ip = {
        .src = net->config.address, .dst = carrick_load32(received->packet + 12), .protocol = IP_ICMP, .ttl = TTL};
    carrick_ip_build(frame + headroom, &ip, len, 0);
    memset(message, 0, ICMP_HEADER);
    message[0] = type;
    message[1] = code;
    memcpy(message + ICMP_HEADER, received->packet, quoted);
    carrick_store_sum(message + 2, carrick_sum(message, len));
}

void net_refuse(struct carrick_net *net, uint64_t now, const struct net_received *received) {
    struct carrick_ip ip;
    uint8_t protocol = received->packet[9];
    if (net->config.protocol == 0 || protocol == net->config.protocol ||
        carrick_ip_parse(received->packet, received->len, net->config.address, protocol, &ip) < 0)
        return;
    send_error(net, now, received, ICMP_UNREACHABLE, protocol == IP_UDP ? ICMP_NO_PORT : ICMP_NO_PROTOCOL);
}

static void send_error6(struct carrick_net *net, uint64_t now, const struct net_received *received,
                        const struct error6 *error) {
    uint32_t quoted = quoted_len(received, carrick_ip6_total(received->packet), NET_QUOTED6);
    const struct carrick_ip6 ip = {.src = net->config.address6,
                                   .dst = carrick_ip6_load(received->packet + 8),
                                   .protocol = CARRICK_ICMP6,
                                   .ttl = TTL};
    uint8_t *message =
        may_send(net, now) ? net_icmp6_owe(net, received->mac, &ip, CARRICK_ICMP6_HEADER + quoted) : NULL;
    if (!message)
        return;
    message[0] = error->type;
    message[1] = error->code;
    carrick_store32(message + 4, error->pointer);
    memcpy(message + CARRICK_ICMP6_HEADER, received->packet, quoted);
    net_icmp6_finish(&ip, message, CARRICK_ICMP6_HEADER + quoted);
}

/* The first option that must be refused aloud, at so many bytes from the beginning of the packet. */
static bool refused_option(const uint8_t *packet, uint32_t at, uint32_t end, struct error6 *error) {
    while (at < end) {
        uint8_t kind = packet[at];
        if (kind != 0 && (end - at < 2 || end - at - 2 < packet[at + 1]))
            return false;
        if (!carrick_ip6_skips_option(kind)) {
            *error = (struct error6){ICMP6_PARAMETER, ICMP6_OPTION, at, kind >> 6 == 2};
            return kind >> 6 >= 2;
        }
        at += kind == 0 ? 1u : 2u + packet[at + 1];
    }
    return false;
}

/* What is wrong with a packet of `total` bytes so that its sender has to be told. */
static bool find_error6(const struct carrick_net *net, const uint8_t *packet, uint32_t total, struct error6 *error) {
    uint32_t at = CARRICK_IP6_HEADER, next_at = 6;
    for (uint32_t n = 0; n <= CARRICK_IP6_EXTENSIONS; n++) {
        uint8_t kind = packet[next_at];
        if (!carrick_ip6_extends(kind, at)) {
            *error = (struct error6){ICMP6_PARAMETER, ICMP6_NEXT_HEADER, next_at, false};
            if (kind == IP_UDP)
                *error = (struct error6){ICMP6_UNREACHABLE, ICMP6_NO_PORT, 0, false};
            return kind != net->config.protocol && kind != CARRICK_ICMP6 && kind != IP6_NOTHING;
        }
        if (total - at < CARRICK_IP6_UNIT)
            return false;
        uint32_t size = carrick_ip6_extension_len(kind, packet + at);
        if (total - at < size)
            return false;
        if (carrick_ip6_has_options(kind) && refused_option(packet, at + 2, at + size, error))
            return true;
        if (kind == CARRICK_IP6_ROUTING && packet[at + 3] != 0) {
            *error = (struct error6){ICMP6_PARAMETER, NET_BAD_FIELD, at + 2, false};
            return true;
        }
        next_at = at;
        at += size;
    }
    return false;
}

/* Whether a packet is itself an error, whatever else is wrong with it. */
static bool is_error6(const uint8_t *packet, uint32_t total) {
    uint32_t at = CARRICK_IP6_HEADER, next_at = 6;
    while (carrick_ip6_extends(packet[next_at], at)) {
        if (total - at < CARRICK_IP6_UNIT || total - at < carrick_ip6_extension_len(packet[next_at], packet + at))
            return false;
        uint32_t size = carrick_ip6_extension_len(packet[next_at], packet + at);
        next_at = at;
        at += size;
    }
    return packet[next_at] == CARRICK_ICMP6 && at < total && packet[at] < ICMP6_FIRST_QUESTION;
}

void net_refuse6(struct carrick_net *net, uint64_t now, const struct net_received *received) {
    struct error6 error;
    const uint8_t *packet = received->packet;
    uint32_t total = carrick_ip6_total(packet);
    struct carrick_ip6_address to = carrick_ip6_load(packet + 24);
    bool to_one = carrick_ip6_same(to, net->config.address6);
    if (net->config.protocol == 0 || net_is_tentative(net) || !find_error6(net, packet, total, &error) ||
        !(to_one || (error.to_groups && net_discovery_is_for_us(net, to))) ||
        carrick_address_is_unspecified(carrick_ip6_load(packet + 8)) || is_error6(packet, total))
        return;
    send_error6(net, now, received, &error);
}

/* Of a fragment that is not the first nobody knows whether it is of an error. */
static bool may_be_error6(const uint8_t *packet, uint32_t total) {
    uint32_t at = CARRICK_IP6_HEADER, next_at = 6;
    while (carrick_ip6_extends(packet[next_at], at) && packet[next_at] != CARRICK_IP6_FRAGMENT) {
        if (total - at < CARRICK_IP6_UNIT || total - at < carrick_ip6_extension_len(packet[next_at], packet + at))
            return false;
        uint32_t size = carrick_ip6_extension_len(packet[next_at], packet + at);
        next_at = at;
        at += size;
    }
    bool later = total - at >= CARRICK_IP6_UNIT && carrick_load16(packet + at + 2) >= CARRICK_IP6_UNIT;
    return later ? packet[at] == CARRICK_ICMP6 : is_error6(packet, total);
}

void net_refuse_fragment6(struct carrick_net *net, uint64_t now, const struct net_received *received, uint8_t code,
                          uint32_t pointer) {
    const struct error6 error = {ICMP6_PARAMETER, code, pointer, false};
    uint32_t total = carrick_ip6_total(received->packet);
    if (net->config.protocol != 0 && !net_is_tentative(net) && !received->to_group &&
        !carrick_address_is_unspecified(carrick_ip6_load(received->packet + 8)) &&
        !may_be_error6(received->packet, total))
        send_error6(net, now, received, &error);
}

void net_refuse_late(struct carrick_net *net, uint64_t now, const struct net_received *first) {
    const struct error6 late = {ICMP6_EXCEEDED, ICMP_REASSEMBLY, 0, false};
    const uint8_t *packet = first->packet;
    uint32_t begin = (packet[0] & 15) * 4u;
    bool error = net->config.six ? is_error6(packet, first->len)
                                 : packet[9] == IP_ICMP && (first->len <= begin || packet[begin] != ICMP_ECHO);
    if (error || net->config.protocol == 0)
        return;
    if (net->config.six)
        send_error6(net, now, first, &late);
    else
        send_error(net, now, first, ICMP_EXCEEDED, ICMP_REASSEMBLY);
}
