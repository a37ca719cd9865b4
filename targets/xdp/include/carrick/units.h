/* SPDX-License-Identifier: MIT */
/*
 * Data units in the kernel. An instance says what it has (carrick/extent.h); the bytes lie in the map of its context,
 * in the element with its slot, in rings as those of the runtime. Whoever sends a packet does not hold the instance: it
 * reads what is queued, and then takes back that it is.
 */
#ifndef CARRICK_XDP_UNITS_H
#define CARRICK_XDP_UNITS_H

#include "carrick/extent.h"
#include "carrick/variable.h"
#include "carrick/xdp.h"

/* Where bytes are, as an address of the language has it in place of a pointer: in the frame, or in a staged request.
 */
#define CARRICK_IN_FRAME        ((uint64_t)1 << 63)
#define CARRICK_STAGED_AT(at)   ((uint64_t)(at) << 32)
#define CARRICK_TO_ADDR(code)   ((uint8_t *)(uintptr_t)(code))
#define CARRICK_FROM_ADDR(addr) ((uint64_t)(uintptr_t)(addr).ptr)

/* Turns of a loop over pieces of what is copied at once at most: a request, cut by the end of a ring. */
#define CARRICK_PIECES (CARRICK_STAGED / CARRICK_PIECE + 2)
/* Bytes that the kernel sums at once (bpf_csum_diff), and turns of a loop over them. */
#define CARRICK_SUMMED 512u
#define CARRICK_SUMS   (CARRICK_FRAME_MAX / CARRICK_SUMMED + 2)

/* The smaller one, of numbers below 2^63; without a branch. */
CARRICK_INLINE uint64_t carrick_least(uint64_t a, uint64_t b) {
    return carrick_choose64(carrick_below(b, a), b, a);
}

/* Bytes that are being copied. What the verifier would follow from turn to turn is kept here: of memory it knows
 * nothing. */
struct carrick_copy {
    uint64_t which;    /* the staged request that they come from, its number + 1; 0: the frame that came */
    uint64_t source;   /* where in it */
    uint64_t at, left; /* where they go, and how many are left */
    uint64_t lo, hi;   /* of a segment: where it belongs, counted from the base of its unit */
    uint64_t begin;    /* where what belongs to the base would come from */
    uint64_t done;     /* as far as it is there */
    uint64_t result;
    struct carrick_rx_run runs[CARRICK_RX_RUNS];
};

/* Readable bytes of a unit that were copied to the memory of a request before it is handled, while nobody waited for
 * the instance. They are worth something as long as the unit still begins at `base`: bytes in order do not change until
 * they are taken. */
struct carrick_ahead {
    uint64_t handle, base; /* of the instance; where its unit began */
    uint64_t to, len;      /* where they are; 0: there are none */
    uint32_t opened;
};
/* Fewer are copied while the instance is held. */
#define CARRICK_AHEAD_LEAST 2048u

/* Keys of the maps of open requests (carrick/open.h): on the stack there would be no room for them. */
struct carrick_open_key {
    uint64_t token;
    uint32_t place;
};

/* Copies bytes between elements of maps, as fast as the processor can; what reads any memory (bpf_probe_read_kernel)
 * takes several times as long. */
CARRICK_INLINE void carrick_move(void *to, uint64_t len, const void *from) {
    uint64_t pointer[2];
    if (bpf_dynptr_from_mem(to, (uint32_t)len, 0, pointer) == 0)
        (void)bpf_dynptr_write(pointer, 0, from, (uint32_t)len, 0);
}

/* How many bytes go next, `room` and `most` at most; they count as gone. */
CARRICK_INLINE uint64_t carrick_copy_next(struct carrick_copy *copy, uint64_t room, uint64_t most) {
    uint64_t piece = carrick_least(carrick_least(CARRICK_READ(copy->left), room), most);
    CARRICK_BARRIER_VAR(piece);
    copy->at += piece;
    copy->left -= piece;
    return piece;
}

/* Payloads may have left since: their bytes can be overwritten. Before anything else is done with a unit. */
CARRICK_INLINE void carrick_tx_settle(struct carrick_tx *tx) {
    carrick_tx_reclaim(tx, CARRICK_READ(tx->pending));
}

/* A payload of this unit is out; whether no other waits. */
CARRICK_INLINE bool carrick_tx_left(struct carrick_tx *tx, uint16_t round) {
    uint64_t one = carrick_tx_one(round);
    return __sync_fetch_and_add(&tx->pending, 0 - one) == one;
}

/* Whether bytes from `lo` to `hi`, counted from base, need no run more than there can be. */
CARRICK_INLINE bool carrick_rx_fits(const struct carrick_rx *rx, uint32_t lo, uint32_t hi) {
    if (lo <= rx->ready || rx->count < CARRICK_RX_RUNS)
        return true;
    uint64_t touched = 0;
    for (uint32_t i = 0; i < CARRICK_RX_RUNS; i++)
        touched |= (carrick_below(hi, rx->runs[i].lo) ^ 1) & (carrick_below(rx->runs[i].hi, lo) ^ 1);
    return touched != 0;
}

