/* SPDX-License-Identifier: MIT */
/*
 * sliding_wnd: a flag for each of `size` numbers from `head` (docs/reference/language.md, "Built-in functions").
 * Two representations of the same thing: a list of runs for many numbers in few runs, a bitmap for the rest.
 */
#ifndef CARRICK_WND_H
#define CARRICK_WND_H

#include "carrick/arith.h"

/* Numbers [first, end). */
struct carrick_run {
    uint32_t first, end;
};

/*
 * ---- runs: in ascending order from head, never touching each other ----
 *
 * `max` of them are told apart, and one more that begins at head: what comes in order always has room. The array, of
 * max + 1, is the caller's.
 */

struct carrick_wnd {
    uint32_t head;
    uint32_t count;
};

static inline void carrick_wnd_reset(struct carrick_wnd *w, uint32_t at) {
    w->head = at;
    w->count = 0;
}

static inline uint32_t carrick_wnd_first_unset(const struct carrick_wnd *w, const struct carrick_run *runs) {
    return w->count && runs[0].first == w->head ? runs[0].end : w->head;
}

static inline bool carrick_wnd_test(const struct carrick_wnd *w, const struct carrick_run *runs, uint32_t at) {
    uint32_t x = at - w->head;
    for (uint32_t i = 0; i < w->count; i++)
        if (x >= runs[i].first - w->head && x < runs[i].end - w->head)
            return true;
    return false;
}

/* Cuts [from, to) to the window, relative to head. False: nothing is left. */
static inline bool carrick_wnd_cut(uint32_t head, uint32_t size, uint32_t from, uint32_t to, uint32_t *lo,
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

static inline bool carrick_wnd_begins(const struct carrick_wnd *w, const struct carrick_run *runs) {
    return w->count && runs[0].first == w->head;
}

/* Sets [from, to); false, and nothing set, if more than `max` runs would be needed. */
static inline bool carrick_wnd_set(struct carrick_wnd *w, struct carrick_run *runs, uint32_t size, uint32_t max,
                                   uint32_t from, uint32_t to) {
    uint32_t lo, hi;
    if (!carrick_wnd_cut(w->head, size, from, to, &lo, &hi))
        return true;
    uint32_t head = w->head, i = 0;
    while (i < w->count && runs[i].end - head < lo)
        i++;
    uint32_t j = i;
    while (j < w->count && runs[j].first - head <= hi)
        j++;
    if (i == j) { /* touches no run: a new one at i */
        if (w->count == max + (lo == 0 || carrick_wnd_begins(w, runs) ? 1u : 0u))
            return false;
        if (i < w->count)
            memmove(&runs[i + 1], &runs[i], (w->count - i) * sizeof *runs);
        runs[i] = (struct carrick_run){head + lo, head + hi};
        w->count++;
        return true;
    }
    if (runs[i].first - head < lo)
        lo = runs[i].first - head;
    if (runs[j - 1].end - head > hi)
        hi = runs[j - 1].end - head;
    runs[i] = (struct carrick_run){head + lo, head + hi};
    if (j < w->count)
        memmove(&runs[i + 1], &runs[j], (w->count - j) * sizeof *runs);
    w->count -= j - i - 1;
    return true;
}

/* Takes [from, to) away; false, and nothing taken, if more than `max` runs would be left. */
static inline bool carrick_wnd_unset(struct carrick_wnd *w, struct carrick_run *runs, uint32_t size, uint32_t max,
                                     uint32_t from, uint32_t to) {
    uint32_t lo, hi;
    if (!carrick_wnd_cut(w->head, size, from, to, &lo, &hi))
        return true;
    uint32_t head = w->head, i = 0;
    while (i < w->count && runs[i].end - head <= lo)
        i++;
    uint32_t j = i;
    while (j < w->count && runs[j].first - head < hi)
        j++;
    if (i == j)
        return true;
    struct carrick_run before = {runs[i].first, head + lo}, behind = {head + hi, runs[j - 1].end};
    bool has_before = before.first - head < lo;
    bool has_behind = behind.end - head > hi;
    uint32_t parts = (has_before ? 1u : 0u) + (has_behind ? 1u : 0u);
    if (w->count - (j - i) + parts > max + (lo > 0 && carrick_wnd_begins(w, runs) ? 1u : 0u))
        return false;
    if (j < w->count)
        memmove(&runs[i + parts], &runs[j], (w->count - j) * sizeof *runs);
    w->count -= j - i;
    w->count += parts;
    if (has_before)
        runs[i++] = before;
    if (has_behind)
        runs[i] = behind;
    return true;
}

static inline uint32_t carrick_wnd_first_set(const struct carrick_wnd *w, const struct carrick_run *runs,
                                             uint32_t size) {
    return w->count ? runs[0].first : w->head + size;
}

/* Moves head forward to `to`; what lies before it is forgotten. */
static inline void carrick_wnd_slide(struct carrick_wnd *w, struct carrick_run *runs, uint32_t to) {
    uint32_t by = to - w->head;
    if (by == 0 || by > 0x7fffffffu)
        return;
    uint32_t gone = 0;
    while (gone < w->count && runs[gone].end - w->head <= by)
        gone++;
    w->count -= gone;
    if (gone && w->count)
        memmove(runs, runs + gone, w->count * sizeof *runs);
    if (w->count && runs[0].first - w->head < by)
        runs[0].first = to;
    w->head = to;
}

/* ---- bitmap: `words` 64-bit words, a power of two, holding at least `size` bits; bit = number mod (64 * words) ----
 */

static inline bool carrick_bits_test(uint32_t head, const uint64_t *bits, uint32_t words, uint32_t size, uint32_t at) {
    uint32_t bit = at & (words * 64 - 1);
    return at - head < size && ((bits[bit / 64] >> (bit % 64)) & 1);
}

static inline void carrick_bits_write(uint64_t *bits, uint32_t words, uint32_t from, uint32_t count, bool value) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = (from + i) & (words * 64 - 1);
        uint64_t mask = (uint64_t)1 << (bit % 64);
        bits[bit / 64] = value ? bits[bit / 64] | mask : bits[bit / 64] & ~mask;
    }
}

