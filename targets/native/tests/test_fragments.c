/* SPDX-License-Identifier: MIT */
/* Packets that were cut are whole again, whatever the order of their fragments; what cannot be is dropped. */
#include "carrick/ip.h"
#include "carrick/ipv6.h"
#include "carrick/net.h"
#include "carrick/rand.h"
#include "carrick/quoted6.h"
#include "tests/check.h"

#define US        0x0a000001u
#define PEER      0x0a000002u
#define S         UINT64_C(1000000000)
#define MOST      65535u
#define HEADROOM  14u
#define DATAGRAMS 32u /* under way at once, at most */

static const uint8_t our_mac[6] = {2, 0, 0, 0, 0, 1}, peer_mac[6] = {2, 0, 0, 0, 0, 2};
static const struct carrick_ip6_address us6 = {UINT64_C(0xfd00) << 48, 1}, peer6 = {UINT64_C(0xfd00) << 48, 2};
static struct carrick_pcg rng;
static uint8_t whole[MOST + 16]; /* the data of a datagram, and more */

/* A piece of `whole`. */
struct piece {
    uint32_t begin, len, id;
    bool more;
    uint8_t tos;
};

static void open_net(struct carrick_net *net, bool six) {
    struct carrick_net_config config = {
        .address = US, .prefix = six ? 64 : 24, .address6 = us6, .mtu = 1500, .six = six, .ethernet = true};
    config.protocol = 253;
    memcpy(config.mac, our_mac, 6);
    CHECK(carrick_net_open(net, &config));
}

/* A fragment's frame: bytes. Over IPv6 a destination header is before the fragment header. */
static uint32_t build(const struct carrick_net *net, const struct piece *piece, uint8_t *frame) {
    uint8_t *p = frame + HEADROOM;
    memcpy(frame, our_mac, 6);
    memcpy(frame + 6, peer_mac, 6);
    carrick_store16(frame + 12, net->config.six ? 0x86dd : 0x0800);
    if (!net->config.six) {
        struct carrick_ip ip = {.src = PEER, .dst = US, .protocol = 253, .ttl = 64, .tos = piece->tos};
        carrick_ip_build(p, &ip, piece->len, (uint16_t)piece->id);
        carrick_store16(p + 6, (uint16_t)(piece->begin / 8 | (piece->more ? 0x2000 : 0)));
        carrick_store16(p + 10, 0);
        carrick_store_sum(p + 10, carrick_sum(p, 20));
        memcpy(p + 20, whole + piece->begin, piece->len);
        return HEADROOM + 20 + piece->len;
    }
    struct carrick_ip6 ip = {.src = peer6, .dst = us6, .protocol = CARRICK_IP6_DESTINATION, .tos = piece->tos};
    const uint8_t padding[8] = {CARRICK_IP6_FRAGMENT, 0, 1, 4};
    carrick_ip6_build(p, &ip, 16 + piece->len);
    memcpy(p + 40, padding, 8);
    p[48] = 253;
    p[49] = 0;
    carrick_store16(p + 50, (uint16_t)(piece->begin | piece->more));
    carrick_store32(p + 52, piece->id);
    memcpy(p + 56, whole + piece->begin, piece->len);
    return HEADROOM + 56 + piece->len;
}

/* Gives a fragment to the net. Returns the packet that is whole then; NULL: none is. */
static const uint8_t *give(struct carrick_net *net, uint64_t now, struct piece piece, uint32_t *len) {
    static uint8_t octets[HEADROOM + 56 + MOST];
    struct carrick_frame frame = {.data = octets, .len = build(net, &piece, octets)};
    const uint8_t *packet = NULL;
    uint32_t n = carrick_net_receive(net, now, &frame, 1, &packet, len);
    return n ? packet : NULL;
}

static bool is_whole(const struct carrick_net *net, const uint8_t *packet, uint32_t len, uint32_t data) {
    if (!packet)
        return false;
    if (net->config.six) {
        struct carrick_ip6 ip = {0};
        ip.protocol = packet[40];
        return len == 48 + data && carrick_ip6_total(packet) == len && packet[6] == CARRICK_IP6_DESTINATION &&
               ip.protocol == 253 && memcmp(packet + 48, whole, data) == 0;
    }
    struct carrick_ip ip;
    return len == 20 + data && carrick_ip_parse(packet, len, US, 253, &ip) == 20 && ip.payload_len == data &&
           memcmp(packet + 20, whole, data) == 0;
}

/* Cuts at random, in a random order, with duplicates. */
static void any_order_is_right(struct carrick_net *net, uint32_t id, uint32_t data) {
    struct piece pieces[64];
    uint32_t count = 0;
    for (uint32_t at = 0; at < data; count++) {
        uint32_t len = count == 62 ? data - at : 8 * (1 + carrick_pcg_next(&rng) % (data / 60 + 2));
        len = at == 0 && len >= data ? 8 : len;
        len = len < data - at ? len : data - at;
        pieces[count] = (struct piece){at, len, id, at + len < data, 0};
        at += len;
    }
    uint32_t len = 0;
    const uint8_t *packet = NULL;
    for (uint32_t left = count; left > 0; left--) {
        CHECK(!packet);
        uint32_t n = carrick_pcg_next(&rng) % left;
        struct piece piece = pieces[n];
        pieces[n] = pieces[left - 1];
        packet = give(net, 0, piece, &len);
        if (!packet && carrick_pcg_next(&rng) % 4 == 0)
            CHECK(!give(net, 0, piece, &len));
    }
    CHECK(is_whole(net, packet, len, data));
}

