/* SPDX-License-Identifier: MIT */
/*
 * A program in the kernel as its host has it: descriptors of maps and of `egress`, and what of the maps is in this
 * process's memory. It is the port by which the host waits for what the program reports: no packet passes here.
 */
#ifndef CARRICK_KERNEL_H
#define CARRICK_KERNEL_H

#include "carrick/layout.h"
#include "carrick/port.h"
#include "carrick/program.h"
#include "tap.h"

#define KERNEL_CONTEXTS 64u

/* An array, whose elements lie `stride` bytes apart from `memory` on. */
struct kernel_map {
    int fd; /* -1: the program has none */
    uint32_t value, entries, stride;
    uint8_t *memory; /* NULL: not mapped */
    size_t octets;
};

/* The ring of reports: what is behind `*consumed` and before `*produced` is to be read. */
struct kernel_ring {
    int fd;
    uint64_t *consumed;
    const uint64_t *produced;
    const uint8_t *data; /* twice in a row, so that no report ends at the end */
    size_t octets;
};

struct carrick_kernel {
    struct carrick_port port; /* the first member: what carrick_config.elsewhere points to */
    int egress, raw, next_hops;
    bool six;                 /* the program runs over IPv6 */
    uint32_t device;          /* its index */
    uint64_t refuses_until;   /* that one takes no frames of programs until then: it was asked */
    uint32_t processors;      /* that there can be */
    struct kernel_map bridge; /* what a program in the network counts; -1: it is none */
    struct kernel_map cores, shared, requests, contexts[KERNEL_CONTEXTS];
    struct kernel_ring reports;
    struct tap tap;
    struct carrick_places *places;
    const char *part_names[KERNEL_CONTEXTS][CARRICK_ID_PARTS];
    uint8_t *all_cores; /* what all processors have, as it was looked at last */
    uint64_t *all_bridge;
    uint64_t counters[CARRICK_COUNTERS + CARRICK_MIDDLEBOX_COUNTERS];
    uint8_t frame[CARRICK_PORT_BATCH]; /* what reserve gives, and nobody fills */
};

/* Opens what a loader gives of a program over IPv4, or IPv6 (`six`): `spec` is the folder where it is pinned, or names
 * with descriptors that this process has (`carrick_cores=5,egress=9,...`), which are closed with it. NULL: `error` says
 * why. */
struct carrick_kernel *carrick_kernel_open(const char *spec, bool six, struct carrick_port_error *error);

/* Whether programs can send by a device: a pair of devices takes what they send only where something at the other end
 * takes frames in batches. Kernels before 6.3 do not say. */
bool kernel_device_takes(uint32_t device);

/* Opens the socket by which the kernel's own stack sends packets of the program. NULL, or what cannot be done; errno
 * says why. */
const char *kernel_open_raw(struct carrick_kernel *kernel);

/* Finds out what of its device the program has to know. */
void carrick_kernel_look_at_device(struct carrick_kernel *kernel);

/* Reads what all processors have; element n of so many bytes belongs to processor n. False: the kernel refuses. */
bool carrick_kernel_read_cores(struct carrick_kernel *kernel);

/* What the loader wrote, and all processors have the same: of the first one, as it was read last. */
struct carrick_kernel_head {
    CARRICK_HEAD;
};
const struct carrick_kernel_head *carrick_kernel_head(const struct carrick_kernel *kernel, uint32_t processor);

/* An element of an array. */
static inline uint8_t *kernel_at(const struct kernel_map *map, uint32_t n) {
    return map->memory + (size_t)map->stride * n;
}

static inline struct carrick_shared *kernel_shared(const struct carrick_kernel *kernel) {
    return (struct carrick_shared *)(void *)kernel->shared.memory;
}

/* Whether the host looks at reports by itself, or is about to sleep and has to be woken: on some machines that costs
 * more than all else of a request. */
static inline void kernel_awake(const struct carrick_kernel *kernel, bool awake) {
    uint64_t *said = &kernel_shared(kernel)->awake;
    if (__atomic_load_n(said, __ATOMIC_RELAXED) != awake)
        __atomic_store_n(said, awake, __ATOMIC_SEQ_CST);
}

/* The oldest report that is there, NULL: none. It lasts until kernel_next. `octets` is its length. */
const struct carrick_report *kernel_report(const struct kernel_ring *ring, uint32_t *octets);
/* The next report takes its place. */
void kernel_next(const struct kernel_ring *ring);

/* The system calls. */
int kernel_bpf_get(const char *path);
bool kernel_bpf_info(int fd, struct kernel_map *map);
bool kernel_bpf_lookup(int fd, uint32_t key, void *value);
bool kernel_bpf_delete(int fd, const void *key);

#endif
