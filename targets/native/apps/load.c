/* SPDX-License-Identifier: MIT */
/*
 * Measures what an echo server takes: requests over several connections, so many at a time, each over the connection
 * that has had none for longest. Connections of few messages are closed after them, and opened anew. Prints one line.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"

#define LOAD_CONNECTIONS 16384u
#define LOAD_OCTETS      65536u
#define LOAD_COUNT       10000000u

struct load;

struct load_connection {
    struct load *load;
    uint64_t handle, begin;
    uint32_t sent, got, messages;
    struct load_connection *next; /* of those that have nothing to do */
    uint8_t *buffer;
};

struct load {
    struct carrick_stack *stack;
    struct carrick_ip6_address address;
    uint16_t port;
    uint32_t count, at_once, octets, most, messages; /* messages 0: connections stay */
    uint32_t open, begun, ended, going;
    uint64_t begin;
    uint64_t *times; /* of each request, nanoseconds */
    uint8_t *memory;
    bool over;
    struct load_connection *first, *last; /* with nothing to do, the longest first */
    struct load_connection connections[];
};

static void load_begin(struct load *load);
static void load_connect(struct load_connection *c);

static void load_fail(struct load *load, const char *what, const char *why) {
    if (!load->over)
        fprintf(stderr, "%s: %s\n", what, why);
    load->over = true;
    carrick_stack_stop(load->stack, CARRICK_EXIT_FAILED);
}

static int load_by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The server is not to keep what it never hears of again: all connections are aborted, one after the other. */
static void load_leave(void *user, enum carrick_status status, uint64_t value) {
    struct load *load = user;
    (void)status, (void)value;
    while (load->open > 0) {
        const struct load_connection *c = &load->connections[--load->open];
        if (c->handle && carrick_abort(load->stack, c->handle, load_leave, load) == 0)
            return;
    }
    carrick_stack_stop(load->stack, CARRICK_EXIT_OK);
}

static void load_print(struct load *load) {
    double seconds = (double)(carrick_stack_now(load->stack) - load->begin) / 1e9;
    qsort(load->times, load->count, sizeof *load->times, load_by_size);
    printf("load: %" PRIu32 " of %" PRIu32 " bytes in %.6f s, %.1f/s, median %.1f us, 99 %% %.1f us\n", load->count,
           load->octets, seconds, load->count / seconds, (double)load->times[load->count / 2] / 1e3,
           (double)load->times[(uint64_t)load->count * 99 / 100] / 1e3);
    fflush(stdout);
    load->over = true;
    load_leave(load, CARRICK_OK, 0);
}

static void load_idle(struct load_connection *c) {
    struct load *load = c->load;
    c->next = NULL;
    if (load->first)
        load->last->next = c;
    else
        load->first = c;
    load->last = c;
}

/* The last message of a connection came, and it is gone at once: the next one takes its place. */
static void load_aborted(void *user, enum carrick_status status, uint64_t value) {
    struct load_connection *c = user;
    (void)value;
    if (status != CARRICK_OK && status != CARRICK_CLOSED)
        load_fail(c->load, "abort", carrick_status_text(status));
    else if (!c->load->over)
        load_connect(c);
}

static void load_ended(struct load_connection *c) {
    struct load *load = c->load;
    load->times[load->ended++] = carrick_stack_now(load->stack) - c->begin;
    load->going--;
    if (load->ended == load->count) {
        load_print(load);
        return;
    }
    if (load->messages && ++c->messages == load->messages) {
        if (carrick_abort(load->stack, c->handle, load_aborted, c) != 0)
            load_fail(load, "abort", "too many requests are open");
    } else {
        load_idle(c);
    }
    load_begin(load);
}

static void load_received(void *user, enum carrick_status status, uint64_t octets);

static void load_receive(struct load_connection *c) {
    struct load *load = c->load;
    if (carrick_recv(load->stack, c->handle, c->buffer + load->octets + c->got, load->octets - c->got, load_received,
                     c) != 0)
        load_fail(load, "receive", "too many requests are open");
}

static void load_received(void *user, enum carrick_status status, uint64_t octets) {
    struct load_connection *c = user;
    struct load *load = c->load;
    if (load->over)
        return;
    if (status != CARRICK_OK) {
        load_fail(load, "receive", carrick_status_text(status));
        return;
    }
    c->got += (uint32_t)octets;
    if (c->got < load->octets)
        load_receive(c);
    else if (memcmp(c->buffer, c->buffer + load->octets, load->octets) != 0)
        load_fail(load, "receive", "other bytes came than were sent");
    else
        load_ended(c);
}

