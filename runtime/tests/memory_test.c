/* SPDX-License-Identifier: MIT */
/* The memory of open requests against a plain list of them: what is noted is found until it is forgotten, and nothing
 * is put or read outside of it. */
#include "carrick/memory.h"
#include "check.h"

#define REQUESTS 32
#define OCTETS   64

static struct carrick_open table[2 * REQUESTS];
static struct carrick_memory memory = {.open = table, .mask = 2 * REQUESTS - 1};
static uint8_t octets[REQUESTS][OCTETS];
/* of each request; 0: it is not open */
static uint64_t tokens[REQUESTS];

static struct carrick_addr whole(uint32_t i) {
    return (struct carrick_addr){octets[i], OCTETS, tokens[i]};
}

static void put(struct carrick_pcg *rng) {
    uint32_t from = check_below(rng, REQUESTS), to = check_below(rng, REQUESTS);
    uint32_t skip_from = check_below(rng, OCTETS + 1), skip_to = check_below(rng, OCTETS + 1);
    struct carrick_addr source = whole(from), target = whole(to);
    source.ptr += skip_from, source.len -= skip_from;
    target.ptr += skip_to, target.len -= skip_to;
    uint64_t len = check_below(rng, 2 * OCTETS), wanted = carrick_min64(len, carrick_min64(source.len, target.len));
    /* Of a packet there is no token: its bytes are there. */
    if (!target.token || to % 4 == 0)
        wanted = 0;
    uint8_t before[OCTETS], given[OCTETS];
    memcpy(before, octets[to], OCTETS);
    memcpy(given, octets[from], OCTETS);
    CHECK(carrick_memory_put(&memory, source, len, target) == wanted);
    memcpy(before + skip_to, given + skip_from, wanted);
    CHECK(memcmp(octets[to], before, OCTETS) == 0);
}

static void step(struct carrick_pcg *rng, uint64_t *next, uint32_t *open) {
    uint32_t i = check_below(rng, REQUESTS);
    if (tokens[i]) {
        uint64_t token = tokens[i];
        carrick_memory_forget(&memory, token);
        CHECK(carrick_memory_left(&memory, token, octets[i]) == 0);
        tokens[i] = 0;
        --*open;
    } else {
        /* Tokens that lie close together, and some far away. */
        *next += check_below(rng, 4) ? 1 : 1 + (uint64_t)check_below(rng, 1 << 20) * 4099;
        tokens[i] = *next;
        carrick_memory_take(&memory, whole(i), i % 4 != 0);
        put(rng);
        if (check_below(rng, 3) == 0) { /* complete before its call is over */
            carrick_memory_forget(&memory, tokens[i]);
            tokens[i] = 0;
        }
        *open += tokens[i] != 0;
        carrick_memory_keep(&memory, *open);
    }
    for (uint32_t at = 0; at < REQUESTS; at++) {
        uint32_t skipped = check_below(rng, OCTETS + 1);
        uint64_t left = carrick_memory_left(&memory, tokens[at], octets[at] + skipped);
        CHECK(left == (tokens[at] ? OCTETS - skipped : 0));
    }
}

int main(void) {
    struct carrick_pcg rng = carrick_pcg_make(5, 54);
    uint64_t next = 0;
    uint32_t open = 0;
    for (uint32_t i = 0; i < REQUESTS; i++)
        for (uint32_t j = 0; j < OCTETS; j++)
            octets[i][j] = (uint8_t)check_below(&rng, 256);
    for (uint32_t i = 0; i < 20000; i++) {
        step(&rng, &next, &open);
        put(&rng);
    }
    for (uint32_t i = 0; i < REQUESTS; i++)
        carrick_memory_forget(&memory, tokens[i]);
    CHECK(memory.away == 0);
    for (uint32_t at = 0; at <= memory.mask; at++)
        CHECK(table[at].token == 0 && table[at].len == 0);
    /* Nothing is memory, of nobody; more requests than there is room for are not noted. */
    CHECK(carrick_memory_left(&memory, 0, octets[0]) == 0);
    carrick_memory_forget(&memory, 0);
    carrick_memory_take(&memory, (struct carrick_addr){octets[0], OCTETS, next + 1}, true);
    CHECK(carrick_memory_left(&memory, next + 1, octets[0]) == OCTETS);
    carrick_memory_keep(&memory, REQUESTS + 1);
    CHECK(carrick_memory_left(&memory, next + 1, octets[0]) == 0);
    return check_passed("memory", 20000);
}
