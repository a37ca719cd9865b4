/* SPDX-License-Identifier: MIT */
/*
 * sliding_wnd: a flag for each of `size` numbers from `head` (docs/reference/language.md, "Built-in functions").
 * Two representations of the same thing: a list of runs for many numbers in few runs, a bitmap for the rest. Loops over
 * runs decide without branches, as a verifier needs it; there are few runs.
 */
#ifndef CARRICK_WND_H
#define CARRICK_WND_H

#include "carrick/bounds.h"

/* Numbers [first, end). */
struct carrick_run {
    uint32_t first, end;
};

/*
 * ---- runs: in ascending order from head, never touching each other ----
 *
 * At most `max` out-of-order runs; the in-order run, which begins at head, does not count. The array of max + 1 is the
 * caller's.
 */

struct carrick_wnd {
    uint32_t head;
    uint32_t count;
};

/* A window whose runs lie elsewhere while it has more than this one. */
struct carrick_wnd_one {
    struct carrick_wnd wnd;
    struct carrick_run one;
};

CARRICK_INLINE void carrick_wnd_reset(struct carrick_wnd *w, uint32_t at) {
    w->head = at;
    w->count = 0;
}

CARRICK_INLINE uint32_t carrick_wnd_first_unset(const struct carrick_wnd *w, const struct carrick_run *runs) {
    return w->count && runs[0].first == w->head ? runs[0].end : w->head;
}

CARRICK_INLINE bool carrick_wnd_test(const struct carrick_wnd *w, const struct carrick_run *runs, uint32_t max,
                                     uint32_t at) {
    uint32_t x = at - w->head, found = 0;
    for (uint32_t k = 0; k < carrick_loop_end(w->count, max + 1); k++)
        found |= carrick_below(k, w->count) & carrick_below(x, runs[k].end - w->head) &
                 ~carrick_below(x, runs[k].first - w->head);
    return found & 1;
}

/* Cuts [from, to) to the window, relative to head. False: nothing is left. */
CARRICK_INLINE bool carrick_wnd_cut(uint32_t head, uint32_t size, uint32_t from, uint32_t to, uint32_t *lo,
                                    uint32_t *hi) {
    int64_t a = (int32_t)(from - head);
    uint32_t len = to - from;
    if (len > 0x7fffffffu)
        return false;
    int64_t b = a + len;
    a = a < 0 ? 0 : a;
    b = b > (int64_t)size ? (int64_t)size : b;
    *lo = (uint32_t)a;
    *hi = (uint32_t)b;
    return a < b;
}

CARRICK_INLINE bool carrick_wnd_begins(const struct carrick_wnd *w, const struct carrick_run *runs) {
    return w->count && runs[0].first == w->head;
}

CARRICK_INLINE void carrick_wnd_choose(uint32_t chosen, struct carrick_run *at, const struct carrick_run *other) {
    at->first = carrick_choose(chosen, other->first, at->first);
    at->end = carrick_choose(chosen, other->end, at->end);
}

/* Moves the runs from index `from` on to `to`; there are `count`. */
CARRICK_INLINE void carrick_wnd_move(struct carrick_run *runs, uint32_t max, uint32_t count, uint32_t from,
                                     uint32_t to) {
    if (to > from) { /* by one */
        for (uint32_t k = carrick_loop_end(count, max); k > 0; k--)
            carrick_wnd_choose(1 & ~carrick_below(k, to) & ~carrick_below(count, k), &runs[k], &runs[k - 1]);
        return;
    }
    uint32_t by = from - to;
    for (uint32_t k = 0; k < carrick_loop_end(count, max + 1); k++) {
        uint32_t moves = carrick_below(k + by, count) & ~carrick_below(k, to);
        uint32_t source = carrick_choose(moves, k + by, 0);
        carrick_wnd_choose(moves, &runs[k], &runs[carrick_at(source, max + 1)]);
    }
}

