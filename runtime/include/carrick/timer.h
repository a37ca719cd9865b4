/* SPDX-License-Identifier: MIT */
/*
 * A hierarchical timing wheel (Varghese and Lauck, 1987). Starting and stopping a timer takes constant time; empty
 * buckets cost nothing, since each level has a bitmap of its occupied buckets. Deadlines are exact: buckets only sort,
 * and timers fire by (deadline, order of starting). In a bucket they stand in the order in which they were started, and
 * those with the same deadline are always in the same bucket.
 */
#ifndef CARRICK_TIMER_H
#define CARRICK_TIMER_H

#include "carrick/base.h"

#define CARRICK_TICK_SHIFT 10 /* a tick is 1024 ns */
#define CARRICK_LEVELS     9  /* 6 bits of the tick each: all 54 bits */

/* Lives inside the context that it belongs to. */
struct carrick_timer {
    struct carrick_timer *next, **link; /* link: the pointer that points here; NULL: not running */
    uint64_t deadline;
    uint32_t slot;        /* of its context; set once */
    uint8_t type, number; /* of its context, and which of its timers; set once */
    uint8_t level, bucket;
};

struct carrick_wheel {
    uint64_t tick;   /* every running timer's tick is at least this */
    uint64_t sooner; /* no running timer is due before */
    uint64_t occupied[CARRICK_LEVELS];
    struct carrick_timer *buckets[CARRICK_LEVELS][64];
    struct carrick_timer **ends[CARRICK_LEVELS][64]; /* where the next one goes, if the bucket is occupied */
};

static inline bool carrick_timer_armed(const struct carrick_timer *t) {
    return t->link != NULL;
}

/* Puts the timer into the bucket of its deadline: the level is that of the highest bits in which its tick differs. */
static inline void carrick_wheel_place(struct carrick_wheel *w, struct carrick_timer *t) {
    uint64_t tick = carrick_max64(t->deadline >> CARRICK_TICK_SHIFT, w->tick), differs = tick ^ w->tick;
    uint32_t level = differs ? (uint32_t)(63 - __builtin_clzll(differs)) / 6 : 0;
    uint32_t bucket = (uint32_t)(tick >> (6 * level)) & 63;
    bool first = !(w->occupied[level] >> bucket & 1);
    t->level = (uint8_t)level;
    t->bucket = (uint8_t)bucket;
    t->next = NULL;
    t->link = first ? &w->buckets[level][bucket] : w->ends[level][bucket];
    *t->link = t;
    w->ends[level][bucket] = &t->next;
    w->occupied[level] |= (uint64_t)1 << bucket;
    w->sooner = carrick_min64(w->sooner, t->deadline);
}

static inline void carrick_timer_stop(struct carrick_wheel *w, struct carrick_timer *t) {
    if (!t->link)
        return;
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    else
        w->ends[t->level][t->bucket] = t->link;
    if (!w->buckets[t->level][t->bucket])
        w->occupied[t->level] &= ~((uint64_t)1 << t->bucket);
    t->link = NULL;
}

/* Starts it anew, whether it runs or not. At least 1 ns later, so that no timer fires in the turn that starts it. */
static inline void carrick_timer_restart(struct carrick_wheel *w, struct carrick_timer *t, uint64_t now,
                                         int64_t after) {
    carrick_timer_stop(w, t);
    uint64_t delay = after > 1 ? (uint64_t)after : 1;
    t->deadline = delay > UINT64_MAX - now ? UINT64_MAX - 1 : carrick_min64(now + delay, UINT64_MAX - 1);
    carrick_wheel_place(w, t);
}

/* The level of the earliest bucket, CARRICK_LEVELS if no timer runs. A lower level is always earlier. */
static inline uint32_t carrick_wheel_level(const struct carrick_wheel *w) {
    uint32_t level = 0;
    while (level < CARRICK_LEVELS && !w->occupied[level])
        level++;
    return level;
}

