/* SPDX-License-Identifier: MIT */
/*
 * Takes from the process what it no longer needs once its devices, memory and files are open: the user's identity if
 * another one is given, all capabilities, the ways to get new ones (PR_SET_NO_NEW_PRIVS), and all system calls but
 * those that a running stack makes (seccomp). A call that is not allowed fails with EPERM.
 */
#ifndef CARRICK_APPS_CONFINE_H
#define CARRICK_APPS_CONFINE_H

#include <sys/types.h>

#include "apps/apps.h"

/* What the process goes on to need. */
struct carrick_confinement {
    bool files;    /* opens, makes and renames files below a folder that is open */
    bool removes;  /* removes its own socket file when it ends */
    bool connects; /* connects its port again whenever the peer comes back */
    bool kernel;   /* the core is in the kernel: asks for routes and neighbours, and changes maps of BPF */
    bool has_user; /* becomes `user`, with the group of the same number */
    uint32_t user;
    pid_t parent;     /* as this process began */
    int death_signal; /* what it gets when that one ends, as it began; 0: nothing */
};

/* False: `error` says what the system refused. */
bool carrick_confine(const struct carrick_confinement *needs, struct carrick_port_error *error);

#endif
