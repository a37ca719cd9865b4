/* SPDX-License-Identifier: MIT */
/* The core is in this process: the program that is linked in, or the same from a library that CARRICK_CORE names, such
 * as a circuit that is simulated. An executable with capabilities of its own loads no library of its caller's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/program_table.h"

/* The program in a library; NULL: it has none that is the same. */
static const struct carrick_program *from_library(const char *path, const struct carrick_program *same) {
    char name[256];
    snprintf(name, sizeof name, "%s_program", same->name);
    void *library = dlopen(path, RTLD_NOW);
    const struct carrick_program *program = library ? dlsym(library, name) : NULL;
    if (!library)
        fprintf(stderr, "CARRICK_CORE: %s\n", dlerror());
    else if (!program || program->abi != same->abi || program->source_hash != same->source_hash)
        fprintf(stderr, "CARRICK_CORE: %s was not made from this program\n", path);
    else
        return program;
    return NULL;
}

struct carrick_program_table carrick_program_table(void) {
    const struct carrick_program *program = carrick_program_entry();
    const char *path = secure_getenv("CARRICK_CORE");
    if (path)
        program = from_library(path, program);
    if (!program)
        exit(2);
    return (struct carrick_program_table){.program = *program};
}
