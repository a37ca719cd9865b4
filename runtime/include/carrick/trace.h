/* SPDX-License-Identifier: MIT */
/* Trace records, for builds with CARRICK_TRACE defined. In others nothing of them is left. */
#ifndef CARRICK_TRACE_H
#define CARRICK_TRACE_H

#include "carrick/unit.h"
#include "carrick/wnd.h"

#ifdef CARRICK_TRACE

#define CARRICK_TRACED      1
#define CARRICK_TRACE_WORDS 8192u

/* One record that is being put together. Words past the room are dropped, and the record is cut. */
struct carrick_record {
    uint32_t count;
    uint64_t words[CARRICK_TRACE_WORDS];
};

static inline void carrick_word(struct carrick_record *r, uint64_t word) {
    if (r->count < CARRICK_TRACE_WORDS)
        r->words[r->count++] = word;
}

static inline void carrick_word_addr(struct carrick_record *r, struct carrick_addr a) {
    carrick_word(r, a.ptr ? a.len : UINT64_MAX);
}

static inline void carrick_words_wnd(struct carrick_record *r, const struct carrick_wnd *w,
                                     const struct carrick_run *runs) {
    carrick_word(r, w->head);
    carrick_word(r, w->count);
    for (uint32_t i = 0; i < w->count; i++) {
        carrick_word(r, runs[i].first);
        carrick_word(r, runs[i].end);
    }
}

static inline void carrick_words_bits(struct carrick_record *r, uint32_t head, const uint64_t *bits, uint32_t words,
                                      uint32_t size) {
    carrick_word(r, head);
    uint32_t at = r->count, runs = 0;
    carrick_word(r, 0);
    for (uint32_t i = 0; i < size; i++) {
        bool set = carrick_bits_test(head, bits, words, size, head + i);
        bool before = i > 0 && carrick_bits_test(head, bits, words, size, head + i - 1);
        if (set != before)
            carrick_word(r, head + i);
        runs += set && !before;
    }
    if (carrick_bits_test(head, bits, words, size, head + size - 1))
        carrick_word(r, head + size);
    if (at < CARRICK_TRACE_WORDS)
        r->words[at] = runs;
}

#else

#define CARRICK_TRACED 0

#endif

#endif
