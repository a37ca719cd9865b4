/* SPDX-License-Identifier: MIT */
/*
 * Processes that give up system calls, as sshd does before it talks to a client. What their filter takes away is known
 * to them alone, so the library adds no call of its own from then on. (A process that was confined by others before it
 * began, as in a container, may still make such calls.)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/prctl.h>
#include <stdarg.h>

#include "preload/preload.h"

PRELOADED int prctl(int option, ...);
PRELOADED int seccomp_load(void *filter);

PRELOADED int prctl(int option, ...) {
    int (*next)(int option, unsigned long, unsigned long, unsigned long, unsigned long);
    unsigned long value[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        value[i] = va_arg(list, unsigned long);
    va_end(list);
    *(void **)&next = dlsym(RTLD_NEXT, "prctl");
    int done = next(option, value[0], value[1], value[2], value[3]);
    preload_confined |= done == 0 && option == PR_SET_SECCOMP;
    return done;
}

/* libseccomp's, which makes the system call itself. */
PRELOADED int seccomp_load(void *filter) {
    int (*next)(void *filter);
    *(void **)&next = dlsym(RTLD_NEXT, "seccomp_load");
    int done = next(filter);
    preload_confined |= done == 0;
    return done;
}