static void fragments_become_whole(bool six) {
    struct carrick_net net;
    open_net(&net, six);
    const uint32_t most = MOST - (six ? 8 : 20);
    const uint32_t lens[] = {9, 16, 1000, 1480, 9000, most - 1, most};
    uint32_t id = 0;
    for (uint32_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        for (uint32_t n = 0; n < 20; n++)
            any_order_is_right(&net, id++, lens[i]);
    CHECK(net.counters[CARRICK_NET_REASSEMBLED] == id && net.counters[CARRICK_NET_REASSEMBLY_FAILED] == 0);
    CHECK(carrick_net_deadline(&net) < UINT64_MAX);
    (void)carrick_net_owed(&net, 100 * S, NULL, 0);
    CHECK(carrick_net_deadline(&net) == UINT64_MAX && net.counters[CARRICK_NET_REASSEMBLY_FAILED] == 0);
    carrick_net_close(&net);
}

/* After each, nothing is left of the datagram that the rest would complete. */
static void what_contradicts_itself_is_dropped(bool six) {
    struct carrick_net net;
    uint32_t len, most = MOST - (six ? 8 : 20);
    const struct piece cases[][3] = {
        {{0, 24, 1, true, 0}, {16, 16, 1, true, 0}, {24, 8, 1, false, 0}},        /* overlap */
        {{0, 24, 2, true, 0}, {8, 24, 2, false, 0}, {24, 8, 2, false, 0}},        /* of the last */
        {{0, 16, 3, true, 0}, {40, 8, 3, false, 0}, {16, 32, 3, true, 0}},        /* behind the end */
        {{24, 8, 4, false, 0}, {24, 16, 4, false, 0}, {0, 24, 4, true, 0}},       /* two ends */
        {{0, 16, 5, true, 0}, {16, 15, 5, true, 0}, {31, 8, 5, false, 0}},        /* no multiple of 8 */
        {{0, 16, 6, true, 0}, {most - 7, 16, 6, false, 0}, {16, 8, 6, false, 1}}, /* too long */
        {{0, 16, 7, true, 0}, {16, 0, 7, false, 0}, {24, 8, 7, false, 0}},        /* nothing in it */
        {{0, 16, 8, true, 3}, {16, 8, 8, false, 0}, {0, 16, 9, true, 0}},         /* RFC 3168 §5.3 */
    };
    open_net(&net, six);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t failed = net.counters[CARRICK_NET_REASSEMBLY_FAILED];
        for (uint32_t n = 0; n < 3; n++)
            CHECK(!give(&net, 0, cases[i][n], &len) || i == 5); /* the long one alone is dropped there */
        CHECK(net.counters[CARRICK_NET_REASSEMBLY_FAILED] > failed);
    }
    carrick_net_close(&net);
}

static void congestion_is_kept(bool six) {
    struct carrick_net net;
    uint32_t len;
    open_net(&net, six);
    CHECK(!give(&net, 0, (struct piece){0, 16, 1, true, 0xb9}, &len)); /* ECT(1) */
    const uint8_t *packet = give(&net, 0, (struct piece){16, 8, 1, false, 0xbb}, &len);
    CHECK(is_whole(&net, packet, len, 24));
    CHECK((six ? (carrick_load16(packet) >> 4 & 0xff) : packet[1]) == 0xbb);
    carrick_net_close(&net);
}

/* The sender of the first fragment, once: time exceeded, in reassembly, with that fragment as it was sent. */
static bool is_told(struct carrick_net *net, uint64_t now, bool six) {
    static uint8_t octets[1514], sent[HEADROOM + 56 + MOST];
    const struct piece piece = {0, 16, 1, true, 0};
    struct carrick_frame frame = {.data = octets, .len = sizeof octets};
    uint32_t len = build(net, &piece, sent) - HEADROOM, header = six ? 40 : 20;
    if (carrick_net_owed(net, now, &frame, 1) != 1 || frame.len != HEADROOM + header + 8 + len)
        return false;
    const uint8_t *message = octets + HEADROOM + header;
    return memcmp(octets, peer_mac, 6) == 0 && message[0] == (six ? 3 : 11) && message[1] == 1 &&
           memcmp(message + 8, sent + HEADROOM, len) == 0 && carrick_net_owed(net, now, &frame, 1) == 0;
}

/* A parameter problem with this code and pointer is owed, and nothing else. */
static bool is_reported(struct carrick_net *net, uint8_t code, uint32_t pointer) {
    static uint8_t octets[1514];
    struct carrick_frame frame = {.data = octets, .len = sizeof octets};
    const uint8_t *message = octets + HEADROOM + 40;
    return carrick_net_owed(net, 0, &frame, 1) == 1 && memcmp(octets, peer_mac, 6) == 0 && message[0] == 4 &&
           message[1] == code && carrick_load32(message + 4) == pointer && carrick_net_owed(net, 0, &frame, 1) == 0;
}

