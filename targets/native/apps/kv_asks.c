/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/kv.h"

#define KV_SETS  0x80000000u /* in a sequence: a SET, not a GET */
#define KV_FIRST 32u         /* of a connection at a time, while keys are set for the first time */
#define KV_SEED  1u

/* The tenth root, from that of a number a little smaller: a host is not linked with the library of such functions. */
static double tenth_root(double of, double near) {
    double root = near;
    for (int i = 0; i < 8; i++) {
        double fourth = root * root * root * root, ninth = fourth * fourth * root;
        root -= (ninth * root - of) / (10 * ninth);
    }
    return root;
}

static uint64_t random_word(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The first key of which the weights up to it are more than `wanted`. */
static uint32_t key_at(const double *sums, uint32_t keys, double wanted) {
    uint32_t low = 0, high = keys - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sums[middle] > wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool make_sequence(struct kv_asks *asks) {
    double *sums = calloc(asks->keys, sizeof *sums), sum = 0, root = 1;
    if (!sums)
        return false;
    for (uint32_t i = 0; i < asks->keys; i++) {
        root = tenth_root(i + 1.0, root);
        sum += root / (i + 1.0); /* i to the power of -0.9 */
        sums[i] = sum;
    }
    uint64_t state = KV_SEED;
    for (uint32_t i = 0; i < asks->count; i++) {
        double part = (double)(random_word(&state) >> 11) / 9007199254740992.0; /* 2 to the power of 53 */
        asks->sequence[i] = key_at(sums, asks->keys, part * sum) | (random_word(&state) % 10 == 0 ? KV_SETS : 0);
    }
    free(sums);
    return true;
}

bool kv_asks_open(struct kv_asks *asks) {
    asks->begun = asks->ended = 0;
    asks->times = calloc(asks->count, sizeof *asks->times);
    asks->sequence = calloc(asks->count, sizeof *asks->sequence);
    if (asks->times && asks->sequence && make_sequence(asks))
        return true;
    kv_asks_close(asks);
    return false;
}

void kv_asks_close(struct kv_asks *asks) {
    free(asks->times);
    free(asks->sequence);
}

/* Bytes that begin with a word and follow from it. */
static void make_octets(uint64_t word, uint8_t *out, uint32_t len) {
    uint64_t state = word;
    for (uint32_t at = 0; at < len; at += sizeof word, word = random_word(&state))
        memcpy(out + at, &word, sizeof word);
}

/* A value tells of which key it is, and of which request. */
static void make_value(uint32_t key, uint32_t number, uint8_t *value) {
    make_octets((uint64_t)number << 32 | key, value, KV_VALUE);
}

static bool is_value(uint32_t key, const uint8_t *value) {
    uint8_t wanted[KV_VALUE];
    uint32_t number;
    memcpy(&number, value + 4, sizeof number);
    make_value(key, number, wanted);
    return memcmp(value, wanted, KV_VALUE) == 0;
}

static uint32_t request_of(const struct kv_asks *asks, uint32_t number) {
    return number < asks->keys ? number | KV_SETS : asks->sequence[number - asks->keys];
}

/* While the first ones are not all answered, the others wait. */
static bool may_begin(const struct kv_asks *asks, const struct kv_asker *asker) {
    if (asks->begun < asks->keys)
        return asker->going < KV_FIRST;
    return asks->ended >= asks->keys && asks->begun - asks->keys < asks->count && asker->going < asks->at_once;
}

void kv_ask(struct kv_asks *asks, struct kv_asker *asker, uint64_t now) {
    asker->out_len = 0;
    while (may_begin(asks, asker)) {
        uint32_t number = asks->begun++, request = request_of(asks, number), key = request & ~KV_SETS;
        uint32_t place = (asker->first + asker->going++) % KV_AT_ONCE;
        asker->numbers[place] = number;
        asker->begins[place] = now;
        uint8_t *out = asker->out + asker->out_len;
        *out = request & KV_SETS ? KV_SET : KV_GET;
        make_octets(key, out + 1, KV_KEY);
        asker->out_len += 1 + KV_KEY;
        if (request & KV_SETS) {
            make_value(key, number, out + 1 + KV_KEY);
            asker->out_len += KV_VALUE;
        }
    }
}

bool kv_hear(struct kv_asks *asks, struct kv_asker *asker, uint64_t now, bool *all) {
    uint32_t at = 0;
    *all = false;
    while (at < asker->held) {
        uint32_t number = asker->numbers[asker->first], request = request_of(asks, number);
        uint32_t octets = request & KV_SETS ? 1 : 1 + KV_VALUE;
        const uint8_t *answer = asker->in + at;
        if (asker->going == 0 || *answer != (request & KV_SETS ? KV_DONE : KV_FOUND))
            return false;
        if (octets > asker->held - at)
            break;
        if (!(request & KV_SETS) && !is_value(request, answer + 1))
            return false;
        if (number >= asks->keys)
            asks->times[number - asks->keys] = now - asker->begins[asker->first];
        asker->first = (asker->first + 1) % KV_AT_ONCE;
        asker->going--;
        at += octets;
        if (++asks->ended == asks->keys) {
            asks->begin = now;
            *all = true;
        }
    }
    asker->held -= at;
    memmove(asker->in, asker->in + at, asker->held);
    return true;
}

bool kv_asks_over(const struct kv_asks *asks) {
    return asks->ended == asks->keys + asks->count;
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void kv_asks_print(struct kv_asks *asks, uint64_t now) {
    double seconds = (double)(now - asks->begin) / 1e9;
    qsort(asks->times, asks->count, sizeof *asks->times, by_size);
    printf("kvload: %" PRIu32 " of %" PRIu32 " keys in %.6f s, %.1f/s, median %.1f us, 99 %% %.1f us\n", asks->count,
           asks->keys, seconds, asks->count / seconds, (double)asks->times[asks->count / 2] / 1e3,
           (double)asks->times[(uint64_t)asks->count * 99 / 100] / 1e3);
    fflush(stdout);
}
