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

#define CARRICK_RECORD       carrick_record
#define CARRICK_RECORD_WORDS CARRICK_TRACE_WORDS
#include "carrick/words.h"

#else

#define CARRICK_TRACED 0

#endif

#endif
