/* SPDX-License-Identifier: MIT */
/* Segment routing headers of a program with lists of at most three addresses. */
#define CARRICK_SEGMENTS 3u

#include "carrick/ip6.h"
#include "check.h"

static const struct carrick_ip6_address us = {0xfd00u, 2}, peer = {0xfd00u, 1}, last = {0xfd00u, 9};

/* A packet of protocol 253 with this header and 4 bytes: where its headers end, as they say. */
static uint32_t build(uint8_t *out, const struct carrick_ip6 *ip) {
    memset(out, 0, 256);
    carrick_ip6_build_routed(out, ip, 4);
    return carrick_ip6_headers(ip);
}

static struct carrick_ip6 routed(uint8_t count, uint8_t left) {
    struct carrick_ip6 ip = {.src = peer, .dst = us, .protocol = 253, .ttl = 5, .segment_tag = 0x1234};
    ip.segment_count = count;
    ip.segments_left = left;
    ip.segment_flags = 0x10;
    ip.segments[0] = last;
    return ip;
}

static void what_is_written_is_read_back(void) {
    uint8_t out[256];
    for (uint8_t count = 0; count <= 3; count++) {
        struct carrick_ip6 ip = routed(count, 0), got;
        uint32_t begin = build(out, &ip);
        CHECK(begin == (count ? 48u + 16u * count : 40u));
        CHECK(carrick_ip6_parse(out, begin + 4, us, 253, &got) == (int)begin);
        CHECK(got.segment_count == count);
        CHECK(got.payload_len == 4);
        CHECK(count == 0 || (got.segment_tag == 0x1234 && carrick_ip6_same(got.segments[0], last)));
    }
}

static void numbers_above_the_list_are_cut(void) {
    uint8_t out[256];
    struct carrick_ip6 ip = routed(200, 200);
    CHECK(build(out, &ip) == 96);
    CHECK(out[43] == 3); /* segments left */
    CHECK(out[44] == 2); /* last entry */
}

static void an_endpoint_takes_a_packet_at_the_end_of_its_path(void) {
    uint8_t out[256];
    struct carrick_ip6 ip = routed(2, 1), got;
    uint32_t begin = build(out, &ip);
    CHECK(carrick_ip6_same(*carrick_ip6_last(&ip), last));
    CHECK(carrick_ip6_parse(out, begin + 4, us, 253, &got) == -1 - CARRICK_COUNT_IP_PROTOCOL);
    out[43] = 0;
    CHECK(carrick_ip6_parse(out, begin + 4, us, 253, &got) == (int)begin);
    CHECK(carrick_ip6_same(*carrick_ip6_last(&got), us));
}

/* (byte, value) of a header with two addresses; without segments left it is skipped all the same. */
static void what_is_malformed_is_not_read(void) {
    static const uint8_t wrong[][2] = {{42, 0}, {44, 2}, {44, 200}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t out[256];
        struct carrick_ip6 ip = routed(2, 0), got;
        uint32_t begin = build(out, &ip);
        out[wrong[i][0]] = wrong[i][1];
        CHECK(carrick_ip6_parse(out, begin + 4, us, 253, &got) == (int)begin);
        CHECK(got.segment_count == 0);
        out[43] = 1;
        CHECK(carrick_ip6_parse(out, begin + 4, us, 253, &got) == -1 - CARRICK_COUNT_IP_PROTOCOL);
    }
}

int main(void) {
    what_is_written_is_read_back();
    numbers_above_the_list_are_cut();
    an_endpoint_takes_a_packet_at_the_end_of_its_path();
    what_is_malformed_is_not_read();
    return check_passed("segments6", 4);
}
