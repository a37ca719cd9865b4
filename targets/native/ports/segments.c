/* SPDX-License-Identifier: MIT */
#include <netinet/in.h>
#include <string.h>

#include "carrick/ethernet.h"
#include "carrick/ip.h"
#include "ports/segments.h"

#define NETWORK    CARRICK_ETHER_HEADER
#define TYPE_IPV4  0x0800u
#define TYPE_IPV6  0x86ddu
#define IPV4_LEAST 20u
#define IPV6_LEAST 40u

/* Where fields of headers are: RFC 791 §3.1 and RFC 8200 §3. */
#define IPV4_LENGTH   2u
#define IPV4_ID       4u
#define IPV4_PROTOCOL 9u
#define IPV4_SUM      10u
#define IPV4_SOURCE   12u
#define IPV6_LENGTH   4u
#define IPV6_NEXT     6u
#define IPV6_SOURCE   8u

/* What an engine does to the header of a transport in each packet. Fields are so many bytes behind its beginning;
 * 0: there is no such field. */
struct carrick_engine {
    uint8_t kinds[2]; /* of virtio's header: over IPv4, over IPv6 */
    uint8_t protocol;
    uint8_t least;       /* bytes of the header */
    uint8_t words;       /* a byte whose upper half counts the header's words of 4 bytes */
    uint8_t number;      /* 32 bits that count the bytes of the payload */
    uint8_t flags;       /* 8 bits */
    uint8_t first, last; /* of these the ones that only the first packet has, or the last */
    uint8_t length;      /* of header and payload */
    uint8_t sum;         /* the Internet checksum over both and the addresses */
    bool sum_optional;   /* 0 is none: a sum of 0 is written as 0xffff */
    uint16_t size_least; /* bytes of payload in each packet: what nobody sends would be too many packets */
};

static const struct carrick_engine engines[] = {
    /* RFC 9293 §3.1: CWR is of the first, PSH and FIN of the last. */
    {.kinds = {VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6},
     .protocol = IPPROTO_TCP,
     .least = 20,
     .words = 12,
     .number = 4,
     .flags = 13,
     .first = 0x80,
     .last = 0x09,
     .sum = 16,
     .size_least = 8},
    /* RFC 768. */
    {.kinds = {VIRTIO_NET_HDR_GSO_UDP_L4, VIRTIO_NET_HDR_GSO_UDP_L4},
     .protocol = IPPROTO_UDP,
     .least = 8,
     .length = 4,
     .sum = 6,
     .sum_optional = true,
     .size_least = 1},
};

static const struct carrick_engine *engine_of(uint8_t kind, bool six) {
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        if (engines[i].kinds[six] == kind)
            return &engines[i];
    return NULL;
}

static const struct carrick_engine *engine_for(uint8_t protocol) {
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        if (engines[i].protocol == protocol)
            return &engines[i];
    return NULL;
}

/* Whether the engine's header follows that of IP at once: not in a tunnel, not behind extension headers. */
static bool has_network(const struct carrick_segments *all, uint32_t len) {
    const uint8_t *ip = all->frame + NETWORK;
    if (len < NETWORK + (all->six ? IPV6_LEAST : IPV4_LEAST) || all->transport > len)
        return false;
    uint32_t header = all->six ? IPV6_LEAST : (uint32_t)(ip[0] & 15u) * 4;
    uint8_t protocol = ip[all->six ? IPV6_NEXT : IPV4_PROTOCOL];
    return header >= IPV4_LEAST && NETWORK + header == all->transport && protocol == all->engine->protocol;
}

static bool has_transport(struct carrick_segments *all, uint32_t len, uint32_t sum_at) {
    const struct carrick_engine *engine = all->engine;
    uint32_t left = len - all->transport, header = engine->least;
    if (sum_at != engine->sum || left < header)
        return false;
    if (engine->words)
        header = (uint32_t)(all->frame[all->transport + engine->words] >> 4) * 4;
    all->headers = all->transport + header;
    return header >= engine->least && header < left && all->size >= engine->size_least;
}

