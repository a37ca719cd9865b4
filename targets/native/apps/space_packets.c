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
#include "carrick/sockets.h"

#define CARRICK_IP_HEADER 20u
#define SEGMENT_HEADER    20u
#define ICMP_HEADER       8u
#define QUOTED            8u /* bytes behind the header of a packet that an ICMP message quotes */
#define HOPS              64u
#define FLAG_SYN          0x02u
#define FLAG_RST          0x04u
#define FLAG_ACK          0x10u

bool space_read_syn(const uint8_t *packet, size_t len, struct space_syn *syn) {
    size_t header = 0;
    if (len >= CARRICK_IP_HEADER && packet[0] >> 4 == 4 && packet[9] == IPPROTO_TCP) {
        header = (packet[0] & 15u) * 4u;
        syn->flow.program = carrick_address_of_ipv4(carrick_load32(packet + 12));
        syn->flow.far = carrick_address_of_ipv4(carrick_load32(packet + 16));
    } else if (len >= CARRICK_IP6_HEADER && packet[0] >> 4 == 6 && packet[6] == IPPROTO_TCP) {
        header = CARRICK_IP6_HEADER;
        syn->flow.program = carrick_ip6_load(packet + 8);
        syn->flow.far = carrick_ip6_load(packet + 24);
    }
    if (header < CARRICK_IP_HEADER || len < header + SEGMENT_HEADER)
        return false;
    const uint8_t *segment = packet + header;
    syn->flow.program_port = carrick_load16(segment);
    syn->flow.far_port = carrick_load16(segment + 2);
    syn->seq = carrick_load32(segment + 4);
    return (segment[13] & (FLAG_SYN | FLAG_ACK | FLAG_RST)) == FLAG_SYN;
}

/* The header of a packet. Returns its length; `*pseudo`: the sum of what a payload's sum has beside it. */
static size_t put_header(uint8_t *packet, struct carrick_ip6_address from, struct carrick_ip6_address to,
                         uint8_t protocol, uint32_t payload, uint64_t *pseudo) {
    if (carrick_address_is_ipv4(from)) {
        const struct carrick_ip ip = {
            .src = (uint32_t)from.low, .dst = (uint32_t)to.low, .protocol = protocol, .ttl = HOPS};
        carrick_ip_build(packet, &ip, payload, 0);
        *pseudo = carrick_sum_pseudo(ip.src, ip.dst, protocol, payload);
        return CARRICK_IP_HEADER;
    }
    const struct carrick_ip6 ip = {.src = from, .dst = to, .protocol = protocol, .ttl = HOPS};
    carrick_ip6_build(packet, &ip, payload);
    *pseudo = carrick_sum_pseudo6(from, to, protocol, payload);
    return CARRICK_IP6_HEADER;
}

/* A reset that acknowledges the SYN (RFC 9293 section 3.10.7.1). */
static size_t put_reset(const struct space_syn *syn, uint8_t *packet) {
    uint64_t sum;
    size_t header = put_header(packet, syn->flow.far, syn->flow.program, IPPROTO_TCP, SEGMENT_HEADER, &sum);
    uint8_t *segment = packet + header;
    memset(segment, 0, SEGMENT_HEADER);
    carrick_store16(segment, syn->flow.far_port);
    carrick_store16(segment + 2, syn->flow.program_port);
    carrick_store32(segment + 8, syn->seq + 1);
    segment[12] = SEGMENT_HEADER / 4 << 4;
    segment[13] = FLAG_RST | FLAG_ACK;
    carrick_store_sum(segment + 16, sum + carrick_sum(segment, SEGMENT_HEADER));
    return header + SEGMENT_HEADER;
}

/* An ICMP message that quotes the SYN, from the stack's own address (RFC 792, 4443). */
static size_t put_unreachable(const struct space_syn *syn, uint8_t type, uint8_t code, uint8_t *packet) {
    bool four = carrick_address_is_ipv4(syn->flow.program);
    uint8_t protocol = four ? IPPROTO_ICMP : IPPROTO_ICMPV6;
    uint64_t sum, ignored;
    uint32_t quoted = (four ? CARRICK_IP_HEADER : CARRICK_IP6_HEADER) + QUOTED;
    size_t header = put_header(packet, syn->flow.program, syn->flow.program, protocol, ICMP_HEADER + quoted, &sum);
    uint8_t *icmp = packet + header;
    memset(icmp, 0, ICMP_HEADER);
    icmp[0] = type;
    icmp[1] = code;
    size_t inner =
        put_header(icmp + ICMP_HEADER, syn->flow.program, syn->flow.far, IPPROTO_TCP, SEGMENT_HEADER, &ignored);
    uint8_t *segment = icmp + ICMP_HEADER + inner;
    carrick_store16(segment, syn->flow.program_port);
    carrick_store16(segment + 2, syn->flow.far_port);
    carrick_store32(segment + 4, syn->seq);
    size_t len = ICMP_HEADER + quoted;
    carrick_store_sum(icmp + 2, carrick_sum(icmp, len) + (four ? 0 : sum));
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
    struct sockaddr_storage to;
    socklen_t to_len = carrick_socket_address(syn->flow.program, 0, &to);
    if (len > 0) /* one that is lost is sent again with the program's next SYN */
        (void)sendto(space->raw[to.ss_family == AF_INET6], packet, len, MSG_DONTWAIT, (const struct sockaddr *)&to,
                     to_len);
}
