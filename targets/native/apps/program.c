/* SPDX-License-Identifier: MIT */
/* The program that this executable is linked with: CARRICK_PROGRAM is the name of its table, given by the Makefile. */
#include "carrick/program.h"

extern const struct carrick_program CARRICK_PROGRAM;

const struct carrick_program *carrick_program_entry(void) {
    return &CARRICK_PROGRAM;
}
