/* SPDX-License-Identifier: MIT */
/*
 * What only some builds do: they check what a program claims of itself (with CARRICK_CLAIMS or CARRICK_TRACE defined),
 * and write records of its instructions (with CARRICK_TRACE). CARRICK_REPORT, which each target has, writes a record.
 */
#ifndef CARRICK_CLAIM_H
#define CARRICK_CLAIM_H

#ifdef CARRICK_TRACE
#define CARRICK_TRACED 1
#else
#define CARRICK_TRACED 0
#endif

#define CARRICK_TELL(core, kind, number, ...)                                                                          \
    do {                                                                                                               \
        if (CARRICK_TRACED)                                                                                            \
            CARRICK_REPORT(core, kind, number, __VA_ARGS__);                                                           \
    } while (0)

#if defined(CARRICK_TRACE) && !defined(CARRICK_CLAIMS)
#define CARRICK_CLAIMS
#endif

#ifdef CARRICK_CLAIMS
#define CARRICK_CLAIM(holds, failed)                                                                                   \
    do {                                                                                                               \
        if (!(holds))                                                                                                  \
            failed;                                                                                                    \
    } while (0)
#else
#define CARRICK_CLAIM(holds, failed) ((void)(holds))
#endif

#endif
