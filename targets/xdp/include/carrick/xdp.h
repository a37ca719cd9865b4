/* SPDX-License-Identifier: MIT */
/* What generated programs in the kernel stand on, beside the runtime of all targets. */
#ifndef CARRICK_XDP_H
#define CARRICK_XDP_H

#include "carrick/claim.h"
#include "carrick/fixed.h"
#include "carrick/kernel.h"
#include "carrick/layout.h"
#include "carrick/pcg.h"
#include "carrick/siphash.h"

#ifdef CARRICK_IPV6
#include "carrick/network6.h"
#else
#include "carrick/network4.h"
#endif

#define CARRICK_RECORD       carrick_report
#define CARRICK_RECORD_WORDS CARRICK_REPORT_WORDS
#include "carrick/words.h"

/* As in carrick/trace.h of the runtime: records of a trace, and requests that are complete, are reports. */
#define CARRICK_RECORD_BEGINS(core, what, of)                                                                          \
    struct carrick_report *r = &(core)->report;                                                                        \
    r->count = 0
#define CARRICK_RECORD_ENDS(core, what, of)                                                                            \
    r->kind = (what);                                                                                                  \
    r->number = (of);                                                                                                  \
    (void)CARRICK_OWN(send_report)(core)
#define CARRICK_REPORT(core, what, of, ...)                                                                            \
    do {                                                                                                               \
        const uint64_t words__[] = {__VA_ARGS__};                                                                      \
        CARRICK_RECORD_BEGINS(core, what, of);                                                                         \
        memcpy(r->words, words__, sizeof words__);                                                                     \
        r->count = sizeof words__ / sizeof(uint64_t);                                                                  \
        CARRICK_RECORD_ENDS(core, what, of);                                                                           \
    } while (0)

/* Where claims are not checked, nothing of them is left: no calls of functions that are verified apart. */
#ifndef CARRICK_CLAIMS
#undef CARRICK_CLAIM
#define CARRICK_CLAIM(holds, failed) ((void)sizeof(holds))
#endif

#define CARRICK_ETHERNET 14u
/* Bytes of a received packet that a parser sees at once, behind the network header: those of the longest header. Longer
 * lists of options are read piece by piece. A power of two. */
#define CARRICK_SEEN 256u
/* Bytes of the longest header, and of the longest option. */
#define CARRICK_HEADER_MAX 256u
#define CARRICK_OPTION_MAX 64u
/* Bytes of the largest frame whose payload is summed. */
#define CARRICK_FRAME_MAX 9216u
/* A power of two above it. */
#define CARRICK_ASSEMBLY_BUFFER 16384u
/* Where the program writes the header of a packet, behind the space of the longest network headers. */
#define CARRICK_BEGIN (CARRICK_ETHERNET + CARRICK_NET_LONGEST)
/* Bytes of the longest headers of a packet. */
#define CARRICK_HEADERS_MAX (CARRICK_NET_LONGEST + CARRICK_HEADER_MAX)

CARRICK_INLINE bool carrick_timer_armed(const struct carrick_timer *t) {
    return t->armed != 0;
}

/* Waits until the word is 0. may_goto (opcode 0xe5, to behind the next instruction) ends what takes too long: a quarter
 * of a second, or 8 million turns, by the kernel's version. */
CARRICK_INLINE void carrick_await_zero(const uint32_t *word) {
    __asm__ volatile("1: w0 = *(u32 *)(%0 + 0)\n"
                     "if w0 == 0 goto 2f\n"
                     ".byte 0xe5, 0, 1, 0, 0, 0, 0, 0\n"
                     "goto 1b\n"
                     "2:\n"
                     :
                     : "r"(word)
                     : "r0", "memory");
}

/* Takes an instance for this processor; 0 if another one holds it too long: whoever has it may itself have no processor
 * for a while, in a virtual machine. */
