/* SPDX-License-Identifier: MIT */
/*
 * Bounds that a verifier sees (indices in arrays, loops that end, choices that are one path), and numbers that several
 * processors change. User space has no verifier, and one processor works on a core: these are plain indices, loops,
 * choices and sums. Another target has a header of the same name with the same functions, which the compiler finds
 * first.
 */
#ifndef CARRICK_BOUNDS_H
#define CARRICK_BOUNDS_H

#include "carrick/base.h"

#define CARRICK_INLINE static inline CARRICK_UNUSED
/* A function that becomes less as a part of its caller, by more than a compiler's estimate says. Without optimisation
 * it does not, and compilers would warn of what is never done. */
#ifdef __OPTIMIZE__
#define CARRICK_PART static inline __attribute__((always_inline, unused))
#else
#define CARRICK_PART CARRICK_INLINE
#endif
/* A function that is verified once, independently of its callers; and such a function that reads packets, mostly for
 * one caller. */
#define CARRICK_GLOBAL_FN static inline CARRICK_UNUSED
#define CARRICK_READER    CARRICK_PART
/* Returns 0 from a function that is verified by itself if this pointer is NULL. */
#define CARRICK_GIVEN(pointer) ((void)(pointer))

/* What an instance has here, and elsewhere in a process: the runs of its RX unit (carrick/pool.h). */
#define CARRICK_IN_UNIT(members)

/* Returns where a loop over the first `count` elements of an array of `room` elements ends. */
CARRICK_INLINE uint32_t carrick_loop_end(uint32_t count, uint32_t room) {
    (void)room;
    return count;
}

/* An index below n. */
CARRICK_INLINE uint64_t carrick_at(uint64_t i, uint64_t n) {
    (void)n;
    return i;
}

/* 1 if a is below b, else 0. Numbers below 2^63. */
CARRICK_INLINE uint32_t carrick_below(uint64_t a, uint64_t b) {
    return a < b;
}

/* Before a loop with a constant number of turns, each of which a verifier has to see as code of its own. */
#define CARRICK_UNROLLED

/* The first if `chosen` is 1, the other if it is 0. */
CARRICK_INLINE uint32_t carrick_choose(uint32_t chosen, uint32_t first, uint32_t other) {
    return chosen ? first : other;
}

CARRICK_INLINE uint64_t carrick_choose64(uint64_t chosen, uint64_t first, uint64_t other) {
    return chosen ? first : other;
}

/* The number of the lowest bit that is set; v is not 0. */
CARRICK_INLINE uint32_t carrick_lowest_bit(uint64_t v) {
    return (uint32_t)__builtin_ctzll(v);
}

/* Zero, of which a verifier knows nothing; nor does it know `unknown`. */
CARRICK_INLINE uint32_t carrick_unknown_zero(uint32_t unknown) {
    (void)unknown;
    return 0;
}

/* The compiler knows nothing of the value from here on, where it would undo what a verifier has to see. */
#define CARRICK_BARRIER_VAR(v) ((void)(v))

/* An object of up to 256 bytes, a constant, is zeroed and copied by pieces of 16: for more at once compilers take
 * string instructions, which x86 needs some 40 cycles to begin with. A larger object is at its best with them. */
#define CARRICK_BY_PIECES(object) (sizeof *(object) <= 256)
#define CARRICK_PIECES(EACH)                                                                                           \
    (EACH(0), EACH(16), EACH(32), EACH(48), EACH(64), EACH(80), EACH(96), EACH(112), EACH(128), EACH(144), EACH(160),  \
     EACH(176), EACH(192), EACH(208), EACH(224), EACH(240))

CARRICK_PART void carrick_zero_pieces(void *object, size_t octets) {
    uint8_t *to = (uint8_t *)object;
#define CARRICK_PIECE(at) ((at) < octets ? memset(to + (at), 0, octets - (at) < 16 ? octets - (at) : 16) : NULL)
    (void)CARRICK_PIECES(CARRICK_PIECE);
#undef CARRICK_PIECE
}

CARRICK_PART void carrick_copy_pieces(void *object, const void *other, size_t octets) {
    uint8_t *to = (uint8_t *)object;
    const uint8_t *from = (const uint8_t *)other;
#define CARRICK_PIECE(at)                                                                                              \
    ((at) < octets ? memcpy(to + (at), from + (at), octets - (at) < 16 ? octets - (at) : 16) : NULL)
    (void)CARRICK_PIECES(CARRICK_PIECE);
#undef CARRICK_PIECE
}

/* An object of zeros; a copy of an object, of an array, and of the members of an object before one. */
#define CARRICK_ZERO(object)                                                                                           \
    (CARRICK_BY_PIECES(object) ? carrick_zero_pieces((object), sizeof *(object))                                       \
                               : (void)(*(object) = (__typeof__(*(object))){0}))
#define CARRICK_COPY(to, from)                                                                                         \
    (CARRICK_BY_PIECES(to) ? carrick_copy_pieces((to), (from), sizeof *(to)) : (void)(*(to) = *(from)))
#define CARRICK_COPY_ARRAY(to, from)               memcpy(to, from, sizeof(to))
#define CARRICK_COPY_UNTIL(type, member, to, from) memcpy(to, from, offsetof(type, member))

/* What other processors see too, where several work on one instance: here one does. */
#define CARRICK_READ(of)       (of)
#define CARRICK_ADD(to, count) ((to) += (count))

/* The number, of which a verifier knows nothing any more: it knows nothing of what lies in `from`. */
#define CARRICK_FORGOTTEN(number, from) (number)
/* Whether an index is below n, where a verifier does not know it. */
#define CARRICK_WITHIN(i, n) true
/* True, and asked before each turn of a loop that a verifier would follow for too long. */
#define CARRICK_GOES_ON true

/* Opens a gap of one element at `index` in a list of `len` elements that is not full; closes that gap. */
#define CARRICK_OPEN_GAP(items, room, len, index)                                                                      \
    memmove(&(items)[(index) + 1], &(items)[index], ((len) - (index)) * sizeof *(items))
#define CARRICK_CLOSE_GAP(items, room, len, index)                                                                     \
    memmove(&(items)[index], &(items)[(index) + 1], ((len) - (index)-1) * sizeof *(items))

#endif
