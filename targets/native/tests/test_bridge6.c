/* SPDX-License-Identifier: MIT */
/* The bridge between the ports of a program in the network over IPv6: which frames the program gets, and what is
 * learned from neighbour discovery. */
#include <string.h>

#include "carrick/bridge.h"
#include "carrick/ip6.h"
#include "carrick/report6.h"
#include "carrick/store.h"
#include "tests/check.h"

#define AT      (CARRICK_ETHER_HEADER + CARRICK_IP6_HEADER)
#define MESSAGE 32u /* of neighbour discovery, with one option */

static const struct carrick_ip6_address alice = {UINT64_C(0xfd00) << 48, 1}, bob = {UINT64_C(0xfd00) << 48, 2},
                                        carol = {UINT64_C(0xfd00) << 48, 3}, none = {0, 0},
                                        group = {UINT64_C(0xff02) << 48, UINT64_C(0x1ff000002)};
static const uint8_t own_mac[6] = {2, 9, 9, 9, 9, 9}, group_mac[6] = {0x33, 0x33, 0xff, 0, 0, 2};
static uint8_t octets[128];

/* The hardware address of a host. */
static const uint8_t *mac(struct carrick_ip6_address address) {
    static uint8_t macs[4][6];
    memcpy(macs[address.low], (const uint8_t[6]){2, 0, 0, 0, 0, (uint8_t)address.low}, 6);
    return macs[address.low];
}

static void open_bridge(struct carrick_bridge *bridge, uint32_t count, bool ethernet) {
    static struct carrick_port port;
    struct carrick_port *ports[] = {&port, &port, &port};
    port = (struct carrick_port){.ethernet = ethernet};
    memcpy(port.mac, own_mac, 6);
    CHECK(carrick_bridge_open(bridge, ports, count, true, 7));
}

/* A frame with an empty packet of the program. */
static struct carrick_frame packet(const uint8_t *to, struct carrick_ip6_address src, struct carrick_ip6_address dst,
                                   bool ethernet) {
    uint32_t headroom = ethernet ? CARRICK_ETHER_HEADER : 0;
    struct carrick_ip6 ip = {.src = src, .dst = dst, .protocol = 212, .ttl = 64};
    memset(octets, 0, sizeof octets);
    if (ethernet) {
        memcpy(octets, to, 6);
        memcpy(octets + 6, mac(src), 6);
        carrick_store16(octets + 12, 0x86dd);
    }
    carrick_ip6_build(octets + headroom, &ip, 0);
    return (struct carrick_frame){.data = octets, .len = headroom + CARRICK_IP6_HEADER};
}

/* A message of neighbour discovery that says which hardware address a host has. */
static struct carrick_frame discovery(uint8_t type, struct carrick_ip6_address src, struct carrick_ip6_address target,
                                      const uint8_t *said) {
    struct carrick_frame frame = packet(group_mac, src, group, true);
    struct carrick_ip6 ip = {.src = src, .dst = group, .protocol = CARRICK_ICMP6, .ttl = 255};
    uint8_t *message = octets + AT;
    frame.len = AT + MESSAGE;
    carrick_ip6_build(octets + CARRICK_ETHER_HEADER, &ip, MESSAGE);
    message[0] = type;
    carrick_ip6_store(message + 8, target);
    message[24] = type == 135 ? 1 : 2;
    message[25] = 1;
    memcpy(message + 26, said, 6);
    carrick_store_sum(message + 2,
                      carrick_sum_pseudo6(src, group, CARRICK_ICMP6, MESSAGE) + carrick_sum(message, MESSAGE));
    return frame;
}

/* Where the bridge sends a packet of the program that no frame brought. */
static uint32_t sent(struct carrick_bridge *bridge, struct carrick_ip6_address src, struct carrick_ip6_address dst) {
    (void)packet(group_mac, src, dst, true);
    carrick_bridge_forget(bridge);
    return carrick_bridge_frame(bridge, 1, CARRICK_ROUTE, octets);
}

static void packets_go_to_the_program_and_keep_their_header(void) {
    struct carrick_bridge bridge;
    open_bridge(&bridge, 2, true);
    struct carrick_frame frame = packet(mac(bob), alice, bob, true);
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == CARRICK_BRIDGE_CORE && bridge.toward == 1);
    CHECK(carrick_bridge_frame(&bridge, 1, CARRICK_ROUTE, octets) == 1);
    CHECK(memcmp(octets, mac(bob), 6) == 0 && memcmp(octets + 6, mac(alice), 6) == 0);
    /* An answer in its name has the header the other way round. */
    uint8_t answer[AT];
    memcpy(answer, packet(mac(alice), bob, alice, true).data, sizeof answer);
    frame = packet(mac(bob), alice, bob, true);
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == CARRICK_BRIDGE_CORE);
    memset(answer, 0, 12);
    carrick_store16(answer + 12, 0);
    CHECK(carrick_bridge_frame(&bridge, 1, CARRICK_ROUTE, answer) == 0);
    CHECK(memcmp(answer, mac(alice), 6) == 0 && memcmp(answer + 6, mac(bob), 6) == 0);
    CHECK(carrick_load16(answer + 12) == 0x86dd);
    carrick_bridge_close(&bridge);
}

