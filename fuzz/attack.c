/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: two cores of a program, a wire between them, and somebody on it. The input is a list of operations:
 * application calls at either end, packets carried, lost, repeated and held back, time, and packets of the attacker's:
 * recorded ones and those of this very run, with other numbers in their fields, cut, lengthened and put together, and
 * plain bytes. Each promise of program.h is checked at each step, and the claims of the program.
 *
 * No sum is right in what the attacker makes: the build lets packets pass whose checksums are wrong.
 */
#include "core.h"
#include "input.h"

/* A packet of a run in the simulator, among fz_octets; to which of two ends it went. */
struct fz_recorded {
    uint32_t at, len;
    uint32_t to;
};

/* Where a field begins, in bits from the packet's beginning, and how wide it is. */
struct fz_field {
    uint32_t bit, bits;
};

#include "traffic.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

enum { LEFT = 0x0a000001, RIGHT = 0x0a000002, RECENT = 16, STEPS = 1500, STEPS_BEHIND = 100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct packet {
    uint8_t octets[FZ_MTU];
    uint32_t len;
};

struct world {
    struct fz_core ends[2];
    struct packet recent[2][RECENT]; /* what went to that end last, in a ring */
    uint32_t recent_count[2];
};

/* By which interface a packet comes that left by the other end's, of a program in the network. */
static uint32_t interface_from(const struct fz_core *from) {
    return from->program->tx_interface == NULL ? 0 : 1 - (from->program->tx_interface(from->core) & 1);
}

static struct packet *remember(struct world *world, int to) {
    return &world->recent[to][world->recent_count[to]++ % RECENT];
}

/* An argument of a call: mostly what leads two ends to each other. */
static uint64_t argument(struct fz_input *in, const char *name, const struct fz_core *own, uint32_t other) {
    uint8_t variant = fz_u8(in);
    bool number = strstr(name, "port") != NULL || strstr(name, "_qp") != NULL;
    bool octets = strcmp(name, "addr") == 0 || strcmp(name, "len") == 0;
    if (variant >= 240) {
        return fz_number(in, own->now);
    }
    if (strstr(name, "ip") != NULL) {
        return strstr(name, "remote") != NULL ? other : own->address;
    }
    if (octets) {
        return (uint64_t)variant << (variant & 7u);
    }
    uint64_t few = variant < 160 ? 0 : variant & 3u;
    return number ? 7u + few : few;
}

static void call(struct world *world, int end, uint32_t number, uint64_t handle, struct fz_input *in) {
    struct fz_core *own = &world->ends[end];
    const struct carrick_call_info *info = &own->program->calls[number];
    uint64_t args[16] = {0};
    for (uint32_t i = 0, next = 0; i < info->field_count && next < 16; i++) {
        if (info->fields[i].kind != CARRICK_FIELD_ADDR) {
            args[next++] = argument(in, info->fields[i].name, own, world->ends[1 - end].address);
        }
    }
    (void)fz_call(own, number, handle, args, fz_u16(in) % FZ_DATA);
}

/* Whether a call ends something. */
static bool ends(const char *name) {
    static const char *const words[] = {"close", "abort", "shutdown", "reset", "cancel", "deregister", "unlisten"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strstr(name, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Any call, to one of the handles that were given; seldom one that ends something, or nothing would last. */
static void any_call(struct world *world, int end, struct fz_input *in) {
    struct fz_core *own = &world->ends[end];
    if (own->program->call_count == 0) {
        return;
    }
    uint32_t number = fz_u8(in) % own->program->call_count;
    uint32_t known = own->handle_count < FZ_HANDLES ? own->handle_count : FZ_HANDLES;
    uint8_t which = fz_u8(in);
    if (!ends(own->program->calls[number].name) || which >= 224) {
        call(world, end, number, own->handles[which % (known == 0 ? 1 : known)], in);
    }
}

enum fate { LOST, TWICE, BEHIND, ARRIVES };

/* Carries one packet from an end to the other, or does to it what a bad wire does. False if there is none. */
static bool carry(struct world *world, int from, enum fate fate) {
    struct packet *packet = remember(world, 1 - from);
    struct packet before = {.len = 0};
    if (fate == BEHIND) {
        before = *packet; /* one of long ago overtakes it */
    }
    packet->len = fz_tx(&world->ends[from], packet->octets);
    if (packet->len == 0) {
        return false;
    }
    struct fz_core *to = &world->ends[1 - from];
    uint32_t interface = interface_from(&world->ends[from]);
    if (before.len != 0) {
        fz_rx(to, interface, before.octets, before.len);
    }
    for (int times = fate == LOST ? 0 : fate == TWICE ? 2 : 1; times > 0; times--) {
        fz_rx(to, interface, packet->octets, packet->len);
    }
    return true;
}

static void carry_all(struct world *world, int rounds) {
    for (bool more = true; more && rounds > 0; rounds--) {
        bool right = carry(world, 0, ARRIVES);
        more = carry(world, 1, ARRIVES) || right;
    }
}

/* Applications at work, with nothing in their way: no byte of the input is spent on finding that. */
static void begin(struct world *world, struct fz_input *in) {
    struct fz_input random = {.state = in->state + fz_u8(in)};
    for (int turn = fz_u8(in); turn > 0; turn--) {
        any_call(world, turn & 1, &random);
        carry_all(world, 8);
    }
}

/* Another number in some field, or in some bytes; near the one that is there or that another packet has there. */
static void change_number(struct packet *packet, const struct packet *other, struct fz_input *in) {
    struct fz_field field = fz_fields[fz_u8(in) % COUNT(fz_fields)];
    uint8_t way = fz_u8(in);
    if ((way & 3) == 0) { /* behind fields whose length varies, numbers begin anywhere */
        field = (struct fz_field){fz_u16(in) % (packet->len * 8) & ~UINT32_C(7), 8u << (way >> 2 & 3)};
    }
    if (field.bit + field.bits > packet->len * 8) {
        return;
    }
    bool as_other = (way & 16) != 0 && field.bit + field.bits <= other->len * 8;
    const uint8_t *like = as_other ? other->octets : packet->octets;
    fz_put_bits(packet->octets, field.bit, field.bits, fz_number(in, fz_get_bits(like, field.bit, field.bits)));
}

/* Mostly behind the network layer's header, which lets nothing pass that is shorter. */
static void shorten(struct packet *packet, struct fz_input *in) {
    uint32_t least = packet->len > FZ_IP_HEADER && fz_u8(in) < 224 ? FZ_IP_HEADER : 0;
    packet->len = least + fz_u16(in) % (packet->len - least);
}

static void lengthen(struct packet *packet, struct fz_input *in) {
    uint32_t more = fz_u16(in) % (FZ_MTU + 1 - packet->len);
    memset(packet->octets + packet->len, fz_u8(in), more);
    packet->len += more;
}

/* The beginning of one and the end of the other. */
static void put_together(struct packet *packet, const struct packet *other, struct fz_input *in) {
    uint32_t at = fz_u16(in) % packet->len;
    if (at < other->len) {
        memcpy(packet->octets + at, other->octets + at, other->len - at);
        packet->len = other->len;
    }
}

static void change(struct packet *packet, const struct packet *other, struct fz_input *in) {
    for (int times = fz_u8(in) % 4; times >= 0 && packet->len != 0; times--) {
        switch (fz_u8(in) % 8) {
        case 0:
            shorten(packet, in);
            break;
        case 1:
            lengthen(packet, in);
            break;
        case 2:
            put_together(packet, other, in);
            break;
        case 3:
            packet->octets[fz_u16(in) % packet->len] ^= (uint8_t)(1u << (fz_u8(in) & 7));
            break;
        default:
            change_number(packet, other, in);
            break;
        }
    }
}

static struct packet recorded(struct fz_input *in) {
    const struct fz_recorded *from = &fz_recorded[fz_u16(in) % COUNT(fz_recorded)];
    struct packet packet = {.len = from->len};
    memcpy(packet.octets, fz_octets + from->at, from->len);
    return packet;
}

/* What the attacker begins with: a packet of this run, one of another, or bytes. */
static struct packet sample(struct world *world, int to, struct fz_input *in) {
    uint8_t which = fz_u8(in);
    if (which < 160) {
        return world->recent[which & 1 ? to : 1 - to][(which >> 1) % RECENT];
    }
    struct packet packet = recorded(in);
    if (which >= 240) {
        packet.len = fz_u16(in) % (FZ_MTU + 1);
        for (uint32_t i = 0; i < packet.len; i++) {
            packet.octets[i] = fz_u8(in);
        }
    }
    return packet;
}

static void attack(struct world *world, int to, struct fz_input *in) {
    uint8_t how = fz_u8(in);
    struct packet packet = sample(world, to, in);
    struct packet other = sample(world, to, in);
    if ((how & 15) != 0) {
        change(&packet, &other, in);
    }
    const struct fz_core *from = &world->ends[1 - to];
    bool passes = from->program->rx_on != NULL; /* whatever its addresses are */
    if (from->program->network == CARRICK_NETWORK_IPV4 && !passes && how < 240) {
        fz_mend(packet.octets, packet.len, from->program->protocol, from->address, world->ends[to].address);
    }
    fz_rx(&world->ends[to], how >> 4 & 1, packet.octets, packet.len);
}

static void step(struct world *world, struct fz_input *in) {
    uint8_t operation = fz_u8(in);
    int end = operation & 1;
    switch ((operation >> 1) % 8) {
    case 0:
    case 1:
        any_call(world, end, in);
        break;
    case 2:
        (void)carry(world, end, (enum fate)(operation >> 4 & 3));
        break;
    case 3:
        carry_all(world, 1 + (operation >> 4));
        break;
    case 4: {
        static const uint64_t units[] = {1000, 100000, 1000000, 100000000}; /* nanoseconds */
        uint64_t by = fz_u16(in) * units[operation >> 4 & 3];
        fz_advance(&world->ends[0], by);
        fz_advance(&world->ends[1], by);
        break;
    }
    default:
        attack(world, end, in);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct world world; /* too large for a stack under sanitizers; made anew below */
    memset(&world, 0, sizeof world);
    struct fz_input in = fz_input(data, size);
    fz_open(&world.ends[0], LEFT, 1);
    fz_open(&world.ends[1], RIGHT, 2);
    begin(&world, &in);
    for (int steps = 0; in.left != 0 && steps < STEPS; steps++) {
        step(&world, &in);
    }
    for (int steps = 0; steps < STEPS_BEHIND; steps++) {
        step(&world, &in);
    }
    for (int end = 0; end < 2; end++) {
        fz_drain(&world.ends[end]);
        fz_close(&world.ends[end]);
    }
    return 0;
}
