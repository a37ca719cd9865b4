/* SPDX-License-Identifier: MIT */
/* A program in the network between ports of memory, some of which carry Ethernet. The program does to a packet what its
 * first byte says. */
#include <string.h>

#include "apps/apps.h"
#include "carrick/host.h"
#include "carrick/ip.h"
#include "carrick/store.h"
#include "tests/check.h"
#include "tests/toy.h"

#define ALICE 0x0a000001u
#define BOB   0x0a000002u
#define CAROL 0x0a000003u
#define MTU   1500u
#define DEPTH 64u

enum { FORWARD, DROP, ANSWER, BY, LATER, TO }; /* BY: by the interface in the next byte; TO: to the address there */

static struct carrick_port_error error;
static const uint8_t everyone[6] = {255, 255, 255, 255, 255, 255};

/* The program: one packet at a time, and one that it sends when its timer fires. */
struct carrick_core {
    uint8_t packet[MTU];
    uint32_t len, by, left_by, refused;
    uint64_t due;
    uint64_t counters[1];
};

static size_t footprint(const struct carrick_config *config) {
    return config->mtu <= MTU ? sizeof(struct carrick_core) : 0;
}

static uint32_t capacity(const struct carrick_config *config) {
    return (void)config, 1;
}

static struct carrick_core *init(void *memory, const struct carrick_config *config) {
    struct carrick_core *core = memory;
    (void)config;
    core->due = CARRICK_NEVER;
    return core;
}

static int rx_on(struct carrick_core *core, uint32_t interface, const uint8_t *packet, uint32_t len, uint64_t now) {
    if (core->len && core->due == CARRICK_NEVER) {
        core->refused++;
        return CARRICK_AGAIN;
    }
    core->counters[0]++;
    if (len < CARRICK_IP_HEADER + 5 || len > MTU)
        return CARRICK_DROPPED;
    const uint8_t *payload = packet + CARRICK_IP_HEADER;
    memcpy(core->packet, packet, len);
    core->len = payload[0] == DROP ? 0 : len;
    core->by = payload[0] == BY ? payload[1] : CARRICK_ROUTE;
    core->due = payload[0] == LATER ? now : CARRICK_NEVER;
    if (payload[0] == ANSWER) {
        memcpy(core->packet + 12, packet + 16, 4);
        memcpy(core->packet + 16, packet + 12, 4);
        core->packet[CARRICK_IP_HEADER + 1] = (uint8_t)interface;
    }
    if (payload[0] == TO)
        memcpy(core->packet + 16, payload + 1, 4);
    return 0;
}

static uint32_t tx(struct carrick_core *core, uint8_t *buffer, uint32_t cap, uint64_t now) {
    uint32_t len = core->len;
    if (len == 0 || len > cap || core->due != CARRICK_NEVER)
        return (void)now, 0;
    memcpy(buffer, core->packet, len);
    core->left_by = core->by;
    core->len = 0;
    return len;
}

static uint32_t tx_interface(const struct carrick_core *core) {
    return core->left_by;
}

static int advance(struct carrick_core *core, uint64_t now) {
    if (core->due <= now)
        core->due = CARRICK_NEVER;
    return 0;
}

static uint64_t wake_by(const struct carrick_core *core) {
    return core->due;
}

static bool no_completion(struct carrick_core *core, struct carrick_completion *out) {
    return (void)core, (void)out, false;
}

static const uint64_t *counters(const struct carrick_core *core) {
    return core->counters;
}

static const char *const names[] = {"rx_packets"};
static const struct carrick_program program = {.abi = CARRICK_ABI,
                                               .name = "node",
                                               .counter_names = names,
                                               .counter_count = 1,
                                               .footprint = footprint,
                                               .capacity = capacity,
                                               .init = init,
                                               .tx = tx,
                                               .advance = advance,
                                               .wake_by = wake_by,
                                               .next_completion = no_completion,
                                               .counters = counters,
                                               .rx_on = rx_on,
                                               .tx_interface = tx_interface};

/* A node between so many wires, and the far ends of these. */
struct node {
    struct carrick_host host;
    struct carrick_port *near[CARRICK_INTERFACES], *far[CARRICK_INTERFACES];
};