/* The timer that fires first, or NULL. */
static inline struct carrick_timer *carrick_wheel_first(const struct carrick_wheel *w) {
    uint32_t level = carrick_wheel_level(w);
    if (level == CARRICK_LEVELS)
        return NULL;
    struct carrick_timer *first = w->buckets[level][__builtin_ctzll(w->occupied[level])];
    for (struct carrick_timer *t = first->next; t; t = t->next)
        if (t->deadline < first->deadline)
            first = t;
    return first;
}

/* When the first timer fires, if that is before `before`; CARRICK_NEVER if not. A host that asks before the time for
 * which it has planned already rarely makes it walk over a bucket: most timers are put off, not brought forward. */
static inline uint64_t carrick_wheel_deadline(struct carrick_wheel *w, uint64_t before) {
    if (w->sooner >= before)
        return CARRICK_NEVER;
    const struct carrick_timer *first = carrick_wheel_first(w);
    w->sooner = first ? first->deadline : CARRICK_NEVER;
    return w->sooner < before ? w->sooner : CARRICK_NEVER;
}

/* The first tick of a bucket. */
static inline uint64_t carrick_wheel_start(const struct carrick_wheel *w, uint32_t level, uint32_t bucket) {
    return (w->tick >> (6 * level + 6) << (6 * level + 6)) | ((uint64_t)bucket << (6 * level));
}

/* Returns the time by which to poll the timers again: the first deadline or earlier, CARRICK_NEVER if no timer runs.
 * Takes constant time; the exact deadline would need a walk over all timers of its bucket. An early poll gets a later
 * time, at most once for each level. */
static inline uint64_t carrick_wheel_wake_by(const struct carrick_wheel *w) {
    uint32_t level = carrick_wheel_level(w);
    if (level == 0)
        return carrick_wheel_first(w)->deadline;
    if (level == CARRICK_LEVELS)
        return CARRICK_NEVER;
    return carrick_wheel_start(w, level, (uint32_t)__builtin_ctzll(w->occupied[level])) << CARRICK_TICK_SHIFT;
}

/* Spreads the bucket that `tick` enters, and the levels below it, over the levels below. */
static inline void carrick_wheel_move(struct carrick_wheel *w, uint64_t tick) {
    for (;;) {
        uint32_t level = carrick_wheel_level(w);
        if (level == 0 || level == CARRICK_LEVELS)
            break;
        uint32_t bucket = (uint32_t)__builtin_ctzll(w->occupied[level]);
        uint64_t start = carrick_wheel_start(w, level, bucket);
        if (start > tick)
            break;
        struct carrick_timer *t = w->buckets[level][bucket];
        w->buckets[level][bucket] = NULL;
        w->occupied[level] &= ~((uint64_t)1 << bucket);
        w->tick = start;
        while (t) {
            struct carrick_timer *next = t->next;
            carrick_wheel_place(w, t);
            t = next;
        }
    }
}

/* The first timer that is due; NULL when none is left. */
static inline struct carrick_timer *carrick_wheel_peek(struct carrick_wheel *w, uint64_t now) {
    carrick_wheel_move(w, now >> CARRICK_TICK_SHIFT);
    /* What is due has come down to the lowest level: buckets above it need no look. */
    struct carrick_timer *t = w->occupied[0] ? carrick_wheel_first(w) : NULL;
    if (!t || t->deadline > now) {
        /* Nothing lies before now's tick, so that buckets may be reckoned from it. */
        w->tick = carrick_max64(w->tick, now >> CARRICK_TICK_SHIFT);
        return NULL;
    }
    return t;
}

/* The first timer that is due, stopped; NULL when none is left. */
static inline struct carrick_timer *carrick_wheel_due(struct carrick_wheel *w, uint64_t now) {
    struct carrick_timer *t = carrick_wheel_peek(w, now);
    if (t)
        carrick_timer_stop(w, t);
    return t;
}

#endif
