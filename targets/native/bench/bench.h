/* SPDX-License-Identifier: MIT */
/* Both ends of a program in one process: what the kinds of measurements share. */
#ifndef CARRICK_BENCH_H
#define CARRICK_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "carrick/app.h"

#define BENCH_CHUNK 65536u /* bytes of the buffers */
#define SERVER_IP   0x0a000001u
#define CLIENT_IP   0x0a000002u
#define BENCH_PORT  7777u

struct bench {
    struct carrick_stack *stacks[2]; /* server, client */
    uint64_t listener, handles[2];
    uint16_t listened; /* the listener's port */
    uint64_t to_send, to_receive;
    uint32_t rounds;
    bool failed;
    uint8_t *out, *in, *back;
};

/* Nanoseconds. */
uint64_t bench_clock(void);
/* Says why a request failed, and ends the measurement. */
void bench_check(struct bench *b, enum carrick_status status);
/* Lets both ends do what there is to do. */
void bench_turn(struct bench *b);
/* Joins the two by one more connection, to this port of the server. */
bool bench_join(struct bench *b, uint16_t port);
/* Carries so many bytes from the client to the server, in pieces of `piece` where the program carries pieces, and
 * prints how fast. */
void bench_bulk(struct bench *b, const char *shape, uint64_t octets, uint32_t piece);

#endif