static struct node open_node(uint32_t wires, bool ethernet) {
    struct node node;
    for (uint32_t i = 0; i < wires; i++) {
        struct carrick_port *ends[2];
        CHECK(carrick_loop_open(MTU + CARRICK_ETHER_HEADER, DEPTH, ends, &error));
        node.near[i] = ends[0];
        node.far[i] = ends[1];
        for (int end = 0; end < 2; end++) {
            ends[end]->mtu = MTU;
            ends[end]->ethernet = ethernet;
        }
        memcpy(ends[0]->mac, (const uint8_t[6]){2, 9, 9, 9, 9, (uint8_t)i}, 6);
    }
    struct carrick_host_config config = {.program = &program, .ports = node.near, .port_count = wires};
    config.core.seed = 7;
    CHECK(carrick_host_open(&node.host, &config, &error));
    return node;
}

static void close_node(struct node *node, uint32_t wires) {
    carrick_host_close(&node->host);
    for (uint32_t i = 0; i < wires; i++)
        carrick_port_close(node->far[i]);
}

static void turn(struct node *node) {
    bool worked = true;
    while (worked) {
        carrick_host_tick(&node->host);
        worked = carrick_host_input(&node->host);
        (void)carrick_host_drain(&node->host);
    }
}

/* The hardware address of a host. */
static const uint8_t *mac(uint32_t address) {
    static uint8_t macs[256][6];
    uint8_t *it = macs[address & 255];
    memcpy(it, (const uint8_t[6]){2, 0, 0, 0, 0, (uint8_t)address}, 6);
    return it;
}

static void put(struct node *node, uint32_t wire, const void *data, uint32_t len) {
    struct carrick_frame frame;
    CHECK(carrick_port_reserve(node->far[wire], 0, &frame, 1) == 1);
    memcpy(frame.data, data, len);
    frame.len = len;
    carrick_port_commit(node->far[wire], 0, &frame, 1);
}

/* A packet with this payload; the same without Ethernet if `to` is NULL. Returns its length. */
static uint32_t make(uint8_t *frame, const uint8_t *to, uint32_t src, uint32_t dst, const void *payload, uint32_t len) {
    uint32_t at = to ? CARRICK_ETHER_HEADER : 0;
    struct carrick_ip ip = {.src = src, .dst = dst, .protocol = 253, .ttl = 9};
    if (to) {
        memcpy(frame, to, 6);
        memcpy(frame + 6, mac(src), 6);
        carrick_store16(frame + 12, 0x0800);
    }
    carrick_ip_build(frame + at, &ip, len, 0);
    memcpy(frame + at + CARRICK_IP_HEADER, payload, len);
    return at + CARRICK_IP_HEADER + len;
}

static void say(struct node *node, uint32_t wire, const uint8_t *to, uint32_t src, uint32_t dst, uint8_t what,
                uint32_t argument) {
    uint8_t frame[128], payload[40] = {what};
    carrick_store32(payload + 1, argument);
    put(node, wire, frame, make(frame, to, src, dst, payload, sizeof payload));
    turn(node);
}

/* The one frame that came out of a wire, NULL: none did. */
static const uint8_t *got(struct node *node, uint32_t wire) {
    struct carrick_frame frames[4];
    uint32_t count = carrick_port_receive(node->far[wire], 0, frames, 4);
    CHECK(count <= 1);
    return count ? frames[0].data : NULL;
}

static uint64_t count(const struct node *node, enum carrick_bridge_counter which) {
    return node->host.bridge.counters[which];
}

static bool is_from_to(const uint8_t *frame, const uint8_t *from, const uint8_t *to) {
    return frame && memcmp(frame, to, 6) == 0 && memcmp(frame + 6, from, 6) == 0;
}

