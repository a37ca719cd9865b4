/* SPDX-License-Identifier: MIT */
/* What the files of a stack share. */
#ifndef CARRICK_HOST_STACK_H
#define CARRICK_HOST_STACK_H

#include "carrick/app.h"
#include "carrick/rand.h"
#include "host/requests.h"

#define STACK_WATCHES 5u

struct carrick_stack {
    struct carrick_host host;
    struct carrick_requests requests;
    struct carrick_pcg rng; /* of local ports, and of applications */
    uint32_t next_port;
    uint32_t capacity; /* of the program, in connections */
    uint32_t owner;    /* of requests that begin now */
    uint32_t last;     /* the slot of the request that began last */
    bool spin, stopped;
    uint32_t warned; /* bits: what was told already */
    bool first; /* it runs before all others on its processor: they would wait for it while it polls, and Linux stops it
                   for 50 ms of each second (sched_rt_runtime_us) */
    uint64_t warn_at;      /* when to look again whether to warn */
    bool awake;            /* in a turn or a callback of a descriptor, which has read the clock */
    uint64_t linger_until; /* once stopped, run on until then, or until no timer runs */
    int code;
    struct {
        int fd;
        void (*ready)(void *user);
        void *user;
    } watches[STACK_WATCHES];
};

/* A turn, or the callback of a descriptor, begins: reads the clock. */
void carrick_stack_wake(struct carrick_stack *stack);

/* Begins a request, or says why not. Outside of turns and callbacks it reads the clock. */
int carrick_stack_begin(struct carrick_stack *stack, enum carrick_call_kind kind, carrick_done_fn done, void *user,
                        struct carrick_slot **slot);

/* Gives a request on a handle (0: on none) to the core, with the bytes or the room that it brings. CARRICK_BAD_ARG: the
 * core refuses it, and it is no longer open. */
int carrick_stack_give(struct carrick_stack *stack, struct carrick_slot *slot, uint64_t handle, const void *data,
                       uint32_t len);

/* A request on a handle, which brings `len` bytes of `data`, or has space for them. */
int carrick_stack_on_handle(struct carrick_stack *stack, enum carrick_call_kind kind, uint64_t handle, const void *data,
                            uint32_t len, carrick_done_fn done, void *user);

/* Prints on standard error, once each, what the stack refuses, and what to change: connections for lack of space,
 * frames that are too long, packets whose checksums were left to a device. */
void carrick_stack_warn(struct carrick_stack *stack);

/* Completes requests whose completions came. True: there was one. */
bool carrick_stack_complete(struct carrick_stack *stack);

#endif
