/* SPDX-License-Identifier: MIT */
/*
 * Payload from the client to the server, as the shape of the program's interface has it: bytes of a stream; messages;
 * requests, each answered with a few bytes; writes into the server's memory.
 */
#define _GNU_SOURCE
#include "bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "carrick/verbs.h"

#define BULK_PLACES   8u /* pieces on their way at once */
#define BULK_ANSWER   64u
#define BULK_KEY      1u
#define BULK_GIVES_UP UINT64_C(10000000000) /* nanoseconds without a piece */

/* One piece on its way; the server has as many for those that it takes. */
struct place {
    struct bulk *bulk;
    uint64_t rpc;
    bool again; /* the program had no room for it */
    uint8_t answer[BULK_ANSWER];
};

struct bulk {
    struct bench *b;
    uint32_t piece;
    uint64_t received_at;
    void (*begin)(struct place *place);
    struct place sends[BULK_PLACES], takes[BULK_PLACES];
};

/* How many bytes the next piece has; they are on their way now. */
static uint32_t next_piece(struct bulk *bulk) {
    uint64_t left = bulk->b->to_send;
    uint32_t len = left < bulk->piece ? (uint32_t)left : bulk->piece;
    bulk->b->to_send -= len;
    return len;
}

static void arrived(struct bulk *bulk, uint64_t octets) {
    bulk->b->to_receive -= octets < bulk->b->to_receive ? octets : bulk->b->to_receive;
    bulk->received_at = bench_clock();
}

/* Whether the program took the piece; if it has no room now, it is begun again later. */
static bool taken(struct place *place, enum carrick_status status, uint32_t len) {
    place->again = status == CARRICK_BUSY || status == CARRICK_NO_ROOM;
    if (place->again)
        place->bulk->b->to_send += len;
    else
        bench_check(place->bulk->b, status);
    return status == CARRICK_OK;
}

/* Bytes of a stream. */

static void stream_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct bulk *bulk = user;
    struct bench *b = bulk->b;
    bench_check(b, status);
    b->to_send -= octets;
    uint32_t len = b->to_send < BENCH_CHUNK ? (uint32_t)b->to_send : BENCH_CHUNK;
    if (len && !b->failed)
        (void)carrick_send(b->stacks[1], b->handles[1], b->out, len, stream_sent, bulk);
}

static void stream_received(void *user, enum carrick_status status, uint64_t octets) {
    struct bulk *bulk = user;
    struct bench *b = bulk->b;
    bench_check(b, status);
    arrived(bulk, octets);
    if (b->to_receive && !b->failed)
        (void)carrick_recv(b->stacks[0], b->handles[0], b->in, BENCH_CHUNK, stream_received, bulk);
}

static void stream_accepted(void *user, enum carrick_status status, uint64_t stream) {
    struct bulk *bulk = user;
    bulk->b->handles[0] = stream;
    stream_received(bulk, status, 0);
}

static void stream_opened(void *user, enum carrick_status status, uint64_t stream) {
    struct bulk *bulk = user;
    bulk->b->handles[1] = stream;
    stream_sent(bulk, status, 0);
}

static bool begin_streams(struct bulk *bulk, bool of_several) {
    struct bench *b = bulk->b;
    if (!bench_join(b, BENCH_PORT))
        return false;
    if (of_several) {
        (void)carrick_accept_stream(b->stacks[0], b->handles[0], stream_accepted, bulk);
        (void)carrick_open_stream(b->stacks[1], b->handles[1], stream_opened, bulk);
    } else {
        stream_received(bulk, CARRICK_OK, 0);
        stream_sent(bulk, CARRICK_OK, 0);
    }
    return true;
}

/* Messages. */

static void message_begin(struct place *place);

static void message_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct place *place = user;
    (void)octets;
    if (taken(place, status, place->bulk->piece))
        message_begin(place);
}

static void message_begin(struct place *place) {
    struct bench *b = place->bulk->b;
    uint32_t len = next_piece(place->bulk);
    if (len)
        (void)carrick_send(b->stacks[1], b->handles[1], b->out, len, message_sent, place);
}

static void message_received(void *user, enum carrick_status status, uint64_t octets) {
    struct place *place = user;
    struct bench *b = place->bulk->b;
    bench_check(b, status);
    arrived(place->bulk, octets);
    if (!b->failed)
        (void)carrick_recv(b->stacks[0], b->handles[0], b->in, BENCH_CHUNK, message_received, place);
}

/* Requests. */

static void request_begin(struct place *place);

static void request_answered(void *user, enum carrick_status status, uint64_t octets) {
    struct place *place = user;
    bench_check(place->bulk->b, status);
    (void)octets;
    arrived(place->bulk, place->bulk->piece);
    if (!place->bulk->b->failed)
        request_begin(place);
}

static void request_made(void *user, enum carrick_status status, uint64_t rpc) {
    struct place *place = user;
    struct bulk *bulk = place->bulk;
    if (taken(place, status, bulk->piece))
        (void)carrick_recv_response(bulk->b->stacks[1], rpc, place->answer, BULK_ANSWER, request_answered, place);
}

static void request_begin(struct place *place) {
    struct bench *b = place->bulk->b;
    uint32_t len = next_piece(place->bulk);
    if (len)
        (void)carrick_request(b->stacks[1], b->handles[1], carrick_address_of_ipv4(SERVER_IP), BENCH_PORT, b->out, len,
                              request_made, place);
}

static void request_accept(struct place *place);

static void request_done(void *user, enum carrick_status status, uint64_t octets) {
    struct place *place = user;
    (void)octets;
    bench_check(place->bulk->b, status);
    if (!place->bulk->b->failed)
        request_accept(place);
}

