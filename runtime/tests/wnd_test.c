/* SPDX-License-Identifier: MIT */
/* Both forms of the sliding window against an array of flags. */
#include "carrick/wnd.h"
#include "check.h"

#define SIZE  100u
#define WORDS 2u
#define RUNS  4u

static bool flags[SIZE];

static void model_slide(uint32_t by) {
    for (uint32_t i = 0; i < SIZE; i++)
        flags[i] = by < SIZE - i && flags[i + by];
}

static uint32_t model_runs(const bool *f) {
    uint32_t runs = 0;
    for (uint32_t i = 0; i < SIZE; i++)
        runs += f[i] && (i == 0 || !f[i - 1]);
    return runs;
}

static uint32_t model_first_unset(void) {
    uint32_t i = 0;
    while (i < SIZE && flags[i])
        i++;
    return i;
}

static uint32_t model_first_set(void) {
    uint32_t i = 0;
    while (i < SIZE && !flags[i])
        i++;
    return i;
}

static void both(uint64_t seed) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 4);
    struct carrick_wnd w;
    struct carrick_run runs[RUNS + 1];
    uint32_t head = 0u - check_below(&rng, 300), bits_head;
    uint64_t bits[WORDS];
    carrick_wnd_reset(&w, head);
    carrick_bits_reset(&bits_head, bits, WORDS, head);
    memset(flags, 0, sizeof flags);
    for (int step = 0; step < 2000; step++) {
        if (check_below(&rng, 3)) {
            uint32_t from = head + check_below(&rng, SIZE + 20) - 10, to = from + check_below(&rng, 30);
            bool value = check_below(&rng, 4) != 0, after[SIZE];
            memcpy(after, flags, sizeof after);
            for (uint32_t x = from; x != to; x++)
                if (x - head < SIZE)
                    after[x - head] = value;
            bool fits = model_runs(after) - (after[0] ? 1u : 0u) <= RUNS;
            CHECK((value ? carrick_wnd_set : carrick_wnd_unset)(&w, runs, SIZE, RUNS, from, to) == fits);
            if (fits) {
                CHECK((value ? carrick_bits_set : carrick_bits_unset)(bits_head, bits, WORDS, SIZE, from, to));
                memcpy(flags, after, sizeof flags);
            }
        } else {
            uint32_t by = check_below(&rng, 2) ? model_first_unset() : check_below(&rng, SIZE / 2);
            CHECK(carrick_wnd_first_unset(&w, runs) == head + model_first_unset());
            carrick_wnd_slide(&w, runs, RUNS, head + by);
            carrick_bits_slide(&bits_head, bits, WORDS, SIZE, head + by);
            model_slide(by);
            head += by;
        }
        CHECK(w.head == head && bits_head == head && w.count == model_runs(flags));
        CHECK(carrick_bits_first_unset(bits_head, bits, WORDS, SIZE) == head + model_first_unset());
        CHECK(carrick_wnd_first_set(&w, runs, SIZE) == head + model_first_set());
        CHECK(carrick_bits_first_set(bits_head, bits, WORDS, SIZE) == head + model_first_set());
        for (uint32_t i = 0; i < SIZE; i++) {
            CHECK(carrick_wnd_test(&w, runs, RUNS, head + i) == flags[i]);
            CHECK(carrick_bits_test(bits_head, bits, WORDS, SIZE, head + i) == flags[i]);
        }
        CHECK(!carrick_bits_test(bits_head, bits, WORDS, SIZE, head + SIZE));
    }
}

int main(void) {
    for (uint64_t seed = 1; seed <= 100; seed++)
        both(seed);
    return check_passed("wnd", 100);
}
