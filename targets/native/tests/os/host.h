/* SPDX-License-Identifier: MIT */
/* A host as a process of the simulated system: a stack with the relay of sockets. */
#ifndef CARRICK_TESTS_OS_HOST_H
#define CARRICK_TESTS_OS_HOST_H

#include "apps/sockets.h"
#include "carrick/app.h"
#include "tests/os/os.h"

struct host {
    struct os_process *process;
    uint32_t node;
    const char *rules; /* behind the door's path */
    const char *const *settings;
    bool faulty;
    struct carrick_fault_config fault;
    struct os_file *stop;
    /* While it runs: */
    struct carrick_stack *stack;
    struct relay *relay;
    uint32_t files, contexts; /* as they were before any application came */
    uint32_t memory;          /* blocks that were left behind when it ended */
    bool ended;
};

/* Before the hosts of a run. */
void hosts_begin(void);
void host_main(void *argument);
/* Whether all is given back; `text` says what is not. */
bool host_is_empty(const struct host *host, char *text, size_t size);

#endif
