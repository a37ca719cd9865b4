/* SPDX-License-Identifier: MIT */
/* What a stack counted, for people. */
#include <inttypes.h>
#include <string.h>

#include "host/stack.h"

static void print_of(FILE *out, const char *which, const char *name, uint64_t value) {
    char whole[64];
    snprintf(whole, sizeof whole, "%s%s", which, name);
    if (value)
        fprintf(out, "%-20s %" PRIu64 "\n", whole, value);
}

static void print_one(FILE *out, const char *name, uint64_t value) {
    print_of(out, "", name, value);
}

static void print_faults(FILE *out, const struct carrick_port *port, const char *which) {
    const struct carrick_fault_counts faults = carrick_fault_counts(port);
    print_of(out, which, "fault_lost", faults.lost);
    print_of(out, which, "fault_reordered", faults.reordered);
    print_of(out, which, "fault_duplicated", faults.duplicated);
    print_of(out, which, "fault_corrupted", faults.corrupted);
    print_of(out, which, "fault_marked", faults.marked);
    print_of(out, which, "fault_overflowed", faults.overflowed);
}

/* What a port counted, with all that it wraps; `which`: before each name. */
static void print_port(FILE *out, struct carrick_port *port, const char *which) {
    for (; port->inner; port = port->inner)
        if (strcmp(port->kind, "fault") == 0)
            print_faults(out, port, which);
    if (port->ops->recount)
        port->ops->recount(port);
    print_of(out, which, "port_received", port->rx);
    print_of(out, which, "port_sent", port->tx);
    print_of(out, which, "port_rx_refused", port->rx_refused);
    print_of(out, which, "port_tx_refused", port->tx_refused);
    print_of(out, which, "port_rx_lost", port->rx_lost);
}

void carrick_stack_print_counters(const struct carrick_stack *stack, FILE *out) {
    const struct carrick_host *host = &stack->host;
    const uint64_t *counters = host->program->counters(host->core);
    for (uint32_t i = 0; i < host->program->counter_count; i++)
        print_one(out, host->program->counter_names[i], counters[i]);
    for (int i = 0; i < CARRICK_NET_COUNTERS; i++)
        print_one(out, carrick_net_counter_names[i], host->net.counters[i]);
    for (int i = 0; i < CARRICK_BRIDGE_COUNTERS; i++)
        print_one(out, carrick_bridge_counter_names[i], host->bridge.counters[i]);
    for (uint32_t i = 0; i < host->port_count; i++) {
        char which[32] = "";
        if (host->middlebox)
            snprintf(which, sizeof which, "interface%u_", i);
        print_port(out, host->ports[i], which);
    }
    print_one(out, "open_contexts", host->program->open_contexts(host->core));
}

enum { WARNED_FULL = 1, WARNED_LONG = 2, WARNED_CHECKSUM = 4 };

/* Whether this is to be told now: for the first time. */
static bool warns(struct carrick_stack *stack, uint32_t what, bool begun) {
    bool first = begun && !(stack->warned & what);
    stack->warned |= first ? what : 0;
    return first;
}

/* Packet sockets cut frames that hold several packets; AF_XDP is not told of them. */
static void warn_long(const struct carrick_port *port) {
    fprintf(stderr,
            "The port %s has refused a frame of %" PRIu32
            " bytes, and counts those as port_rx_refused: it takes %" PRIu32 ".",
            port->kind, port->refused_len, carrick_port_frame_max(port));
    if (strcmp(port->kind, "xdp") == 0)
        fprintf(stderr,
                " If %s puts them together, turn that off: `ethtool -K %s gro off lro off`. Otherwise the peer's MTU "
                "is larger than %" PRIu32 ": change it at the peer's end.\n",
                port->device_name, port->device_name, port->mtu);
    else
        fprintf(stderr, " The MTU is larger at the peer's end: change it there, to %" PRIu32 ".\n", port->mtu);
}

/* Packet sockets say which checksums are still to be made; AF_XDP does not. */
static void warn_checksum(const struct carrick_port *port) {
    fprintf(
        stderr,
        "The program has dropped a packet with a wrong checksum, and counts those as bad_checksum. Checksums that the "
        "device at the other end of %s leaves open are wrong here: turn that off there, with `ethtool -K PEERDEV tx "
        "off`.\n",
        port->device_name);
}

void carrick_stack_warn(struct carrick_stack *stack) {
    const struct carrick_host *host = &stack->host;
    if (warns(stack, WARNED_FULL, carrick_stack_counter(stack, "ctx_refused") != 0))
        fprintf(stderr,
                "The program has refused a connection, and counts those as ctx_refused: it has at most %" PRIu32
                ". --help lists the parameters that set how many.\n",
                stack->capacity);
    for (uint32_t i = 0; i < host->port_count; i++) {
        const struct carrick_port *port = host->ports[i];
        while (port->inner)
            port = port->inner;
        if (warns(stack, WARNED_LONG, port->refused_len != 0))
            warn_long(port);
        bool open = strcmp(port->kind, "xdp") == 0 && port->paired;
        if (warns(stack, WARNED_CHECKSUM, open && carrick_stack_counter(stack, "bad_checksum") != 0))
            warn_checksum(port);
    }
}

uint64_t carrick_stack_counter(const struct carrick_stack *stack, const char *name) {
    const struct carrick_program *program = stack->host.program;
    for (uint32_t i = 0; i < program->counter_count; i++)
        if (strcmp(program->counter_names[i], name) == 0)
            return program->counters(stack->host.core)[i];
    return 0;
}

bool carrick_stack_has(const struct carrick_stack *stack, const char *call) {
    const struct carrick_program *program = stack->host.program;
    for (uint32_t i = 0; i < program->call_count; i++)
        if (strcmp(program->calls[i].name, call) == 0)
            return true;
    return false;
}