/* Sets [from, to); false, and nothing set, if more than `max` runs would be needed. */
CARRICK_INLINE bool carrick_wnd_set(struct carrick_wnd *w, struct carrick_run *runs, uint32_t size, uint32_t max,
                                    uint32_t from, uint32_t to) {
    uint32_t lo, hi, head = w->head, count = w->count;
    if (!carrick_wnd_cut(head, size, from, to, &lo, &hi))
        return true;
    if (count == 0 && max > 0) { /* what comes in order has nothing beside it */
        runs[0] = (struct carrick_run){head + lo, head + hi};
        w->count = 1;
        return true;
    }
    /* How many lie before it, and how many do not lie after it. */
    uint32_t i = carrick_unknown_zero(count), j = i;
    for (uint32_t k = 0; k < carrick_loop_end(count, max + 1); k++) {
        i += carrick_below(k, count) & carrick_below(runs[k].end - head, lo);
        j += carrick_below(k, count) & ~carrick_below(hi, runs[k].first - head);
    }
    if (i == j) { /* touches no run: a new one at i */
        if (count >= max + (lo == 0 || carrick_wnd_begins(w, runs) ? 1u : 0u))
            return false;
        carrick_wnd_move(runs, max, count, i, i + 1);
        w->count = count + 1;
    } else {
        const struct carrick_run *first = &runs[carrick_at(i, max + 1)], *last = &runs[carrick_at(j - 1, max + 1)];
        if (first->first - head < lo)
            lo = first->first - head;
        if (last->end - head > hi)
            hi = last->end - head;
        carrick_wnd_move(runs, max, count, j, i + 1);
        w->count = count - (j - i - 1);
    }
    runs[carrick_at(i, max + 1)] = (struct carrick_run){head + lo, head + hi};
    return true;
}

/* Takes [from, to) away; false, and nothing taken, if more than `max` runs would be left. */
CARRICK_INLINE bool carrick_wnd_unset(struct carrick_wnd *w, struct carrick_run *runs, uint32_t size, uint32_t max,
                                      uint32_t from, uint32_t to) {
    uint32_t lo, hi, head = w->head, count = w->count;
    if (!carrick_wnd_cut(head, size, from, to, &lo, &hi))
        return true;
    uint32_t i = carrick_unknown_zero(count), j = i;
    for (uint32_t k = 0; k < carrick_loop_end(count, max + 1); k++) {
        i += carrick_below(k, count) & ~carrick_below(lo, runs[k].end - head);
        j += carrick_below(k, count) & carrick_below(runs[k].first - head, hi);
    }
    if (i == j)
        return true;
    struct carrick_run before = {runs[carrick_at(i, max + 1)].first, head + lo};
    struct carrick_run behind = {head + hi, runs[carrick_at(j - 1, max + 1)].end};
    bool has_before = before.first - head < lo;
    bool has_behind = behind.end - head > hi;
    uint32_t parts = (has_before ? 1u : 0u) + (has_behind ? 1u : 0u);
    if (count - (j - i) + parts > max + (lo > 0 && carrick_wnd_begins(w, runs) ? 1u : 0u))
        return false;
    carrick_wnd_move(runs, max, count, j, i + parts);
    w->count = count - (j - i) + parts;
    if (has_before)
        runs[carrick_at(i++, max + 1)] = before;
    if (has_behind)
        runs[carrick_at(i, max + 1)] = behind;
    return true;
}

CARRICK_INLINE uint32_t carrick_wnd_first_set(const struct carrick_wnd *w, const struct carrick_run *runs,
                                              uint32_t size) {
    return w->count ? runs[0].first : w->head + size;
}

/* Moves head forward to `to`; what lies before it is forgotten. */
CARRICK_INLINE void carrick_wnd_slide(struct carrick_wnd *w, struct carrick_run *runs, uint32_t max, uint32_t to) {
    uint32_t head = w->head, by = to - head, count = w->count;
    if (by == 0 || by > 0x7fffffffu)
        return;
    uint32_t gone = carrick_unknown_zero(count);
    if (count == 1) {
        gone = 1 & ~carrick_below(by, runs[0].end - head);
    } else if (count > 1) {
        for (uint32_t k = 0; k < carrick_loop_end(count, max + 1); k++)
            gone += carrick_below(k, count) & ~carrick_below(by, runs[k].end - head);
        carrick_wnd_move(runs, max, count, gone, 0);
    }
    w->count = count - gone;
    if (w->count && runs[0].first - head < by)
        runs[0].first = to;
    w->head = to;
}

