/* SPDX-License-Identifier: MIT */
/* Neighbour discovery and echo over IPv6, and what waits for a neighbour. */
#include "carrick/ip6.h"
#include "carrick/net.h"
#include "tests/check.h"

#define MS    UINT64_C(1000000)
#define ICMP6 58u

static const struct carrick_ip6_address us = {UINT64_C(0xfd00) << 48, 0x123456}, peer = {UINT64_C(0xfd00) << 48, 2},
                                        far = {UINT64_C(0x2001) << 48, 9}, gate = {UINT64_C(0xfe80) << 48, 1},
                                        nobody = {0, 0}, all_nodes = {UINT64_C(0xff02) << 48, 1},
                                        our_group = {UINT64_C(0xff02) << 48, UINT64_C(0x1ff123456)};
static const uint8_t our_mac[6] = {2, 0, 0, 0, 0, 1}, peer_mac[6] = {2, 0, 0, 0, 0, 2},
                     other_mac[6] = {2, 0, 0, 0, 0, 3};
static uint8_t memory[CARRICK_PORT_BATCH][1536];
static struct carrick_frame frames[CARRICK_PORT_BATCH];

static void open_net(struct carrick_net *net) {
    struct carrick_net_config config = {
        .address6 = us, .prefix = 64, .gateway6 = gate, .mtu = 1500, .six = true, .ethernet = true, .reports = true};
    memcpy(config.mac, our_mac, 6);
    CHECK(carrick_net_open(net, &config));
    for (uint32_t i = 0; i < CARRICK_PORT_BATCH; i++)
        frames[i] = (struct carrick_frame){.data = memory[i], .len = 1514};
}

/* A message that the peer sends. RFC 4861 §4: type, code, checksum, flags, target, options. */
struct said {
    struct carrick_ip6_address from, to, target;
    uint32_t flags;
    uint8_t type, code, hops, option; /* option 0: none */
    uint8_t mac[6];
};

/* Gives it to the net; whether it is for the core. */
static bool hear(struct carrick_net *net, uint64_t now, const struct said *said) {
    uint32_t len = said->option ? 32 : 24;
    uint8_t octets[86] = {[12] = 0x86, 0xdd};
    struct carrick_ip6 ip = {.src = said->from, .dst = said->to, .protocol = ICMP6, .ttl = said->hops};
    uint8_t *message = octets + 54;
    memcpy(octets, our_mac, 6);
    memcpy(octets + 6, peer_mac, 6);
    carrick_ip6_build(octets + 14, &ip, len);
    message[0] = said->type;
    message[1] = said->code;
    carrick_store32(message + 4, said->flags);
    carrick_ip6_store(message + 8, said->target);
    message[24] = said->option;
    message[25] = 1;
    memcpy(message + 26, said->mac, 6);
    carrick_store_sum(message + 2, carrick_sum_pseudo6(ip.src, ip.dst, ICMP6, len) + carrick_sum(message, len));
    struct carrick_frame frame = {.data = octets, .len = 54 + len};
    const uint8_t *packets[1];
    uint32_t lens[1];
    return carrick_net_receive(net, now, &frame, 1, packets, lens) == 1;
}

static struct said asks(struct carrick_ip6_address from, struct carrick_ip6_address to, uint8_t option) {
    struct said said = {.from = from, .to = to, .target = us, .type = 135, .hops = 255, .option = option};
    memcpy(said.mac, peer_mac, 6);
    return said;
}

static struct said answers(struct carrick_ip6_address target, uint32_t flags, const uint8_t *mac) {
    struct said said = {
        .from = target, .to = us, .target = target, .type = 136, .hops = 255, .option = mac ? 2 : 0, .flags = flags};
    if (mac)
        memcpy(said.mac, mac, 6);
    return said;
}

#define SOLICITED UINT32_C(0x40000000)
#define OVERRIDE  UINT32_C(0x20000000)

