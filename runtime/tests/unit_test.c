/* SPDX-License-Identifier: MIT */
/* TX ring and RX reassembly, in blocks of a pool, against arrays in which nothing wraps. */
#include <stdlib.h>

#include "carrick/unit.h"
#include "check.h"

#define CAPACITY 256u
#define STREAM   6000u

static uint8_t octets[STREAM];

static struct carrick_addr region(uint8_t *p, uint64_t len) {
    return (struct carrick_addr){p, len, 0};
}

static void fill(struct carrick_pcg *rng) {
    for (uint32_t i = 0; i < STREAM; i++)
        octets[i] = (uint8_t)carrick_pcg_next(rng);
}

/* Units that share a pool in which some can grow, or that do not grow. */
#define SLOTS 3u
#define MOST  (4 * CAPACITY)
static uint8_t *pool_begins(struct carrick_pool *pool, bool grows) {
    uint64_t most = grows ? MOST : 0;
    size_t at = 0;
    memset(pool, 0, sizeof *pool);
    carrick_pool_layout(pool, NULL, &at, SLOTS, CAPACITY, most, most);
    carrick_pool_layout_runs(pool, NULL, &at, SLOTS);
    uint8_t *memory = calloc(1, at);
    CHECK(memory);
    at = 0;
    carrick_pool_layout(pool, memory, &at, SLOTS, CAPACITY, most, most);
    carrick_pool_layout_runs(pool, memory, &at, SLOTS);
    return memory;
}

/* What is added comes out, at any offset that is held, while queued packets keep their bytes. */
static void tx(uint64_t seed) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 2);
    struct carrick_tx unit = {0};
    struct carrick_pool pool;
    uint8_t *memory = pool_begins(&pool, false);
    uint64_t slot = check_below(&rng, SLOTS);
    fill(&rng);
    carrick_tx_open(&unit, STREAM);
    struct {
        uint64_t at;
        uint16_t round;
    } queued[64];
    /* Of each round: where the first payload begins, and how many wait. */
    uint64_t pinned[2] = {0, 0};
    uint32_t count = 0, waiting[2] = {0, 0};
    for (int step = 0; step < 2000; step++) {
        switch (check_below(&rng, 4)) {
        case 0: {
            uint64_t want = check_below(&rng, 100), room = carrick_tx_room(&unit, pool.mask);
            uint64_t have = STREAM - unit.end;
            uint64_t took = carrick_tx_add(&unit, &pool, slot, region(octets + unit.end, have), want);
            CHECK(took == carrick_min64(carrick_min64(want, have), room));
            break;
        }
        case 1:
            carrick_tx_pass(&unit, &pool, slot, check_below(&rng, 100));
            break;
        case 2: {
            uint64_t at = unit.reclaimed + check_below(&rng, (uint32_t)(unit.end - unit.reclaimed) + 1);
            if (count == sizeof queued / sizeof queued[0])
                break;
            uint16_t round = carrick_tx_queued(&unit, at);
            pinned[round] = waiting[round]++ ? carrick_min64(pinned[round], at) : at;
            queued[count].at = at;
            queued[count++].round = round;
            break;
        }
        default:
            if (count) {
                uint32_t which = check_below(&rng, count);
                waiting[queued[which].round]--;
                carrick_tx_sent(&unit, queued[which].round);
                carrick_tx_vacate(&unit, &pool, slot);
                queued[which] = queued[--count];
            }
        }
        CHECK(unit.reclaimed <= unit.base && unit.base <= unit.end && unit.end - unit.reclaimed <= CAPACITY);
        CHECK((unit.pending == 0) == (count == 0));
        for (uint32_t i = 0; i < count; i++)
            CHECK(unit.reclaimed <= queued[i].at);
        uint64_t first = unit.base;
        for (int round = 0; round < 2; round++)
            if (waiting[round])
                first = carrick_min64(first, pinned[round]);
        CHECK(unit.reclaimed == first);
        uint8_t out[CAPACITY];
        uint64_t len = unit.end - unit.reclaimed;
        CHECK(pool.tables[slot] ? len || count : !len); /* a ring is there for bytes, or for packets that may need it */
        if (len)
            carrick_ring_read(carrick_pool_ring(&pool, slot), pool.mask, unit.reclaimed, out, len);
        CHECK(memcmp(out, octets + unit.reclaimed, len) == 0);
    }
    unit.open = false;
    for (; count; count--)
        carrick_tx_sent(&unit, queued[count - 1].round);
    carrick_tx_vacate(&unit, &pool, slot);
    CHECK(pool.tables[slot] == 0 && pool.free_count == pool.fresh);
    free(memory);
}

static uint32_t runs_of(const bool *have, uint64_t base, uint64_t ready, uint64_t room) {
    uint32_t runs = 0;
    for (uint64_t i = base + ready; i < base + room && i < STREAM; i++)
        runs += have[i] && !have[i - 1];
    return runs;
}

static uint64_t held(const struct carrick_rx *unit, const struct carrick_pool *pool, uint64_t slot) {
    return carrick_rx_held(unit, carrick_pool_runs(pool, slot));
}