/* ---- bitmap: `words` 64-bit words, a power of two, holding at least `size` bits; bit = number mod (64 * words) ----
 */

CARRICK_INLINE bool carrick_bits_test(uint32_t head, const uint64_t *bits, uint32_t words, uint32_t size, uint32_t at) {
    uint32_t bit = at & (words * 64 - 1);
    return at - head < size && ((bits[carrick_at(bit / 64, words)] >> (bit % 64)) & 1);
}

/* The bits below n of a word. */
CARRICK_INLINE uint64_t carrick_bits_below(uint32_t n) {
    return carrick_choose64(carrick_below(n, 64), ((uint64_t)1 << (n % 64)) - 1, UINT64_MAX);
}

/* Word by word. What reaches all round the ring ends in the word in which it begins. */
CARRICK_INLINE void carrick_bits_write(uint64_t *bits, uint32_t words, uint32_t from, uint32_t count, bool value) {
    uint32_t first = from / 64, begin = from % 64, end = begin + count;
    for (uint32_t k = 0; k < carrick_loop_end((end + 63) / 64, words + 1); k++) {
        uint64_t mask = carrick_choose64(carrick_below(k * 64, end), carrick_bits_below(end - k * 64), 0);
        if (k == 0)
            mask &= ~carrick_bits_below(begin);
        uint64_t *word = &bits[carrick_at((first + k) & (words - 1), words)];
        *word = value ? *word | mask : *word & ~mask;
    }
}

CARRICK_INLINE void carrick_bits_reset(uint32_t *head, uint64_t *bits, uint32_t words, uint32_t at) {
    *head = at;
    for (uint32_t k = 0; k < words; k++)
        bits[k] = 0;
}

CARRICK_INLINE bool carrick_bits_set(uint32_t head, uint64_t *bits, uint32_t words, uint32_t size, uint32_t from,
                                     uint32_t to) {
    uint32_t lo, hi;
    if (carrick_wnd_cut(head, size, from, to, &lo, &hi))
        carrick_bits_write(bits, words, head + lo, hi - lo, true);
    return true;
}

CARRICK_INLINE bool carrick_bits_unset(uint32_t head, uint64_t *bits, uint32_t words, uint32_t size, uint32_t from,
                                       uint32_t to) {
    uint32_t lo, hi;
    if (carrick_wnd_cut(head, size, from, to, &lo, &hi))
        carrick_bits_write(bits, words, head + lo, hi - lo, false);
    return true;
}

/* The first number whose flag is `value`, from head on; head + size if there is none. */
CARRICK_INLINE uint32_t carrick_bits_first(uint32_t head, const uint64_t *bits, uint32_t words, uint32_t size,
                                           bool value) {
    uint32_t begin = head % 64;
    for (uint32_t k = 0; k <= words; k++) {
        uint64_t word = bits[carrick_at((head / 64 + k) & (words - 1), words)];
        word = value ? word : ~word;
        if (k == 0)
            word &= ~carrick_bits_below(begin);
        if (word) {
            uint32_t at = k * 64 + carrick_lowest_bit(word) - begin;
            return head + (at < size ? at : size);
        }
    }
    return head + size;
}

CARRICK_INLINE uint32_t carrick_bits_first_set(uint32_t head, const uint64_t *bits, uint32_t words, uint32_t size) {
    return carrick_bits_first(head, bits, words, size, true);
}

CARRICK_INLINE uint32_t carrick_bits_first_unset(uint32_t head, const uint64_t *bits, uint32_t words, uint32_t size) {
    return carrick_bits_first(head, bits, words, size, false);
}

CARRICK_INLINE void carrick_bits_slide(uint32_t *head, uint64_t *bits, uint32_t words, uint32_t size, uint32_t to) {
    uint32_t by = to - *head;
    if (by == 0 || by > 0x7fffffffu)
        return;
    carrick_bits_write(bits, words, *head, by < size ? by : size, false);
    *head = to;
}

#endif
