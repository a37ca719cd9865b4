/* SPDX-License-Identifier: MIT */
/* IPv6 headers and reports of ICMPv6, against packets put together by hand. */
#include "carrick/report6.h"
#include "carrick/rand.h"
#include "check.h"

#define PROTOCOL 253u

static const struct carrick_ip6_address us = {0x20010db800000000u, 2}, peer = {0x20010db800000000u, 1},
                                        router = {0xfe80000000000000u, 0xfe};

/* A packet for us: headers as `extensions` has them (the first byte of each is the next one's number), 8 bytes behind
 * them. Returns its length. */
static uint32_t make(uint8_t *out, uint8_t first, const uint8_t *extensions, uint32_t len) {
    struct carrick_ip6 ip = {.src = peer, .dst = us, .protocol = first, .ttl = 5, .tos = 0xb9};
    carrick_ip6_build(out, &ip, len + 8);
    if (len)
        memcpy(out + CARRICK_IP6_HEADER, extensions, len);
    memset(out + CARRICK_IP6_HEADER + len, 7, 8);
    return CARRICK_IP6_HEADER + len + 8;
}

/* Of exactly its size, so that a sanitizer sees one byte too many. */
static int parse(const uint8_t *octets, uint32_t len, struct carrick_ip6 *ip) {
    uint8_t *copy = malloc(len ? len : 1);
    memcpy(copy, octets, len);
    int begin = carrick_ip6_parse(copy, len, us, PROTOCOL, ip);
    free(copy);
    return begin;
}

static void header(void) {
    /* RFC 8200 §3: version, traffic class, flow label; length, next header, hop limit; addresses. */
    static const uint8_t drawn[40] = {0x6b, 0x90, 0,    0,        0,    8, 253,  5,    0x20,
                                      1,    0x0d, 0xb8, [23] = 1, 0x20, 1, 0x0d, 0xb8, [39] = 2};
    uint8_t octets[64];
    struct carrick_ip6 ip;
    uint32_t len = make(octets, PROTOCOL, NULL, 0);
    CHECK(memcmp(octets, drawn, sizeof drawn) == 0);
    CHECK(parse(octets, len, &ip) == 40);
    CHECK(carrick_ip6_same(ip.src, peer) && carrick_ip6_same(ip.dst, us) && ip.protocol == PROTOCOL && ip.ttl == 5 &&
          ip.tos == 0xb9 && ip.payload_len == 8);
    CHECK(carrick_ip6_same(carrick_ip6_destination(octets, len), us));
    /* A flow label is any. */
    carrick_store32(octets, 0x600fffff);
    CHECK(parse(octets, len, &ip) == 40 && ip.tos == 0);
    CHECK(parse(octets, 39, &ip) == -1 - CARRICK_COUNT_IP_SHORT);
    CHECK(parse(octets, len - 1, &ip) == -1 - CARRICK_COUNT_IP_LENGTH);
    octets[39] = 3;
    CHECK(parse(octets, len, &ip) == -1 - CARRICK_COUNT_IP_ADDRESS);
    octets[0] = 0x45;
    CHECK(parse(octets, len, &ip) == -1 - CARRICK_COUNT_IP_VERSION);
    len = make(octets, 6, NULL, 0);
    CHECK(parse(octets, len, &ip) == -1 - CARRICK_COUNT_IP_PROTOCOL);
}

static int parse_extended(uint8_t first, const uint8_t *extensions, uint32_t len) {
    uint8_t octets[256];
    struct carrick_ip6 ip;
    return parse(octets, make(octets, first, extensions, len), &ip);
}

static void extensions(void) {
    const int fragment = -1 - CARRICK_COUNT_IP_FRAGMENT, other = -1 - CARRICK_COUNT_IP_PROTOCOL;
    CHECK(parse_extended(0, (const uint8_t[]){60, 0, 1, 4, 0, 0, 0, 0, 253, 0, 1, 4, 0, 0, 0, 0}, 16) == 56);
    CHECK(parse_extended(44, (const uint8_t[]){253, 0, 0, 0, 0, 0, 0, 9}, 8) == 48);
    CHECK(parse_extended(44, (const uint8_t[]){253, 0, 0, 1, 0, 0, 0, 9}, 8) == fragment);
    CHECK(parse_extended(44, (const uint8_t[]){253, 0, 0, 8, 0, 0, 0, 9}, 8) == fragment);
    CHECK(parse_extended(43, (const uint8_t[]){253, 0, 4, 0, 0, 0, 0, 0}, 8) == 48);
    CHECK(parse_extended(43, (const uint8_t[]){253, 0, 4, 1, 0, 0, 0, 0}, 8) == other);
    /* Options that nobody knows: skipped by their first bits, or not; one that ends behind its header. */
    CHECK(parse_extended(60, (const uint8_t[]){253, 0, 0x1e, 4, 9, 9, 9, 9}, 8) == 48);
    CHECK(parse_extended(60, (const uint8_t[]){253, 0, 0x5e, 4, 9, 9, 9, 9}, 8) == other);
    CHECK(parse_extended(60, (const uint8_t[]){253, 0, 0x1e, 5, 9, 9, 9, 9}, 8) == other);
    CHECK(parse_extended(60, (const uint8_t[]){253, 0, 0, 0, 0, 0, 0, 1}, 8) == other);
    /* Hop-by-hop options come first; later it is a number like any other. */
    CHECK(parse_extended(60, (const uint8_t[]){0, 0, 1, 4, 0, 0, 0, 0}, 8) == other);
    CHECK(parse_extended(60, (const uint8_t[]){253, 2, 1, 4, 0, 0, 0, 0}, 8) == -1 - CARRICK_COUNT_IP_LENGTH);
    uint8_t many[72] = {0};
    for (uint32_t i = 0; i < 9; i++)
        many[8 * i] = 60;
    many[56] = 253;
    CHECK(parse_extended(60, many, 64) == 104);
    many[56] = 60;
    many[64] = 253;
    CHECK(parse_extended(60, many, 72) == other);
}

