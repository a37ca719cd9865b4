/* SPDX-License-Identifier: MIT */
/* Neighbours that answer, move, fall silent, and wires that damage what they say. */
#include "carrick/ip.h"
#include "carrick/net.h"
#include "ports/line.h"
#include "tests/check.h"

#define US   0x0a000001u
#define PEER 0x0a000002u
#define GATE 0x0a0000feu
#define FAR  0x08080808u
#define MS   UINT64_C(1000000)
#define S    UINT64_C(1000000000)

static const uint8_t our_mac[6] = {2, 0, 0, 0, 0, 1}, everyone[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t mac_a[6] = {2, 0, 0, 0, 0, 2}, mac_b[6] = {2, 0, 0, 0, 0, 3};

static void open_net(struct carrick_net *net, uint32_t address, const uint8_t *mac) {
    struct carrick_net_config config = {
        .address = address, .prefix = 24, .gateway = GATE, .mtu = 1500, .ethernet = true};
    memcpy(config.mac, mac, 6);
    CHECK(carrick_net_open(net, &config));
}

static void give(struct carrick_net *net, uint64_t now, uint8_t *frame, uint32_t len) {
    const uint8_t *packets[1];
    uint32_t lens[1];
    struct carrick_frame in = {.data = frame, .len = len};
    (void)carrick_net_receive(net, now, &in, 1, packets, lens);
}

/* An ARP packet that `from` at `mac` sends to `to`. */
static void hear_arp(struct carrick_net *net, uint64_t now, uint16_t operation, uint32_t from, const uint8_t *mac,
                     uint32_t to) {
    uint8_t frame[42] = {[14] = 0, 1, 8, 0, 6, 4};
    memcpy(frame, everyone, 6);
    memcpy(frame + 6, mac, 6);
    carrick_store16(frame + 12, 0x0806);
    carrick_store16(frame + 20, operation);
    memcpy(frame + 22, mac, 6);
    carrick_store32(frame + 28, from);
    carrick_store32(frame + 38, to);
    give(net, now, frame, sizeof frame);
}

/* A packet that `from` sends us by a next hop at `mac`. */
static void hear_packet(struct carrick_net *net, uint64_t now, uint32_t from, const uint8_t *mac) {
    uint8_t frame[38] = {0};
    struct carrick_ip ip = {.src = from, .dst = US, .protocol = 253, .ttl = 64};
    memcpy(frame, our_mac, 6);
    memcpy(frame + 6, mac, 6);
    carrick_store16(frame + 12, 0x0800);
    carrick_ip_build(frame + 14, &ip, 4, 0);
    give(net, now, frame, sizeof frame);
}

/* Sends a packet to `to`: the frame is in `memory`, its length is returned, 0: it waits, or is lost. */
static uint32_t send_packet(struct carrick_net *net, uint64_t now, uint32_t to, uint8_t *memory) {
    struct carrick_ip ip = {.src = net->config.address, .dst = to, .protocol = 253, .ttl = 64};
    struct carrick_frame frame = {.data = memory, .len = 24};
    carrick_ip_build(memory + 14, &ip, 4, 0);
    carrick_net_frame(net, now, &frame);
    return frame.len;
}

static bool sends_to(struct carrick_net *net, uint64_t now, uint32_t to, const uint8_t *mac) {
    uint8_t memory[64] = {0};
    return send_packet(net, now, to, memory) == 38 && memcmp(memory, mac, 6) == 0;
}

/* What is owed by now; of one frame at most. False: nothing. */
static bool owes(struct carrick_net *net, uint64_t now, uint8_t *memory) {
    struct carrick_frame frame = {.data = memory, .len = 1514};
    return carrick_net_owed(net, now, &frame, 1) == 1;
}

static bool is_question(const uint8_t *frame, uint32_t whom) {
    return carrick_load16(frame + 12) == 0x0806 && carrick_load16(frame + 20) == 1 &&
           carrick_load32(frame + 38) == whom;
}

/* A stack that knows the next hop to `to`, which answered after 1 ns. */
static void open_with_neighbour(struct carrick_net *net, uint32_t to, uint32_t hop, uint8_t *memory) {
    open_net(net, US, our_mac);
    CHECK(send_packet(net, 1, to, memory) == 0 && owes(net, 1, memory) && is_question(memory, hop));
    hear_arp(net, 1, 2, hop, mac_a, US);
    CHECK(owes(net, 1, memory) && memcmp(memory, mac_a, 6) == 0 && carrick_load32(memory + 30) == to);
}

/* Whether nobody will be asked anything, however long one waits. */
static bool is_quiet(struct carrick_net *net, uint8_t *memory) {
    for (uint64_t now; (now = carrick_net_deadline(net)) != UINT64_MAX;)
        if (owes(net, now, memory))
            return false;
    return true;
}

static void who_answers_packets_is_not_asked(void) {
    static const uint32_t ends[2][2] = {{PEER, PEER}, {FAR, GATE}};
    for (int i = 0; i < 2; i++) {
        struct carrick_net net;
        uint8_t memory[1514];
        open_with_neighbour(&net, ends[i][0], ends[i][1], memory);
        for (uint64_t now = 1; now < 200 * S; now += now < 100 * S ? 400 * MS : 7 * S) { /* often, and seldom */
            CHECK(sends_to(&net, now, ends[i][0], mac_a));
            hear_packet(&net, now + 1, ends[i][0], mac_a);
            CHECK(!owes(&net, now + 1, memory) && is_quiet(&net, memory));
        }
        CHECK(net.counters[CARRICK_NET_ARP_REQUESTS] == 1);
        carrick_net_close(&net);
    }
}

/* The peer's next hop changes its hardware address at 10 s and says nothing of it: questions to everybody it answers,
 * and those to its new address. Returns when packets go there. */
static uint64_t found_after(uint32_t to, uint32_t hop, bool speaks) {
    struct carrick_net net;
    uint8_t memory[1514];
    open_with_neighbour(&net, to, hop, memory);
    CHECK(sends_to(&net, 10 * S - 1, to, mac_a));
    hear_packet(&net, 10 * S - 1, to, mac_a);
    for (uint64_t now = 10 * S; now < 100 * S; now += 50 * MS) {
        while (owes(&net, now, memory))
            if (is_question(memory, hop) && memcmp(memory, mac_a, 6) != 0)
                hear_arp(&net, now, 2, hop, mac_b, US);
        if (now % (200 * MS) != 0)
            continue;
        if (sends_to(&net, now, to, mac_b)) {
            carrick_net_close(&net);
            return now - 10 * S;
        }
        if (speaks)
            hear_packet(&net, now, to, mac_b);
    }
    return UINT64_MAX;
}

static void who_moves_is_found(void) {
    for (int speaks = 0; speaks < 2; speaks++)
        CHECK(found_after(PEER, PEER, speaks) <= 3 * S && found_after(FAR, GATE, speaks) <= 3 * S);
}

static void who_says_that_it_moved_is_believed_and_asked(void) {
    struct carrick_net net;
    uint8_t memory[1514];
    open_with_neighbour(&net, PEER, PEER, memory);
    hear_arp(&net, 1 * S, 1, PEER, mac_b, PEER); /* gratuitous */
    CHECK(sends_to(&net, 1 * S, PEER, mac_b));
    CHECK(!owes(&net, 1 * S, memory));
    uint64_t now = carrick_net_deadline(&net);
    CHECK(now > 1 * S && now <= 3 * S && !owes(&net, now - 1, memory));
    CHECK(owes(&net, now, memory) && is_question(memory, PEER) && memcmp(memory, mac_b, 6) == 0);
    CHECK(sends_to(&net, now, PEER, mac_b)); /* meanwhile packets go there */
    hear_arp(&net, now, 2, PEER, mac_b, US);
    CHECK(is_quiet(&net, memory) && sends_to(&net, now, PEER, mac_b));
    hear_arp(&net, now, 1, PEER + 1, mac_a, PEER + 1); /* of somebody we have nothing to do with */
    CHECK(send_packet(&net, now, PEER + 1, memory) == 0);
    carrick_net_close(&net);
}

static void who_falls_silent_is_given_up(void) {
    struct carrick_net net;
    uint8_t memory[1514];
    open_with_neighbour(&net, PEER, PEER, memory);
    CHECK(sends_to(&net, 5 * S, PEER, mac_a));
    uint32_t to_it = 0, to_all = 0;
    for (uint64_t now; (now = carrick_net_deadline(&net)) != UINT64_MAX;) {
        CHECK(now < 10 * S && sends_to(&net, now, PEER, mac_a));
        while (owes(&net, now, memory)) {
            to_it += memcmp(memory, mac_a, 6) == 0;
            to_all += memcmp(memory, everyone, 6) == 0;
            CHECK(to_all == 0 || to_it == 2);
        }
    }
    CHECK(to_it == 2 && to_all == 4 && !carrick_net_waits(&net));
    CHECK(send_packet(&net, 20 * S, PEER, memory) == 0 && carrick_net_waits(&net)); /* and asked for anew */
    CHECK(owes(&net, 20 * S, memory) && is_question(memory, PEER) && memcmp(memory, everyone, 6) == 0);
    carrick_net_close(&net);
}

/* Strangers that ask for us take no slot from a neighbour with whom we speak, or for whom packets wait. */
static void strangers_displace_nobody(void) {
    struct carrick_net net;
    uint8_t memory[1514];
    open_with_neighbour(&net, PEER, PEER, memory);
    CHECK(send_packet(&net, 1, PEER + 1, memory) == 0 && owes(&net, 1, memory));
    for (uint32_t i = 0; i < 4 * CARRICK_NEIGHBOURS; i++) {
        hear_arp(&net, 2, 1, 0x0a000100u + i, mac_b, US);
        CHECK(owes(&net, 2, memory));
    }
    CHECK(sends_to(&net, 3, PEER, mac_a));
    hear_arp(&net, 4, 2, PEER + 1, mac_b, US);
    CHECK(owes(&net, 4, memory) && carrick_load32(memory + 30) == PEER + 1);
    carrick_net_close(&net);
}

/* A transport that gives a peer up after 100 ms must not do so because one question was lost. */
static void a_lost_question_is_soon_repeated(void) {
    struct carrick_net net;
    uint8_t memory[1514];
    open_net(&net, US, our_mac);
    CHECK(send_packet(&net, 0, PEER, memory) == 0 && owes(&net, 0, memory));
    CHECK(carrick_net_deadline(&net) <= 60 * MS);
    CHECK(owes(&net, carrick_net_deadline(&net), memory) && is_question(memory, PEER));
    carrick_net_close(&net);
}

/* All slots are taken by those for whom packets wait: a packet to one more is lost, and counted. */
static void more_questions_than_slots(void) {
    struct carrick_net net;
    uint8_t memory[1514];
    open_net(&net, US, our_mac);
    for (uint32_t i = 0; i <= CARRICK_NEIGHBOURS; i++)
        CHECK(send_packet(&net, 0, PEER + i, memory) == 0);
    CHECK(net.counters[CARRICK_NET_WAITING_FULL] == 1);
    for (uint64_t now; (now = carrick_net_deadline(&net)) != UINT64_MAX;)
        while (owes(&net, now, memory))
            CHECK(now <= 2 * S);
    CHECK(net.counters[CARRICK_NET_UNRESOLVED] == CARRICK_NEIGHBOURS && !carrick_net_waits(&net));
    carrick_net_close(&net);
}

/* Two stacks that send each other a packet each 100 ms, on a wire with faults until 10 s. */
struct end {
    struct carrick_net net;
    struct carrick_line in;
    uint64_t heard; /* when the last packet came */
};

static void end_turn(struct end *own, struct end *other, uint64_t now) {
    uint8_t memory[1514];
    struct carrick_frame frame;
    uint32_t slot, len;
    const uint8_t *packets[1];
    while (carrick_line_take(&own->in, now, &frame, &slot)) {
        bool ours = memcmp(frame.data, own->net.config.mac, 6) == 0 || memcmp(frame.data, everyone, 6) == 0;
        if (ours && carrick_net_receive(&own->net, now, &frame, 1, packets, &len) == 1)
            own->heard = now;
        carrick_line_release(&own->in, slot);
    }
    if (now % (100 * MS) == 0 && (len = send_packet(&own->net, now, other->net.config.address, memory)) > 0)
        carrick_line_put(&other->in, now, memory, len);
    for (frame = (struct carrick_frame){.data = memory, .len = sizeof memory};
         carrick_net_owed(&own->net, now, &frame, 1) == 1;)
        carrick_line_put(&other->in, now, memory, frame.len);
}

static void faults_of_a_wire_reach_questions_and_end_with_it(void) {
    const struct carrick_port port = {.mtu = 1500, .ethernet = true};
    uint64_t bad = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct carrick_fault_config faults = {
            .loss = 0.2, .reorder = 0.1, .duplicate = 0.1, .corrupt = 0.5, .seed = seed};
        struct carrick_fault_counts counts = {0};
        struct end ends[2] = {0};
        for (int i = 0; i < 2; i++) {
            open_net(&ends[i].net, i ? PEER : US, i ? mac_a : our_mac);
            CHECK(carrick_line_make(&ends[i].in, &faults, &counts, (uint64_t)i, &port));
        }
        for (uint64_t now = 0; now <= 13 * S; now += 10 * MS) {
            if (now == 10 * S)
                faults = (struct carrick_fault_config){0};
            end_turn(&ends[0], &ends[1], now);
            end_turn(&ends[1], &ends[0], now);
        }
        for (int i = 0; i < 2; i++) {
            CHECK(ends[i].heard + 200 * MS >= 13 * S);
            bad += ends[i].net.counters[CARRICK_NET_BAD_ARP];
            carrick_line_free(&ends[i].in);
            carrick_net_close(&ends[i].net);
        }
    }
    CHECK(bad > 0); /* what was damaged, ARP was among it */
}

int main(void) {
    who_answers_packets_is_not_asked();
    who_moves_is_found();
    who_says_that_it_moved_is_believed_and_asked();
    who_falls_silent_is_given_up();
    strangers_displace_nobody();
    a_lost_question_is_soon_repeated();
    more_questions_than_slots();
    faults_of_a_wire_reach_questions_and_end_with_it();
    puts("neighbour: ok");
    return 0;
}
