/* SPDX-License-Identifier: MIT */
/*
 * Measures how long messages take until the peer has acknowledged them: conversations with a peer's `messages`, each
 * with one message under way. A receiver (COUNT 0) only takes them. Prints one line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "apps/apps.h"

#define MESSAGES_CONVERSATIONS 4096u
#define MESSAGES_OCTETS        65536u
#define MESSAGES_COUNT         10000000u
/* Both ends of conversation n have this port plus n. */
#define MESSAGES_PORT 10000u
/* A message for which the program has no buffer space is sent again so much later, in nanoseconds; and not for longer
 * than this, while no other is acknowledged: it will never fit. */
#define MESSAGES_AGAIN   100000
#define MESSAGES_GIVE_UP 10000000000u

struct messages;

struct messages_conversation {
    struct messages *all;
    uint64_t handle, begin;
    uint8_t *buffer;
    bool waits; /* for buffer space */
};

struct messages {
    struct carrick_stack *stack;
    struct carrick_ip6_address address;
    uint32_t octets, most, count; /* count 0: it receives */
    uint32_t open, begun, ended;
    uint64_t begin;
    uint64_t *times; /* of each message, nanoseconds */
    uint8_t *memory;
    int timer;              /* expires when messages that wait are sent again */
    uint64_t refused_since; /* 0: the last message was taken */
    bool failed, begun_all;
    struct messages_conversation conversations[];
};

static void messages_begin(struct messages *all);
static void messages_next(struct messages_conversation *c);
static void messages_open(struct messages *all);

/* Not the stack's clock, which stands still during a turn: a core in the kernel may complete a request within one. */
static uint64_t messages_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void messages_fail(struct messages *all, const char *what, const char *why) {
    if (!all->failed)
        fprintf(stderr, "%s: %s\n", what, why);
    all->failed = true;
    carrick_stack_stop(all->stack, CARRICK_EXIT_FAILED);
}

static int messages_by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void messages_print(struct messages *all) {
    double seconds = (double)(messages_clock() - all->begin) / 1e9;
    qsort(all->times, all->count, sizeof *all->times, messages_by_size);
    printf("messages: %" PRIu32 " of %" PRIu32 " bytes in %.6f s, median %.1f us, 99 %% %.1f us, 99.9 %% %.1f us\n",
           all->count, all->octets, seconds, (double)all->times[all->count / 2] / 1e3,
           (double)all->times[(uint64_t)all->count * 99 / 100] / 1e3,
           (double)all->times[(uint64_t)all->count * 999 / 1000] / 1e3);
    fflush(stdout);
    carrick_stack_stop(all->stack, CARRICK_EXIT_OK);
}

/* The program has no buffer space for a message now. */
static void messages_wait(struct messages_conversation *c) {
    static const struct itimerspec again = {.it_value = {0, MESSAGES_AGAIN}};
    struct messages *all = c->all;
    uint64_t now = messages_clock();
    if (all->refused_since == 0)
        all->refused_since = now;
    c->waits = true;
    if (now - all->refused_since > MESSAGES_GIVE_UP)
        messages_fail(all, "message", "the program has no buffer space for one of this length");
    else if (timerfd_settime(all->timer, 0, &again, NULL) != 0)
        messages_fail(all, "message", strerror(errno));
}

/* A message was acknowledged, or one came. */
static void messages_done(void *user, enum carrick_status status, uint64_t octets) {
    struct messages_conversation *c = user;
    struct messages *all = c->all;
    (void)octets;
    if (status == CARRICK_BUSY && all->count) {
        messages_wait(c);
        return;
    }
    if (status != CARRICK_OK) {
        messages_fail(all, "message", carrick_status_text(status));
        return;
    }
    all->refused_since = 0;
    if (!all->begun_all) {
        messages_begin(all);
        return;
    }
    if (all->count)
        all->times[all->ended++] = messages_clock() - c->begin;
    if (all->count && all->ended == all->count)
        messages_print(all);
    else
        messages_next(c);
}

static void messages_send(struct messages_conversation *c) {
    struct messages *all = c->all;
    c->waits = false;
    if (carrick_send(all->stack, c->handle, c->buffer, all->octets, messages_done, c) != 0)
        messages_fail(all, "message", "too many requests are open");
}

