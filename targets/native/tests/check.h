/* SPDX-License-Identifier: MIT */
/* The least that a test needs. */
#ifndef CARRICK_TESTS_CHECK_H
#define CARRICK_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* Ends the test with the place and the words that do not hold. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Says aloud what could not be tested. */
#define SKIP(why) fprintf(stderr, "%s: skipped: %s\n", __FILE__, why)

#endif