/* A message of ICMPv6 for us, from the router, about `quoted` bytes of a packet of ours. */
static uint32_t report(uint8_t *out, uint8_t type, uint8_t code, uint32_t more, uint32_t quoted) {
    struct carrick_ip6 outer = {.src = router, .dst = us, .protocol = CARRICK_ICMP6, .ttl = 64};
    struct carrick_ip6 inner = {.src = us, .dst = peer, .protocol = PROTOCOL, .ttl = 9, .tos = 3};
    uint8_t whole[60] = {0};
    carrick_ip6_build(whole, &inner, 1400);
    carrick_ip6_build(out, &outer, 8 + quoted);
    uint8_t *message = out + 40;
    message[0] = type;
    message[1] = code;
    carrick_store16(message + 2, 0);
    carrick_store32(message + 4, more);
    memcpy(message + 8, whole, quoted);
    /* RFC 8200 §8.1, in its bytes. */
    uint8_t pseudo[40] = {[39] = CARRICK_ICMP6};
    memcpy(pseudo, out + 8, 32);
    carrick_store32(pseudo + 32, 8 + quoted);
    carrick_store_sum(message + 2, carrick_sum(pseudo, sizeof pseudo) + carrick_sum(message, 8 + quoted));
    return 48 + quoted;
}

static int read_report(const uint8_t *octets, uint32_t len, struct carrick_ip6 *ip, struct carrick_quoted6 *quoted) {
    uint8_t *copy = malloc(len);
    memcpy(copy, octets, len);
    int begin = carrick_report6_parse(copy, len, us, PROTOCOL, ip, quoted);
    free(copy);
    return begin;
}

static void reports(void) {
    uint8_t octets[128];
    struct carrick_ip6 ip;
    struct carrick_quoted6 quoted;
    uint32_t len = report(octets, 2, 0, 1300, 60);
    CHECK(read_report(octets, len, &ip, &quoted) == 48);
    CHECK(quoted.kind == 4 && quoted.mtu == 1260 && carrick_ip6_same(quoted.from, router) && quoted.header == 40 &&
          quoted.len == 20);
    CHECK(carrick_ip6_same(ip.src, us) && carrick_ip6_same(ip.dst, peer) && ip.payload_len == 1400 && ip.ttl == 9 &&
          ip.tos == 3);
    octets[50]++;
    CHECK(read_report(octets, len, &ip, &quoted) == -1 - CARRICK_COUNT_BAD_CHECKSUM);
    CHECK(read_report(octets, report(octets, 2, 0, 1279, 60), &ip, &quoted) == -1 - CARRICK_COUNT_IP_LENGTH);
    CHECK(read_report(octets, report(octets, 1, 4, 1279, 48), &ip, &quoted) == 48 && quoted.kind == 3 &&
          quoted.mtu == 0 && quoted.len == 8);
    CHECK(read_report(octets, report(octets, 1, 4, 0, 47), &ip, &quoted) == -1 - CARRICK_COUNT_SHORT);
    CHECK(read_report(octets, report(octets, 1, 7, 0, 48), &ip, &quoted) == -1 - CARRICK_COUNT_IP_PROTOCOL);
    CHECK(read_report(octets, report(octets, 128, 0, 0, 48), &ip, &quoted) == -1 - CARRICK_COUNT_IP_PROTOCOL);
    /* Any byte changed and the checksum right: nothing behind the packet is read. */
    struct carrick_pcg rng = carrick_pcg_make(6, 6);
    for (uint32_t run = 0; run < 20000; run++) {
        len = report(octets, 2, 0, 1300, 60);
        octets[48 + carrick_pcg_next(&rng) % 52] = (uint8_t)carrick_pcg_next(&rng);
        carrick_store16(octets + 42, 0);
        uint64_t sum = carrick_sum_pseudo6(router, us, CARRICK_ICMP6, len - 40) + carrick_sum(octets + 40, len - 40);
        carrick_store_sum(octets + 42, sum);
        int begin = read_report(octets, len, &ip, &quoted);
        CHECK(begin < 0 || (48 + quoted.header + quoted.len <= len && quoted.len >= 8));
    }
}

int main(void) {
    header();
    extensions();
    reports();
    return check_passed("ip6", 3);
}
