/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "apps/kv.h"

struct kv_pair {
    uint8_t key[KV_KEY], value[KV_VALUE];
};

/* Open addressing, at most half full; nothing is ever taken out. */
struct kv_store {
    uint32_t held, room, places; /* `places` is a power of two */
    uint32_t *table;             /* 1 and more: a pair */
    struct kv_pair *pairs;
};

struct kv_store *kv_store_open(uint32_t keys) {
    struct kv_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->room = keys;
    store->places = 2;
    while (store->places < 2 * keys)
        store->places *= 2;
    store->table = calloc(store->places, sizeof *store->table);
    store->pairs = calloc(keys, sizeof *store->pairs);
    if (store->table && store->pairs)
        return store;
    kv_store_close(store);
    return NULL;
}

void kv_store_close(struct kv_store *store) {
    free(store->table);
    free(store->pairs);
    free(store);
}

/* The place of a key in the table, or the free one where it would be. */
static uint32_t *kv_place(struct kv_store *store, const uint8_t *key) {
    uint64_t words[KV_KEY / 8], hash = 0;
    memcpy(words, key, KV_KEY);
    for (uint32_t i = 0; i < KV_KEY / 8; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    uint32_t at = (uint32_t)hash & (store->places - 1);
    while (store->table[at] && memcmp(store->pairs[store->table[at] - 1].key, key, KV_KEY) != 0)
        at = (at + 1) & (store->places - 1);
    return &store->table[at];
}

static enum kv_word kv_set(struct kv_store *store, const uint8_t *key, const uint8_t *value) {
    uint32_t *place = kv_place(store, key);
    if (!*place && store->held == store->room)
        return KV_FULL;
    if (!*place) {
        *place = ++store->held;
        memcpy(store->pairs[*place - 1].key, key, KV_KEY);
    }
    memcpy(store->pairs[*place - 1].value, value, KV_VALUE);
    return KV_DONE;
}

/* Bytes of the request that begins so; 0: it is none. */
static uint32_t kv_octets(uint8_t word) {
    return word == KV_GET ? 1 + KV_KEY : word == KV_SET ? 1 + KV_KEY + KV_VALUE : 0;
}

static void kv_answer(struct kv_store *store, const uint8_t *request, struct kv_served *served) {
    uint8_t *out = served->out + served->out_len++;
    if (*request == KV_SET) {
        *out = (uint8_t)kv_set(store, request + 1, request + 1 + KV_KEY);
        return;
    }
    uint32_t pair = *kv_place(store, request + 1);
    *out = pair ? KV_FOUND : KV_NONE;
    if (pair) {
        memcpy(out + 1, store->pairs[pair - 1].value, KV_VALUE);
        served->out_len += KV_VALUE;
    }
}

void kv_serve(struct kv_store *store, struct kv_served *served) {
    uint32_t at = 0;
    while (at < served->held && !served->wrong) {
        uint32_t octets = kv_octets(served->in[at]);
        if (octets > served->held - at)
            break;
        if (octets)
            kv_answer(store, served->in + at, served);
        else
            served->out[served->out_len++] = KV_WRONG;
        served->wrong = octets == 0;
        at += octets;
    }
    served->held -= at;
    memmove(served->in, served->in + at, served->held);
}