/* Bytes are there of which carrick_rx_fits says that they fit. What is behind the last run may be anything. */
CARRICK_INLINE void carrick_rx_note(struct carrick_rx *rx, struct carrick_copy *old) {
    uint32_t from = (uint32_t)CARRICK_READ(old->lo), to = (uint32_t)CARRICK_READ(old->hi);
    bool joins = from <= rx->ready;
    uint64_t lo = joins ? 0 : from, hi = joins && rx->ready > to ? rx->ready : to;
    if (joins && rx->count == 0) {
        rx->ready = (uint32_t)hi;
        return;
    }
    uint64_t first = 0, touched = 0, count = rx->count;
    for (uint32_t i = 0; i < CARRICK_RX_RUNS; i++) {
        struct carrick_rx_run run = rx->runs[i];
        uint64_t there = carrick_below(i, count), below = carrick_below(run.hi, lo);
        uint64_t touches = there & (below ^ 1) & (carrick_below(hi, run.lo) ^ 1);
        first += there & below;
        touched += touches;
        lo = carrick_choose64(touches & carrick_below(run.lo, lo), run.lo, lo);
        hi = carrick_choose64(touches & carrick_below(hi, run.hi), run.hi, hi);
        old->runs[i] = run;
    }
    uint64_t moved = joins ? touched : touched - 1;
    for (uint32_t k = 0; k < CARRICK_RX_RUNS; k++) {
        uint64_t behind = joins ? 1 : carrick_below(first, k);
        rx->runs[k] = old->runs[(k + (moved & (0 - behind))) & (CARRICK_RX_RUNS - 1)];
    }
    rx->count = (uint16_t)(count - moved);
    if (joins)
        rx->ready = (uint32_t)hi;
    else
        rx->runs[first & (CARRICK_RX_RUNS - 1)] = (struct carrick_rx_run){(uint32_t)lo, (uint32_t)hi};
}

/* The next `len` bytes are the application's, or nobody's. */
CARRICK_INLINE void carrick_rx_skip(struct carrick_rx *rx, uint32_t len) {
    rx->base += len;
    rx->ready -= len;
    for (uint32_t i = 0; i < CARRICK_RX_RUNS; i++) {
        rx->runs[i].lo -= len;
        rx->runs[i].hi -= len;
    }
}

/* The sum of `n` bytes, of which there is room for all at once, and for three more; 0 of more. */
CARRICK_INLINE uint64_t carrick_sum_piece(const uint8_t *octets, uint32_t n) {
    uint32_t whole = n & ~3u;
    CARRICK_BARRIER_VAR(whole);
    if (whole > CARRICK_SUMMED)
        return 0;
    uint64_t sum = (uint32_t)bpf_csum_diff(NULL, 0, octets, whole, 0);
    const uint8_t *rest = octets + whole;
    if (n & 2)
        sum += rest[0] | (uint32_t)rest[1] << 8;
    if (n & 1)
        sum += n & 2 ? rest[2] : rest[0];
    return sum;
}

/* Payloads that are put together of frames: twice the most, of which the first half begins pieces of it. */
struct carrick_laid {
    uint8_t octets[2 * CARRICK_ASSEMBLY_BUFFER];
};

/* Puts bytes at a place. */
CARRICK_INLINE void carrick_lay(struct carrick_laid *assembly_buffer, uint64_t at, const void *from, uint64_t len) {
    CARRICK_BARRIER_VAR(at);
    CARRICK_BARRIER_VAR(len);
    if (at < CARRICK_ASSEMBLY_BUFFER && len < CARRICK_ASSEMBLY_BUFFER)
        (void)bpf_probe_read_kernel(assembly_buffer->octets + at, (uint32_t)len, from);
}

/* The sum of the first bytes. */
CARRICK_GLOBAL_FN uint64_t carrick_laid_sum(struct carrick_laid *assembly_buffer, uint64_t len) {
    uint64_t sum = 0;
    if (!assembly_buffer)
        return 0;
    for (uint32_t at = 0; at < CARRICK_FRAME_MAX && at < len; at += CARRICK_SUMMED)
        sum += carrick_sum_piece(assembly_buffer->octets + at, (uint32_t)carrick_min64(len - at, CARRICK_SUMMED));
    return sum;
}

/* The first bytes to the frame of the device. */
CARRICK_GLOBAL_FN int carrick_laid_show(struct xdp_md *ctx, struct carrick_laid *assembly_buffer, uint32_t begin,
                                        uint64_t len) {
    CARRICK_BARRIER_VAR(len);
    if (!assembly_buffer || len >= CARRICK_ASSEMBLY_BUFFER)
        return 0;
    return len == 0 || bpf_xdp_store_bytes(ctx, begin, assembly_buffer->octets, (uint32_t)len) == 0;
}

#endif
