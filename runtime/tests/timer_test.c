/* SPDX-License-Identifier: MIT */
/* The timing wheel against a plain array that is searched for the earliest deadline. */
#include "carrick/timer.h"
#include "check.h"

#define TIMERS 64

struct model {
    bool armed;
    uint64_t deadline, order;
};

static struct carrick_wheel wheel;
static struct carrick_timer timers[TIMERS];
static struct model models[TIMERS];

static int earliest(void) {
    int best = -1;
    for (int i = 0; i < TIMERS; i++) {
        if (!models[i].armed)
            continue;
        if (best < 0 || models[i].deadline < models[best].deadline ||
            (models[i].deadline == models[best].deadline && models[i].order < models[best].order))
            best = i;
    }
    return best;
}

static void advance(uint64_t now) {
    for (;;) {
        int expected = earliest();
        struct carrick_timer *t = carrick_wheel_due(&wheel, now);
        if (expected < 0 || models[expected].deadline > now) {
            CHECK(t == NULL);
            return;
        }
        CHECK(t == &timers[expected]);
        CHECK(!carrick_timer_armed(t));
        models[expected].armed = false;
    }
}

/* Waits as wake_by says: it is never late, and the first timer fires after one look for each level at most. */
static uint64_t wait_for_first(uint64_t now) {
    int first = earliest();
    CHECK((first < 0) == (carrick_wheel_wake_by(&wheel) == CARRICK_NEVER));
    for (uint32_t looks = 0; first >= 0 && models[first].armed; looks++) {
        uint64_t at = carrick_wheel_wake_by(&wheel);
        CHECK(at <= models[first].deadline && looks <= CARRICK_LEVELS);
        now = at > now ? at : now;
        advance(now);
    }
    return now;
}

/* Delays from nanoseconds to days, so that every level of the wheel is used. */
static int64_t random_delay(struct carrick_pcg *rng) {
    uint32_t bits = check_below(rng, 48);
    uint64_t v = ((uint64_t)carrick_pcg_next(rng) << 32 | carrick_pcg_next(rng)) >> (63 - bits);
    return check_below(rng, 50) == 0 ? -(int64_t)v : (int64_t)v;
}

static void random_operations(uint64_t seed) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 1);
    uint64_t now = 0, order = 0;
    memset(&wheel, 0, sizeof wheel);
    memset(timers, 0, sizeof timers);
    memset(models, 0, sizeof models);
    for (int step = 0; step < 4000; step++) {
        uint32_t i = check_below(&rng, TIMERS);
        switch (check_below(&rng, 4)) {
        case 0:
        case 1: {
            int64_t after = random_delay(&rng);
            uint32_t twin = check_below(&rng, TIMERS);
            /* Often due at the same moment as another one. */
            if (check_below(&rng, 4) == 0 && models[twin].armed && models[twin].deadline > now)
                after = (int64_t)(models[twin].deadline - now);
            carrick_timer_restart(&wheel, &timers[i], now, after);
            models[i] = (struct model){true, now + (after > 1 ? (uint64_t)after : 1), order++};
            break;
        }
        case 2:
            carrick_timer_stop(&wheel, &timers[i]);
            models[i].armed = false;
            break;
        default: {
            int first = earliest();
            const struct carrick_timer *t = carrick_wheel_first(&wheel);
            CHECK((first < 0) == (t == NULL));
            if (t)
                CHECK(t->deadline == models[first].deadline);
            uint64_t before = check_below(&rng, 2) ? CARRICK_NEVER : now + (uint64_t)random_delay(&rng);
            bool sooner = t && t->deadline < before;
            CHECK(carrick_wheel_deadline(&wheel, before) == (sooner ? t->deadline : CARRICK_NEVER));
            /* By wake_by, to the deadline, just before it, or anywhere. */
            uint32_t how = check_below(&rng, 4);
            if (how == 3) {
                now = wait_for_first(now);
                break;
            }
            uint64_t to = now + (uint64_t)(check_below(&rng, 5000000));
            if (t && how == 0)
                to = t->deadline;
            if (t && how == 1 && t->deadline > now)
                to = t->deadline - 1;
            now = to > now ? to : now;
            advance(now);
        }
        }
    }
}

int main(void) {
    for (uint64_t seed = 1; seed <= 200; seed++)
        random_operations(seed);
    return check_passed("timer", 200);
}