/* Sends those for which there was no buffer space. */
static void messages_again(void *user) {
    struct messages *all = user;
    uint64_t times;
    if (read(all->timer, &times, sizeof times) != sizeof times)
        return;
    for (uint32_t n = 0; n < all->most && !all->failed; n++)
        if (all->conversations[n].waits)
            messages_send(&all->conversations[n]);
}

static void messages_next(struct messages_conversation *c) {
    struct messages *all = c->all;
    c->begin = messages_clock();
    if (all->count > 0) {
        if (all->begun < all->count && all->begun++ < all->count)
            messages_send(c);
    } else if (carrick_recv(all->stack, c->handle, c->buffer, all->octets, messages_done, c) != 0) {
        messages_fail(all, "message", "too many requests are open");
    }
}

static void messages_opened(void *user, enum carrick_status status, uint64_t handle) {
    struct messages *all = user;
    if (status != CARRICK_OK) {
        messages_fail(all, "open", carrick_status_text(status));
        return;
    }
    all->conversations[all->open++].handle = handle;
    if (all->open < all->most) {
        messages_open(all);
        return;
    }
    /* The first message finds the peer's device; it does not count. */
    if (all->count == 0)
        messages_begin(all);
    else
        messages_send(&all->conversations[0]);
}

static void messages_begin(struct messages *all) {
    all->begun_all = true;
    all->begin = messages_clock();
    for (uint32_t n = 0; n < all->most; n++)
        messages_next(&all->conversations[n]);
    if (all->count == 0) {
        printf("messages: %" PRIu32 " conversations\n", all->most);
        fflush(stdout);
    }
}

static void messages_open(struct messages *all) {
    uint16_t port = (uint16_t)(MESSAGES_PORT + all->open);
    if (carrick_open(all->stack, port, all->address, port, messages_opened, all) != 0)
        messages_fail(all, "open", "the program has no conversations");
}

/* IP:CONVERSATIONS:BYTES:COUNT */
static bool messages_parse(struct messages *all, const char *argument) {
    char text[96], *words[4];
    return carrick_parse_words(argument, text, sizeof text, words, 4) &&
           carrick_parse_address(words[0], strlen(words[0]), &all->address) &&
           carrick_parse_number(words[1], 1, MESSAGES_CONVERSATIONS, &all->most) &&
           carrick_parse_number(words[2], 1, MESSAGES_OCTETS, &all->octets) &&
           carrick_parse_number(words[3], 0, MESSAGES_COUNT, &all->count);
}

static void messages_finish(void *state) {
    struct messages *all = state;
    if (all->timer >= 0)
        close(all->timer);
    free(all->times);
    free(all->memory);
    free(all);
}

static void *messages_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    struct messages given = {.stack = stack};
    if (!messages_parse(&given, argument)) {
        snprintf(error->text, sizeof error->text,
                 "`%.80s` is no measurement: write messages:IP:CONVERSATIONS:BYTES:COUNT, COUNT 0 to receive.",
                 argument);
        return NULL;
    }
    struct messages *all = calloc(1, sizeof *all + given.most * sizeof all->conversations[0]);
    if (all) {
        *all = given;
        all->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        all->times = calloc((size_t)given.count + 1, sizeof *all->times);
        all->memory = calloc(given.most, given.octets);
    }
    if (!all || !all->times || !all->memory) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the measurement.");
        if (all)
            messages_finish(all);
        return NULL;
    }
    for (uint32_t n = 0; n < all->most; n++)
        all->conversations[n] =
            (struct messages_conversation){.all = all, .buffer = all->memory + (size_t)n * all->octets};
    if (all->timer < 0 || !carrick_stack_watch(stack, all->timer, messages_again, all)) {
        snprintf(error->text, sizeof error->text, "messages: the system gives no timer: %s.", strerror(errno));
        messages_finish(all);
        return NULL;
    }
    messages_open(all);
    return all;
}

const struct carrick_application carrick_messages_application = {.name = "messages",
                                                                 .usage = "messages:IP:CONVERSATIONS:BYTES:COUNT",
                                                                 .start = messages_start,
                                                                 .finish = messages_finish};
