/* SPDX-License-Identifier: MIT */
/* The program of an executable, and where its core is. One file that says it is linked in: for a core in this process,
 * apps/program_table.c. */
#ifndef CARRICK_APPS_PROGRAM_TABLE_H
#define CARRICK_APPS_PROGRAM_TABLE_H

#include "carrick/port.h"
#include "carrick/program.h"

struct carrick_program_table {
    struct carrick_program program;
    /* Of a core that is elsewhere, which has no packets for a port: the only port that fits, by which its host waits
     * for it. `spec` is what follows the name and a colon. NULL: the core is in this process, and any other port fits.
     */
    const char *kind;
    const char *usage; /* "kind:..." */
    bool middlebox;    /* the core is one in the network, and has its interfaces itself */
    struct carrick_port *(*open)(const char *spec, struct carrick_port_error *error);
};

struct carrick_program_table carrick_program_table(void);

#endif
