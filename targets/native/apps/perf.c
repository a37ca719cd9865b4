/* SPDX-License-Identifier: MIT */
/*
 * Measures what it takes to send messages to a peer's `memory`, to write there and to read from there, and looks at
 * every byte. Prints one line.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"
#include "apps/verbs.h"

#define PERF_COUNT     1000000u
#define PERF_LINGER_NS 2000000000u

enum perf_kind { PERF_PING, PERF_SEND, PERF_WRITE, PERF_READ, PERF_KINDS };
static const char *const perf_kinds[PERF_KINDS] = {"ping", "send", "write", "read"};

struct perf;

/* A work request that waits for its completion. */
struct perf_work {
    struct perf *perf;
    uint64_t number, begin;
    uint8_t *buffer; /* of a READ or a receive */
};

struct perf {
    struct carrick_stack *stack;
    uint64_t pair;
    enum perf_kind kind;
    uint32_t size, count, begun, ended;
    bool reads_back, failed;
    uint64_t begin;
    uint64_t *times; /* of each, nanoseconds */
    struct perf_work works[VERBS_PLACES];
    uint8_t octets[VERBS_REGION], read[VERBS_REGION];
};

static void perf_begin_next(struct perf_work *work);

/* Once, and nothing more is asked for. */
static void perf_fail(struct perf *perf, const char *what, const char *why) {
    if (!perf->failed)
        fprintf(stderr, "%s: %s\n", what, why);
    perf->failed = true;
    carrick_stack_stop(perf->stack, CARRICK_EXIT_FAILED);
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void perf_print(struct perf *perf) {
    double seconds = (double)(carrick_stack_now(perf->stack) - perf->begin) / 1e9;
    double bits = (double)perf->count * perf->size * 8;
    qsort(perf->times, perf->count, sizeof *perf->times, by_size);
    printf("%s: %" PRIu32 " of %" PRIu32 " bytes in %.6f s, %.1f Mbit/s, median %.1f us, 99 %% %.1f us\n",
           perf_kinds[perf->kind], perf->count, perf->size, seconds, bits / seconds / 1e6,
           (double)perf->times[perf->count / 2] / 1e3, (double)perf->times[(uint64_t)perf->count * 99 / 100] / 1e3);
    fflush(stdout);
}

static void perf_over(void *user, enum carrick_status status, uint64_t value) {
    struct perf *perf = user;
    uint32_t imm;
    if (status != CARRICK_OK || !carrick_received_imm(value, &imm) || imm != VERBS_OVER)
        perf_fail(perf, "the peer did not say that it is over", carrick_status_text(status));
    else
        carrick_stack_linger(perf->stack, PERF_LINGER_NS, CARRICK_EXIT_OK);
}

/* Tells the peer that this was all, and waits until it says the same. */
static void perf_end(struct perf *perf) {
    static const uint32_t over = VERBS_OVER;
    if (carrick_post_recv(perf->stack, perf->pair, perf->read, VERBS_MESSAGE, perf_over, perf) != 0 ||
        carrick_post_send(perf->stack, perf->pair, perf->octets, 0, &over, NULL, NULL) != 0)
        perf_fail(perf, "cannot end", "too many requests are open");
}

/* The measurement is over; what was written is looked at. */
static void perf_measured(struct perf *perf) {
    perf_print(perf);
    if (perf->kind != PERF_WRITE) {
        perf_end(perf);
        return;
    }
    perf->reads_back = true;
    perf->begun = perf->ended = 0;
    perf->count = perf->count < VERBS_PLACES ? perf->count : VERBS_PLACES;
    for (uint32_t i = 0; i < perf->count; i++)
        perf_begin_next(&perf->works[i]);
}

/* Whether what came is what was sent, or is there. */
static bool perf_is_sound(const struct perf_work *work) {
    const struct perf *perf = work->perf;
    bool came = perf->kind == PERF_PING || perf->kind == PERF_READ || perf->reads_back;
    return !came || memcmp(work->buffer, perf->octets + verbs_place(work->number, perf->size), perf->size) == 0;
}

static void perf_done(void *user, enum carrick_status status, uint64_t value) {
    struct perf_work *work = user;
    struct perf *perf = work->perf;
    if (status != CARRICK_OK) {
        perf_fail(perf, perf_kinds[perf->kind], carrick_status_text(status));
        return;
    }
    if (carrick_received_octets(value) != perf->size || !perf_is_sound(work)) {
        perf_fail(perf, perf_kinds[perf->kind], "other bytes came than should");
        return;
    }
    if (!perf->reads_back)
        perf->times[work->number] = carrick_stack_now(perf->stack) - work->begin;
    if (++perf->ended < perf->count)
        perf_begin_next(work);
    else if (perf->reads_back)
        perf_end(perf);
    else
        perf_measured(perf);
}

/* A SEND of a ping is no news; its answer is. */
static void perf_pinged(void *user, enum carrick_status status, uint64_t octets) {
    const struct perf_work *work = user;
    (void)octets;
    if (status != CARRICK_OK)
        perf_fail(work->perf, "ping", carrick_status_text(status));
}

static int perf_post(struct perf *perf, struct perf_work *work) {
    const uint8_t *octets = perf->octets + verbs_place(work->number, perf->size);
    uint64_t there = VERBS_ADDRESS + verbs_place(work->number, perf->size);
    uint32_t imm = (uint32_t)work->number;
    if (perf->reads_back)
        return carrick_post_read(perf->stack, perf->pair, work->buffer, perf->size, VERBS_WRITTEN_KEY, there, perf_done,
                                 work);
    switch (perf->kind) {
    case PERF_SEND:
        return carrick_post_send(perf->stack, perf->pair, octets, perf->size, NULL, perf_done, work);
    case PERF_WRITE:
        return carrick_post_write(perf->stack, perf->pair, octets, perf->size, VERBS_WRITTEN_KEY, there, NULL,
                                  perf_done, work);
    case PERF_READ:
        return carrick_post_read(perf->stack, perf->pair, work->buffer, perf->size, VERBS_READ_KEY, there, perf_done,
                                 work);
    default: {
        int refused = carrick_post_recv(perf->stack, perf->pair, work->buffer, perf->size, perf_done, work);
        return refused ? refused
                       : carrick_post_send(perf->stack, perf->pair, octets, perf->size, &imm, perf_pinged, work);
    }
    }
}

static void perf_begin_next(struct perf_work *work) {
    struct perf *perf = work->perf;
    if (perf->begun == perf->count)
        return;
    work->number = perf->begun++;
    work->begin = carrick_stack_now(perf->stack);
    if (perf_post(perf, work) != 0)
        perf_fail(perf, perf_kinds[perf->kind], "too many requests are open");
}

static void perf_opened(void *user, enum carrick_status status, uint64_t pair) {
    struct perf *perf = user;
    if (status != CARRICK_OK) {
        perf_fail(perf, "cannot open a queue pair", carrick_status_text(status));
        return;
    }
    perf->pair = pair;
    perf->begin = carrick_stack_now(perf->stack);
    uint32_t at_once = perf->kind == PERF_PING ? 1 : VERBS_PLACES;
    for (uint32_t i = 0; i < at_once; i++)
        perf_begin_next(&perf->works[i]);
}

/* PEERIP:KIND:SIZE:COUNT */
static bool perf_parse(struct perf *perf, const char *argument, uint32_t *peer) {
    char text[64], *words[4];
    uint32_t kind = 0;
    if (!carrick_parse_words(argument, text, sizeof text, words, 4))
        return false;
    while (kind < PERF_KINDS && strcmp(words[1], perf_kinds[kind]) != 0)
        kind++;
    perf->kind = (enum perf_kind)kind;
    return kind < PERF_KINDS && carrick_parse_ipv4(words[0], strlen(words[0]), peer) &&
           carrick_parse_number(words[2], 1, VERBS_MESSAGE, &perf->size) &&
           carrick_parse_number(words[3], 1, PERF_COUNT, &perf->count);
}

static void perf_finish(void *state) {
    struct perf *perf = state;
    free(perf->times);
    free(perf);
}

static void *perf_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    uint32_t peer;
    struct perf *perf = calloc(1, sizeof *perf);
    if (perf)
        perf->times = calloc(PERF_COUNT, sizeof *perf->times);
    if (!perf || !perf->times) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the measurement.");
        free(perf);
        return NULL;
    }
    perf->stack = stack;
    bool known = perf_parse(perf, argument, &peer);
    if (!known)
        snprintf(error->text, sizeof error->text,
                 "`%.80s` is no measurement: write perf:PEERIP:KIND:BYTES:COUNT, of the kinds ping, send, write, read.",
                 argument);
    for (uint32_t i = 0; i < VERBS_PLACES; i++)
        perf->works[i] = (struct perf_work){.perf = perf, .buffer = perf->read + (size_t)i * VERBS_MESSAGE};
    carrick_pattern_fill(perf->kind == PERF_READ ? VERBS_THERE : VERBS_SENT, 0, perf->octets,
                         known ? VERBS_PLACES * perf->size : 0);
    struct carrick_pair pair = verbs_pair(false, known ? peer : 0);
    if (known && carrick_stack_has(stack, "post_send") && carrick_open_pair(stack, &pair, perf_opened, perf) == 0)
        return perf;
    if (known)
        snprintf(error->text, sizeof error->text, "The program has nothing to post: its interface is not `verbs`.");
    perf_finish(perf);
    return NULL;
}

const struct carrick_application carrick_perf_application = {
    .name = "perf", .usage = "perf:PEERIP:KIND:BYTES:COUNT", .start = perf_start, .finish = perf_finish};
