/* SPDX-License-Identifier: MIT */
/* The core of a program in the kernel, as far as it is in this process. */
#ifndef CARRICK_KERNEL_CORE_H
#define CARRICK_KERNEL_CORE_H

#include "kernel.h"

/* A timer that is due soon. */
struct due {
    uint64_t deadline, order, handle;
    const uint8_t *timer; /* where it is */
    uint32_t number;      /* as in struct carrick_host_request */
};

/* The bytes of an open request. While the program works on them they are in the element of `carrick_requests` with
 * the same number. */
struct staged {
    uint64_t token;
    uint8_t *data; /* the application's */
    uint64_t len;
    uint32_t next;  /* of the free, or of those whose tokens begin at the same place; NOT_STAGED: none */
    uint32_t first; /* of those whose tokens begin here */
    bool writable;
};

#define NOT_STAGED UINT32_MAX

struct carrick_core {
    struct carrick_kernel *kernel;
    carrick_trace_fn trace;
    void *trace_user;
    uint64_t base;            /* of the kernel's clock: the host's 0 */
    uint32_t open, most_open; /* requests whose completion nobody has taken */
    uint64_t refused;         /* one that is too long; 0: none */
    bool drained;             /* the last bytes that were asked for were fewer, and nothing else was asked for since */
    uint64_t goes_at;         /* when the frame goes that has the requests, as the host counts; 0: at once */
    uint32_t staged_count, staged_free;
    uint32_t due_first, due_count, due_most; /* those before the first have fired */
    struct due *due;                         /* due_most, in the order in which they are due */
    struct staged staged[];                  /* staged_count */
};

/* Puts a request into a frame, which waits for nothing then. False: there is no room in it, and it cannot go now. */
bool core_ask(struct carrick_core *core, const struct carrick_host_request *host_request);

/* An address, in network order: `len` bytes of it. */
struct carrick_hop {
    uint8_t octets[16];
    uint32_t len; /* 4, over IPv6 16; 0: none */
};

/* The address in the words of a report. */
struct carrick_hop core_reported_hop(const struct carrick_core *core, const uint64_t *words);
/* Looks for the next hop to an address, if there is one, and whether frames can go back by the device. */
void core_find_way(const struct carrick_core *core, const struct carrick_hop *to);
/* Has the kernel's own stack send the packet in a report of `octets` bytes. One that it refuses is lost, as packets
 * are. Then looks for the next hop. */
void core_send(const struct carrick_core *core, const struct carrick_report *report, uint32_t octets);

/* Fires the timers that are due at `now` of the kernel's clock, in order. */
void core_fire(struct carrick_core *core, uint64_t now);
/* How many timers that are due soon are noted at most. */
uint32_t core_most_timers(const struct carrick_kernel *kernel);
/* Has all timers looked at. */
void core_look_at_timers(const struct carrick_core *core);
/* From when on a packet that waits can leave; CARRICK_NEVER: none does before something happens. */
uint64_t core_packet_due(const struct carrick_core *core);
/* When the first timer, packet or request is due, if not later; CARRICK_NEVER: none. Who has one that is due before
 * calls. */
uint64_t core_watch(const struct carrick_core *core);

/* Puts the bytes of a request where the program finds them. False: there is no room. */
bool core_stage(struct carrick_core *core, const struct carrick_request *request,
                struct carrick_host_request *host_request);
/* A request with bytes is complete: `octets` of them are the application's now, at most. */
void core_unstage(struct carrick_core *core, uint64_t token, uint64_t octets);

/* What stands in an instance. */
static inline uint32_t core_word(const uint8_t *at) {
    return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

static inline uint64_t core_long(const uint8_t *at) {
    return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

/* The functions of struct carrick_program. */
size_t carrick_kernel_footprint(const struct carrick_config *config);
uint32_t carrick_kernel_capacity(const struct carrick_config *config);
struct carrick_core *carrick_kernel_init(void *memory, const struct carrick_config *config);
int carrick_kernel_rx(struct carrick_core *core, const uint8_t *packet, uint32_t len, uint64_t now);
uint32_t carrick_kernel_rx_burst(struct carrick_core *core, const uint8_t *const *packets, const uint32_t *lens,
                                 uint32_t count, uint64_t now);
uint32_t carrick_kernel_tx(struct carrick_core *core, uint8_t *buffer, uint32_t cap, uint64_t now);
uint32_t carrick_kernel_tx_burst(struct carrick_core *core, uint8_t *const *buffers, uint32_t cap, uint32_t *lens,
                                 uint16_t *segments, uint32_t count, uint64_t now);
int carrick_kernel_call(struct carrick_core *core, uint32_t call, const struct carrick_request *request, uint64_t now);
int carrick_kernel_advance(struct carrick_core *core, uint64_t now);
uint64_t carrick_kernel_wake_by(const struct carrick_core *core);
bool carrick_kernel_next_completion(struct carrick_core *core, struct carrick_completion *out);
const uint64_t *carrick_kernel_counters(const struct carrick_core *core);
uint32_t carrick_kernel_open_contexts(const struct carrick_core *core);
bool carrick_kernel_identify(struct carrick_core *core, uint64_t handle, struct carrick_identity *out);

#endif
