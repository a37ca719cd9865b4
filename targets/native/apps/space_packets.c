/* SPDX-License-Identifier: MIT */
/* The packets of a space: SYNs of programs, and what ends their attempts to connect. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <string.h>
#include <sys/socket.h>

#include "apps/space.h"
#include "carrick/ip.h"
#include "carrick/ipv6.h"

#define IP4_HEADER     20u
#define SEGMENT_HEADER 20u
#define ICMP_HEADER    8u
#define QUOTED         8u /* bytes behind the header of a packet that an ICMP message quotes */
#define HOPS           64u
#define FLAG_SYN       0x02u
#define FLAG_RST       0x04u
#define FLAG_ACK       0x10u

bool space_read_syn(const uint8_t *packet, size_t len, struct space_syn *syn) {
    size_t header = 0;
    if (len >= IP4_HEADER && packet[0] >> 4 == 4 && packet[9] == IPPROTO_TCP) {
        header = (packet[0] & 15u) * 4u;
        syn->flow.program = carrick_address_of_ipv4(carrick_load32(packet + 12));
        syn->flow.far = carrick_address_of_ipv4(carrick_load32(packet + 16));
    } else if (len >= CARRICK_IP6_HEADER && packet[0] >> 4 == 6 && packet[6] == IPPROTO_TCP) {
        header = CARRICK_IP6_HEADER;
        syn->flow.program = carrick_ip6_load(packet + 8);
        syn->flow.far = carrick_ip6_load(packet + 24);
    }
    if (header < IP4_HEADER || len < header + SEGMENT_HEADER)
        return false;
    const uint8_t *segment = packet + header;
    syn->flow.program_port = carrick_load16(segment);
    syn->flow.far_port = carrick_load16(segment + 2);
    syn->seq = carrick_load32(segment + 4);
    return (segment[13] & (FLAG_SYN | FLAG_ACK | FLAG_RST)) == FLAG_SYN;
}

static uint32_t sum_of(const uint8_t *octets, size_t len, uint32_t sum) {
    for (size_t i = 0; i + 1 < len; i += 2)
        sum += carrick_load16(octets + i);
    return sum;
}

