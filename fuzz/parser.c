/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: the generated packet parser. The first octet says how much of the packet is mended (sums, lengths,
 * addresses), so that both the gates and what is behind them are reached; the rest is the packet. One core takes a
 * batch of them.
 */
#include "core.h"
#include "input.h"

enum { OURS = 0x0a000001, THEIRS = 0x0a000002 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fz_input in = {data, size};
    struct fz_core fz;
    fz_open(&fz, OURS, 1);
    fz_listen(&fz, 80);
    uint8_t packet[FZ_MTU];
    uint8_t out[FZ_MTU];
    while (in.left != 0) {
        uint8_t mode = fz_u8(&in);
        uint32_t len = fz_u16(&in) % (FZ_MTU + 1);
        if (len > in.left) {
            len = (uint32_t)in.left;
        }
        memcpy(packet, in.at, len);
        in.at += len;
        in.left -= len;
        if ((mode & 1) != 0) {
            fz_mend(packet, len, fz.program->protocol, THEIRS, OURS);
        }
        fz_rx(&fz, packet, len);
        while (fz_tx(&fz, out) != 0) {
        }
    }
    fz_close(&fz);
    return 0;
}
