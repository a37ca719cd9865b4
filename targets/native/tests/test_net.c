/* SPDX-License-Identifier: MIT */
/* ARP, ICMP echo, and what waits for a neighbour. */
#include "carrick/ip.h"
#include "carrick/net.h"
#include "tests/check.h"

#define US   0x0a000001u
#define PEER 0x0a000002u
#define FAR  0x08080808u
#define GATE 0x0a0000feu

static const uint8_t our_mac[6] = {2, 0, 0, 0, 0, 1}, peer_mac[6] = {2, 0, 0, 0, 0, 2};
static uint8_t memory[CARRICK_PORT_BATCH][1536];
static struct carrick_frame frames[CARRICK_PORT_BATCH];

static void open_net(struct carrick_net *net, uint32_t gateway) {
    struct carrick_net_config config = {.address = US, .prefix = 24, .gateway = gateway, .mtu = 1500, .ethernet = true};
    memcpy(config.mac, our_mac, 6);
    CHECK(carrick_net_open(net, &config));
    for (uint32_t i = 0; i < CARRICK_PORT_BATCH; i++)
        frames[i] = (struct carrick_frame){.data = memory[i], .len = 1514};
}

static struct carrick_frame arp(uint8_t *out, uint16_t operation, uint32_t from, const uint8_t *mac, uint32_t to) {
    memset(out, 0, 42);
    memset(out, 0xff, 6);
    memcpy(out + 6, mac, 6);
    carrick_store16(out + 12, 0x0806);
    carrick_store16(out + 14, 1);
    carrick_store16(out + 16, 0x0800);
    out[18] = 6;
    out[19] = 4;
    carrick_store16(out + 20, operation);
    memcpy(out + 22, mac, 6);
    carrick_store32(out + 28, from);
    carrick_store32(out + 38, to);
    return (struct carrick_frame){.data = out, .len = 42};
}

/* A packet of ours in a reserved frame, as a core leaves it. */
static struct carrick_frame packet(uint32_t to) {
    struct carrick_ip ip = {.src = US, .dst = to, .protocol = 253, .ttl = 64};
    carrick_ip_build(memory[0] + 14, &ip, 4, 0);
    return (struct carrick_frame){.data = memory[0], .len = 24};
}

static uint32_t give(struct carrick_net *net, uint64_t now, const struct carrick_frame *frame) {
    const uint8_t *packets[1];
    uint32_t lens[1];
    return carrick_net_receive(net, now, frame, 1, packets, lens);
}

static void who_asks_is_told(void) {
    struct carrick_net net;
    uint8_t buffer[64];
    open_net(&net, 0);
    struct carrick_frame ask = arp(buffer, 1, PEER, peer_mac, US);
    CHECK(give(&net, 0, &ask) == 0);
    CHECK(carrick_net_owed(&net, 0, frames, 8) == 1 && frames[0].len == 42);
    const uint8_t *reply = frames[0].data;
    CHECK(memcmp(reply, peer_mac, 6) == 0 && memcmp(reply + 6, our_mac, 6) == 0 && carrick_load16(reply + 20) == 2);
    CHECK(memcmp(reply + 22, our_mac, 6) == 0 && carrick_load32(reply + 28) == US);
    CHECK(memcmp(reply + 32, peer_mac, 6) == 0 && carrick_load32(reply + 38) == PEER);
    struct carrick_frame out = packet(PEER); /* and is known from then on */
    carrick_net_frame(&net, 0, &out);
    CHECK(out.len == 38 && memcmp(out.data, peer_mac, 6) == 0 && carrick_load16(out.data + 12) == 0x0800);
    ask = arp(buffer, 1, PEER, peer_mac, US + 5);
    CHECK(give(&net, 0, &ask) == 0 && carrick_net_owed(&net, 0, frames, 8) == 0);
    ask.len = 41;
    CHECK(give(&net, 0, &ask) == 0 && net.counters[CARRICK_NET_BAD_ARP] == 1);
    ask = arp(buffer, 1, US, peer_mac, US); /* someone claims to be us */
    CHECK(give(&net, 0, &ask) == 0 && net.counters[CARRICK_NET_BAD_ARP] == 2);
    carrick_net_close(&net);
}