static void load_send(struct load_connection *c);

static void load_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct load_connection *c = user;
    if (c->load->over)
        return;
    c->sent += (uint32_t)octets;
    if (status != CARRICK_OK)
        load_fail(c->load, "send", carrick_status_text(status));
    else if (c->sent < c->load->octets)
        load_send(c);
}

static void load_send(struct load_connection *c) {
    struct load *load = c->load;
    if (carrick_send(load->stack, c->handle, c->buffer + c->sent, load->octets - c->sent, load_sent, c) != 0)
        load_fail(load, "send", "too many requests are open");
}

/* As many requests as there may be at a time, and connections to bring them. */
static void load_begin(struct load *load) {
    while (!load->over && load->first && load->going < load->at_once && load->begun < load->count) {
        struct load_connection *c = load->first;
        load->first = c->next;
        c->sent = c->got = 0;
        c->begin = carrick_stack_now(load->stack);
        memcpy(c->buffer, &load->begun, sizeof load->begun);
        load->begun++;
        load->going++;
        load_receive(c);
        load_send(c);
    }
}

static void load_connected(void *user, enum carrick_status status, uint64_t handle) {
    struct load_connection *c = user;
    struct load *load = c->load;
    if (load->over)
        return;
    if (status != CARRICK_OK) {
        load_fail(load, "connect", carrick_status_text(status));
        return;
    }
    c->handle = handle;
    c->messages = 0;
    load_idle(c);
    if (carrick_stack_has(load->stack, "set_nodelay"))
        (void)carrick_set_nodelay(load->stack, handle, true, NULL, NULL);
    /* Time begins when all of the first ones are there; they are opened one after the other. */
    if (load->open < load->most && ++load->open < load->most)
        load_connect(&load->connections[load->open]);
    else if (load->begin == 0)
        load->begin = carrick_stack_now(load->stack);
    if (load->begin)
        load_begin(load);
}

static void load_connect(struct load_connection *c) {
    if (carrick_connect(c->load->stack, 0, c->load->address, c->load->port, load_connected, c) != 0)
        load_fail(c->load, "connect", "too many requests are open");
}

/* IP:PORT:CONNECTIONS:ATONCE:BYTES:MESSAGES:COUNT */
static bool load_parse(struct load *load, const char *argument) {
    char text[96], *words[7];
    return carrick_parse_words(argument, text, sizeof text, words, 7) &&
           carrick_parse_address(words[0], strlen(words[0]), &load->address) &&
           carrick_parse_port(words[1], &load->port) &&
           carrick_parse_number(words[2], 1, LOAD_CONNECTIONS, &load->most) &&
           carrick_parse_number(words[3], 1, load->most, &load->at_once) &&
           carrick_parse_number(words[4], 4, LOAD_OCTETS, &load->octets) &&
           carrick_parse_number(words[5], 0, LOAD_COUNT, &load->messages) &&
           carrick_parse_number(words[6], 1, LOAD_COUNT, &load->count);
}

static void load_finish(void *state) {
    struct load *load = state;
    free(load->times);
    free(load->memory);
    free(load);
}

static void *load_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    struct load given = {.stack = stack};
    if (!load_parse(&given, argument)) {
        snprintf(error->text, sizeof error->text,
                 "`%.80s` is no load: write load:IP:PORT:CONNECTIONS:ATONCE:BYTES:MESSAGES:COUNT, MESSAGES of a "
                 "connection, 0: all.",
                 argument);
        return NULL;
    }
    struct load *load = calloc(1, sizeof *load + given.most * sizeof load->connections[0]);
    if (load) {
        *load = given;
        load->times = calloc(given.count, sizeof *load->times);
        load->memory = calloc(given.most, 2 * (size_t)given.octets);
    }
    if (!load || !load->times || !load->memory) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the measurement.");
        if (load)
            load_finish(load);
        return NULL;
    }
    for (uint32_t i = 0; i < load->most; i++)
        load->connections[i] =
            (struct load_connection){.load = load, .buffer = load->memory + (size_t)i * 2 * load->octets};
    load_connect(&load->connections[0]);
    return load;
}

const struct carrick_application carrick_load_application = {.name = "load",
                                                             .usage =
                                                                 "load:IP:PORT:CONNECTIONS:ATONCE:BYTES:MESSAGES:COUNT",
                                                             .start = load_start,
                                                             .finish = load_finish};
