/* SPDX-License-Identifier: MIT */
/* What is said of packets that cannot be taken: to whom, how much of them, and how often. */
#include "carrick/ip.h"
#include "carrick/ipv6.h"
#include "carrick/net.h"
#include "carrick/quoted6.h"
#include "carrick/rand.h"
#include "tests/check.h"

#define US      0x0a000001u
#define PEER    0x0a000002u
#define OURS    253u /* the program's protocol */
#define UDP     17u
#define ETHER   14u
#define ONE_NS  UINT64_C(10000000) /* from one error to the next */
#define AT_ONCE 50u

static const uint8_t our_mac[6] = {2, 0, 0, 0, 0, 1}, peer_mac[6] = {2, 0, 0, 0, 0, 2};
static const struct carrick_ip6_address us6 = {UINT64_C(0xfd00) << 48, 1}, peer6 = {UINT64_C(0xfd00) << 48, 2},
                                        nobody = {0, 0};
static uint8_t memory[64][1536], octets[1600];
static struct carrick_frame frames[64];

static void open_net(struct carrick_net *net, bool six) {
    struct carrick_net_config config = {.address = US,
                                        .prefix = six ? 64 : 24,
                                        .address6 = us6,
                                        .mtu = 1500,
                                        .six = six,
                                        .ethernet = true,
                                        .protocol = OURS};
    memcpy(config.mac, our_mac, 6);
    CHECK(carrick_net_open(net, &config));
    memcpy(octets, our_mac, 6);
    memcpy(octets + 6, peer_mac, 6);
    carrick_store16(octets + 12, six ? 0x86dd : 0x0800);
}

/* Gives the packet in `octets` to the net. Returns how many errors are sent then. */
static uint32_t answers(struct carrick_net *net, uint64_t now, uint32_t len) {
    struct carrick_frame frame = {.data = octets, .len = ETHER + len};
    const uint8_t *packets[1];
    uint32_t lens[1];
    for (uint32_t i = 0; i < 64; i++)
        frames[i] = (struct carrick_frame){.data = memory[i], .len = sizeof memory[i]};
    (void)carrick_net_receive(net, now, &frame, 1, packets, lens);
    return carrick_net_owed(net, now, frames, 64);
}

static uint32_t put4(uint8_t protocol, uint32_t payload) {
    struct carrick_ip ip = {.src = PEER, .dst = US, .protocol = protocol, .ttl = 64};
    carrick_ip_build(octets + ETHER, &ip, payload, 0);
    return CARRICK_IP_HEADER + payload;
}

static void a_sender_of_ipv4_is_told(void) {
    struct carrick_net net;
    open_net(&net, false);
    const struct {
        uint8_t protocol, code;
        uint32_t payload, quoted;
    } cases[] = {{UDP, 3, 0, 20}, {UDP, 3, 528, 548}, {UDP, 3, 1480, 548}, {99, 2, 100, 120}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t len = put4(cases[i].protocol, cases[i].payload);
        CHECK(answers(&net, 0, len + 4) == 1); /* what is behind the packet is not quoted */
        const uint8_t *ip = memory[0] + ETHER, *message = ip + 20;
        struct carrick_ip parsed;
        CHECK(memcmp(memory[0], peer_mac, 6) == 0 && frames[0].len == ETHER + 28 + cases[i].quoted);
        CHECK(carrick_ip_parse(ip, frames[0].len - ETHER, PEER, 1, &parsed) == 20 && parsed.src == US);
        CHECK(message[0] == 3 && message[1] == cases[i].code && carrick_load32(message + 4) == 0);
        CHECK(carrick_sum_fold(carrick_sum(message, parsed.payload_len)) == 0);
        CHECK(memcmp(message + 8, octets + ETHER, cases[i].quoted) == 0);
    }
    CHECK(answers(&net, 0, put4(OURS, 40)) == 0);
    uint32_t len = put4(UDP, 40);
    octets[ETHER + 10] ^= 1; /* it may not be for us */
    CHECK(answers(&net, 0, len) == 0);
    carrick_net_close(&net);
}