static void a_forwarded_packet_keeps_its_header(void) {
    struct node node = open_node(2, true);
    say(&node, 0, mac(BOB), ALICE, BOB, FORWARD, 0);
    CHECK(is_from_to(got(&node, 1), mac(ALICE), mac(BOB)) && !got(&node, 0));
    say(&node, 1, mac(ALICE), BOB, ALICE, FORWARD, 0);
    CHECK(is_from_to(got(&node, 0), mac(BOB), mac(ALICE)) && !got(&node, 1));
    say(&node, 0, mac(BOB), ALICE, BOB, DROP, 0);
    CHECK(!got(&node, 0) && !got(&node, 1));
    /* Behind a router, whose hardware address is not that of the destination. */
    say(&node, 0, mac(CAROL), ALICE, 0x08080808, FORWARD, 0);
    CHECK(is_from_to(got(&node, 1), mac(ALICE), mac(CAROL)));
    /* To everybody. */
    say(&node, 0, everyone, ALICE, 0xffffffff, FORWARD, 0);
    CHECK(is_from_to(got(&node, 1), mac(ALICE), everyone));
    CHECK(node.host.program->counters(node.host.core)[0] == 5);
    close_node(&node, 2);
}

static void what_is_not_ipv4_passes_as_it_is(void) {
    struct node node = open_node(3, true);
    uint8_t arp[60] = {0}, ipv6[90];
    memcpy(arp, everyone, 6);
    memcpy(arp + 6, mac(ALICE), 6);
    carrick_store16(arp + 12, 0x0806);
    carrick_store16(arp + 14, 1);
    carrick_store16(arp + 16, 0x0800);
    arp[18] = 6, arp[19] = 4, arp[21] = 1;
    memcpy(arp + 22, mac(ALICE), 6);
    carrick_store32(arp + 28, ALICE);
    carrick_store32(arp + 38, BOB);
    put(&node, 0, arp, sizeof arp);
    turn(&node);
    const uint8_t *one = got(&node, 1), *other = got(&node, 2);
    CHECK(one && other && memcmp(one, arp, sizeof arp) == 0 && memcmp(other, arp, sizeof arp) == 0 && !got(&node, 0));
    /* Now it is known by which wire the sender is reached, and which hardware address its own has. */
    memset(ipv6, 0x60, sizeof ipv6);
    memcpy(ipv6, mac(ALICE), 6);
    memcpy(ipv6 + 6, mac(BOB), 6);
    carrick_store16(ipv6 + 12, 0x86dd);
    put(&node, 2, ipv6, sizeof ipv6);
    turn(&node);
    one = got(&node, 0);
    CHECK(one && memcmp(one, ipv6, sizeof ipv6) == 0 && !got(&node, 1) && count(&node, CARRICK_BRIDGE_PASSED) == 2);
    say(&node, 2, mac(CAROL), BOB, CAROL, TO, ALICE);
    CHECK(is_from_to(got(&node, 0), mac(BOB), mac(ALICE)) && !got(&node, 1));
    /* A neighbour at the same wire needs no bridge, and what has no whole header is nothing. */
    memcpy(ipv6, mac(BOB), 6);
    put(&node, 2, ipv6, sizeof ipv6);
    put(&node, 2, ipv6, 13);
    turn(&node);
    CHECK(!got(&node, 0) && !got(&node, 1) && !got(&node, 2));
    CHECK(count(&node, CARRICK_BRIDGE_LOCAL) == 1 && count(&node, CARRICK_BRIDGE_SHORT) == 1);
    CHECK(node.host.program->counters(node.host.core)[0] == 1);
    close_node(&node, 3);
}