bool carrick_segments_begin(struct carrick_segments *all, const uint8_t *frame, uint32_t len,
                            const struct virtio_net_hdr *how) {
    uint8_t kind = how->gso_type & (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;
    *all = (struct carrick_segments){.frame = frame, .transport = how->csum_start, .size = how->gso_size};
    if (len < NETWORK || !(how->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || all->size == 0)
        return false;
    uint16_t type = (uint16_t)carrick_load16(frame + 12);
    all->six = type == TYPE_IPV6;
    all->engine = all->six || type == TYPE_IPV4 ? engine_of(kind, all->six) : NULL;
    if (!all->engine || !has_network(all, len) || !has_transport(all, len, how->csum_offset))
        return false;
    all->payload = len - all->headers;
    return true;
}

bool carrick_segments_describe(const uint8_t *frame, uint32_t len, uint16_t segment, struct virtio_net_hdr *how) {
    *how = (struct virtio_net_hdr){.gso_type = VIRTIO_NET_HDR_GSO_NONE};
    if (segment == 0)
        return true;
    bool six = len > NETWORK && frame[NETWORK] >> 4 == 6;
    uint32_t transport = NETWORK + (six ? IPV6_LEAST : IPV4_LEAST);
    const struct carrick_engine *engine =
        len > transport ? engine_for(frame[NETWORK + (six ? IPV6_NEXT : IPV4_PROTOCOL)]) : NULL;
    if (!engine || len < transport + engine->least)
        return false;
    how->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    how->gso_type = engine->kinds[six];
    if (engine->flags && (frame[transport + engine->flags] & engine->first))
        how->gso_type |= VIRTIO_NET_HDR_GSO_ECN;
    how->gso_size = segment;
    how->csum_start = (uint16_t)transport;
    how->csum_offset = engine->sum;
    struct carrick_segments all;
    bool whole = carrick_segments_begin(&all, frame, len, how);
    how->hdr_len = (uint16_t)all.headers;
    return whole;
}

/* The length, and what else of a network header is another one in each packet. */
static void finish_network(const struct carrick_segments *all, uint8_t *ip, uint32_t len, uint32_t number) {
    if (all->six) {
        carrick_store16(ip + IPV6_LENGTH, (uint16_t)(len - IPV6_LEAST));
        return;
    }
    carrick_store16(ip + IPV4_LENGTH, (uint16_t)len);
    carrick_store16(ip + IPV4_ID, (uint16_t)(carrick_load16(ip + IPV4_ID) + number));
    carrick_store16(ip + IPV4_SUM, 0);
    carrick_store_sum(ip + IPV4_SUM, carrick_sum(ip, all->transport - NETWORK));
}

/* All but the checksum, of a packet with `n` bytes of payload. */
static void finish_transport(const struct carrick_segments *all, uint8_t *transport, uint32_t n) {
    const struct carrick_engine *engine = all->engine;
    if (engine->number)
        carrick_store32(transport + engine->number, carrick_load32(transport + engine->number) + all->done);
    if (engine->flags && all->done > 0)
        transport[engine->flags] &= (uint8_t)~engine->first;
    if (engine->flags && all->done + n < all->payload)
        transport[engine->flags] &= (uint8_t)~engine->last;
    if (engine->length)
        carrick_store16(transport + engine->length, (uint16_t)(all->headers - all->transport + n));
}

/* The sum of the header that is not sent: addresses, protocol and length (RFC 9293 §3.1, RFC 8200 §8.1). */
static uint64_t pseudo_sum(const struct carrick_segments *all, const uint8_t *ip, uint32_t len) {
    uint8_t rest[4] = {0, all->engine->protocol, (uint8_t)(len >> 8), (uint8_t)len};
    uint64_t addresses = all->six ? carrick_sum(ip + IPV6_SOURCE, 32) : carrick_sum(ip + IPV4_SOURCE, 8);
    return addresses + carrick_sum(rest, sizeof rest);
}

uint32_t carrick_segments_next(struct carrick_segments *all, uint8_t *out) {
    uint32_t left = all->payload - all->done, n = left < all->size ? left : all->size;
    uint32_t len = all->headers + n, header = all->headers - all->transport;
    uint8_t *transport = out + all->transport, *sum_at = transport + all->engine->sum;
    memcpy(out, all->frame, all->headers);
    uint64_t sum = carrick_copy_sum(out + all->headers, all->frame + all->headers + all->done, n);
    finish_network(all, out + NETWORK, len - NETWORK, all->done / all->size);
    finish_transport(all, transport, n);
    carrick_store16(sum_at, 0);
    sum += carrick_sum(transport, header) + pseudo_sum(all, out + NETWORK, header + n);
    carrick_store_sum(sum_at, sum);
    if (all->engine->sum_optional && carrick_load16(sum_at) == 0)
        carrick_store16(sum_at, 0xffff);
    all->done += n;
    return len;
}