static void neighbour_discovery_passes_and_is_learned(void) {
    struct carrick_bridge bridge;
    open_bridge(&bridge, 3, true);
    CHECK(sent(&bridge, bob, alice) == CARRICK_BRIDGE_NOWHERE && bridge.counters[CARRICK_BRIDGE_UNKNOWN] == 1);
    struct carrick_frame frame = discovery(135, alice, bob, mac(alice));
    CHECK(carrick_bridge_receive(&bridge, 1, 2, &frame) == CARRICK_BRIDGE_OTHERS);
    CHECK(sent(&bridge, bob, alice) == 2 && memcmp(octets, mac(alice), 6) == 0);
    CHECK(memcmp(octets + 6, own_mac, 6) == 0); /* nobody has said which one Bob has */
    /* An advertisement speaks for its target, with an address that is not its sender's. */
    frame = discovery(136, alice, bob, mac(carol));
    CHECK(carrick_bridge_receive(&bridge, 1, 1, &frame) == CARRICK_BRIDGE_OTHERS);
    CHECK(sent(&bridge, alice, bob) == 1 && memcmp(octets, mac(carol), 6) == 0);
    CHECK(bridge.counters[CARRICK_BRIDGE_PASSED] == 2);
    carrick_bridge_close(&bridge);
}

static void what_is_damaged_teaches_nothing(void) {
    struct carrick_bridge bridge;
    open_bridge(&bridge, 3, true);
    struct carrick_frame frame = discovery(135, carol, bob, mac(carol));
    octets[AT + 30] ^= 1; /* of the hardware address */
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == CARRICK_BRIDGE_OTHERS);
    frame = discovery(135, carol, bob, mac(carol));
    octets[AT + 25] = 0; /* the length of the option */
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == CARRICK_BRIDGE_OTHERS);
    frame = discovery(136, carol, none, mac(carol));
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == CARRICK_BRIDGE_OTHERS);
    frame = discovery(136, carol, carol, group_mac);
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == CARRICK_BRIDGE_OTHERS);
    CHECK(sent(&bridge, bob, carol) == CARRICK_BRIDGE_NOWHERE);
    /* What a router may have forwarded is no discovery, and a packet for the program. */
    frame = discovery(135, alice, bob, mac(alice));
    octets[CARRICK_ETHER_HEADER + 7] = 254;
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == CARRICK_BRIDGE_CORE);
    /* Every length of a message is handled. */
    for (uint32_t len = 0; len < AT + MESSAGE; len++) {
        frame = discovery(136, alice, bob, mac(bob));
        frame.len = len;
        uint32_t to = carrick_bridge_receive(&bridge, 1, 0, &frame);
        CHECK(to == (len < CARRICK_ETHER_HEADER        ? CARRICK_BRIDGE_NOWHERE
                     : len < AT + CARRICK_ICMP6_HEADER ? CARRICK_BRIDGE_CORE
                                                       : CARRICK_BRIDGE_OTHERS));
    }
    carrick_bridge_close(&bridge);
}

static void frames_of_ipv4_pass(void) {
    struct carrick_bridge bridge;
    open_bridge(&bridge, 2, true);
    struct carrick_frame frame = packet(mac(bob), alice, bob, true);
    carrick_store16(octets + 12, 0x0800);
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == 1 && bridge.counters[CARRICK_BRIDGE_PASSED] == 1);
    carrick_bridge_close(&bridge);
    open_bridge(&bridge, 2, false);
    frame = packet(NULL, alice, bob, false);
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == CARRICK_BRIDGE_CORE);
    octets[0] = 0x45;
    CHECK(carrick_bridge_receive(&bridge, 1, 0, &frame) == 1 && bridge.counters[CARRICK_BRIDGE_PASSED] == 1);
    /* Without Ethernet, sources say where their addresses are. */
    (void)packet(NULL, bob, alice, false);
    carrick_bridge_forget(&bridge);
    CHECK(carrick_bridge_frame(&bridge, 1, CARRICK_ROUTE, octets) == 0);
    carrick_bridge_close(&bridge);
}

int main(void) {
    packets_go_to_the_program_and_keep_their_header();
    neighbour_discovery_passes_and_is_learned();
    what_is_damaged_teaches_nothing();
    frames_of_ipv4_pass();
    puts("bridge over IPv6: ok");
    return 0;
}