static void packets_of_the_program_find_their_destination(void) {
    struct node node = open_node(3, true);
    say(&node, 1, mac(BOB), ALICE, BOB, ANSWER, 0); /* it has never heard of either */
    const uint8_t *answer = got(&node, 1);
    CHECK(is_from_to(answer, mac(BOB), mac(ALICE)) && !got(&node, 0) && !got(&node, 2));
    CHECK(answer[CARRICK_ETHER_HEADER + CARRICK_IP_HEADER + 1] == 1 && carrick_load32(answer + 14 + 16) == ALICE);
    /* Later, when the frame is gone: only ALICE has said where she is. */
    say(&node, 0, mac(ALICE), CAROL, ALICE, LATER, 0);
    CHECK(is_from_to(got(&node, 1), mac(CAROL), mac(ALICE)) && !got(&node, 0) && !got(&node, 2));
    say(&node, 0, mac(BOB), CAROL, BOB, LATER, 0);
    CHECK(!got(&node, 0) && !got(&node, 1) && !got(&node, 2) && count(&node, CARRICK_BRIDGE_UNKNOWN) == 1);
    say(&node, 0, mac(BOB), CAROL, BOB, TO, 0x0a000063);
    CHECK(!got(&node, 1) && !got(&node, 2) && count(&node, CARRICK_BRIDGE_UNKNOWN) == 2);
    /* By an interface that is said, or by all where it is not known. */
    say(&node, 0, mac(BOB), CAROL, BOB, BY, 2u << 24);
    CHECK(is_from_to(got(&node, 2), mac(CAROL), mac(BOB)) && !got(&node, 1));
    say(&node, 0, mac(BOB), CAROL, BOB, BY, 3u << 24);
    CHECK(!got(&node, 0) && !got(&node, 1) && !got(&node, 2) && count(&node, CARRICK_BRIDGE_NO_INTERFACE) == 1);
    say(&node, 0, mac(BOB), CAROL, BOB, FORWARD, 0);
    const uint8_t *one = got(&node, 1), *other = got(&node, 2);
    CHECK(is_from_to(one, mac(CAROL), mac(BOB)) && is_from_to(other, mac(CAROL), mac(BOB)));
    /* ALICE has moved. */
    say(&node, 2, mac(CAROL), ALICE, CAROL, FORWARD, 0);
    say(&node, 0, mac(ALICE), CAROL, ALICE, FORWARD, 0);
    CHECK(is_from_to(got(&node, 0), mac(ALICE), mac(CAROL)) && got(&node, 2) && !got(&node, 1));
    close_node(&node, 3);
}

static void ports_without_ethernet_have_addresses_only(void) {
    struct node node = open_node(2, false);
    say(&node, 0, NULL, ALICE, BOB, FORWARD, 0);
    CHECK(got(&node, 1) && !got(&node, 0));
    say(&node, 0, NULL, ALICE, BOB, ANSWER, 0);
    CHECK(got(&node, 0) && !got(&node, 1));
    say(&node, 1, NULL, BOB, CAROL, TO, ALICE);
    CHECK(got(&node, 0) && !got(&node, 1));
    say(&node, 1, NULL, BOB, ALICE, LATER, 0);
    CHECK(got(&node, 0) && !got(&node, 1));
    put(&node, 0, "\x60....", 5);
    turn(&node);
    const uint8_t *other = got(&node, 1);
    CHECK(other && memcmp(other, "\x60....", 5) == 0);
    close_node(&node, 2);
}

static void a_full_port_loses_what_it_does_not_take(void) {
    struct node node = open_node(2, true);
    struct carrick_frame frames[CARRICK_PORT_BATCH];
    uint32_t came = 0;
    for (uint32_t i = 0; i < DEPTH + 9; i++)
        say(&node, 0, mac(BOB), ALICE, BOB, FORWARD, i);
    CHECK(count(&node, CARRICK_BRIDGE_FULL) == 9);
    say(&node, 1, mac(ALICE), BOB, ALICE, FORWARD, 0); /* the other direction goes on */
    CHECK(is_from_to(got(&node, 0), mac(BOB), mac(ALICE)));
    for (uint32_t n; (n = carrick_port_receive(node.far[1], 0, frames, CARRICK_PORT_BATCH)) != 0; came += n)
        for (uint32_t i = 0; i < n; i++)
            CHECK(carrick_load32(frames[i].data + 14 + CARRICK_IP_HEADER + 1) == came + i);
    CHECK(came == DEPTH);
    /* A batch at once, of which each is forwarded before the next one is taken. */
    for (uint32_t i = 0; i < 9; i++) {
        uint8_t frame[128], payload[40] = {FORWARD};
        put(&node, 0, frame, make(frame, mac(BOB), ALICE, BOB, payload, sizeof payload));
    }
    turn(&node);
    CHECK(carrick_port_receive(node.far[1], 0, frames, CARRICK_PORT_BATCH) == 9);
    close_node(&node, 2);
}

