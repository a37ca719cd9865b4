/* SPDX-License-Identifier: MIT */
/* Loops that wait for peers near and far: what they poll for, and when they sleep. */
#include "host/pause.h"
#include "tests/check.h"

#define TURN UINT64_C(300)
#define NEAR UINT64_C(6000)
#define FAR  UINT64_C(1000000)

struct waits {
    uint32_t slept, polled_in_vain; /* pauses in which the loop slept, and those of them in which it had polled */
    uint64_t polled;                /* nanoseconds in all */
};

/* One exchange: what comes is there `answer` after the request. Time then is returned. */
static uint64_t wait_for(struct pause *pause, struct waits *waits, uint64_t now, uint64_t answer) {
    uint64_t began = now;
    while (now - began < answer) {
        if (pause_sleeps(pause, now)) {
            waits->slept++;
            waits->polled_in_vain += now != began;
            waits->polled += now - began;
            pause_ends(pause);
            return began + answer;
        }
        now += TURN;
    }
    waits->polled += now - began;
    pause_ends(pause);
    return now;
}

static struct waits exchange(struct pause *pause, uint32_t count, uint64_t answer) {
    struct waits waits = {0};
    uint64_t now = 0;
    while (count-- > 0)
        now = wait_for(pause, &waits, now, answer) + TURN;
    return waits;
}

static void a_near_peer_never_makes_it_sleep(void) {
    struct pause pause = {0};
    CHECK(exchange(&pause, 100000, NEAR).slept == 0);
}

/* 1 + 3 + 7 + ... + 1023 pauses of rest, and one of polling before each: 10 in the first 2046, then one in 1024. */
static void a_far_peer_makes_it_sleep_at_once(void) {
    struct pause pause = {0};
    struct waits first = exchange(&pause, 2047, FAR);
    CHECK(first.slept == 2047 && first.polled_in_vain >= 10 && first.polled_in_vain <= 11);
    struct waits later = exchange(&pause, 1024 * 10, FAR);
    CHECK(later.slept == 1024 * 10 && later.polled_in_vain >= 10 && later.polled_in_vain <= 11);
    CHECK(later.polled <= later.polled_in_vain * (PAUSE_POLLS_NS + TURN));
}

static void a_peer_that_comes_near_is_noticed(void) {
    struct pause pause = {0};
    exchange(&pause, 5000, FAR);
    CHECK(exchange(&pause, 5000, NEAR).slept <= PAUSE_RESTS_MOST);
    CHECK(exchange(&pause, 5000, NEAR).slept == 0);
}

/* One long pause among short ones costs what it polled, and at most one more sleep. */
static void a_long_pause_among_short_ones_changes_little(void) {
    struct pause pause = {0};
    for (int i = 0; i < 1000; i++) {
        CHECK(exchange(&pause, 1, FAR).slept == 1);
        CHECK(exchange(&pause, 10, NEAR).slept <= 1);
    }
}

/* A timer wakes the loop in a pause, and nothing follows from it: it sleeps on. */
static void a_pause_goes_on_after_a_turn_without_work(void) {
    struct pause pause = {0};
    CHECK(!pause_sleeps(&pause, 0));
    CHECK(pause_sleeps(&pause, PAUSE_POLLS_NS));
    CHECK(pause_sleeps(&pause, PAUSE_POLLS_NS + TURN));
}

int main(void) {
    a_near_peer_never_makes_it_sleep();
    a_far_peer_makes_it_sleep_at_once();
    a_peer_that_comes_near_is_noticed();
    a_long_pause_among_short_ones_changes_little();
    a_pause_goes_on_after_a_turn_without_work();
    puts("pause: ok");
    return 0;
}
