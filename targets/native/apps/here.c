/* SPDX-License-Identifier: MIT */
/* The core is in this process. */
#include "apps/here.h"

struct carrick_here carrick_here(void) {
    return (struct carrick_here){.program = *carrick_program_entry()};
}