static void request_came(void *user, enum carrick_status status, uint64_t octets) {
    struct place *place = user;
    struct bench *b = place->bulk->b;
    (void)octets;
    bench_check(b, status);
    (void)carrick_respond(b->stacks[0], place->rpc, b->out, BULK_ANSWER, request_done, place);
}

static void request_accepted(void *user, enum carrick_status status, uint64_t rpc) {
    struct place *place = user;
    struct bench *b = place->bulk->b;
    bench_check(b, status);
    place->rpc = rpc;
    (void)carrick_recv_request(b->stacks[0], rpc, b->in, BENCH_CHUNK, request_came, place);
}

static void request_accept(struct place *place) {
    struct bench *b = place->bulk->b;
    (void)carrick_accept(b->stacks[0], b->handles[0], request_accepted, place);
}

/* Writes into memory. */

static void write_begin(struct place *place);

static void write_done(void *user, enum carrick_status status, uint64_t octets) {
    struct place *place = user;
    bench_check(place->bulk->b, status);
    arrived(place->bulk, octets);
    if (!place->bulk->b->failed)
        write_begin(place);
}

static void write_begin(struct place *place) {
    struct bench *b = place->bulk->b;
    uint32_t len = next_piece(place->bulk);
    if (len)
        (void)carrick_post_write(b->stacks[1], b->handles[1], b->out, len, BULK_KEY, 0, NULL, write_done, place);
}

static void memory_back(void *user, enum carrick_status status, uint64_t octets) {
    (void)octets;
    bench_check(user, status);
}

/* Opens both ends. */

static void opened(void *user, enum carrick_status status, uint64_t handle) {
    struct place *place = user;
    struct bulk *bulk = place->bulk;
    bench_check(bulk->b, status);
    bulk->b->handles[place == bulk->takes ? 0 : 1] = handle;
}

static void open_end(struct bulk *bulk, int end, const char *shape) {
    static const uint32_t addresses[2] = {SERVER_IP, CLIENT_IP};
    struct carrick_stack *stack = bulk->b->stacks[end];
    struct place *place = end == 0 ? bulk->takes : bulk->sends;
    uint32_t peer = addresses[1 - end];
    if (strcmp(shape, "verbs") == 0) {
        struct carrick_pair pair = {.local_qp = 1, .remote_qp = 1, .address = peer};
        (void)carrick_open_pair(stack, &pair, opened, place);
    } else {
        bool rpc = strcmp(shape, "rpc") == 0;
        (void)carrick_open(stack, BENCH_PORT, carrick_address_of_ipv4(rpc ? 0 : peer), rpc ? 0 : BENCH_PORT, opened,
                           place);
    }
}

static bool begin_pieces(struct bulk *bulk, const char *shape) {
    struct bench *b = bulk->b;
    open_end(bulk, 0, shape);
    open_end(bulk, 1, shape);
    while ((!b->handles[0] || !b->handles[1]) && !b->failed)
        bench_turn(b);
    if (strcmp(shape, "verbs") == 0) {
        struct carrick_region region = {.data = b->in, .len = BENCH_CHUNK, .key = BULK_KEY, .may_write = true};
        (void)carrick_register(b->stacks[0], &region, memory_back, b);
        bulk->begin = write_begin;
    }
    bool messages = strcmp(shape, "message") == 0;
    if (!bulk->begin)
        bulk->begin = messages ? message_begin : request_begin;
    if (messages) /* one receive waits at a time */
        message_received(bulk->takes, CARRICK_OK, 0);
    for (uint32_t i = 0; i < BULK_PLACES && !b->failed; i++) {
        if (bulk->begin == request_begin)
            request_accept(&bulk->takes[i]);
        bulk->begin(&bulk->sends[i]);
    }
    return !b->failed;
}

static void begin_again(struct bulk *bulk) {
    for (uint32_t i = 0; i < BULK_PLACES && bulk->begin; i++) {
        if (bulk->sends[i].again) {
            bulk->sends[i].again = false;
            bulk->begin(&bulk->sends[i]);
        }
    }
    if (bench_clock() - bulk->received_at > BULK_GIVES_UP) {
        fprintf(stderr, "nothing arrives any more; %" PRIu64 " bytes are missing\n", bulk->b->to_receive);
        bulk->b->failed = true;
    }
}

void bench_bulk(struct bench *b, const char *shape, uint64_t octets, uint32_t piece) {
    struct bulk bulk = {.b = b, .piece = piece};
    for (uint32_t i = 0; i < BULK_PLACES; i++)
        bulk.sends[i].bulk = bulk.takes[i].bulk = &bulk;
    octets = octets / piece * piece;
    b->to_send = b->to_receive = octets;
    uint64_t begin = bulk.received_at = bench_clock();
    bool several = strcmp(shape, "multistream") == 0;
    bool begun = several || strcmp(shape, "stream") == 0 ? begin_streams(&bulk, several) : begin_pieces(&bulk, shape);
    while (begun && b->to_receive && !b->failed) {
        bench_turn(b);
        begin_again(&bulk);
    }
    uint64_t ns = bench_clock() - begin, packets = carrick_stack_counter(b->stacks[1], "tx_packets");
    if (b->failed)
        return;
    printf("{\"bench\": \"bulk\", \"bytes\": %" PRIu64 ", \"packets\": %" PRIu64
           ", \"payload_gbps\": %.3f, \"ns_per_packet\": %.1f}\n",
           octets, packets, (double)octets * 8 / (double)ns, (double)ns / (double)packets);
}
