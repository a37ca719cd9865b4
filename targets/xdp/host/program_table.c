/* SPDX-License-Identifier: MIT */
/* The core of this executable's program is in the kernel; the program itself says what can be asked of it. */
#include <string.h>

#include "apps/program_table.h"
#include "core.h"

static struct carrick_port *here_open(const char *spec, struct carrick_port_error *error) {
    bool six = carrick_program_entry()->network == CARRICK_NETWORK_IPV6;
    struct carrick_kernel *kernel = carrick_kernel_open(spec, six, error);
    if (!kernel)
        return NULL;
    if (kernel->places->source_hash == carrick_program_entry()->source_hash)
        return &kernel->port;
    snprintf(error->text, sizeof error->text,
             "The program in the kernel is another one: build both of the same source.");
    carrick_port_close(&kernel->port);
    return NULL;
}

/* What it counts beside what all programs do. Its packets pass elsewhere, and the host is that of an endpoint. */
static void here_counts_between(struct carrick_program *program) {
    static const char *const middlebox[] = {CARRICK_MIDDLEBOX_COUNTER_NAMES};
    static const char *names[CARRICK_COUNTERS + CARRICK_MIDDLEBOX_COUNTERS];
    memcpy(names, program->counter_names, CARRICK_COUNTERS * sizeof *names);
    memcpy(names + CARRICK_COUNTERS, middlebox, sizeof middlebox);
    program->counter_names = names;
    program->counter_count = CARRICK_COUNTERS + CARRICK_MIDDLEBOX_COUNTERS;
    program->rx_on = NULL;
    program->tx_interface = NULL;
}

struct carrick_program_table carrick_program_table(void) {
    struct carrick_program_table here = {.program = *carrick_program_entry(),
                                         .kind = "kernel",
                                         .usage = "kernel:FOLDER or kernel:MAP=FD,...",
                                         .open = here_open};
    struct carrick_program *program = &here.program;
    program->footprint = carrick_kernel_footprint;
    program->capacity = carrick_kernel_capacity;
    program->init = carrick_kernel_init;
    program->rx = carrick_kernel_rx;
    program->rx_burst = carrick_kernel_rx_burst;
    program->tx = carrick_kernel_tx;
    program->tx_burst = carrick_kernel_tx_burst;
    program->call = carrick_kernel_call;
    program->advance = carrick_kernel_advance;
    program->wake_by = carrick_kernel_wake_by;
    program->next_completion = carrick_kernel_next_completion;
    program->counters = carrick_kernel_counters;
    program->open_contexts = carrick_kernel_open_contexts;
    program->identify = carrick_kernel_identify;
    here.middlebox = program->rx_on != NULL;
    if (here.middlebox)
        here_counts_between(program);
    bool parts = program->interface_name && strstr(program->interface_name, "stream");
    program->request_most = parts ? CARRICK_STAGED_STREAM : CARRICK_STAGED_WHOLE;
    return here;
}