/* A unit asks for another room: what it then has, by the rules of the language. */
static void resize(struct carrick_rx *unit, struct carrick_pool *pool, uint64_t slot, struct carrick_pcg *rng) {
    uint64_t wanted = check_below(rng, 2 * MOST), left = pool->left, before = unit->room;
    uint64_t room = carrick_pow2(carrick_max64(CAPACITY, carrick_min64(wanted, pool->most)));
    carrick_rx_resize(unit, pool, slot, wanted);
    bool fits = room >= unit->ready && room <= before + left;
    CHECK(unit->room == (fits ? room : before) && pool->left + unit->room == left + before);
    CHECK(held(unit, pool, slot) <= unit->room);
}

/* Segments in any order, empty, overlapping, beyond the room; the first byte that came stays. */
static void rx(uint64_t seed, bool grows) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 3);
    static bool have[STREAM + 1];
    static uint8_t kept[STREAM];
    struct carrick_rx unit = {0}, other = {0};
    struct carrick_pool pool;
    memset(have, 0, sizeof have);
    uint8_t *memory = pool_begins(&pool, grows);
    const uint64_t growth = pool.left;
    carrick_rx_begin(&unit, &pool, 0, STREAM);
    carrick_rx_begin(&other, &pool, 2, UINT64_MAX);
    uint64_t base = 0;
    for (int step = 0; step < 3000; step++) {
        if (check_below(&rng, 16) == 0) {
            bool first = check_below(&rng, 2);
            resize(first ? &unit : &other, &pool, first ? 0 : 2, &rng);
            for (uint64_t at = base + unit.room; at < STREAM; at++)
                have[at] = false; /* what had come behind a gap */
            /* Its neighbour's bytes are in blocks beside its own. */
            uint8_t noise[CAPACITY] = {0};
            uint64_t len = check_below(&rng, CAPACITY);
            (void)carrick_rx_add(&other, &pool, 2, region(noise, len), len, other.base + check_below(&rng, CAPACITY));
            (void)carrick_rx_flush(&other, &pool, 2, CAPACITY, region(noise, CAPACITY));
        } else if (check_below(&rng, 4)) {
            uint8_t segment[64];
            uint32_t len = check_below(&rng, sizeof segment + 1);
            uint64_t offset = base + check_below(&rng, (uint32_t)unit.room + 80);
            offset = offset > 40 ? offset - 40 : 0;
            for (uint32_t i = 0; i < len; i++)
                segment[i] = (uint8_t)carrick_pcg_next(&rng);
            struct carrick_rx before = unit;
            enum carrick_rx_result result = carrick_rx_add(&unit, &pool, 0, region(segment, len), len, offset);
            if (result == CARRICK_RX_FULL) {
                CHECK(before.count == CARRICK_RX_RUNS && unit.count == before.count && unit.ready == before.ready);
                continue;
            }
            bool cut = false;
            for (uint32_t i = 0; i < len; i++) {
                uint64_t at = offset + i;
                cut |= at >= base + unit.room || at >= STREAM;
                if (at < base || at >= base + unit.room || at >= STREAM || have[at])
                    continue;
                have[at] = true;
                kept[at] = segment[i];
            }
            CHECK((result == CARRICK_RX_CUT) == cut);
        } else {
            uint8_t out[CAPACITY];
            uint64_t room = check_below(&rng, CAPACITY) + 1, want = check_below(&rng, CAPACITY);
            uint64_t got = carrick_rx_flush(&unit, &pool, 0, want, region(out, room)), there = 0;
            while (base + there < STREAM && have[base + there])
                there++;
            CHECK(got == carrick_min64(carrick_min64(want, room), there));
            CHECK(memcmp(out, kept + base, got) == 0);
            base += got;
        }
        uint64_t ready = 0;
        while (base + ready < STREAM && have[base + ready])
            ready++;
        CHECK(unit.base == base && unit.ready == ready);
        CHECK(unit.count == (base + ready == 0 ? runs_of(have, 1, 0, MOST) : runs_of(have, base, ready, MOST)));
        /* What holds nothing has no block. */
        CHECK(held(&unit, &pool, 0) || held(&other, &pool, 2) || pool.fresh == pool.free_count);
    }
    carrick_rx_close(&unit, &pool, 0);
    carrick_rx_close(&other, &pool, 2);
    CHECK(pool.fresh == pool.free_count && pool.left == growth);
    free(memory);
}

/* The first block of a unit is the last of the memory: behind it nothing is read. */
static void blocks_in_any_order(void) {
    uint8_t *memory = malloc(2 * 8), out[2 * 8];
    CHECK(memory);
    for (uint32_t i = 0; i < sizeof out; i++)
        memory[i] = (uint8_t)i;
    uint32_t table[4] = {2, 1, 0, 0};
    struct carrick_pool pool = {.octets = memory, .tables = table, .mask = 7, .turn = 3, .shift = 3};
    carrick_pool_read(&pool, 0, 0, out, sizeof out);
    for (uint32_t i = 0; i < sizeof out; i++)
        CHECK(out[i] == (i + 8) % sizeof out);
    free(memory);
}

int main(void) {
    blocks_in_any_order();
    for (uint64_t seed = 1; seed <= 200; seed++) {
        tx(seed);
        rx(seed, false);
        rx(seed, true);
    }
    return check_passed("unit", 601);
}
