/* SPDX-License-Identifier: MIT */
/* The program of an executable, and where its core is. One file that says it is linked in: for a core in this process,
 * apps/here.c. */
#ifndef CARRICK_APPS_HERE_H
#define CARRICK_APPS_HERE_H

#include "carrick/port.h"
#include "carrick/program.h"

struct carrick_here {
    struct carrick_program program;
    /* Of a core that is elsewhere, which has no packets for a port: the only port that fits, by which its host waits
     * for it. `spec` is what follows the name and a colon. NULL: the core is in this process, and any other port fits.
     */
    const char *kind;
    const char *usage; /* "kind:..." */
    bool between;      /* the core is one in the network, and has its interfaces itself */
    struct carrick_port *(*open)(const char *spec, struct carrick_port_error *error);
};

struct carrick_here carrick_here(void);

#endif