static uint16_t folded(uint32_t sum) {
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* The header of a packet. Returns its length. */
static size_t put_header(uint8_t *packet, struct carrick_ip6_address from, struct carrick_ip6_address to,
                         uint8_t protocol, size_t payload) {
    if (!carrick_address_is_ipv4(from)) {
        memset(packet, 0, CARRICK_IP6_HEADER);
        packet[0] = 0x60;
        carrick_store16(packet + 4, (uint16_t)payload);
        packet[6] = protocol;
        packet[7] = HOPS;
        carrick_ip6_store(packet + 8, from);
        carrick_ip6_store(packet + 24, to);
        return CARRICK_IP6_HEADER;
    }
    memset(packet, 0, IP4_HEADER);
    packet[0] = 0x45;
    carrick_store16(packet + 2, (uint16_t)(IP4_HEADER + payload));
    packet[8] = HOPS;
    packet[9] = protocol;
    carrick_store32(packet + 12, (uint32_t)from.low);
    carrick_store32(packet + 16, (uint32_t)to.low);
    carrick_store16(packet + 10, folded(sum_of(packet, IP4_HEADER, 0)));
    return IP4_HEADER;
}

/* The sum of what is not in a segment but is summed with it: addresses, protocol, length. */
static uint32_t pseudo_sum(const uint8_t *packet, size_t header, uint8_t protocol, size_t len) {
    size_t addresses = header == IP4_HEADER ? 8 : 32;
    return sum_of(packet + (header == IP4_HEADER ? 12 : 8), addresses, protocol + (uint32_t)len);
}

/* A reset that acknowledges the SYN (RFC 9293 section 3.10.7.1). */
static size_t put_reset(const struct space_syn *syn, uint8_t *packet) {
    size_t header = put_header(packet, syn->flow.far, syn->flow.program, IPPROTO_TCP, SEGMENT_HEADER);
    uint8_t *segment = packet + header;
    memset(segment, 0, SEGMENT_HEADER);
    carrick_store16(segment, syn->flow.far_port);
    carrick_store16(segment + 2, syn->flow.program_port);
    carrick_store32(segment + 8, syn->seq + 1);
    segment[12] = SEGMENT_HEADER / 4 << 4;
    segment[13] = FLAG_RST | FLAG_ACK;
    uint32_t sum = sum_of(segment, SEGMENT_HEADER, pseudo_sum(packet, header, IPPROTO_TCP, SEGMENT_HEADER));
    carrick_store16(segment + 16, folded(sum));
    return header + SEGMENT_HEADER;
}

/* An ICMP message that quotes the SYN, from the stack's own address (RFC 792, 4443). */
static size_t put_unreachable(const struct space_syn *syn, uint8_t type, uint8_t code, uint8_t *packet) {
    bool four = carrick_address_is_ipv4(syn->flow.program);
    uint8_t protocol = four ? IPPROTO_ICMP : IPPROTO_ICMPV6;
    size_t quoted = (four ? IP4_HEADER : CARRICK_IP6_HEADER) + QUOTED;
    size_t header = put_header(packet, syn->flow.program, syn->flow.program, protocol, ICMP_HEADER + quoted);
    uint8_t *icmp = packet + header;
    memset(icmp, 0, ICMP_HEADER);
    icmp[0] = type;
    icmp[1] = code;
    size_t inner = put_header(icmp + ICMP_HEADER, syn->flow.program, syn->flow.far, IPPROTO_TCP, SEGMENT_HEADER);
    uint8_t *segment = icmp + ICMP_HEADER + inner;
    carrick_store16(segment, syn->flow.program_port);
    carrick_store16(segment + 2, syn->flow.far_port);
    carrick_store32(segment + 4, syn->seq);
    size_t len = ICMP_HEADER + quoted;
    uint32_t sum = sum_of(icmp, len, four ? 0 : pseudo_sum(packet, header, protocol, len));
    carrick_store16(icmp + 2, folded(sum));
    return header + len;
}

size_t space_refusal(const struct space_syn *syn, int error, uint8_t packet[SPACE_PACKET]) {
    bool four = carrick_address_is_ipv4(syn->flow.program);
    uint8_t type = four ? ICMP_DEST_UNREACH : ICMP6_DST_UNREACH;
    switch (error) {
    case ETIMEDOUT: /* no packet says that */
        return 0;
    case EHOSTUNREACH:
        return put_unreachable(syn, type, four ? ICMP_HOST_UNREACH : ICMP6_DST_UNREACH_ADDR, packet);
    case ENETUNREACH:
        return put_unreachable(syn, type, four ? ICMP_NET_UNREACH : ICMP6_DST_UNREACH_NOROUTE, packet);
    case EACCES:
        return put_unreachable(syn, type, four ? ICMP_PKT_FILTERED : ICMP6_DST_UNREACH_ADMIN, packet);
    default:
        return put_reset(syn, packet);
    }
}

void space_refuse(const struct space *space, const struct space_syn *syn, int error) {
    uint8_t packet[SPACE_PACKET];
    size_t len = space_refusal(syn, error, packet);
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl((uint32_t)syn->flow.program.low)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    bool four = carrick_address_is_ipv4(syn->flow.program);
    carrick_ip6_store(in6.sin6_addr.s6_addr, syn->flow.program);
    const struct sockaddr *to = four ? (const struct sockaddr *)&in : (const struct sockaddr *)&in6;
    if (len > 0) /* one that is lost is sent again with the program's next SYN */
        (void)sendto(space->raw[!four], packet, len, MSG_DONTWAIT, to, four ? sizeof in : sizeof in6);
}
