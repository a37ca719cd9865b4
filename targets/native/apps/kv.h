/* SPDX-License-Identifier: MIT */
/*
 * A key-value store and what is asked of it, after eTran's evaluation (§6.2): keys of 32 bytes, values of 64. No word
 * of how bytes come and go: the applications `kv` and `kvload` stand on it, and what they are compared with.
 *
 *     G KEY          is answered by V VALUE, or N: there is no such key
 *     S KEY VALUE    by D: done, or F: the store is full
 *     anything else  by E, and what follows by nothing
 */
#ifndef CARRICK_APPS_KV_H
#define CARRICK_APPS_KV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KV_KEY     32u
#define KV_VALUE   64u
#define KV_KEYS    1000000u
#define KV_AT_ONCE 64u /* of a connection */
#define KV_COUNT   10000000u
#define KV_IN      8192u
#define KV_OUT     ((KV_IN / (1 + KV_KEY) + 1) * (1 + KV_VALUE))

enum kv_word {
    KV_GET = 'G',
    KV_SET = 'S',
    KV_FOUND = 'V',
    KV_NONE = 'N',
    KV_DONE = 'D',
    KV_FULL = 'F',
    KV_WRONG = 'E'
};

struct kv_store;

/* NULL: not enough memory for so many keys. */
struct kv_store *kv_store_open(uint32_t keys);
void kv_store_close(struct kv_store *store);

/* The server's end of a connection. The front end puts bytes behind the `held` ones of `in`, and takes `out` away. */
struct kv_served {
    uint32_t held, out_len;
    bool wrong; /* what was asked is no request: the connection ends after what is in `out` */
    uint8_t in[KV_IN], out[KV_OUT];
};

/* Answers the whole requests in `in`. */
void kv_serve(struct kv_store *store, struct kv_served *served);

/* What clients ask: each key is set once, then `count` requests, nine of ten a GET, of keys with a Zipf distribution
 * (s = 0.9). They are the same each time. */
struct kv_asks {
    uint32_t keys, at_once, count;
    uint32_t begun, ended; /* of all, the first ones included */
    uint64_t begin;        /* when the first ones had been answered */
    uint64_t *times;       /* of each request after these, nanoseconds */
    uint32_t *sequence;
};

/* False: not enough memory. */
bool kv_asks_open(struct kv_asks *asks);
void kv_asks_close(struct kv_asks *asks);

/* The client's end of a connection: answers come in the order of requests. */
struct kv_asker {
    uint32_t first, going; /* of `numbers` and `begins`, which are rings */
    uint32_t held, out_len;
    uint32_t numbers[KV_AT_ONCE];
    uint64_t begins[KV_AT_ONCE];
    uint8_t in[KV_AT_ONCE * (1 + KV_VALUE)], out[KV_AT_ONCE * (1 + KV_KEY + KV_VALUE)];
};

/* Writes to `out`, which was taken away before, as many requests as there may be now. */
void kv_ask(struct kv_asks *asks, struct kv_asker *asker, uint64_t now);

/* Looks at the whole answers in `in`. False: one is not what it should be. `*all`: every connection may ask again. */
bool kv_hear(struct kv_asks *asks, struct kv_asker *asker, uint64_t now, bool *all);

/* Whether all has been answered. */
bool kv_asks_over(const struct kv_asks *asks);

/* One line. */
void kv_asks_print(struct kv_asks *asks, uint64_t now);

#endif