CARRICK_GLOBAL_FN int carrick_hold(uint32_t *word) {
    if (!word)
        return 0;
    for (uint32_t turn = 0; turn < CARRICK_TURNS; turn++) {
        if (__sync_val_compare_and_swap(word, 0, 1) == 0)
            return 1;
        carrick_await_zero(word);
    }
    return 0;
}

/* What was written before is there for whoever holds it next. */
CARRICK_INLINE void carrick_release(uint32_t *word) {
#ifdef CARRICK_STORES_IN_ORDER
    __asm__ volatile("" ::: "memory");
    *(volatile uint32_t *)word = 0;
#else
    (void)__sync_lock_test_and_set(word, 0);
#endif
}

/* What was written to an entry of the queue is there, or has gone, for whoever sees its next turn. */
CARRICK_INLINE void carrick_publish(uint64_t *turn) {
    (void)__sync_lock_test_and_set(turn, *turn + 1);
}

/* `octets` and `align` are constants. */
CARRICK_INLINE void carrick_zero(void *object, uint32_t octets, uint32_t align) {
    for (uint32_t at = 0; at < octets; at += align == 2 ? 1 : align) {
        if (align == 8)
            *(uint64_t *)((uint8_t *)object + at) = 0;
        else if (align == 4)
            *(uint32_t *)((uint8_t *)object + at) = 0;
        else
            ((uint8_t *)object)[at] = 0;
        CARRICK_BARRIER_VAR(at);
    }
}

/* Zeros an object; the compiler would call a function for a large one. */
#define CARRICK_ZERO(object)                                                                                           \
    do {                                                                                                               \
        if (sizeof *(object) <= 512) {                                                                                 \
            memset(object, 0, sizeof *(object));                                                                       \
        } else {                                                                                                       \
            carrick_zero((object), sizeof *(object), _Alignof(__typeof__(*(object))));                                 \
        }                                                                                                              \
    } while (0)

/* The raised events of one chain that are left: places on the stack of them. */
struct carrick_level {
    uint32_t first, next, end;
};

/* Copies an object; the compiler would call a function for a large one. A copy of the copy is read again: what is kept
 * for it would lie on the stack. */
#define CARRICK_COPY(to, from)                                                                                         \
    do {                                                                                                               \
        if (sizeof *(to) <= 256) {                                                                                     \
            *(to) = *(from);                                                                                           \
            __asm__ volatile("" ::: "memory");                                                                         \
        } else {                                                                                                       \
            (void)bpf_probe_read_kernel((to), sizeof *(to), (from));                                                   \
        }                                                                                                              \
    } while (0)

#define CARRICK_COPY_ARRAY(to, from)                                                                                   \
    do {                                                                                                               \
        if (sizeof(to) <= 256)                                                                                         \
            memcpy(to, from, sizeof(to));                                                                              \
        else                                                                                                           \
            (void)bpf_probe_read_kernel(to, sizeof(to), from);                                                         \
    } while (0)

/* Copies the members before one. */
#define CARRICK_COPY_UNTIL(type, member, to, from)                                                                     \
    do {                                                                                                               \
        if (__builtin_offsetof(type, member) <= 256)                                                                   \
            memcpy(to, from, __builtin_offsetof(type, member));                                                        \
        else                                                                                                           \
            (void)bpf_probe_read_kernel(to, __builtin_offsetof(type, member), from);                                   \
    } while (0)

/* The sum of the first n bytes (RFC 1071) of so many that are there; n even or the last. */
CARRICK_INLINE uint64_t carrick_sum_of(const uint8_t *octets, uint32_t room, uint32_t n) {
    uint64_t sum = 0;
    for (uint32_t at = 0; at + 1 < room; at += 2) {
        if (at >= n)
            break;
        uint32_t low = octets[at], high = at + 1 < n ? octets[at + 1] : 0;
        sum += low | high << 8;
    }
    return sum;
}

