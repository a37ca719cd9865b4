/* SPDX-License-Identifier: MIT */
/*
 * A host: one core between a port and its caller. Moves packets both ways in batches, keeps the core's time, and holds
 * packets back where either side is full, so that nothing is lost inside.
 *
 * The host of a program in the network has several ports, and a bridge in place of the network layer of an endpoint.
 * It drops what a full port does not take, as a switch does: a port that is stuck does not stop the others.
 */
#ifndef CARRICK_HOST_H
#define CARRICK_HOST_H

#include "carrick/bridge.h"
#include "carrick/net.h"
#include "carrick/program.h"

struct carrick_host {
    const struct carrick_program *program;
    struct carrick_core *core;
    struct carrick_port *ports[CARRICK_INTERFACES];
    uint32_t port_count;          /* of an endpoint: 1 */
    struct carrick_net net;       /* of an endpoint; else only its configuration */
    struct carrick_bridge bridge; /* of a program in the network */
    struct carrick_middlebox *middlebox;
    uint64_t base; /* of the monotonic clock, when the host was opened */
    uint64_t now;
    FILE *records;   /* receives records (carrick/records.h); NULL: none */
    uint32_t number; /* of the host there */
    void *memory;    /* the core's */
    size_t memory_octets;
    /* Packets that were received and that the core has not taken yet: pending_first..pending_end */
    const uint8_t *pending[CARRICK_PORT_BATCH];
    uint32_t pending_lens[CARRICK_PORT_BATCH];
    uint32_t pending_first, pending_end;
    uint32_t pending_told; /* those before it are in the records */
    bool timers_left;      /* timers are due and the core is full */
    bool port_full;        /* the last drain ended because of that */
    uint32_t burst;        /* frames that the next drain reserves at first: who seldom sends many pays for few */
};

/* How a host begins. */
struct carrick_host_config {
    const struct carrick_program *program;
    struct carrick_port *const *ports; /* of a program in the network: those of its interfaces, in order */
    uint32_t port_count;
    struct carrick_config core; /* complete but for `mtu`, which is that of the ports (or less), and `trace` */
    uint32_t prefix;
    struct carrick_ip6_address gateway; /* as in struct carrick_stack_config */
    FILE *records;
    uint32_t number;
};

/* Takes the core's memory and starts it. False: out of memory, or the configuration is invalid. The ports stay the
 * caller's until this succeeds. */
bool carrick_host_open(struct carrick_host *host, const struct carrick_host_config *config,
                       struct carrick_port_error *error);

/* Gives back the memory and the ports. */
void carrick_host_close(struct carrick_host *host);

/* Reads the clock. */
void carrick_host_tick(struct carrick_host *host);

/* Packets from the ports into the core, then the timers that are due. False: there was nothing. */
bool carrick_host_input(struct carrick_host *host);

/* Packets from the core to the ports until there is none or the port of an endpoint is full. Returns how many left the
 * core. */
uint32_t carrick_host_drain(struct carrick_host *host);

/* Nanoseconds until there is something to do although the port is silent, UINT64_MAX: never. */
uint64_t carrick_host_idle(const struct carrick_host *host);

/* Whether a program is one in the network, between several ports. */
static inline bool carrick_program_between(const struct carrick_program *program) {
    return program->rx_on != NULL;
}

/* Whether no timer runs and no frame waits, so that nothing will be sent while the port is silent, but questions for
 * neighbours. */
bool carrick_host_done(const struct carrick_host *host);

#endif
