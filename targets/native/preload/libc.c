/* SPDX-License-Identifier: MIT */
/* What is behind the library's functions. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "preload/preload.h"

#define FIND(type, name, parameters, arguments) *(void **)&preload_libc.name = dlsym(RTLD_NEXT, #name);
#define FIRST(type, name, parameters, arguments)                                                                       \
    static type first_##name parameters {                                                                              \
        find_all();                                                                                                    \
        return preload_libc.name arguments;                                                                            \
    }
#define BEGIN(type, name, parameters, arguments) .name = first_##name,

static void find_all(void);

PRELOAD_LIBC(FIRST)
struct preload_libc preload_libc = {PRELOAD_LIBC(BEGIN)};

__attribute__((constructor(101))) static void find_all(void) {
    PRELOAD_LIBC(FIND)
}
