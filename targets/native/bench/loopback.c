/* SPDX-License-Identifier: MIT */
/*
 * Both ends of a program in one process and one thread, over the memory port at MTU 1500.
 *
 *     NAME-bench bulk [MIB [OCTETS]]   one flow of so many MiB (1000), in pieces of so many bytes (65536) where the
 *                                 program carries messages, requests or writes: payload Gbit/s, ns per packet
 *     NAME-bench rr [COUNT]       so many requests of 64 bytes (200000), each answered with 64: ns per exchange
 *     NAME-bench idle [COUNT]     so many open connections (1000): bytes of memory that each costs
 *
 * Prints one line of JSON. Further arguments are settings of the program, NAME=VALUE.
 */
#define _GNU_SOURCE
#include "bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_MTU        1500u
#define BENCH_DEPTH      128u /* more would only wash out the caches */
#define BENCH_HALF       64u
#define PORT_CONNECTIONS 10000u

uint64_t bench_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void bench_check(struct bench *b, enum carrick_status status) {
    if (status != CARRICK_OK) {
        fprintf(stderr, "failed: %s\n", carrick_status_text(status));
        b->failed = true;
    }
}

void bench_turn(struct bench *b) {
    (void)carrick_stack_turn(b->stacks[1]);
    (void)carrick_stack_turn(b->stacks[0]);
}

static void listening(void *user, enum carrick_status status, uint64_t value) {
    struct bench *b = user;
    bench_check(b, status);
    b->listener = value;
}

static void accepted(void *user, enum carrick_status status, uint64_t value) {
    struct bench *b = user;
    bench_check(b, status);
    b->handles[0] = value;
}

static void connected(void *user, enum carrick_status status, uint64_t value) {
    struct bench *b = user;
    bench_check(b, status);
    b->handles[1] = value;
}

bool bench_join(struct bench *b, uint16_t port) {
    b->handles[0] = b->handles[1] = 0;
    if (b->listened != port) {
        b->listener = 0;
        b->listened = port;
        (void)carrick_listen(b->stacks[0], port, 128, listening, b);
        while (!b->listener && !b->failed)
            bench_turn(b);
    }
    (void)carrick_accept(b->stacks[0], b->listener, accepted, b);
    (void)carrick_connect(b->stacks[1], 0, carrick_address_of_ipv4(SERVER_IP), port, connected, b);
    while ((!b->handles[0] || !b->handles[1]) && !b->failed)
        bench_turn(b);
    return !b->failed;
}

static void rr_answered(void *user, enum carrick_status status, uint64_t octets);

static void rr_ignore(void *user, enum carrick_status status, uint64_t octets) {
    (void)octets;
    bench_check(user, status);
}

/* The server's half of an exchange. */
static void rr_asked(void *user, enum carrick_status status, uint64_t octets) {
    struct bench *b = user;
    bench_check(b, status);
    if (b->failed)
        return;
    if (octets)
        (void)carrick_send(b->stacks[0], b->handles[0], b->in, (uint32_t)octets, rr_ignore, b);
    (void)carrick_recv(b->stacks[0], b->handles[0], b->in, BENCH_HALF, rr_asked, b);
}

static void rr_ask(struct bench *b) {
    b->to_receive = BENCH_HALF;
    (void)carrick_send(b->stacks[1], b->handles[1], b->out, BENCH_HALF, rr_ignore, b);
    (void)carrick_recv(b->stacks[1], b->handles[1], b->back, BENCH_HALF, rr_answered, b);
}

static void rr_answered(void *user, enum carrick_status status, uint64_t octets) {
    struct bench *b = user;
    bench_check(b, status);
    b->to_receive -= octets;
    if (b->failed)
        return;
    if (b->to_receive)
        (void)carrick_recv(b->stacks[1], b->handles[1], b->back, (uint32_t)b->to_receive, rr_answered, b);
    else if (--b->rounds)
        rr_ask(b);
}

static void rr(struct bench *b, uint32_t count) {
    b->rounds = count;
    uint64_t begin = bench_clock();
    rr_asked(b, CARRICK_OK, 0);
    rr_ask(b);
    while (b->rounds && !b->failed)
        bench_turn(b);
    printf("{\"bench\": \"rr\", \"exchanges\": %u, \"ns_per_exchange\": %.1f}\n", count,
           (double)(bench_clock() - begin) / count);
}

/* Bytes of memory that this process has touched. */
static uint64_t resident(void) {
    unsigned long long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &size, &pages) != 2)
        pages = 0;
    fclose(file);
    return pages * 4096;
}

static void idle(struct bench *b, uint32_t count) {
    uint64_t before = resident();
    uint32_t open = 0;
    /* A client has ports for only so many connections to one port of a server. */
    while (open < count && bench_join(b, (uint16_t)(BENCH_PORT + open / PORT_CONNECTIONS)))
        open++;
    b->failed |= open < count;
    if (b->failed)
        return;
    printf("{\"bench\": \"idle\", \"connections\": %u, \"bytes_per_connection\": %.1f}\n", count,
           (double)(resident() - before) / (2.0 * count)); /* each has two ends here */
}

static bool open_stacks(struct bench *b, char *const *settings) {
    struct carrick_port_error error = {""};
    struct carrick_port *ends[2] = {0};
    bool open = carrick_loop_open(BENCH_MTU, BENCH_DEPTH, ends, &error);
    for (uint32_t i = 0; i < 2 && open; i++) {
        struct carrick_stack_config config = {.program = carrick_program_entry(),
                                              .ports = {ends[i]},
                                              .address = carrick_address_of_ipv4(i == 0 ? SERVER_IP : CLIENT_IP),
                                              .prefix = 24,
                                              .seed = i + 1,
                                              .settings = (const char *const *)settings};
        b->stacks[i] = carrick_stack_open(&config, &error);
        open = b->stacks[i] != NULL;
    }
    if (!open)
        fprintf(stderr, "%s\n", error.text);
    return open;
}

/* The next argument, if it is a number. */
static uint32_t number(int argc, char **argv, int *next, uint32_t otherwise) {
    if (*next >= argc || strchr(argv[*next], '=') != NULL)
        return otherwise;
    return (uint32_t)strtoul(argv[(*next)++], NULL, 10);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "bulk", *shape = carrick_program_entry()->interface_name;
    int next = 2;
    uint32_t count = number(argc, argv, &next, 0), piece = number(argc, argv, &next, BENCH_CHUNK);
    struct bench b = {.out = calloc(1, BENCH_CHUNK), .in = calloc(1, BENCH_CHUNK), .back = calloc(1, BENCH_HALF)};
    if (!b.out || !b.in || !b.back || !open_stacks(&b, argv + (next < argc ? next : argc)))
        return 3;
    if (strcmp(what, "idle") == 0)
        idle(&b, count ? count : 1000);
    else if (strcmp(what, "bulk") == 0 && shape != NULL && piece > 0 && piece <= BENCH_CHUNK)
        bench_bulk(&b, shape, (uint64_t)(count ? count : 1000) << 20, piece);
    else if (strcmp(what, "rr") == 0 && bench_join(&b, BENCH_PORT))
        rr(&b, count ? count : 200000);
    else
        b.failed = true;
    for (int i = 0; i < 2; i++)
        carrick_stack_close(b.stacks[i]);
    free(b.out);
    free(b.in);
    free(b.back);
    return b.failed;
}
