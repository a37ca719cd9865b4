/* SPDX-License-Identifier: MIT */
/*
 * Both ends of a program in one process and one thread, over the memory port at MTU 1500.
 *
 *     NAME-bench bulk [MIB]       one flow of so many MiB (1000): payload Gbit/s, ns per packet
 *     NAME-bench rr [COUNT]       so many requests of 64 octets (200000), each answered with 64: ns per exchange
 *     NAME-bench idle [COUNT]     so many open connections (1000): octets of memory that each costs
 *
 * Prints one line of JSON. Further arguments are settings of the program, NAME=VALUE.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carrick/app.h"

#define BENCH_PORT       7777u
#define BENCH_MTU        1500u
#define BENCH_DEPTH      128u /* more would only wash out the caches */
#define BENCH_CHUNK      65536u
#define BENCH_HALF       64u
#define PORT_CONNECTIONS 10000u
#define SERVER_IP        0x0a000001u
#define CLIENT_IP        0x0a000002u

struct bench {
    struct carrick_stack *stacks[2]; /* server, client */
    uint64_t listener, handles[2];
    uint16_t listened; /* the listener's port */
    uint64_t to_send, to_receive;
    uint32_t rounds;
    bool failed;
    uint8_t *out, *in, *back;
};

static uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void check(struct bench *b, enum carrick_status status) {
    if (status != CARRICK_OK) {
        fprintf(stderr, "failed: %s\n", carrick_status_text(status));
        b->failed = true;
    }
}

static void turn(struct bench *b) {
    (void)carrick_stack_turn(b->stacks[1]);
    (void)carrick_stack_turn(b->stacks[0]);
}

static void listening(void *user, enum carrick_status status, uint64_t value) {
    struct bench *b = user;
    check(b, status);
    b->listener = value;
}

static void accepted(void *user, enum carrick_status status, uint64_t value) {
    struct bench *b = user;
    check(b, status);
    b->handles[0] = value;
}

static void connected(void *user, enum carrick_status status, uint64_t value) {
    struct bench *b = user;
    check(b, status);
    b->handles[1] = value;
}

/* Joins the two by one more connection, to this port of the server. */
static bool join(struct bench *b, uint16_t port) {
    b->handles[0] = b->handles[1] = 0;
    if (b->listened != port) {
        b->listener = 0;
        b->listened = port;
        (void)carrick_listen(b->stacks[0], port, 128, listening, b);
        while (!b->listener && !b->failed)
            turn(b);
    }
    (void)carrick_accept(b->stacks[0], b->listener, accepted, b);
    (void)carrick_connect(b->stacks[1], 0, SERVER_IP, port, connected, b);
    while ((!b->handles[0] || !b->handles[1]) && !b->failed)
        turn(b);
    return !b->failed;
}

static void bulk_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct bench *b = user;
    check(b, status);
    b->to_send -= octets;
    uint32_t len = b->to_send < BENCH_CHUNK ? (uint32_t)b->to_send : BENCH_CHUNK;
    if (len && !b->failed)
        (void)carrick_send(b->stacks[1], b->handles[1], b->out, len, bulk_sent, b);
}

static void bulk_received(void *user, enum carrick_status status, uint64_t octets) {
    struct bench *b = user;
    check(b, status);
    b->to_receive -= octets;
    if (b->to_receive && !b->failed)
        (void)carrick_recv(b->stacks[0], b->handles[0], b->in, BENCH_CHUNK, bulk_received, b);
}

static void bulk(struct bench *b, uint64_t mib) {
    uint64_t octets = mib << 20;
    b->to_send = b->to_receive = octets;
    uint64_t packets = carrick_stack_counter(b->stacks[1], "tx_packets"), begin = clock_ns();
    bulk_received(b, CARRICK_OK, 0);
    bulk_sent(b, CARRICK_OK, 0);
    while (b->to_receive && !b->failed)
        turn(b);
    uint64_t ns = clock_ns() - begin;
    packets = carrick_stack_counter(b->stacks[1], "tx_packets") - packets;
    printf("{\"bench\": \"bulk\", \"octets\": %" PRIu64 ", \"packets\": %" PRIu64
           ", \"payload_gbps\": %.3f, \"ns_per_packet\": %.1f}\n",
           octets, packets, (double)octets * 8 / (double)ns, (double)ns / (double)packets);
}

static void rr_answered(void *user, enum carrick_status status, uint64_t octets);

static void rr_ignore(void *user, enum carrick_status status, uint64_t octets) {
    (void)octets;
    check(user, status);
}

/* The server's half of an exchange. */
static void rr_asked(void *user, enum carrick_status status, uint64_t octets) {
    struct bench *b = user;
    check(b, status);
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
    check(b, status);
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
    uint64_t begin = clock_ns();
    rr_asked(b, CARRICK_OK, 0);
    rr_ask(b);
    while (b->rounds && !b->failed)
        turn(b);
    printf("{\"bench\": \"rr\", \"exchanges\": %u, \"ns_per_exchange\": %.1f}\n", count,
           (double)(clock_ns() - begin) / count);
}

/* Octets of memory that this process has touched. */
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
    while (open < count && join(b, (uint16_t)(BENCH_PORT + open / PORT_CONNECTIONS)))
        open++;
    b->failed |= open < count;
    if (b->failed)
        return;
    printf("{\"bench\": \"idle\", \"connections\": %u, \"octets_per_connection\": %.1f}\n", count,
           (double)(resident() - before) / (2.0 * count)); /* each has two ends here */
}

static bool open_stacks(struct bench *b, char *const *settings) {
    struct carrick_port_error error = {""};
    struct carrick_port *ends[2] = {0};
    bool open = carrick_loop_open(BENCH_MTU, BENCH_DEPTH, ends, &error);
    for (uint32_t i = 0; i < 2 && open; i++) {
        struct carrick_stack_config config = {.program = carrick_program_entry(),
                                              .port = ends[i],
                                              .address = i == 0 ? SERVER_IP : CLIENT_IP,
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

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "bulk";
    bool counted = argc > 2 && strchr(argv[2], '=') == NULL;
    uint32_t count = counted ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    struct bench b = {.out = calloc(1, BENCH_CHUNK), .in = calloc(1, BENCH_CHUNK), .back = calloc(1, BENCH_HALF)};
    int first = argc < 2 ? argc : counted ? 3 : 2;
    if (!b.out || !b.in || !b.back || !open_stacks(&b, argv + first))
        return 3;
    if (strcmp(what, "idle") == 0)
        idle(&b, count ? count : 1000);
    else if (join(&b, BENCH_PORT) && strcmp(what, "rr") == 0)
        rr(&b, count ? count : 200000);
    else if (!b.failed && strcmp(what, "bulk") == 0)
        bulk(&b, count ? count : 1000);
    else
        b.failed = true;
    for (int i = 0; i < 2; i++)
        carrick_stack_close(b.stacks[i]);
    free(b.out);
    free(b.in);
    free(b.back);
    return b.failed;
}
