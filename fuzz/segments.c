/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: a whole generated TCP, fed with segments near the numbers that it uses. The input is a script: segments
 * whose sequence and acknowledgment numbers are relative to what the core last sent, with any flags, options and data;
 * calls by the application; time. So the fuzzer gets into each state and then does there what no peer would.
 */
#include "core.h"
#include "input.h"

enum {
    OURS = 0x0a000001,
    THEIRS = 0x0a000002,
    PORT = 80,
    THEIR_PORT = 4000,
    HEADER = 20,
    ACK = 0x10,
    SYN = 0x02,
    FIN = 0x01
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the core's last segment said. */
struct seen {
    uint32_t next; /* the number after its last octet */
    uint32_t acked;
    uint32_t our_port;
    uint32_t their_port;
};

static void watch(struct fz_core *fz, struct seen *seen) {
    uint8_t packet[FZ_MTU];
    for (uint32_t len = fz_tx(fz, packet); len != 0; len = fz_tx(fz, packet)) {
        const uint8_t *segment = packet + FZ_IP_HEADER;
        fz_check(len >= FZ_IP_HEADER + HEADER, "a segment has a header");
        uint32_t flags = segment[13];
        uint32_t octets = len - FZ_IP_HEADER - (uint32_t)(segment[12] >> 4) * 4;
        fz_check(fz_fold(fz_sum(segment, len - FZ_IP_HEADER, fz_sum(packet + 12, 8, 6) + len - FZ_IP_HEADER)) == 0,
                 "what is sent has a right checksum");
        seen->next = fz_get32(segment + 4) + octets + ((flags & SYN) != 0) + ((flags & FIN) != 0);
        seen->acked = (flags & ACK) != 0 ? fz_get32(segment + 8) : seen->acked;
        seen->our_port = fz_get16(segment);
        seen->their_port = fz_get16(segment + 2);
    }
}

/* A small signed step most of the time, so that numbers are in or near the window; else any. */
static uint32_t near(struct fz_input *in, uint32_t number) {
    uint8_t step = fz_u8(in);
    uint32_t back = step > 0x80 ? 256 : 0;
    return step == 0x80 ? number + fz_u32(in) : number + step - back;
}

static void segment(struct fz_core *fz, struct fz_input *in, const struct seen *seen) {
    uint8_t packet[FZ_MTU] = {0};
    uint8_t *header = packet + FZ_IP_HEADER;
    uint8_t shape = fz_u8(in);
    uint32_t options = (uint32_t)(shape & 3) * 4;
    uint32_t octets = (shape & 4) != 0 ? fz_u16(in) % 1400 : 0;
    fz_put16(header, (shape & 8) != 0 ? fz_u16(in) : seen->their_port);
    fz_put16(header + 2, (shape & 16) != 0 ? fz_u16(in) : seen->our_port);
    fz_put32(header + 4, near(in, seen->acked));
    fz_put32(header + 8, near(in, seen->next));
    header[12] = (uint8_t)((HEADER + options) / 4 << 4);
    header[13] = fz_u8(in);
    fz_put16(header + 14, (shape & 32) != 0 ? fz_u16(in) : 0xffff);
    for (uint32_t i = 0; i < options; i++) {
        header[HEADER + i] = fz_u8(in);
    }
    uint32_t len = FZ_IP_HEADER + HEADER + options + octets;
    fz_mend(packet, len, fz->program->protocol, THEIRS, OURS);
    fz_rx(fz, packet, len);
}

static void call(struct fz_core *fz, struct fz_input *in) {
    uint32_t number = fz_u8(in) % (fz->program->call_count == 0 ? 1 : fz->program->call_count);
    uint64_t args[16];
    for (int i = 0; i < 16; i++) {
        static const uint64_t likely[] = {PORT, THEIRS, OURS, THEIR_PORT, 0, 1, 4, 700};
        uint8_t pick = i < 6 ? fz_u8(in) : 0;
        args[i] = pick < 250 ? likely[pick % 8] : fz_u32(in);
    }
    uint64_t handle = fz->handles[fz_u8(in) % FZ_HANDLES];
    (void)fz_call(fz, number, handle, args, fz_u16(in) % FZ_DATA);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fz_input in = {data, size};
    struct seen seen = {.our_port = PORT, .their_port = THEIR_PORT};
    struct fz_core fz;
    fz_open(&fz, OURS, 1);
    if (fz.program->call_count != 0 && (fz_u8(&in) & 1) == 0) {
        fz_listen(&fz, PORT);
    }
    for (int steps = 0; in.left != 0 && steps < 2000; steps++) {
        switch (fz_u8(&in) % 8) {
        case 0:
            call(&fz, &in);
            break;
        case 1:
            fz_advance(&fz, (uint64_t)fz_u16(&in) * 100000);
            break;
        case 2:
            fz_advance(&fz, (uint64_t)fz_u8(&in) * 1000000000);
            break;
        default:
            segment(&fz, &in, &seen);
            break;
        }
        watch(&fz, &seen);
    }
    fz_close(&fz);
    return 0;
}
