/* SPDX-License-Identifier: MIT */
/* What the files of a stack share. */
#ifndef CARRICK_HOST_STACK_H
#define CARRICK_HOST_STACK_H

#include "carrick/app.h"
#include "carrick/rand.h"
#include "host/requests.h"

#define STACK_WATCHES 4

struct carrick_stack {
    struct carrick_host host;
    struct carrick_requests requests;
    struct carrick_pcg rng; /* of local ports */
    uint32_t next_port;
    bool spin, stopped;
    uint64_t linger_until; /* once stopped, run on until then, or until no timer runs */
    int code;
    struct {
        int fd;
        void (*ready)(void *user);
        void *user;
    } watches[STACK_WATCHES];
};

/* Completes requests whose completions came. True: there was one. */
bool carrick_stack_complete(struct carrick_stack *stack);

#endif