static void errors_are_few(bool six) {
    struct carrick_net net;
    open_net(&net, six);
    struct carrick_ip6 ip = {.src = peer6, .dst = us6, .protocol = UDP, .ttl = 64};
    uint32_t sent = 0, len = six ? CARRICK_IP6_HEADER + 8 : put4(UDP, 8);
    if (six)
        carrick_ip6_build(octets + ETHER, &ip, 8);
    for (uint32_t i = 0; i < 1000; i++)
        sent += answers(&net, 0, len);
    CHECK(sent == AT_ONCE && net.counters[CARRICK_NET_ERRORS_LIMITED] == 1000 - AT_ONCE);
    CHECK(answers(&net, ONE_NS - 1, len) == 0 && answers(&net, ONE_NS, len) == 1 && answers(&net, ONE_NS, len) == 0);
    sent = 0;
    for (uint64_t now = ONE_NS; now <= 101 * ONE_NS; now += ONE_NS / 10)
        sent += answers(&net, now, len);
    CHECK(sent == 100);
    for (uint32_t i = 0; i < 1000; i++)
        sent += answers(&net, 1000 * ONE_NS, len);
    CHECK(sent == 100 + AT_ONCE);
    carrick_net_close(&net);
}

/* A destination option of this kind, and a header of this one behind it. */
static uint32_t put6(struct carrick_ip6_address from, uint8_t option, uint8_t next, uint8_t first, uint32_t payload) {
    struct carrick_ip6 ip = {.src = from, .dst = us6, .protocol = CARRICK_IP6_DESTINATION, .ttl = 64};
    const uint8_t header[8] = {next, 0, option, 4};
    carrick_ip6_build(octets + ETHER, &ip, 8 + payload);
    memcpy(octets + ETHER + 40, header, sizeof header);
    memset(octets + ETHER + 48, first, payload);
    return 48 + payload;
}

static void a_sender_of_ipv6_is_told_where(void) {
    struct carrick_net net;
    open_net(&net, true);
    const struct {
        uint8_t option, next, type, code;
        uint32_t pointer, payload;
    } cases[] = {
        {0x9e, OURS, 4, 2, 42, 20}, {0xde, OURS, 4, 2, 42, 1400}, {1, 99, 4, 1, 40, 20}, {1, UDP, 1, 4, 0, 20}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t len = put6(peer6, cases[i].option, cases[i].next, 0, cases[i].payload);
        uint32_t quoted = len < 1232 ? len : 1232; /* all in the least MTU */
        CHECK(answers(&net, 0, len) == 1 && frames[0].len == ETHER + 48 + quoted);
        const uint8_t *message = memory[0] + ETHER + 40;
        CHECK(carrick_ip6_same(carrick_ip6_load(message - 16), peer6) && memory[0][ETHER + 6] == CARRICK_ICMP6);
        CHECK(message[0] == cases[i].type && message[1] == cases[i].code &&
              carrick_load32(message + 4) == cases[i].pointer);
        uint64_t sum = carrick_sum_pseudo6(us6, peer6, CARRICK_ICMP6, 8 + quoted) + carrick_sum(message, 8 + quoted);
        CHECK(carrick_sum_fold(sum) == 0 && memcmp(message + 8, octets + ETHER, quoted) == 0);
    }
    CHECK(answers(&net, 0, put6(peer6, 0x5e, OURS, 0, 20)) == 0);
    CHECK(answers(&net, 0, put6(nobody, 0x9e, OURS, 0, 20)) == 0);
    CHECK(answers(&net, 0, put6(peer6, 0x9e, CARRICK_ICMP6, 1, 20)) == 0); /* an error */
    CHECK(answers(&net, 0, put6(peer6, 0x9e, CARRICK_ICMP6, 128, 20)) == 1);
    uint32_t whole = put6(peer6, 0x9e, OURS, 0, 20);
    for (uint32_t len = 0; len < whole; len++) /* cut anywhere, it harms nobody */
        CHECK(answers(&net, 0, len) == 0);
    carrick_net_close(&net);
}

