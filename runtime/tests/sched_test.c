/* SPDX-License-Identifier: MIT */
/* Blocks with an input for each of many flows, in wheel and heap, against a search through all of them. */
#include "carrick/sched.h"
#include "check.h"

#define FLOWS 200

static struct carrick_wheel wheel;
static struct carrick_timer timers[FLOWS];
static uint32_t heap[FLOWS];
static struct carrick_input inputs[FLOWS];
static struct carrick_block block;
static struct carrick_sched sched = {&block, inputs};
/* packets that wait */
static uint32_t waiting[FLOWS];

static void begin(enum carrick_policy policy, uint64_t share) {
    memset(&wheel, 0, sizeof wheel);
    memset(timers, 0, sizeof timers);
    memset(inputs, 0, sizeof inputs);
    memset(waiting, 0, sizeof waiting);
    block = (struct carrick_block){
        .count = FLOWS, .policy = (uint8_t)policy, .per_flow = true, .heap = heap, .timers = timers, .wheel = &wheel};
    for (uint32_t i = 0; i < FLOWS; i++)
        carrick_sched_input(&sched, 0, i, 0, share);
}

/* The input that has to send next. */
static uint32_t expected(uint64_t now) {
    uint32_t best = CARRICK_NO_INPUT;
    for (uint32_t i = 0; i < FLOWS; i++) {
        bool may = waiting[i] && (block.policy == CARRICK_STRICT_PRIORITY || inputs[i].key <= now);
        if (may && (best == CARRICK_NO_INPUT || carrick_input_before(&inputs[i], &inputs[best])))
            best = i;
    }
    return best;
}

static uint64_t earliest(void) {
    uint64_t first = CARRICK_NEVER;
    for (uint32_t i = 0; i < FLOWS; i++)
        if (waiting[i])
            first = carrick_min64(first, block.policy == CARRICK_STRICT_PRIORITY ? 0 : inputs[i].key);
    return first;
}

static void step(struct carrick_pcg *rng, uint64_t now) {
    uint32_t flow = check_below(rng, FLOWS), next = carrick_sched_next(&sched, now);
    CHECK(next == expected(now));
    CHECK(carrick_sched_wakes(&sched, 0) == earliest());
    switch (check_below(rng, 8)) {
    case 0:
    case 1:
    case 2:
        waiting[flow]++;
        inputs[flow].first = 1;
        carrick_sched_join(&sched, flow, now);
        break;
    case 3:
        if (block.policy == CARRICK_RATE_LIMITER)
            carrick_sched_rate(&sched, flow, check_below(rng, 4) ? check_below(rng, 100000000) : 0, now);
        else
            carrick_sched_prio(&sched, flow, check_below(rng, 20));
        break;
    default:
        if (next == CARRICK_NO_INPUT)
            break;
        inputs[next].first = --waiting[next] != 0;
        carrick_sched_sent(&sched, next, check_below(rng, 1500), now);
    }
}

static void random_operations(enum carrick_policy policy, uint64_t seed) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 1);
    uint64_t now = 0;
    begin(policy, 5000000);
    for (int n = 0; n < 20000; n++) {
        if (check_below(&rng, 2) == 0)
            now += check_below(&rng, UINT32_C(1) << check_below(&rng, 24));
        step(&rng, now);
    }
}

/* Of inputs that always have something, none is ahead of another by more than a turn and a packet. */
static void round_robin(void) {
    struct carrick_pcg rng = carrick_pcg_make(7, 1);
    static uint64_t sent[FLOWS];
    begin(CARRICK_DRR, 900);
    for (uint32_t i = 0; i < FLOWS; i++) {
        inputs[i].first = 1;
        carrick_sched_join(&sched, i, 0);
    }
    for (int n = 0; n < 100000; n++) {
        uint32_t at = carrick_sched_next(&sched, 0), octets = 40 + check_below(&rng, 1460);
        CHECK(at < FLOWS);
        sent[at] += octets;
        carrick_sched_sent(&sched, at, octets, 0);
    }
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < FLOWS; i++) {
        least = carrick_min64(least, sent[i]);
        most = carrick_max64(most, sent[i]);
    }
    CHECK(most - least <= 900 + 2 * 1500);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
        random_operations(CARRICK_RATE_LIMITER, seed);
        random_operations(CARRICK_STRICT_PRIORITY, seed);
    }
    round_robin();
    return check_passed("sched", 11);
}
