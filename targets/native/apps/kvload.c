/* SPDX-License-Identifier: MIT */
/* Sets keys of a `kv`, and measures what it takes then; each value that comes back is looked at. Prints one line. */
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"
#include "apps/kv.h"

#define KVLOAD_CONNECTIONS 16384u

struct kvload;

struct kvload_connection {
    struct kvload *load;
    uint64_t handle;
    uint32_t sent; /* of `out` */
    bool sending;
    struct kv_asker asker;
};

struct kvload {
    struct carrick_stack *stack;
    struct kv_asks asks;
    struct carrick_ip6_address address;
    uint32_t most, open;
    uint16_t port;
    bool over;
    struct kvload_connection connections[];
};

static void kvload_end(struct kvload *load, int code) {
    load->over = true;
    carrick_stack_stop(load->stack, code);
}

static void kvload_fail(struct kvload *load, const char *what, const char *why) {
    if (!load->over)
        fprintf(stderr, "%s: %s\n", what, why);
    kvload_end(load, CARRICK_EXIT_FAILED);
}

static void kvload_send(struct kvload_connection *c);

/* What may be asked now; while something is on its way, that is not over. */
static void kvload_ask(struct kvload_connection *c) {
    if (c->sending || c->load->over)
        return;
    kv_ask(&c->load->asks, &c->asker, carrick_stack_now(c->load->stack));
    c->sent = 0;
    if (c->asker.out_len)
        kvload_send(c);
}

static void kvload_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct kvload_connection *c = user;
    c->sending = false;
    c->sent += (uint32_t)octets;
    if (c->load->over)
        return;
    if (status != CARRICK_OK)
        kvload_fail(c->load, "send", carrick_status_text(status));
    else if (c->sent < c->asker.out_len)
        kvload_send(c);
    else
        kvload_ask(c);
}

static void kvload_send(struct kvload_connection *c) {
    c->sending = carrick_send(c->load->stack, c->handle, c->asker.out + c->sent, c->asker.out_len - c->sent,
                              kvload_sent, c) == 0;
    if (!c->sending)
        kvload_fail(c->load, "send", "too many requests are open");
}

static void kvload_receive(struct kvload_connection *c);

static void kvload_received(void *user, enum carrick_status status, uint64_t octets) {
    struct kvload_connection *c = user;
    struct kvload *load = c->load;
    uint64_t now = carrick_stack_now(load->stack);
    bool all = false;
    if (load->over)
        return;
    c->asker.held += (uint32_t)octets;
    if (status != CARRICK_OK) {
        kvload_fail(load, "receive", carrick_status_text(status));
    } else if (!kv_hear(&load->asks, &c->asker, now, &all)) {
        kvload_fail(load, "receive", "another answer came than should");
    } else if (kv_asks_over(&load->asks)) {
        kv_asks_print(&load->asks, now);
        kvload_end(load, CARRICK_EXIT_OK);
    } else {
        kvload_receive(c);
        for (uint32_t i = 0; all && i < load->most; i++)
            kvload_ask(&load->connections[i]);
        kvload_ask(c);
    }
}

static void kvload_receive(struct kvload_connection *c) {
    struct kv_asker *asker = &c->asker;
    if (carrick_recv(c->load->stack, c->handle, asker->in + asker->held, (uint32_t)sizeof asker->in - asker->held,
                     kvload_received, c) != 0)
        kvload_fail(c->load, "receive", "too many requests are open");
}

static void kvload_connect(struct kvload *load);

static void kvload_connected(void *user, enum carrick_status status, uint64_t handle) {
    struct kvload_connection *c = user;
    struct kvload *load = c->load;
    if (status != CARRICK_OK) {
        kvload_fail(load, "connect", carrick_status_text(status));
        return;
    }
    c->handle = handle;
    if (carrick_stack_has(load->stack, "set_nodelay"))
        (void)carrick_set_nodelay(load->stack, handle, true, NULL, NULL);
    if (++load->open < load->most) {
        kvload_connect(load);
        return;
    }
    for (uint32_t i = 0; i < load->most; i++) {
        kvload_receive(&load->connections[i]);
        kvload_ask(&load->connections[i]);
    }
}

/* One after the other. */
static void kvload_connect(struct kvload *load) {
    if (carrick_connect(load->stack, 0, load->address, load->port, kvload_connected, &load->connections[load->open]) !=
        0)
        kvload_fail(load, "connect", "too many requests are open");
}

static bool kvload_parse(struct kvload *load, const char *argument) {
    struct kv_asks *asks = &load->asks;
    char text[96], *words[6];
    return carrick_parse_words(argument, text, sizeof text, words, 6) &&
           carrick_parse_address(words[0], strlen(words[0]), &load->address) &&
           carrick_parse_port(words[1], &load->port) &&
           carrick_parse_number(words[2], 1, KVLOAD_CONNECTIONS, &load->most) &&
           carrick_parse_number(words[3], 1, KV_AT_ONCE, &asks->at_once) &&
           carrick_parse_number(words[4], 1, KV_KEYS, &asks->keys) &&
           carrick_parse_number(words[5], 1, KV_COUNT, &asks->count);
}

static void kvload_finish(void *state) {
    struct kvload *load = state;
    kv_asks_close(&load->asks);
    free(load);
}

static void *kvload_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    struct kvload given = {.stack = stack};
    if (!kvload_parse(&given, argument)) {
        snprintf(error->text, sizeof error->text,
                 "`%.80s` is no load: write kvload:IP:PORT:CONNECTIONS:ATONCE:KEYS:COUNT, at most %u at once of a "
                 "connection.",
                 argument, KV_AT_ONCE);
        return NULL;
    }
    struct kvload *load = calloc(1, sizeof *load + given.most * sizeof load->connections[0]);
    if (load)
        *load = given;
    if (!load || !kv_asks_open(&load->asks)) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the measurement.");
        free(load);
        return NULL;
    }
    for (uint32_t i = 0; i < load->most; i++)
        load->connections[i].load = load;
    kvload_connect(load);
    return load;
}

const struct carrick_application carrick_kvload_application = {.name = "kvload",
                                                               .usage = "kvload:IP:PORT:CONNECTIONS:ATONCE:KEYS:COUNT",
                                                               .start = kvload_start,
                                                               .finish = kvload_finish};
