/* SPDX-License-Identifier: MIT */
/*
 * Memory for a peer's `perf`: it is read from and written to while this end does nothing. A message with an immediate
 * is sent back. Ends with its peer.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"
#include "apps/verbs.h"

#define MEMORY_RECEIVES 32u

struct memory;

struct memory_receive {
    struct memory *memory;
    uint32_t imm;
    uint8_t buffer[VERBS_MESSAGE];
};

struct memory {
    struct carrick_stack *stack;
    uint64_t pair, messages;
    uint32_t regions; /* that are not taken back */
    bool over;        /* the peer has said its last */
    int code;
    struct memory_receive receives[MEMORY_RECEIVES];
    uint32_t expected_len; /* of the messages in `expected` */
    uint8_t expected[VERBS_REGION], read[VERBS_REGION], written[VERBS_REGION];
};

static void memory_fail(struct memory *memory, const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    memory->code = CARRICK_EXIT_FAILED;
    carrick_stack_stop(memory->stack, memory->code);
}

static void memory_gone(void *user, enum carrick_status status, uint64_t octets) {
    (void)octets;
    struct memory *memory = user;
    if (status != CARRICK_OK)
        memory_fail(memory, "cannot register memory", carrick_status_text(status));
    else if (--memory->regions == 0)
        carrick_stack_stop(memory->stack, memory->code);
}

/* The queue pair is gone: nobody reads or writes any more. */
static void memory_closed(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value;
    struct memory *memory = user;
    (void)carrick_deregister(memory->stack, VERBS_READ_KEY, NULL, NULL);
    (void)carrick_deregister(memory->stack, VERBS_WRITTEN_KEY, NULL, NULL);
}

static void memory_receive(struct memory_receive *r);

/* What was sent back has arrived. That the last one has, nobody may be there to say. */
static void memory_answered(void *user, enum carrick_status status, uint64_t octets) {
    (void)octets;
    struct memory_receive *r = user;
    struct memory *memory = r->memory;
    if (r->imm == VERBS_OVER)
        (void)carrick_close(memory->stack, memory->pair, memory_closed, memory);
    else if (status != CARRICK_OK)
        memory_fail(memory, "cannot answer", carrick_status_text(status));
    else
        memory_receive(r);
}

/* Whether these are the bytes of the next message. */
static bool memory_is_sound(struct memory *memory, const struct memory_receive *r, uint32_t len) {
    if (len != memory->expected_len) {
        memory->expected_len = len;
        carrick_pattern_fill(VERBS_SENT, 0, memory->expected, VERBS_PLACES * len);
    }
    uint32_t place = verbs_place(memory->messages++, len);
    return memcmp(r->buffer, memory->expected + place, len) == 0;
}

static void memory_received(void *user, enum carrick_status status, uint64_t value) {
    struct memory_receive *r = user;
    struct memory *memory = r->memory;
    if (status != CARRICK_OK) {
        if (!memory->over)
            memory_fail(memory, "cannot receive", carrick_status_text(status));
        return;
    }
    uint32_t len = carrick_received_octets(value);
    bool answer = carrick_received_imm(value, &r->imm);
    memory->over = answer && r->imm == VERBS_OVER;
    if (!memory->over && !memory_is_sound(memory, r, len))
        memory_fail(memory, "a message came", "with other bytes than were sent");
    else if (!answer)
        memory_receive(r);
    else if (carrick_post_send(memory->stack, memory->pair, r->buffer, len, &r->imm, memory_answered, r) != 0)
        memory_fail(memory, "cannot answer", "too many requests are open");
}

static void memory_receive(struct memory_receive *r) {
    if (carrick_post_recv(r->memory->stack, r->memory->pair, r->buffer, VERBS_MESSAGE, memory_received, r) != 0)
        memory_fail(r->memory, "cannot receive", "too many requests are open");
}

static void memory_opened(void *user, enum carrick_status status, uint64_t pair) {
    struct memory *memory = user;
    if (status != CARRICK_OK) {
        memory_fail(memory, "cannot open a queue pair", carrick_status_text(status));
        return;
    }
    memory->pair = pair;
    for (uint32_t i = 0; i < MEMORY_RECEIVES; i++)
        memory_receive(&memory->receives[i]);
    fprintf(stderr, "memory is there\n");
}

/* False: the program has no such calls. */
static bool memory_offer(struct memory *memory, uint32_t peer) {
    struct carrick_region read = {
        .data = memory->read, .len = VERBS_REGION, .key = VERBS_READ_KEY, .addr = VERBS_ADDRESS, .may_read = true};
    struct carrick_region written = read;
    written.data = memory->written;
    written.key = VERBS_WRITTEN_KEY;
    written.may_write = true;
    struct carrick_pair pair = verbs_pair(true, peer);
    memory->regions = 2;
    return carrick_register(memory->stack, &read, memory_gone, memory) == 0 &&
           carrick_register(memory->stack, &written, memory_gone, memory) == 0 &&
           carrick_open_pair(memory->stack, &pair, memory_opened, memory) == 0;
}

static void *memory_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    uint32_t peer;
    if (!carrick_parse_ipv4(argument, strlen(argument), &peer)) {
        snprintf(error->text, sizeof error->text, "`%.40s` is no peer: write memory:PEERIP.", argument);
        return NULL;
    }
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the peer's.");
        return NULL;
    }
    memory->stack = stack;
    for (uint32_t i = 0; i < MEMORY_RECEIVES; i++)
        memory->receives[i].memory = memory;
    carrick_pattern_fill(VERBS_THERE, 0, memory->read, VERBS_REGION);
    if (memory_offer(memory, peer))
        return memory;
    snprintf(error->text, sizeof error->text, "The program offers no memory: its interface is not `verbs`.");
    free(memory);
    return NULL;
}

const struct carrick_application carrick_memory_application = {
    .name = "memory", .usage = "memory:PEERIP", .start = memory_start, .finish = free};
