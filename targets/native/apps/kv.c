/* SPDX-License-Identifier: MIT */
/* Serves a key-value store (apps/kv.h). */
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"
#include "apps/kv.h"
#include "apps/server.h"

#define KV_PLACES 1024u

struct kv;

struct kv_connection {
    struct kv *kv;
    uint64_t handle;
    uint32_t sent; /* of `out` */
    struct kv_served served;
};

struct kv {
    struct carrick_server server;
    struct kv_store *store;
    struct kv_connection connections[KV_PLACES];
};

static void kv_receive(struct kv_connection *c);

static uint32_t kv_place(const struct kv_connection *c) {
    return (uint32_t)(c - c->kv->connections);
}

static void kv_close(struct kv_connection *c, bool in_order) {
    carrick_server_close(&c->kv->server, kv_place(c), in_order);
}

/* Nothing more is received before all has been sent: who does not hear its answers asks no more. */
static void kv_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct kv_connection *c = user;
    struct kv_served *served = &c->served;
    c->sent += (uint32_t)octets;
    carrick_server_moved(&c->kv->server, kv_place(c), octets);
    if (status != CARRICK_OK) {
        kv_close(c, false);
    } else if (c->sent < served->out_len) {
        if (carrick_send(c->kv->server.stack, c->handle, served->out + c->sent, served->out_len - c->sent, kv_sent,
                         c) != 0)
            kv_close(c, false);
    } else if (served->wrong) {
        kv_close(c, true);
    } else {
        if (served->out_len) /* a request that is never whole is no progress */
            carrick_server_phase(&c->kv->server, kv_place(c), false);
        kv_receive(c);
    }
}

static void kv_received(void *user, enum carrick_status status, uint64_t octets) {
    struct kv_connection *c = user;
    if (status != CARRICK_OK) {
        kv_close(c, status == CARRICK_END_OF_STREAM);
        return;
    }
    c->served.held += (uint32_t)octets;
    c->served.out_len = c->sent = 0;
    kv_serve(c->kv->store, &c->served);
    if (c->served.out_len)
        carrick_server_phase(&c->kv->server, kv_place(c), true);
    kv_sent(c, CARRICK_OK, 0);
}

static void kv_receive(struct kv_connection *c) {
    struct kv_served *served = &c->served;
    if (carrick_recv(c->kv->server.stack, c->handle, served->in + served->held, KV_IN - served->held, kv_received, c) !=
        0)
        kv_close(c, false);
}

static void kv_accepted(void *user, uint32_t place, uint64_t connection) {
    struct kv *kv = user;
    struct kv_connection *c = &kv->connections[place];
    c->kv = kv;
    c->handle = connection;
    c->served.held = 0;
    c->served.wrong = false;
    if (carrick_stack_has(kv->server.stack, "set_nodelay"))
        (void)carrick_set_nodelay(kv->server.stack, connection, true, NULL, NULL);
    kv_receive(c);
}

static void kv_finish(void *state) {
    struct kv *kv = state;
    carrick_server_finish(&kv->server);
    if (kv->store)
        kv_store_close(kv->store);
    free(kv);
}

static void *kv_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    char numbers[32];
    uint16_t port;
    uint32_t keys = KV_KEYS, most = carrick_stack_capacity(stack);
    struct carrick_server_limit limit = {.idle = CARRICK_SERVER_IDLE, .when_full = true};
    if (!carrick_server_argument(argument, numbers, sizeof numbers, &limit, error))
        return NULL;
    if (!carrick_parse_port_and(numbers, &port, KV_KEYS, &keys)) {
        snprintf(error->text, sizeof error->text,
                 "`%.40s` is no store: write kv:PORT, or kv:PORT:KEYS for at most so many keys, up to %u.", argument,
                 KV_KEYS);
        return NULL;
    }
    struct kv *kv = calloc(1, sizeof *kv);
    if (kv)
        kv->store = kv_store_open(keys);
    if (!kv || !kv->store)
        snprintf(error->text, sizeof error->text, "There is not enough memory for a store of %u keys.", keys);
    else if (carrick_server_start(&kv->server, stack, port, most < KV_PLACES ? most : KV_PLACES, kv_accepted, kv,
                                  error) &&
             carrick_server_limit(&kv->server, limit, error))
        return kv;
    if (kv)
        kv_finish(kv);
    return NULL;
}

const struct carrick_application carrick_kv_application = {
    .name = "kv", .usage = "kv:PORT[:KEYS][,full=60s]", .start = kv_start, .finish = kv_finish};