/* One step of PCG32, as in carrick/rand.h, of a state that all processors share. */
CARRICK_INLINE uint32_t carrick_random(struct carrick_shared *shared) {
    uint64_t old = 0;
    for (uint32_t turn = 0; turn < 16; turn++) {
        old = shared->rng_state;
        uint64_t next = carrick_pcg_step(old, shared->rng_increment);
        if (__sync_val_compare_and_swap(&shared->rng_state, old, next) == old)
            break;
    }
    return carrick_pcg_output(old);
}

/* Lowers what says when the first timer is due. Where others are always faster, all timers are to be looked at. */
CARRICK_INLINE void carrick_lower(uint64_t *earliest, uint64_t deadline) {
    for (uint32_t turn = 0; turn < 16; turn++) {
        uint64_t there = CARRICK_READ(*earliest);
        if (there != 0 && there <= deadline)
            return;
        if (__sync_val_compare_and_swap(earliest, there, deadline) == there)
            return;
    }
    (void)__sync_lock_test_and_set(earliest, 1);
}

/* Whether the host has to be called, which may sleep: once, until it has looked. */
CARRICK_INLINE bool carrick_calls(struct carrick_shared *shared) {
    uint64_t earliest = CARRICK_READ(shared->earliest), watched = CARRICK_READ(shared->watched);
    bool wait =
        CARRICK_READ(shared->queue_head) != CARRICK_READ(shared->queue_tail) && CARRICK_READ(shared->due) < watched;
#if CARRICK_STORES
    wait = wait || CARRICK_READ(shared->leaving) != 0;
#endif
    if (watched == 0 || (!wait && (earliest == 0 || earliest >= watched)))
        return false;
    return __sync_lock_test_and_set(&shared->called, 1) == 0;
}

/* The timers that a processor has started. */
struct carrick_timers_begun {
    uint64_t order;   /* of the last one: when it was started, or 1 more than the one before */
    uint64_t soonest; /* the earliest deadline of those that the host has not been told of; 0: there is none */
};

/* At least 1 ns later, as everywhere. */
CARRICK_INLINE void carrick_timer_begin(struct carrick_timer *t, struct carrick_timers_begun *begun, uint64_t now,
                                        int64_t after) {
    uint64_t delay = after > 1 ? (uint64_t)after : 1, last = UINT64_MAX - 1;
    uint64_t deadline = delay > last - now ? last : now + delay;
    begun->order = carrick_max64(begun->order + 1, now);
    t->deadline = deadline;
    t->order = begun->order;
    t->armed = 1;
    if (begun->soonest == 0 || deadline < begun->soonest)
        begun->soonest = deadline;
}

/* Nobody looks at all timers before `earliest`. So long (ns) before that, what was written will have been seen. */
#define CARRICK_SEEN_BY_THEN UINT64_C(1000000)

/* Tells the host of timers that were started, once for all of them. Who looks at all timers either sees them, or has
 * taken `earliest` away before it is looked at here. `clock`: the time + 1, where the loader makes it. */
CARRICK_INLINE void carrick_timers_told(struct carrick_timers_begun *begun, struct carrick_shared *shared,
                                        uint64_t clock) {
    uint64_t soonest = begun->soonest;
    if (!shared || soonest == 0)
        return;
    begun->soonest = 0;
    uint64_t now = clock ? clock - 1 : bpf_ktime_get_ns(), earliest = CARRICK_READ(shared->earliest);
    if (earliest > now + CARRICK_SEEN_BY_THEN && earliest <= soonest)
        return;
    /* Locked: the timers are seen before `earliest` is looked at. */
    (void)__sync_lock_test_and_set(&begun->soonest, 0);
    carrick_lower(&shared->earliest, soonest);
}

CARRICK_INLINE void carrick_timer_stop(struct carrick_timer *t) {
    t->armed = 0;
}

/* Whether the timer still ran; it does not any more. */
CARRICK_INLINE bool carrick_timer_end(struct carrick_timer *t) {
    return __sync_val_compare_and_swap(&t->armed, 1, 0) == 1;
}

#endif