static void packets_wait_for_an_answer(void) {
    struct carrick_net net;
    uint8_t buffer[64];
    open_net(&net, GATE);
    for (int i = 0; i < 3; i++) {
        struct carrick_frame out = packet(FAR);
        carrick_net_frame(&net, 1000, &out);
        CHECK(out.len == 0);
    }
    CHECK(carrick_net_deadline(&net) <= 1000);
    CHECK(carrick_net_owed(&net, 1000, frames, 8) == 1 && carrick_load32(frames[0].data + 38) == GATE);
    CHECK(carrick_net_owed(&net, 2000, frames, 8) == 0); /* asks once, then waits */
    uint64_t again = carrick_net_deadline(&net);
    CHECK(again > 2000 && again < UINT64_MAX && carrick_net_owed(&net, again, frames, 8) == 1);
    struct carrick_frame answer = arp(buffer, 2, GATE, peer_mac, US);
    CHECK(give(&net, again, &answer) == 0);
    CHECK(carrick_net_owed(&net, again, frames, 8) == 3);
    for (int i = 0; i < 3; i++)
        CHECK(frames[i].len == 38 && memcmp(frames[i].data, peer_mac, 6) == 0 &&
              carrick_load32(frames[i].data + 30) == FAR);
    CHECK(carrick_net_owed(&net, carrick_net_deadline(&net), frames, 8) == 0); /* nothing more is asked */
    CHECK(carrick_net_deadline(&net) == UINT64_MAX);
    carrick_net_close(&net);
}

static void nobody_answers(void) {
    struct carrick_net net;
    open_net(&net, 0);
    struct carrick_frame out = packet(PEER);
    carrick_net_frame(&net, 0, &out);
    uint32_t asked = 0;
    for (uint64_t now = 0; (now = carrick_net_deadline(&net)) != UINT64_MAX;) {
        CHECK(now < 3000000000u);
        asked += carrick_net_owed(&net, now, frames, 8);
    }
    CHECK(asked == 4 && net.counters[CARRICK_NET_UNRESOLVED] == 1);
    out = packet(PEER); /* a later packet asks anew */
    carrick_net_frame(&net, 9000000000u, &out);
    CHECK(carrick_net_owed(&net, 9000000000u, frames, 8) == 1);
    out = packet(FAR);
    carrick_net_frame(&net, 0, &out);
    CHECK(out.len == 0 && net.counters[CARRICK_NET_NO_ROUTE] == 1);
    for (uint32_t i = 0; i < CARRICK_WAITING + 1; i++) {
        out = packet(PEER);
        carrick_net_frame(&net, 9000000000u, &out);
    }
    CHECK(net.counters[CARRICK_NET_WAITING_FULL] == 2);
    carrick_net_close(&net);
}

static struct carrick_frame ping(uint8_t *out, uint32_t octets) {
    struct carrick_ip ip = {.src = PEER, .dst = US, .protocol = 1, .ttl = 64};
    memcpy(out, our_mac, 6);
    memcpy(out + 6, peer_mac, 6);
    carrick_store16(out + 12, 0x0800);
    carrick_ip_build(out + 14, &ip, octets, 0);
    for (uint32_t i = 0; i < octets; i++)
        out[34 + i] = (uint8_t)i;
    out[34] = 8;
    out[35] = 0;
    carrick_store16(out + 36, 0);
    carrick_store_sum(out + 36, carrick_sum(out + 34, octets));
    return (struct carrick_frame){.data = out, .len = 34 + octets};
}

