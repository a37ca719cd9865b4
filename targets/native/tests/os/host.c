/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/os/host.h"

#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"
#include "host/stack.h"
#include "tests/os/apps.h"
#include "tests/os/wire.h"

/* A core is given no time from before its process woke up. */
static const struct carrick_program *program;
static struct {
    const struct carrick_core *core;
    uint64_t base;
} cores[2];

static void check_time(const struct carrick_core *core, uint64_t now, const char *what) {
    for (int i = 0; i < 2; i++)
        if (cores[i].core == core && cores[i].base + now < os_woken_at(os_self()))
            os_broken("%s: the core is given a time of %llu us before its host woke up", what,
                      (unsigned long long)(os_woken_at(os_self()) - cores[i].base - now) / 1000);
}

void hosts_begin(void) {
    memset(cores, 0, sizeof cores);
}

static struct carrick_core *checked_init(void *memory, const struct carrick_config *config) {
    struct carrick_core *core = program->init(memory, config);
    uint32_t node = config->address == node_address(1);
    if (cores[!node].core == core) /* the other host has ended, and its memory is used again */
        cores[!node].core = NULL;
    cores[node].core = core;
    cores[node].base = config->base;
    return core;
}

static int checked_call(struct carrick_core *core, uint32_t call, const struct carrick_request *request, uint64_t now) {
    check_time(core, now, program->calls[call].name);
    os_say("core: %s of %llx, request %llx", program->calls[call].name, (unsigned long long)request->handle,
           (unsigned long long)request->token);
    return program->call(core, call, request, now);
}

static uint32_t checked_rx(struct carrick_core *core, const uint8_t *const *packets, const uint32_t *lens,
                           uint32_t count, uint64_t now) {
    check_time(core, now, "rx_burst");
    for (uint32_t i = 0; i < count; i++)
        wire_show("core: arrived", packets[i], lens[i], 0);
    return program->rx_burst(core, packets, lens, count, now);
}

static uint32_t checked_tx(struct carrick_core *core, uint8_t *const *buffers, uint32_t cap, uint32_t *lens,
                           uint16_t *segments, uint32_t count, uint64_t now) {
    check_time(core, now, "tx_burst");
    return program->tx_burst(core, buffers, cap, lens, segments, count, now);
}

static bool checked_completion(struct carrick_core *core, struct carrick_completion *done) {
    bool there = program->next_completion(core, done);
    if (there)
        os_say("core: request %llx ends: %s, %llx, %u open", (unsigned long long)done->token,
               carrick_status_text((enum carrick_status)done->status), (unsigned long long)done->value,
               program->open_contexts(core));
    return there;
}

static const struct carrick_program *checked(void) {
    static struct carrick_program copy;
    program = carrick_program_entry();
    copy = *program;
    copy.init = checked_init;
    copy.call = checked_call;
    copy.next_completion = checked_completion;
    copy.rx_burst = checked_rx;
    copy.tx_burst = checked_tx;
    return &copy;
}

static void stop_asked(void *user) {
    struct host *host = user;
    os_event_at(host->stop, OS_NEVER);
    carrick_stack_stop(host->stack, 0);
}

static bool host_open(struct host *host, struct carrick_port_error *error) {
    struct carrick_port *port = wire_open(host->node), *faulty = NULL;
    if (host->faulty)
        faulty = carrick_fault_wrap(port, &host->fault, error);
    if (host->faulty && !faulty) {
        carrick_port_close(port);
        return false;
    }
    struct carrick_stack_config config = {.program = checked(),
                                          .ports = {host->faulty ? faulty : port},
                                          .address = carrick_address_of_ipv4(node_address(host->node)),
                                          .prefix = 24,
                                          .settings = host->settings,
                                          .seed = os_random(UINT32_MAX)};
    host->stack = carrick_stack_open(&config, error);
    if (!host->stack)
        return false;
    char argument[128];
    snprintf(argument, sizeof argument, "%s%s", node_door(host->node), host->rules);
    host->relay = carrick_sockets_application.start(host->stack, argument, error);
    return host->relay != NULL;
}

void host_main(void *argument) {
    struct host *host = argument;
    struct carrick_port_error error = {""};
    int stop;
    host->stop = os_event_make(&stop);
    if (!host_open(host, &error) || !carrick_stack_watch(host->stack, stop, stop_asked, host)) {
        if (os_pressed(host->process) == 0)
            os_broken("the host does not start: %s", error.text);
    } else {
        host->files = os_open_files(host->process);
        host->contexts = host->stack->host.program->open_contexts(host->stack->host.core);
        struct carrick_stack *stacks[] = {host->stack};
        if (carrick_stack_run(stacks, 1) != 0)
            os_broken("the host ends by itself");
    }
    struct carrick_stack *stack = host->stack;
    host->stack = NULL;
    if (host->relay)
        carrick_sockets_application.finish(host->relay);
    host->relay = NULL;
    carrick_stack_close(stack);
    host->memory = os_open_memory(host->process);
    host->ended = true;
}

static uint32_t open_requests(const struct carrick_requests *all) {
    uint32_t open = 0;
    for (uint32_t n = 0; n < all->count; n++)
        open += all->slots[n].open;
    return open;
}

static uint32_t open_links(const struct relay *relay) {
    uint32_t open = 0;
    for (uint32_t n = 0; n < relay->used; n++)
        open += relay->links[n].used;
    return open;
}

bool host_is_empty(const struct host *host, char *text, size_t size) {
    const struct relay *relay = host->relay;
    uint32_t requests = open_requests(&host->stack->requests);
    uint32_t contexts = host->stack->host.program->open_contexts(host->stack->host.core) - host->contexts;
    uint32_t files = os_open_files(host->process) - host->files;
    uint32_t links = open_links(relay), left = relay->places - relay->left[RELAY_CONNECTIONS];
    snprintf(text, size, "%u requests, %u instances, %u descriptors, %u places, %u of users' shares", requests,
             contexts, files, links, left);
    return requests == 0 && contexts == 0 && files == 0 && links == 0 && left == 0 && relay->user_count == 0;
}
