/* SPDX-License-Identifier: MIT */
/*
 * A compiled program under a fuzzer: a core in memory of exactly its size, so that the sanitizer sees one byte too
 * many, with the promises of program.h checked at each step. Owns: the core's memory, its open requests, the handles it
 * gave out.
 */
#ifndef FUZZ_CORE_H
#define FUZZ_CORE_H

#include <carrick/counters.h>
#include <carrick/program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FZ_MTU     1500u
#define FZ_HANDLES 16u
#define FZ_OPEN    64u
#define FZ_DATA    6000u
/* More packets at once than any program here can have. */
#define FZ_PACKETS 100000u

struct fz_core {
    const struct carrick_program *program;
    struct carrick_core *core;
    void *memory;
    uint32_t address;
    uint64_t now; /* nanoseconds */
    uint64_t next_token;
    uint64_t handles[FZ_HANDLES]; /* the latest, in a ring */
    uint32_t handle_count;
    uint64_t open[FZ_OPEN]; /* tokens; 0: free */
    struct fz_buffer {
        uint8_t *octets; /* what open[i] may read until it completes, and write if it is writable */
        uint32_t len;
        uint8_t fill; /* what is in it, if it is not writable */
        bool writable;
    } buffers[FZ_OPEN];
};

/* Says what was broken and stops, for the fuzzer to keep the input. */
static inline void fz_check(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "broken promise: %s\n", what);
        abort();
    }
}

/* Small buffers and tables make the bounds come into play; what cannot be that small takes its lowest value. */
static inline uint64_t fz_param(const struct carrick_param_info *info) {
    bool counts = *info->unit == '\0' && (strncmp(info->name, "max_", 4) == 0 || strncmp(info->name, "all_", 4) == 0);
    bool measures = *info->unit == '\0' || strcmp(info->unit, "B") == 0;
    uint64_t small = measures && info->initial > 4096 ? 4096 : counts && info->initial > 8 ? 8 : info->initial;
    return info->is_signed ? info->initial : small < info->lo ? info->lo : small;
}

/* A claim of the program that did not hold: whatever comes, its state is to be in order. */
static inline void fz_told(void *user, uint32_t kind, uint32_t number, const uint64_t *words, uint32_t count) {
    (void)words, (void)count;
    const struct carrick_program *program = user;
    if (kind == CARRICK_TRACE_CLAIM && number < program->claim_count) {
        const struct carrick_claim_info *claim = &program->claims[number];
        fprintf(stderr, "%s:%u: `%s` does not hold\n", claim->file, claim->line, claim->text);
        abort();
    }
}

static inline void fz_open(struct fz_core *fz, uint32_t address, uint64_t seed) {
    memset(fz, 0, sizeof *fz);
    fz->program = carrick_program_entry();
    fz->address = address;
    fz->next_token = 1;
    uint64_t params[64] = {0};
    fz_check(fz->program->param_count <= 64, "at most 64 parameters");
    for (uint32_t i = 0; i < fz->program->param_count; i++) {
        params[i] = fz_param(&fz->program->params[i]);
    }
    struct carrick_config config = {
        .seed = seed, .address = address, .mtu = FZ_MTU, .completions = FZ_OPEN, .params = params, .trace = fz_told};
    config.trace_user = (void *)(uintptr_t)fz->program;
    size_t size = fz->program->footprint(&config);
    fz_check(size != 0, "the configuration is valid");
    /* Pages that a core leaves alone are not touched here either; a block of this size begins at an even place. */
    fz->memory = calloc(1, size);
    fz_check(fz->memory != NULL && (uintptr_t)fz->memory % 64 == 0, "there is memory for a core");
    fz->core = fz->program->init(fz->memory, &config);
    fz_check(fz->core != NULL, "init succeeds where footprint does");
}

static inline void fz_close(struct fz_core *fz) {
    for (uint32_t i = 0; i < FZ_OPEN; i++) {
        free(fz->buffers[i].octets);
    }
    free(fz->memory);
}

/* What a request brought is the application's again. */
static inline void fz_give_back(struct fz_buffer *buffer) {
    for (uint32_t i = 0; !buffer->writable && i < buffer->len; i++) {
        fz_check(buffer->octets[i] == buffer->fill, "what a request sends is left as it was");
    }
    free(buffer->octets); /* a later access is the sanitizer's to find */
    *buffer = (struct fz_buffer){0};
}