/* A frame for us with any headers; over IPv6 mostly such that extend. Returns its length. */
static uint32_t put_anything(bool six, struct carrick_pcg *rng) {
    static const uint8_t kinds[] = {0, 43, 44, 60, CARRICK_ICMP6, UDP, OURS, 59};
    uint32_t len = 1 + carrick_pcg_next(rng) % 200;
    uint8_t *p = octets + ETHER;
    for (uint32_t i = 0; i < len; i++)
        p[i] =
            (uint8_t)(carrick_pcg_next(rng) % 4 ? kinds[carrick_pcg_next(rng) % sizeof kinds] : carrick_pcg_next(rng));
    if (!six) {
        struct carrick_ip ip = {.src = PEER, .dst = US, .protocol = p[0], .ttl = 64};
        uint16_t fragment = carrick_pcg_next(rng) % 2 ? (uint16_t)(carrick_pcg_next(rng) & 0x2003) : 0;
        carrick_ip_build(p, &ip, len, (uint16_t)(carrick_pcg_next(rng) % 4));
        carrick_store16(p + 6, fragment);
        carrick_store16(p + 10, 0);
        carrick_store_sum(p + 10, carrick_sum(p, CARRICK_IP_HEADER));
        return CARRICK_IP_HEADER + len;
    }
    struct carrick_ip6 ip = {.src = peer6, .dst = us6, .protocol = kinds[carrick_pcg_next(rng) % 4], .ttl = 255};
    uint32_t payload = len > CARRICK_IP6_HEADER ? len - CARRICK_IP6_HEADER : 0;
    carrick_ip6_build(p, &ip, payload);
    return CARRICK_IP6_HEADER + payload;
}

/* What reads beyond a frame, or what was not written, the sanitizers see: each frame has memory of its own size. */
static void any_frame_harms_nobody(bool six) {
    struct carrick_net net;
    struct carrick_pcg rng = carrick_pcg_make(7, six);
    open_net(&net, six);
    for (uint32_t n = 0; n < 30000; n++) {
        uint32_t len = ETHER + put_anything(six, &rng);
        if (carrick_pcg_next(&rng) % 4 == 0)
            octets[ETHER + carrick_pcg_next(&rng) % (len - ETHER)] ^= (uint8_t)(1u << carrick_pcg_next(&rng) % 8);
        if (carrick_pcg_next(&rng) % 8 == 0)
            len = carrick_pcg_next(&rng) % len;
        uint8_t *exact = malloc(len ? len : 1);
        CHECK(exact);
        memcpy(exact, octets, len);
        struct carrick_frame frame = {.data = exact, .len = len};
        const uint8_t *packet;
        uint32_t packet_len;
        uint64_t now = n * ONE_NS;
        uint32_t taken = carrick_net_receive(&net, now, &frame, 1, &packet, &packet_len);
        CHECK(taken == 0 || carrick_sum(packet, packet_len) != UINT64_MAX); /* all of it is there */
        free(exact);
        for (uint32_t i = 0; i < 64; i++)
            frames[i] = (struct carrick_frame){.data = memory[i], .len = 1514};
        (void)carrick_net_owed(&net, now, frames, 64);
    }
    CHECK(net.counters[CARRICK_NET_ERRORS] > 0 && net.counters[CARRICK_NET_FRAGMENTS] > 0 &&
          net.counters[CARRICK_NET_REASSEMBLY_FAILED] > 0);
    carrick_net_close(&net);
}

int main(void) {
    any_frame_harms_nobody(false);
    any_frame_harms_nobody(true);
    a_sender_of_ipv4_is_told();
    a_sender_of_ipv6_is_told_where();
    errors_are_few(false);
    errors_are_few(true);
    puts("refuse: ok");
    return 0;
}
