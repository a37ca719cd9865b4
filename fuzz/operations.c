/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: two cores and a wire between them. The input is a list of operations: application calls at either end,
 * packets carried, lost, repeated, flipped or held back, time. Each promise of program.h is checked at each step.
 */
#include "core.h"
#include "input.h"

enum { LEFT = 0x0a000001, RIGHT = 0x0a000002, HELD = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct held {
    uint8_t packet[FZ_MTU];
    uint32_t len;
};

struct world {
    struct fz_core ends[2];
    struct held held[2][HELD]; /* packets to that end, held back */
};

static void call(struct fz_core *fz, struct fz_input *in, uint32_t other) {
    if (fz->program->call_count == 0) {
        return;
    }
    uint32_t number = fz_u8(in) % fz->program->call_count;
    const struct carrick_call_info *info = &fz->program->calls[number];
    uint64_t args[16] = {0};
    uint8_t variant = fz_u8(in);
    for (uint32_t i = 0, next = 0; i < info->field_count && next < 16; i++) {
        if (info->fields[i].is_addr) {
            continue;
        }
        const char *name = info->fields[i].name;
        bool port = strstr(name, "port") != NULL;
        bool remote = strstr(name, "remote") != NULL;
        bool address = strstr(name, "ip") != NULL;
        uint64_t likely = address ? (remote ? other : fz->address)
                          : port  ? (remote ? 80u : 80u + (variant & 3u))
                                  : variant;
        args[next++] = variant >= 250 ? fz_u32(in) : likely;
    }
    uint64_t handle = fz->handles[fz_u8(in) % FZ_HANDLES];
    (void)fz_call(fz, number, handle, args, fz_u16(in) % FZ_DATA);
}

/* Carries one packet from an end to the other, or does to it what a bad wire does. */
static void carry(struct world *world, struct fz_input *in, int from, uint8_t how) {
    struct fz_core *to = &world->ends[1 - from];
    uint8_t packet[FZ_MTU];
    uint32_t len = fz_tx(&world->ends[from], packet);
    if (len == 0) {
        return;
    }
    struct held *held = &world->held[1 - from][how % HELD];
    switch (how >> 5) {
    case 0: /* lost */
        return;
    case 1: /* twice */
        fz_rx(to, packet, len);
        break;
    case 2: /* a flipped bit, and the sums mended half of the time */
        packet[fz_u16(in) % len] ^= (uint8_t)(1u << (how & 7));
        if ((how & 8) != 0) {
            fz_mend(packet, len, to->program->protocol, world->ends[from].address, to->address);
        }
        break;
    case 3: /* changes places with one held back */
        fz_rx(to, held->packet, held->len);
        memcpy(held->packet, packet, len);
        held->len = len;
        return;
    default:
        break;
    }
    fz_rx(to, packet, len);
}

static void step(struct world *world, struct fz_input *in) {
    uint8_t operation = fz_u8(in);
    int end = operation & 1;
    switch ((operation >> 1) % 4) {
    case 0:
        call(&world->ends[end], in, world->ends[1 - end].address);
        break;
    case 1:
        carry(world, in, end, fz_u8(in));
        break;
    case 2:
        for (int i = operation >> 3; i >= 0; i--) {
            carry(world, in, end, 0xff);
            carry(world, in, 1 - end, 0xff);
        }
        break;
    default: {
        uint64_t by = (uint64_t)fz_u16(in) * ((operation & 8) != 0 ? 100000 : 100000000);
        fz_advance(&world->ends[0], by);
        fz_advance(&world->ends[1], by);
        break;
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct world world; /* too large for a stack under sanitizers; made anew below */
    memset(&world, 0, sizeof world);
    struct fz_input in = {data, size};
    fz_open(&world.ends[0], LEFT, 1);
    fz_open(&world.ends[1], RIGHT, 2);
    for (int steps = 0; in.left != 0 && steps < 2000; steps++) {
        step(&world, &in);
    }
    fz_close(&world.ends[0]);
    fz_close(&world.ends[1]);
    return 0;
}
