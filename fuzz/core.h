/* SPDX-License-Identifier: MIT */
/*
 * A compiled program under a fuzzer: a core in memory of exactly its size, so that the sanitizer sees one octet too
 * many, with the promises of program.h checked at each step. Owns: the core's memory, its open requests, the handles it
 * gave out.
 */
#ifndef FUZZ_CORE_H
#define FUZZ_CORE_H

#include <carrick/program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FZ_MTU     1500u
#define FZ_HANDLES 16u
#define FZ_OPEN    64u
#define FZ_DATA    2048u

struct fz_core {
    const struct carrick_program *program;
    struct carrick_core *core;
    void *memory;
    uint32_t address;
    uint64_t now; /* nanoseconds */
    uint64_t next_token;
    uint64_t handles[FZ_HANDLES]; /* the latest, in a ring */
    uint32_t handle_count;
    uint64_t open[FZ_OPEN];    /* tokens; 0: free */
    uint8_t *buffers[FZ_OPEN]; /* what open[i] may read or write until it completes */
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
    static const struct {
        const char *part;
        uint64_t value;
    } small[] = {{"conn", 8}, {"listen", 4}, {"buf", 4096}};
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        if (strstr(info->name, small[i].part) != NULL && !info->is_signed && info->initial > small[i].value) {
            return small[i].value < info->lo ? info->lo : small[i].value;
        }
    }
    return info->initial;
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
        .seed = seed, .address = address, .mtu = FZ_MTU, .completions = FZ_OPEN, .params = params};
    size_t size = fz->program->footprint(&config);
    fz_check(size != 0, "the configuration is valid");
    if (posix_memalign(&fz->memory, 64, size) != 0) {
        abort();
    }
    memset(fz->memory, 0, size);
    fz->core = fz->program->init(fz->memory, &config);
    fz_check(fz->core != NULL, "init succeeds where footprint does");
}

static inline void fz_close(struct fz_core *fz) {
    for (uint32_t i = 0; i < FZ_OPEN; i++) {
        free(fz->buffers[i]);
    }
    free(fz->memory);
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
        free(fz->buffers[i]); /* a later access is the sanitizer's to find */
        fz->buffers[i] = NULL;
        if (done.status == CARRICK_OK && done.value >> 56 != 0) {
            fz->handles[fz->handle_count++ % FZ_HANDLES] = done.value;
        }
    }
}

/* The next packet into `buffer` (FZ_MTU octets), its length or 0. */
static inline uint32_t fz_tx(struct fz_core *fz, uint8_t *buffer) {
    uint32_t len = fz->program->tx(fz->core, buffer, FZ_MTU, fz->now);
    fz_check(len <= FZ_MTU, "a packet fits the MTU");
    fz_completions(fz);
    return len;
}

/* A packet from a copy of exactly its size; what must wait for room is dropped, as a full wire would. */
static inline void fz_rx(struct fz_core *fz, const uint8_t *packet, uint32_t len) {
    uint8_t *copy = malloc(len == 0 ? 1 : len);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, packet, len);
    int result = fz->program->rx(fz->core, copy, len, fz->now);
    fz_check(result == 0 || result == CARRICK_DROPPED || result == CARRICK_AGAIN, "rx has a known result");
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
    fz_check(fz->program->next_deadline(fz->core) > fz->now, "no timer is due after advance");
    fz_completions(fz);
}

/* Issues interface call `call` with these arguments, and `len` octets of data if it takes any. Returns the result. */
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
    uint8_t *data = calloc(1, len == 0 ? 1 : len);
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].is_addr) {
            request.data = (struct carrick_addr){.ptr = data, .len = len};
        }
    }
    fz->open[slot] = request.token;
    fz->buffers[slot] = data;
    int result = fz->program->call(fz->core, call, &request, fz->now);
    fz_check(result == 0 || result == CARRICK_AGAIN || result == CARRICK_BAD_ARG, "call has a known result");
    if (result == 0) {
        fz->next_token++;
        fz_completions(fz);
    } else {
        free(data);
        fz->open[slot] = 0;
        fz->buffers[slot] = NULL;
    }
    return result;
}

/* The number of the call with this name, or UINT32_MAX. */
static inline uint32_t fz_call_named(const struct carrick_program *program, const char *name) {
    for (uint32_t i = 0; i < program->call_count; i++) {
        if (strcmp(program->calls[i].name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Listens on a port, if the program's interface can. */
static inline void fz_listen(struct fz_core *fz, uint64_t port) {
    uint32_t call = fz_call_named(fz->program, "listen");
    if (call == UINT32_MAX) {
        return;
    }
    uint64_t args[16] = {0};
    for (uint32_t i = 0; i < fz->program->calls[call].field_count && i < 16; i++) {
        const char *name = fz->program->calls[call].fields[i].name;
        args[i] = strstr(name, "port") != NULL ? port : strstr(name, "ip") != NULL ? fz->address : 4;
    }
    (void)fz_call(fz, call, 0, args, 0);
}

#endif
