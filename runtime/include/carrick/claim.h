/* SPDX-License-Identifier: MIT */
/* What a program claims of itself: checked in builds with CARRICK_CLAIMS or CARRICK_TRACE defined. */
#ifndef CARRICK_CLAIM_H
#define CARRICK_CLAIM_H

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
