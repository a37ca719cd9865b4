/* SPDX-License-Identifier: MIT */
/*
 * What is in contexts and events, as words of a record: struct CARRICK_RECORD, with a `count` and as many `words` as
 * CARRICK_RECORD_WORDS. Words past the capacity are dropped, and the record is cut.
 */
#ifndef CARRICK_WORDS_H
#define CARRICK_WORDS_H

#include "carrick/wnd.h"

CARRICK_INLINE void carrick_word(struct CARRICK_RECORD *r, uint64_t word) {
    if (r->count < CARRICK_RECORD_WORDS)
        r->words[carrick_at(r->count++, CARRICK_RECORD_WORDS)] = word;
}

CARRICK_INLINE void carrick_word_addr(struct CARRICK_RECORD *r, struct carrick_addr a) {
    carrick_word(r, a.ptr ? a.len : UINT64_MAX);
}

/* At most `max` + 1 runs, each by its first number and the one behind its last. */
CARRICK_INLINE void carrick_words_wnd(struct CARRICK_RECORD *r, const struct carrick_wnd *w,
                                      const struct carrick_run *runs, uint32_t max) {
    carrick_word(r, w->head);
    carrick_word(r, w->count);
    for (uint32_t i = 0; i <= max && i < w->count; i++) {
        carrick_word(r, runs[i].first);
        carrick_word(r, runs[i].end);
    }
}

/* The same of a bitmap, whatever lies in its words. */
CARRICK_INLINE void carrick_words_bits(struct CARRICK_RECORD *r, uint32_t head, const uint64_t *bits, uint32_t words,
                                       uint32_t size) {
    carrick_word(r, head);
    uint64_t at = r->count;
    uint32_t runs = carrick_unknown_zero(head);
    carrick_word(r, 0);
    bool before = false;
    for (uint32_t i = 0; i <= size && CARRICK_GOES_ON; i++) {
        i = CARRICK_FORGOTTEN(i, r->count);
        runs = CARRICK_FORGOTTEN(runs, r->count);
        bool set = i < size && carrick_bits_test(head, bits, words, size, head + i);
        if (set != before)
            carrick_word(r, head + i);
        if (set && !before)
            runs++;
        before = set;
    }
    if (at < CARRICK_RECORD_WORDS)
        r->words[carrick_at(at, CARRICK_RECORD_WORDS)] = runs;
}

#endif