static void an_echo_comes_back(void) {
    struct carrick_net net;
    uint8_t buffer[1600];
    open_net(&net, 0);
    struct carrick_frame in = ping(buffer, 1480);
    CHECK(give(&net, 0, &in) == 0 && carrick_net_owed(&net, 0, frames, 8) == 1 && frames[0].len == in.len);
    const uint8_t *ip = frames[0].data + 14;
    CHECK(memcmp(frames[0].data, peer_mac, 6) == 0 && carrick_load32(ip + 16) == PEER && carrick_load32(ip + 12) == US);
    CHECK(ip[20] == 0 && carrick_sum_fold(carrick_sum(ip, 20)) == 0 &&
          carrick_sum_fold(carrick_sum(ip + 20, 1480)) == 0);
    CHECK(memcmp(ip + 24, buffer + 38, 1476) == 0);
    in = ping(buffer, 9);
    buffer[42] ^= 1;
    CHECK(give(&net, 0, &in) == 0 && net.counters[CARRICK_NET_BAD_ICMP] == 1);
    for (uint32_t len = 0; len < 42; len++) { /* cut anywhere, it harms nobody */
        in = ping(buffer, 8);
        in.len = len;
        (void)give(&net, 0, &in);
    }
    CHECK(carrick_net_owed(&net, 0, frames, 8) == 0 && net.counters[CARRICK_NET_SHORT] == 14);
    in = ping(buffer, 8);
    carrick_store16(buffer + 12, 0x86dd);
    CHECK(give(&net, 0, &in) == 0 && net.counters[CARRICK_NET_OTHER_TYPE] == 1);
    carrick_net_close(&net);
}

static void errors_are_for_a_core_that_reads_them(void) {
    struct carrick_net net;
    uint8_t buffer[1600];
    open_net(&net, 0);
    const uint8_t types[] = {3, 11, 12, 0, 5};
    for (uint32_t reads = 0; reads < 2; reads++) {
        net.config.reports = reads;
        for (uint32_t i = 0; i < sizeof types; i++) {
            struct carrick_frame in = ping(buffer, 36);
            buffer[34] = types[i];
            carrick_store16(buffer + 36, 0);
            carrick_store_sum(buffer + 36, carrick_sum(buffer + 34, 36));
            CHECK(give(&net, 0, &in) == (reads && i < 3));
            buffer[50] ^= 1; /* damaged, it is for nobody */
            CHECK(give(&net, 0, &in) == 0);
        }
    }
    CHECK(net.counters[CARRICK_NET_OTHER_ICMP] == 7 && net.counters[CARRICK_NET_BAD_ICMP] == 10);
    carrick_net_close(&net);
}

/* The prefix is 24 bits; with 32, there is no broadcast. */
static void sources_are_hosts(void) {
    struct carrick_net net;
    uint8_t buffer[64] = {0};
    open_net(&net, 0);
    const struct {
        uint32_t source;
        bool host;
    } cases[] = {{PEER, true},        {FAR, true},         {0xf0000001, true},  {0x0a0000fe, true},
                 {0x0a000000, true},  {0x0a0000ff, false}, {0x0a0001ff, true},  {US, false},
                 {0, false},          {0x00ffffff, false}, {0x7f000001, false}, {0xdfffffff, true},
                 {0xe0000001, false}, {0xefffffff, false}, {0xffffffff, false}, {0xfffffffe, true}};
    memcpy(buffer, our_mac, 6);
    carrick_store16(buffer + 12, 0x0800);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct carrick_ip ip = {.src = cases[i].source, .dst = US, .protocol = 253, .ttl = 64};
        carrick_ip_build(buffer + 14, &ip, 4, 0);
        CHECK(give(&net, 0, &(struct carrick_frame){.data = buffer, .len = 38}) == cases[i].host);
    }
    struct carrick_ip ip = {.src = 0x0a0000ff, .dst = US, .protocol = 253, .ttl = 64};
    carrick_ip_build(buffer + 14, &ip, 4, 0);
    net.config.prefix = 32;
    CHECK(give(&net, 0, &(struct carrick_frame){.data = buffer, .len = 38}) == 1);
    carrick_net_close(&net);
}

int main(void) {
    sources_are_hosts();
    who_asks_is_told();
    packets_wait_for_an_answer();
    nobody_answers();
    an_echo_comes_back();
    errors_are_for_a_core_that_reads_them();
    puts("net: ok");
    return 0;
}
