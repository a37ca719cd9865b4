/* SPDX-License-Identifier: MIT */
/* Trace records, for builds with CARRICK_TRACE defined. In others nothing of them is left. */
#ifndef CARRICK_TRACE_H
#define CARRICK_TRACE_H

#include "carrick/claim.h"
#include "carrick/unit.h"
#include "carrick/wnd.h"

/* Writes a record of these words, in traced builds, if the host reads it. */
#define CARRICK_REPORT(core, kind, number, ...)                                                                        \
    do {                                                                                                               \
        if ((core)->records & CARRICK_RECORD_BIT(kind, number)) {                                                      \
            const uint64_t words__[] = {__VA_ARGS__};                                                                  \
            (core)->trace((core)->trace_user, kind, number, words__, sizeof words__ / sizeof(uint64_t));               \
        }                                                                                                              \
    } while (0)

#ifdef CARRICK_TRACE

#define CARRICK_TRACE_WORDS 8192u

/* A record under construction. Words past its capacity are dropped, and the record is cut. */
struct carrick_record {
    uint32_t count;
    uint64_t words[CARRICK_TRACE_WORDS];
};

/* In a function that writes a record: declares `r`; ends it. */
#define CARRICK_RECORD_BEGINS(core, kind, number)                                                                      \
    if (!((core)->records & CARRICK_RECORD_BIT(kind, number)))                                                         \
        return 0;                                                                                                      \
    struct carrick_record record__, *r = &record__;                                                                    \
    r->count = 0
#define CARRICK_RECORD_ENDS(core, what, of) (core)->trace((core)->trace_user, what, of, r->words, r->count)

#define CARRICK_RECORD       carrick_record
#define CARRICK_RECORD_WORDS CARRICK_TRACE_WORDS
#include "carrick/words.h"

#endif

#endif