/* Takes all completions: each must answer an open request, once. */
static inline void fz_completions(struct fz_core *fz) {
    struct carrick_completion done;
    while (fz->program->next_completion(fz->core, &done)) {
        uint32_t i = 0;
        while (i < FZ_OPEN && fz->open[i] != done.token) {
            i++;
        }
        fz_check(done.token != 0 && i < FZ_OPEN, "a completion answers an open request");
        fz_check(done.status <= CARRICK_ABORTED, "a completion has a known status");
        fz->open[i] = 0;
        fz_give_back(&fz->buffers[i]);
        if (done.status == CARRICK_OK && done.value >> 56 != 0) {
            fz->handles[fz->handle_count++ % FZ_HANDLES] = done.value;
        }
    }
}

/* The next packet into `buffer` (FZ_MTU bytes), its length or 0. */
static inline uint32_t fz_tx(struct fz_core *fz, uint8_t *buffer) {
    uint32_t len = fz->program->tx(fz->core, buffer, FZ_MTU, fz->now);
    fz_check(len <= FZ_MTU, "a packet fits the MTU");
    fz_completions(fz);
    return len;
}

/* Lets out all packets: they have an end. */
static inline void fz_drain(struct fz_core *fz) {
    uint8_t packet[FZ_MTU];
    uint32_t count = 0;
    while (fz_tx(fz, packet) != 0) {
        fz_check(++count < FZ_PACKETS, "a core has not packets without end");
    }
}

static inline uint64_t fz_refused(const struct fz_core *fz) {
    const uint64_t *counters = fz->program->counters(fz->core);
    uint64_t refused = 0;
    for (uint32_t i = 0; i < CARRICK_COUNT_RX_PACKETS; i++) {
        refused += counters[i];
    }
    return refused;
}

/* A packet from a copy of exactly its size; what must wait for room is dropped, as a full wire would. What the core
 * drops, it counts. */
static inline void fz_rx(struct fz_core *fz, uint32_t interface, const uint8_t *packet, uint32_t len) {
    uint8_t *copy = malloc(len == 0 ? 1 : len);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, packet, len);
    uint64_t refused = fz_refused(fz);
    int result = fz->program->rx_on != NULL ? fz->program->rx_on(fz->core, interface, copy, len, fz->now)
                                            : fz->program->rx(fz->core, copy, len, fz->now);
    fz_check(result == 0 || result == CARRICK_DROPPED || result == CARRICK_AGAIN, "rx has a known result");
    fz_check(result != CARRICK_DROPPED || fz_refused(fz) > refused, "what is dropped is counted");
    free(copy);
    fz_completions(fz);
}

/* Lets time pass, timers included. */
static inline void fz_advance(struct fz_core *fz, uint64_t by) {
    fz->now += by;
    uint8_t packet[FZ_MTU];
    while (fz->program->advance(fz->core, fz->now) == CARRICK_AGAIN) {
        fz_check(fz_tx(fz, packet) != 0, "a core that wants room has packets to take");
    }
    fz_check(fz->program->next_deadline(fz->core, fz->now + 1) == CARRICK_NEVER, "no timer is due after advance");
    fz_completions(fz);
}

/* Issues interface call `call` with these arguments, and `len` bytes of data if it takes any. Returns the result. */
static inline int fz_call(struct fz_core *fz, uint32_t call, uint64_t handle, const uint64_t *args, uint32_t len) {
    uint32_t slot = 0;
    while (slot < FZ_OPEN && fz->open[slot] != 0) {
        slot++;
    }
    if (slot == FZ_OPEN) {
        return CARRICK_AGAIN;
    }
    const struct carrick_call_info *info = &fz->program->calls[call];
    struct carrick_request request = {.handle = handle, .token = fz->next_token};
    memcpy(request.args, args, sizeof request.args);
    struct fz_buffer *buffer = &fz->buffers[slot];
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].kind == CARRICK_FIELD_ADDR) {
            *buffer = (struct fz_buffer){malloc(len == 0 ? 1 : len), len, (uint8_t)fz->next_token, false};
            buffer->writable = strcmp(info->fields[i].name, "data") != 0;
            memset(buffer->octets, buffer->fill, len);
            request.data = (struct carrick_addr){.ptr = buffer->octets, .len = len};
            request.writable = buffer->writable;
        }
    }
    fz->open[slot] = request.token;
    int result = fz->program->call(fz->core, call, &request, fz->now);
    fz_check(result == 0 || result == CARRICK_AGAIN || result == CARRICK_BAD_ARG, "call has a known result");
    if (result == 0) {
        fz->next_token++;
        fz_completions(fz);
    } else {
        fz->open[slot] = 0;
        fz_give_back(buffer);
    }
    return result;
}

#endif
