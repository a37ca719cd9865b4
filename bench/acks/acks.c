/* SPDX-License-Identifier: MIT */
/*
 * What a sender of message-transport does for a message, by its compiled core: nanoseconds to send it, and to receive
 * all that acknowledges it, with a number of pathlets on the path. Each pathlet sends three packets: its occupancy, PRX
 * and PTX. Two cores in one process; what pathlets send is made of the receiver's acknowledgements.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "message_transport.h"

enum { BATCH = 8, OCTETS = 4096, MTU = 4200, PACKET = 4200, MOST = BATCH * 16, PATHLETS = 4 };
enum { IP = 20, HEADER = 20, FLAGS = 14, FEEDBACK = 5 };
enum { PRX = 0x40, PTX = 0x20, OCCUPANCY = 0x10 };

static const struct carrick_program *const program = &message_transport_program;
static const uint32_t addresses[2] = {0x0a000001, 0x0a000002};

struct packets {
    uint32_t count, lens[MOST];
    uint8_t octets[MOST][PACKET];
};

struct end {
    struct carrick_core *core;
    uint64_t handle, token;
};

static uint64_t spent(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct end make(uint32_t address) {
    struct carrick_config config = {.seed = address, .address = address, .mtu = MTU};
    size_t size = program->footprint(&config);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(size != 0 && memory != MAP_FAILED);
    return (struct end){.core = program->init(memory, &config), .token = 1};
}

static struct carrick_completion completed(struct end *end) {
    struct carrick_completion done;
    if (!program->next_completion(end->core, &done) || done.status != CARRICK_OK) {
        fprintf(stderr, "acks: a request did not complete\n");
        exit(1);
    }
    return done;
}

static void send_all(struct end *end, struct packets *out, uint64_t now) {
    out->count = 0;
    while (out->count < MOST &&
           (out->lens[out->count] = program->tx(end->core, out->octets[out->count], PACKET, now)) != 0)
        out->count++;
}

static void take_all(struct end *end, const struct packets *in, uint64_t now) {
    for (uint32_t i = 0; i < in->count; i++)
        if (program->rx(end->core, in->octets[i], in->lens[i], now) != 0) {
            fprintf(stderr, "acks: a packet was refused\n");
            exit(1);
        }
}

static uint32_t sum(uint32_t from, const uint8_t *octets, uint32_t len) {
    for (uint32_t i = 0; i + 1 < len; i += 2)
        from += (uint32_t)octets[i] << 8 | octets[i + 1];
    return len % 2 == 0 ? from : from + ((uint32_t)octets[len - 1] << 8);
}

static void put16(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put_checksum(uint8_t *at, uint32_t total) {
    while (total >> 16 != 0)
        total = (total & 0xffff) + (total >> 16);
    put16(at, ~total & 0xffff);
}

/* A pathlet's packet, in place of the receiver whose acknowledgement is `ack`. */
static void add(struct packets *to, const uint8_t *ack, uint8_t flags, uint32_t pathlet) {
    uint8_t *p = to->octets[to->count];
    uint32_t len = HEADER + (flags == OCCUPANCY ? FEEDBACK : 0);
    memcpy(p, ack, IP + HEADER);
    put16(p + 2, IP + len);
    put16(p + 10, 0);
    put_checksum(p + 10, sum(0, p, IP));
    uint8_t *h = p + IP;
    put16(h + 4, len);
    put16(h + 6, 0);
    h[FLAGS] = flags;
    const uint8_t feedback[FEEDBACK] = {0, 0, 0, (uint8_t)pathlet, 64};
    memcpy(h + HEADER, feedback, flags == OCCUPANCY ? FEEDBACK : 0);
    put_checksum(h + 6, sum(sum(p[9] + len, p + 12, 8), h, len));
    to->lens[to->count++] = IP + len;
}

/* What arrives at the sender for messages that passed so many pathlets. */
static void arriving(struct packets *in, const struct packets *acks, uint32_t pathlets) {
    in->count = 0;
    for (uint32_t i = 0; i < acks->count; i++) {
        for (uint32_t pathlet = 1; pathlet <= pathlets; pathlet++) {
            add(in, acks->octets[i], OCCUPANCY, pathlet);
            add(in, acks->octets[i], PRX, pathlet);
            add(in, acks->octets[i], PTX, pathlet);
        }
        memcpy(in->octets[in->count], acks->octets[i], acks->lens[i]);
        in->lens[in->count++] = acks->lens[i];
    }
}

static void open_end(struct end *end, uint32_t here) {
    message_transport_open(end->core, addresses[here], 7, addresses[1 - here], 7, end->token++, 0);
    end->handle = completed(end).value;
}

struct figures {
    uint64_t sending, receiving, messages;
};

static struct packets out, back, acks, in;
static uint8_t data[OCTETS], taken[OCTETS];

/* A batch of messages, all of which are acknowledged at its end. */
static void batch(struct end ends[2], uint32_t pathlets, uint32_t count, uint64_t now, struct figures *figures) {
    struct carrick_addr from = {.ptr = data, .len = OCTETS}, to = {.ptr = taken, .len = OCTETS};
    uint64_t begin = spent();
    for (uint32_t i = 0; i < count; i++)
        message_transport_send(ends[0].core, ends[0].handle, from, OCTETS, ends[0].token++, now);
    send_all(&ends[0], &out, now);
    uint64_t sent = spent();
    acks.count = 0;
    while (out.count > 0) { /* the first batch is preceded by the handshake */
        take_all(&ends[1], &out, now);
        send_all(&ends[1], &back, now);
        if (back.count == count && back.octets[0][IP + FLAGS] == 0x80) {
            acks = back;
            break;
        }
        take_all(&ends[0], &back, now);
        send_all(&ends[0], &out, now);
    }
    arriving(&in, &acks, pathlets);
    uint64_t arrived = spent();
    take_all(&ends[0], &in, now);
    figures->receiving += spent() - arrived;
    figures->sending += sent - begin;
    figures->messages += count;
    for (uint32_t i = 0; i < count; i++) {
        completed(&ends[0]);
        message_transport_recv(ends[1].core, ends[1].handle, to, OCTETS, ends[1].token++, now);
        completed(&ends[1]);
    }
}

int main(int argc, char **argv) {
    uint32_t pathlets = argc > 2 ? (uint32_t)atoi(argv[1]) : 0, batches = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
    if (batches == 0 || pathlets > PATHLETS) {
        fprintf(stderr, "usage: acks PATHLETS BATCHES\n");
        return 2;
    }
    struct end ends[2] = {make(addresses[0]), make(addresses[1])};
    open_end(&ends[0], 0);
    open_end(&ends[1], 1);
    struct figures figures = {0};
    for (uint32_t i = 0; i < batches; i++) {
        if (i == batches / 10) /* caches and windows are warm */
            figures = (struct figures){0};
        batch(ends, pathlets, BATCH, (uint64_t)i * 10000, &figures);
    }
    double each = 1 / (double)figures.messages;
    printf("{\"sending_ns\": %.1f, \"receiving_ns\": %.1f, \"packets\": %u}\n", (double)figures.sending * each,
           (double)figures.receiving * each, 1 + 3 * pathlets);
    return 0;
}