/* A packet of ours in a reserved frame, as a core leaves it, and what becomes of it: where it is sent, or 0. */
static uint64_t send_to(struct carrick_net *net, uint64_t now, struct carrick_ip6_address to) {
    struct carrick_ip6 ip = {.src = us, .dst = to, .protocol = 253, .ttl = 64};
    struct carrick_frame frame = {.data = memory[7], .len = 44};
    carrick_ip6_build(frame.data + 14, &ip, 4);
    carrick_net_frame(net, now, &frame);
    CHECK(frame.len == 0 || (frame.len == 58 && carrick_load16(frame.data + 12) == 0x86dd));
    return frame.len ? (uint64_t)carrick_load16(frame.data) << 32 | carrick_load32(frame.data + 2) : 0;
}

/* Checks a message of ours: who gets it, and that its checksum and its hop limit are right. */
static const uint8_t *message_of(const struct carrick_frame *frame, struct carrick_ip6_address to, const uint8_t *mac) {
    struct carrick_ip6 ip;
    CHECK(memcmp(frame->data, mac, 6) == 0 && memcmp(frame->data + 6, our_mac, 6) == 0);
    CHECK(carrick_ip6_parse(frame->data + 14, frame->len - 14, to, ICMP6, &ip) == 40 && carrick_ip6_same(ip.src, us));
    const uint8_t *message = frame->data + 54;
    uint64_t sum = carrick_sum_pseudo6(us, to, ICMP6, ip.payload_len) + carrick_sum(message, ip.payload_len);
    CHECK(carrick_sum_fold(sum) == 0 && (message[0] < 133 || ip.ttl == 255));
    return message;
}

static void who_asks_is_told(void) {
    struct carrick_net net;
    open_net(&net);
    struct said said = asks(peer, our_group, 1);
    CHECK(!hear(&net, 0, &said) && carrick_net_owed(&net, 0, frames, 8) == 1 && frames[0].len == 86);
    const uint8_t *message = message_of(&frames[0], peer, peer_mac);
    CHECK(message[0] == 136 && message[1] == 0 && carrick_load32(message + 4) == (SOLICITED | OVERRIDE));
    CHECK(carrick_ip6_same(carrick_ip6_load(message + 8), us) && message[24] == 2 && message[25] == 1 &&
          memcmp(message + 26, our_mac, 6) == 0);
    /* The one that asked is known from then on. */
    CHECK(send_to(&net, 0, peer) == UINT64_C(0x020000000002));
    /* Who is about to take our address is told with all others. */
    said = asks(nobody, our_group, 0);
    CHECK(!hear(&net, 0, &said) && carrick_net_owed(&net, 0, frames, 8) == 1);
    message = message_of(&frames[0], all_nodes, (const uint8_t[]){0x33, 0x33, 0, 0, 0, 1});
    CHECK(message[0] == 136 && carrick_load32(message + 4) == OVERRIDE);
    /* What is not for us, or not as RFC 4861 §7.1.1 has it. */
    said = asks(peer, our_group, 1);
    said.target.low++;
    CHECK(!hear(&net, 0, &said) && net.counters[CARRICK_NET_BAD_DISCOVERY] == 0);
    struct said bad[] = {asks(peer, our_group, 1), asks(peer, our_group, 1), asks(nobody, our_group, 1),
                         asks(nobody, us, 0), asks(peer, our_group, 1)};
    bad[0].hops = 254;
    bad[1].code = 1;
    bad[4].mac[0] |= 1;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!hear(&net, 0, &bad[i]) && net.counters[CARRICK_NET_BAD_DISCOVERY] == i + 1);
    said = asks(us, our_group, 1);
    CHECK(!hear(&net, 0, &said) && net.counters[CARRICK_NET_BAD_SOURCE] == 1);
    CHECK(carrick_net_owed(&net, 0, frames, 8) == 0 && net.counters[CARRICK_NET_ADVERTISEMENTS] == 2);
    carrick_net_close(&net);
}