/* Over IPv6 (RFC 8200 §4.5); never of an error. */
static void wrong_fragments_are_reported(void) {
    struct carrick_net net;
    uint8_t octets[HEADROOM + 56 + 64];
    uint32_t len;
    const uint8_t *packet;
    open_net(&net, true);
    CHECK(!give(&net, 0, (struct piece){16, 15, 1, true, 0}, &len) && is_reported(&net, 0, 4));
    CHECK(!give(&net, 0, (struct piece){65528, 16, 1, false, 0}, &len) && is_reported(&net, 0, 50));
    struct carrick_frame frame = {.data = octets, .len = build(&net, &(struct piece){0, 16, 1, true, 0}, octets)};
    octets[HEADROOM + 48] = CARRICK_IP6_DESTINATION;
    octets[HEADROOM + 57] = 2; /* 24 bytes of options */
    CHECK(carrick_net_receive(&net, 0, &frame, 1, &packet, &len) == 0 && is_reported(&net, 3, 0));
    octets[HEADROOM + 57] = 0;
    CHECK(carrick_net_receive(&net, 0, &frame, 1, &packet, &len) == 0 && carrick_net_owed(&net, 0, &frame, 1) == 0);
    frame.len = build(&net, &(struct piece){16, 15, 1, true, 0}, octets);
    octets[HEADROOM + 48] = CARRICK_ICMP6;
    CHECK(carrick_net_receive(&net, 0, &frame, 1, &packet, &len) == 0 && carrick_net_owed(&net, 0, &frame, 1) == 0);
    carrick_net_close(&net);
}

static void waiting_is_bounded(bool six) {
    struct carrick_net net;
    uint32_t len;
    open_net(&net, six);
    CHECK(!give(&net, 1 * S, (struct piece){0, 16, 1, true, 0}, &len));
    (void)carrick_net_owed(&net, 1 * S, NULL, 0);
    uint64_t until = carrick_net_deadline(&net);
    CHECK(until == (six ? 61 : 31) * S);
    (void)carrick_net_owed(&net, until - 1, NULL, 0);
    CHECK(net.counters[CARRICK_NET_REASSEMBLY_FAILED] == 0);
    CHECK(is_told(&net, until, six));
    CHECK(net.counters[CARRICK_NET_REASSEMBLY_FAILED] == 1 && carrick_net_deadline(&net) == UINT64_MAX);
    CHECK(!give(&net, until, (struct piece){16, 8, 1, false, 0}, &len));
    /* A flood takes the places of its own kind; who comes in one piece after it is not delayed. */
    for (uint32_t id = 100; id < 100 + 10 * DATAGRAMS; id++)
        CHECK(!give(&net, until + id, (struct piece){0, 1400, id, true, 0}, &len));
    CHECK(!give(&net, until + 9999, (struct piece){0, 16, 1, true, 0}, &len));
    CHECK(give(&net, until + 9999, (struct piece){16, 8, 1, false, 0}, &len));
    CHECK(net.counters[CARRICK_NET_REASSEMBLY_FAILED] == 1 + 1 + 9 * DATAGRAMS + 1);
    carrick_net_close(&net);
}

/* All of a batch are lent at once, and one more has to be sent again. */
static void what_is_lent_is_not_written(bool six) {
    enum { COUNT = 2 * (DATAGRAMS + 1) };
    static uint8_t octets[COUNT][1536];
    struct carrick_net net;
    struct carrick_frame frames[COUNT];
    const uint8_t *packets[COUNT];
    uint32_t lens[COUNT];
    open_net(&net, six);
    for (uint32_t n = 0; n < COUNT; n++) {
        struct piece piece = {n % 2 * 1000, n % 2 ? 400 : 1000, n / 2, n % 2 == 0, 0};
        frames[n] = (struct carrick_frame){.data = octets[n], .len = build(&net, &piece, octets[n])};
    }
    CHECK(carrick_net_receive(&net, 0, frames, 64, packets, lens) == DATAGRAMS);
    for (uint32_t n = 0; n < DATAGRAMS; n++)
        CHECK(is_whole(&net, packets[n], lens[n], 1400));
    CHECK(carrick_net_receive(&net, 0, frames + 64, 2, packets, lens) == 1 &&
          is_whole(&net, packets[0], lens[0], 1400));
    carrick_net_close(&net);
}

int main(void) {
    rng = carrick_pcg_make(1, 1);
    for (uint32_t i = 0; i < sizeof whole; i++)
        whole[i] = (uint8_t)carrick_pcg_next(&rng);
    for (int six = 0; six < 2; six++) {
        fragments_become_whole(six);
        what_contradicts_itself_is_dropped(six);
        congestion_is_kept(six);
        waiting_is_bounded(six);
        what_is_lent_is_not_written(six);
    }
    wrong_fragments_are_reported();
    puts("fragments: ok");
    return 0;
}