static inline void carrick_bits_reset(uint32_t *head, uint64_t *bits, uint32_t words, uint32_t at) {
    *head = at;
    memset(bits, 0, words * sizeof *bits);
}

static inline bool carrick_bits_set(uint32_t head, uint64_t *bits, uint32_t words, uint32_t size, uint32_t from,
                                    uint32_t to) {
    uint32_t lo, hi;
    if (carrick_wnd_cut(head, size, from, to, &lo, &hi))
        carrick_bits_write(bits, words, head + lo, hi - lo, true);
    return true;
}

static inline bool carrick_bits_unset(uint32_t head, uint64_t *bits, uint32_t words, uint32_t size, uint32_t from,
                                      uint32_t to) {
    uint32_t lo, hi;
    if (carrick_wnd_cut(head, size, from, to, &lo, &hi))
        carrick_bits_write(bits, words, head + lo, hi - lo, false);
    return true;
}

static inline uint32_t carrick_bits_first_set(uint32_t head, const uint64_t *bits, uint32_t words, uint32_t size) {
    uint32_t n = 0;
    while (n < size && !carrick_bits_test(head, bits, words, size, head + n))
        n++;
    return head + n;
}

static inline uint32_t carrick_bits_first_unset(uint32_t head, const uint64_t *bits, uint32_t words, uint32_t size) {
    uint32_t n = 0;
    while (n < size && carrick_bits_test(head, bits, words, size, head + n))
        n++;
    return head + n;
}

static inline void carrick_bits_slide(uint32_t *head, uint64_t *bits, uint32_t words, uint32_t size, uint32_t to) {
    uint32_t by = to - *head;
    if (by == 0 || by > 0x7fffffffu)
        return;
    carrick_bits_write(bits, words, *head, by < size ? by : size, false);
    *head = to;
}

#endif