/* What a net that claims its address sends, and what it makes of a message of somebody else. */
static void claims_after(const struct said *said, bool taken) {
    struct carrick_net net;
    open_net(&net);
    carrick_net_claim(&net, 5 * MS);
    CHECK(net.claiming && carrick_net_owed(&net, 5 * MS, frames, 8) == 1 && frames[0].len == 78);
    struct carrick_ip6 ip;
    const uint8_t *message = frames[0].data + 54;
    CHECK(memcmp(frames[0].data, (const uint8_t[]){0x33, 0x33, 0xff, 0x12, 0x34, 0x56}, 6) == 0);
    CHECK(carrick_ip6_parse(frames[0].data + 14, 64, our_group, ICMP6, &ip) == 40 && carrick_ip6_same(ip.src, nobody));
    CHECK(ip.ttl == 255 && message[0] == 135 && carrick_ip6_same(carrick_ip6_load(message + 8), us));
    uint64_t sum = carrick_sum_pseudo6(nobody, our_group, ICMP6, 24) + carrick_sum(message, 24);
    CHECK(carrick_sum_fold(sum) == 0 && carrick_net_deadline(&net) == 1005 * MS);
    CHECK(!hear(&net, 6 * MS, said) && net.counters[CARRICK_NET_BAD_DISCOVERY] == 0);
    CHECK(net.taken == taken && net.claiming == !taken && carrick_net_owed(&net, 6 * MS, frames, 8) == 0);
    CHECK(!taken || memcmp(net.owner, said->option ? said->mac : peer_mac, 6) == 0);
    CHECK(carrick_net_owed(&net, 1004 * MS, frames, 8) == 0 && net.claiming == !taken);
    CHECK(carrick_net_owed(&net, 1005 * MS, frames, 8) == 0 && !net.claiming && net.taken == taken);
    carrick_net_close(&net);
}

/* RFC 4862 §5.4. */
static void an_address_is_claimed_before_it_is_used(void) {
    struct said said = answers(us, OVERRIDE, other_mac);
    said.to = all_nodes;
    claims_after(&said, true);
    said.option = 0;
    claims_after(&said, true);
    /* Somebody claims it, too. */
    said = asks(nobody, our_group, 0);
    claims_after(&said, true);
    /* Who looks for it does not have it, and is not answered. Another address is another matter. */
    said = asks(peer, our_group, 1);
    claims_after(&said, false);
    said = answers(peer, OVERRIDE, peer_mac);
    said.to = all_nodes;
    claims_after(&said, false);
    /* An echo request and a packet of the program are dropped until it is ours. */
    said = (struct said){.from = peer, .to = us, .type = 128, .hops = 64};
    struct carrick_net net;
    open_net(&net);
    carrick_net_claim(&net, 0);
    CHECK(!hear(&net, 1, &said) && carrick_net_owed(&net, 1, frames, 8) == 1 && frames[0].len == 78);
    CHECK(carrick_net_owed(&net, 1000 * MS, frames, 8) == 0);
    CHECK(!hear(&net, 1000 * MS, &said) && carrick_net_owed(&net, 1000 * MS, frames, 8) == 1);
    CHECK(frames[0].data[54] == 129);
    carrick_net_close(&net);
}