static void a_frame_longer_than_a_port_takes_is_counted(void) {
    struct node node = open_node(2, true);
    uint8_t frame[MTU + CARRICK_ETHER_HEADER] = {0};
    node.near[1]->mtu = 1000;
    memcpy(frame, everyone, 6);
    memcpy(frame + 6, mac(ALICE), 6);
    carrick_store16(frame + 12, 0x86dd);
    put(&node, 0, frame, sizeof frame);
    turn(&node);
    CHECK(!got(&node, 1) && count(&node, CARRICK_BRIDGE_TOO_LONG) == 1);
    /* A tag is beside the MTU. */
    carrick_store16(frame + 12, 0x8100);
    put(&node, 0, frame, 1000 + CARRICK_ETHER_HEADER + CARRICK_VLAN_TAG);
    turn(&node);
    CHECK(got(&node, 1));
    put(&node, 0, frame, 1000 + CARRICK_ETHER_HEADER + CARRICK_VLAN_TAG + 1);
    turn(&node);
    CHECK(!got(&node, 1) && count(&node, CARRICK_BRIDGE_TOO_LONG) == 2);
    close_node(&node, 2);
}

/* Strangers do not take the slots of those who are heard of. */
static void tables_are_bounded_and_forget(void) {
    struct node node = open_node(2, true);
    struct carrick_bridge *bridge = &node.host.bridge;
    uint8_t data[64], payload[5] = {0};
    const uint64_t minute = UINT64_C(60000000000);
    uint64_t now = minute;
    for (uint32_t i = 0; i < 4 * CARRICK_STATIONS; i++) {
        struct carrick_frame frame = {.data = data,
                                      .len = make(data, mac(BOB), 0x0b000000 + i, BOB, payload, sizeof payload)};
        carrick_store32(data + 8, 0x01000000 + i);
        CHECK(carrick_bridge_receive(bridge, ++now, 0, &frame) == CARRICK_BRIDGE_CORE);
        if (i % 64 == 0) {
            frame.len = make(data, mac(ALICE), BOB, ALICE, payload, sizeof payload);
            CHECK(carrick_bridge_receive(bridge, ++now, 1, &frame) == CARRICK_BRIDGE_CORE);
        }
    }
    CHECK(count(&node, CARRICK_BRIDGE_REPLACED) > 5 * CARRICK_STATIONS);
    carrick_bridge_forget(bridge);
    (void)make(data, mac(CAROL), ALICE, BOB, payload, sizeof payload);
    CHECK(carrick_bridge_frame(bridge, now, CARRICK_ROUTE, data) == 1 && memcmp(data, mac(BOB), 6) == 0);
    CHECK(carrick_bridge_frame(bridge, now + 4 * minute, CARRICK_ROUTE, data) == 1);
    CHECK(carrick_bridge_frame(bridge, now + 6 * minute, CARRICK_ROUTE, data) == CARRICK_BRIDGE_NOWHERE);
    close_node(&node, 2);
}

static void what_does_not_fit_is_refused(void) {
    struct carrick_port *ends[2];
    struct carrick_host host;
    struct carrick_host_config config = {.program = &program, .ports = ends, .port_count = 1};
    CHECK(carrick_loop_open(MTU, DEPTH, ends, &error));
    CHECK(!carrick_host_open(&host, &config, &error) && strstr(error.text, "two or more times"));
    config.port_count = 2;
    ends[1]->ethernet = true;
    CHECK(!carrick_host_open(&host, &config, &error) && strstr(error.text, "ports of one kind"));
    config.program = &toy_program;
    CHECK(!carrick_host_open(&host, &config, &error) && strstr(error.text, "give --port once"));
    carrick_port_close(ends[0]);
    carrick_port_close(ends[1]);
}

int main(void) {
    a_forwarded_packet_keeps_its_header();
    what_is_not_ipv4_passes_as_it_is();
    packets_of_the_program_find_their_destination();
    ports_without_ethernet_have_addresses_only();
    a_full_port_loses_what_it_does_not_take();
    a_frame_longer_than_a_port_takes_is_counted();
    tables_are_bounded_and_forget();
    what_does_not_fit_is_refused();
    puts("bridge: ok");
    return 0;
}
