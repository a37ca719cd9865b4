/* SPDX-License-Identifier: MIT */
/* What shows the kernel's verifier that an index lies in its array, that a loop ends, and that both outcomes of a
 * choice are one way: what carrick/bounds.h of the runtime is elsewhere, with the same results. */
#ifndef CARRICK_BOUNDS_H
#define CARRICK_BOUNDS_H

/* A map of its own, whose name is one. */
#define CARRICK_CONSTANTS __attribute__((section(".rodata.arrays")))
#include "carrick/base.h"

#define CARRICK_INLINE static inline __attribute__((always_inline, unused))
/* A function that the verifier looks at by itself, whoever calls it: it takes at most five arguments, and pointers to
 * it may be NULL. */
#define CARRICK_GLOBAL_FN __attribute__((noinline))
#define CARRICK_READER    CARRICK_GLOBAL_FN
/* Returns 0 from such a function if this pointer is NULL. */
#define CARRICK_GIVEN(pointer)                                                                                         \
    do {                                                                                                               \
        if (!(pointer))                                                                                                \
            return 0;                                                                                                  \
    } while (0)

/* The compiler may use how the type that this points to is aligned. Structs that are passed by value from there are
 * else copied byte by byte, once the function that takes them is inlined: LLVM then no longer knows the alignment of a
 * pointer that is an argument (HandleByValArgumentInit), and this machine has no unaligned loads. */
#define CARRICK_ALIGNED(pointer)                                                                                       \
    do {                                                                                                               \
        (pointer) = __builtin_assume_aligned((pointer), __alignof__(*(pointer)));                                      \
        (void)(pointer);                                                                                               \
    } while (0)

/* The runs of an RX unit: an instance is all that a program looks up. */
#define CARRICK_IN_UNIT(members) members

/* Where a loop over the first `count` elements ends, of an array that has `room`: over all of it, and each turn asks
 * whether its element is there. Else the verifier would follow every way in which a count can grow. */
CARRICK_INLINE uint32_t carrick_loop_end(uint32_t count, uint32_t room) {
    (void)count;
    return room;
}

/* The compiler knows nothing of the value from here on, and does not undo what the verifier has to see. */
#define CARRICK_BARRIER_VAR(v) __asm__ volatile("" : "+r"(v))

/* An index below n: 0 in place of one that is not. Generated code asks first; the verifier wants to see it at the
 * access. */
CARRICK_INLINE uint64_t carrick_at(uint64_t i, uint64_t n) {
    CARRICK_BARRIER_VAR(i);
    if (i >= n)
        i = 0;
    CARRICK_BARRIER_VAR(i);
    return i;
}

/* 1 if a is below b, else 0; without a branch, of which the verifier would follow both ways. Numbers below 2^63. */
CARRICK_INLINE uint32_t carrick_below(uint64_t a, uint64_t b) {
    uint64_t difference = a - b;
    CARRICK_BARRIER_VAR(difference);
    return (uint32_t)(difference >> 63);
}

/* Before a loop with a constant number of turns, each of which is code of its own. */
#ifdef __clang__
#define CARRICK_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define CARRICK_UNROLLED
#endif

/* The first if `chosen` is 1, the other if it is 0; without a branch. */
CARRICK_INLINE uint32_t carrick_choose(uint32_t chosen, uint32_t first, uint32_t other) {
    uint32_t mask = 0u - chosen;
    CARRICK_BARRIER_VAR(mask);
    return other ^ ((first ^ other) & mask);
}

CARRICK_INLINE uint64_t carrick_choose64(uint64_t chosen, uint64_t first, uint64_t other) {
    uint64_t mask = 0 - chosen;
    CARRICK_BARRIER_VAR(mask);
    return other ^ ((first ^ other) & mask);
}

/* The number of the lowest bit that is set; v is not 0. No instruction says it: the bits below it are counted. */
CARRICK_INLINE uint32_t carrick_lowest_bit(uint64_t v) {
    uint64_t below = (v & (0 - v)) - 1;
    below -= below >> 1 & 0x5555555555555555u;
    below = (below & 0x3333333333333333u) + (below >> 2 & 0x3333333333333333u);
    below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(below * 0x0101010101010101u >> 56);
}

/* Zero, and the verifier does not know it; nor does it know `unknown`. */
CARRICK_INLINE uint32_t carrick_unknown_zero(uint32_t unknown) {
    uint32_t same = unknown;
    CARRICK_BARRIER_VAR(same);
    return same - unknown;
}

/* What the other processors see too. */
#define CARRICK_READ(of)       (*(const volatile __typeof__(of) *)&(of))
#define CARRICK_ADD(to, count) ((void)__sync_fetch_and_add(&(to), count))

/* The number, of which the verifier knows nothing any more: it knows nothing of what lies in `from`. */
#define CARRICK_FORGOTTEN(number, from)                                                                                \
    ((__typeof__(number))((number) ^ (__typeof__(number))(CARRICK_READ(from) ^ CARRICK_READ(from))))

#define CARRICK_WITHIN(i, n) ((i) < (n))
/* True, and asked before each turn of a loop: the verifier then follows only so many turns as tell it something new,
 * and the kernel ends a loop that turns for a quarter of a second (may_goto, opcode 0xe5, Linux 6.9). */
#define CARRICK_GOES_ON                                                                                                \
    ({                                                                                                                 \
        __label__ over, on;                                                                                            \
        bool more__ = true;                                                                                            \
        __asm__ volatile goto("1: .byte 0xe5, 0\n"                                                                     \
                              ".long ((%l[over] - 1b - 8) / 8) & 0xffff\n"                                             \
                              ".short 0"                                                                               \
                              :                                                                                        \
                              :                                                                                        \
                              :                                                                                        \
                              : over);                                                                                 \
        goto on;                                                                                                       \
    over:                                                                                                              \
        more__ = false;                                                                                                \
    on:;                                                                                                               \
        more__;                                                                                                        \
    })

/* Opens a gap of one element at `index` in a list of `len` elements that has room; closes that gap. */
#define CARRICK_OPEN_GAP(items, room, len, index)                                                                      \
    for (uint64_t k__ = (len); k__ > (index) && CARRICK_GOES_ON; k__--) {                                              \
        k__ = CARRICK_FORGOTTEN(k__, len);                                                                             \
        (items)[carrick_at(k__, room)] = (items)[carrick_at(k__ - 1, room)];                                           \
    }
#define CARRICK_CLOSE_GAP(items, room, len, index)                                                                     \
    for (uint64_t k__ = (index); k__ + 1 < (len) && CARRICK_GOES_ON; k__++) {                                          \
        k__ = CARRICK_FORGOTTEN(k__, len);                                                                             \
        (items)[carrick_at(k__, room)] = (items)[carrick_at(k__ + 1, room)];                                           \
    }

#endif