static void packets_wait_for_an_answer(void) {
    struct carrick_net net;
    open_net(&net);
    CHECK(send_to(&net, 0, peer) == 0 && send_to(&net, 0, peer) == 0 && carrick_net_waits(&net));
    CHECK(carrick_net_owed(&net, 0, frames, 8) == 1 && frames[0].len == 86);
    const struct carrick_ip6_address group = {UINT64_C(0xff02) << 48, UINT64_C(0x1ff000002)};
    const uint8_t *message = message_of(&frames[0], group, (const uint8_t[]){0x33, 0x33, 0xff, 0, 0, 2});
    CHECK(message[0] == 135 && carrick_ip6_same(carrick_ip6_load(message + 8), peer) && message[24] == 1 &&
          memcmp(message + 26, our_mac, 6) == 0);
    struct said said = answers(peer, SOLICITED, NULL);
    CHECK(!hear(&net, MS, &said) && carrick_net_waits(&net)); /* it does not say its hardware address */
    said = answers(peer, SOLICITED | OVERRIDE, peer_mac);
    CHECK(!hear(&net, MS, &said) && carrick_net_owed(&net, MS, frames, 8) == 2 && !carrick_net_waits(&net));
    CHECK(frames[1].len == 58 && memcmp(frames[1].data, peer_mac, 6) == 0);
    CHECK(send_to(&net, 2 * MS, peer) == UINT64_C(0x020000000002));
    /* Without the flag a neighbour that is known does not move. With it, it does. */
    said = answers(peer, 0, other_mac);
    CHECK(!hear(&net, 3 * MS, &said) && send_to(&net, 3 * MS, peer) == UINT64_C(0x020000000002));
    said = answers(peer, OVERRIDE, other_mac);
    CHECK(!hear(&net, 4 * MS, &said) && send_to(&net, 4 * MS, peer) == UINT64_C(0x020000000003));
    /* A second after the packet, it is asked alone. */
    CHECK(carrick_net_owed(&net, 1100 * MS, frames, 8) == 1);
    CHECK(message_of(&frames[0], peer, other_mac)[0] == 135);
    said = answers(peer, SOLICITED, NULL);
    CHECK(!hear(&net, 1101 * MS, &said) && carrick_net_owed(&net, 1200 * MS, frames, 8) == 0);
    CHECK(net.counters[CARRICK_NET_BAD_DISCOVERY] == 0 && net.counters[CARRICK_NET_SOLICITATIONS] == 2);
    carrick_net_close(&net);
}

static void the_next_hop_is_a_router_or_is_missing(void) {
    struct carrick_net net;
    open_net(&net);
    CHECK(send_to(&net, 0, far) == 0 && carrick_net_owed(&net, 0, frames, 8) == 1);
    struct said said = answers(gate, SOLICITED | OVERRIDE, other_mac);
    CHECK(!hear(&net, 0, &said) && carrick_net_owed(&net, 0, frames, 8) == 1);
    CHECK(frames[0].len == 58 && memcmp(frames[0].data, other_mac, 6) == 0);
    /* In vain: four questions, and the packet is lost. */
    CHECK(send_to(&net, 0, peer) == 0);
    uint32_t asked = 0;
    for (uint64_t now = 0; now < 2000 * MS; now += 10 * MS)
        asked += carrick_net_owed(&net, now, frames, 8);
    CHECK(asked == 4 && net.counters[CARRICK_NET_UNRESOLVED] == 1 && !carrick_net_waits(&net));
    net.config.gateway6 = nobody;
    CHECK(send_to(&net, 0, far) == 0 && net.counters[CARRICK_NET_NO_ROUTE] == 1);
    carrick_net_close(&net);
}

static void echoes_are_answered(void) {
    struct carrick_net net;
    open_net(&net);
    struct said ping = {.from = peer, .to = us, .target = {1, 2}, .type = 128, .hops = 9, .flags = 0x00070001};
    CHECK(!hear(&net, 0, &ping) && carrick_net_owed(&net, 0, frames, 8) == 1 && frames[0].len == 78);
    const uint8_t *message = message_of(&frames[0], peer, peer_mac);
    CHECK(message[0] == 129 && carrick_load32(message + 4) == 0x00070001 && carrick_load64(message + 16) == 2);
    ping.to = all_nodes; /* answered by one */
    CHECK(!hear(&net, 0, &ping) && carrick_net_owed(&net, 0, frames, 8) == 1 && net.counters[CARRICK_NET_ECHOES] == 2);
    CHECK(message_of(&frames[0], peer, peer_mac)[0] == 129);
    ping.from = nobody;
    CHECK(!hear(&net, 0, &ping) && carrick_net_owed(&net, 0, frames, 8) == 0);
    ping = (struct said){.from = peer, .to = us, .type = 2, .hops = 9};
    CHECK(hear(&net, 0, &ping));
    net.config.reports = false;
    CHECK(!hear(&net, 0, &ping) && net.counters[CARRICK_NET_OTHER_ICMP] == 2);
    carrick_net_close(&net);
}

int main(void) {
    who_asks_is_told();
    an_address_is_claimed_before_it_is_used();
    packets_wait_for_an_answer();
    the_next_hop_is_a_router_or_is_missing();
    echoes_are_answered();
    puts("discovery: ok");
    return 0;
}
