/* SPDX-License-Identifier: MIT */
/* When a loop that has nothing to do sleeps. */
#ifndef CARRICK_HOST_PAUSE_H
#define CARRICK_HOST_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

/* For how long the loop polls before it sleeps: about what it costs to sleep and to wake. */
#define PAUSE_POLLS_NS UINT64_C(64000)
/* For how many pauses it sleeps at once after it has polled in vain, at most. */
#define PAUSE_RESTS_MOST 1023u

/* A pause lasts from the first turn without work to the next one that has some. All 0: there was none yet.
 *
 * A near peer answers sooner than the loop would sleep and wake. So the loop polls first, as long as that pays. It does
 * not pay where the peer is far away, or waits for this very processor: the loop then sleeps at once, and polls again
 * after 1, 3, 7, ... pauses. */
struct pause {
    bool lasts;
    uint64_t began;
    uint32_t rests;   /* sleep at once for so many pauses, with the one that lasts */
    uint32_t in_vain; /* `rests` as it was set last; 0: polling has helped since */
};

/* After a turn without work that began at `now`: whether to sleep. */
static inline bool pause_sleeps(struct pause *pause, uint64_t now) {
    if (!pause->lasts)
        pause->began = now;
    pause->lasts = true;
    if (pause->rests == 0 && now - pause->began >= PAUSE_POLLS_NS)
        pause->rests = pause->in_vain = pause->in_vain < PAUSE_RESTS_MOST ? pause->in_vain * 2 + 1 : PAUSE_RESTS_MOST;
    return pause->rests != 0;
}

/* After a turn with work. */
static inline void pause_ends(struct pause *pause) {
    if (pause->lasts && pause->rests == 0)
        pause->in_vain = 0;
    else if (pause->lasts)
        pause->rests--;
    pause->lasts = false;
}

#endif
