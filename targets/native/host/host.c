/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "carrick/records.h"
#include "carrick/ipv6.h"
#include "carrick/reserve.h"
#include "host/middlebox.h"
#include "host/records.h"

void carrick_host_tick(struct carrick_host *host) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t clock = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    /* A process that was restored on another machine may find a clock that is behind: what it waits for would come late
     * by as much. */
    if ((int64_t)(clock - host->base - host->now) < 0)
        host->base = clock - host->now;
    host->now = clock - host->base;
}

/* What the core tells: in builds with CARRICK_CLAIMS which claims do not hold, in those with CARRICK_TRACE everything.
 */
static void host_told(void *user, uint32_t kind, uint32_t number, const uint64_t *words, uint32_t count) {
    struct carrick_host *host = user;
    const struct carrick_program *program = host->program;
    if (host->records)
        carrick_record_told(host, kind, number, words, count);
    if (kind != CARRICK_TRACE_CLAIM || number >= program->claim_count || count == 0)
        return;
    const struct carrick_claim_info *claim = &program->claims[number];
    fprintf(stderr, "%s:%u: `%s` does not hold (context %llx)\n", claim->file, claim->line, claim->text,
            (unsigned long long)words[0]);
}

static bool host_start_core(struct carrick_host *host, const struct carrick_config *config,
                            struct carrick_port_error *error) {
    size_t octets = host->program->footprint(config);
    if (octets == 0) {
        snprintf(error->text, sizeof error->text, "The program refuses its parameters: see --help for their ranges.");
        return false;
    }
    void *memory = carrick_reserve(octets, 1);
    if (!memory) {
        snprintf(error->text, sizeof error->text,
                 "There is not enough memory for the program's %zu MiB: lower the parameters that set its capacity.",
                 octets >> 20);
        return false;
    }
    host->memory = memory;
    host->memory_octets = octets;
    host->core = host->program->init(memory, config);
    if (!host->core)
        snprintf(error->text, sizeof error->text, "The program refuses its parameters: see --help for their ranges.");
    return host->core != NULL;
}

/* Packets that each of the ports takes. */
static uint32_t host_mtu(const struct carrick_host_config *given) {
    bool whole = given->program->network == CARRICK_NETWORK_LINK;
    uint32_t least = 65535;
    for (uint32_t i = 0; i < given->port_count; i++) {
        uint32_t mtu = whole ? carrick_port_frame_max(given->ports[i]) : given->ports[i]->mtu;
        least = mtu < least ? mtu : least;
    }
    return least;
}

/* What is between the ports and the core. */
static bool host_open_network(struct carrick_host *host, const struct carrick_host_config *given, uint32_t mtu,
                              struct carrick_port_error *error) {
    const struct carrick_program *program = given->program;
    struct carrick_net_config net = {.address = given->core.address,
                                     .prefix = given->prefix,
                                     .gateway = (uint32_t)given->gateway.low,
                                     .address6 = given->core.address6,
                                     .gateway6 = given->gateway,
                                     .mtu = mtu,
                                     .whole = program->network == CARRICK_NETWORK_LINK,
                                     .six = program->network == CARRICK_NETWORK_IPV6,
                                     .reports = program->reports,
                                     .protocol = program->protocol,
                                     .ethernet = given->ports[0]->ethernet && !carrick_program_between(program)};
    memcpy(net.mac, given->ports[0]->mac, 6);
    host->net.config = net;
    if (net.six && mtu < CARRICK_IP6_LEAST_MTU) {
        snprintf(error->text, sizeof error->text,
                 "The port carries packets of %u bytes, and IPv6 needs %u: set its MTU with `ip link set`.", mtu,
                 CARRICK_IP6_LEAST_MTU);
        return false;
    }
    if (carrick_program_between(program))
        return middlebox_open(host, given, error);
    if (given->port_count != 1) {
        snprintf(error->text, sizeof error->text,
                 "The program is one of an endpoint, which has one port: give --port once.");
        return false;
    }
    if (carrick_net_open(&host->net, &net))
        return true;
    snprintf(error->text, sizeof error->text, "There is not enough memory for the network layer.");
    return false;
}

bool carrick_host_open(struct carrick_host *host, const struct carrick_host_config *given,
                       struct carrick_port_error *error) {
    const struct carrick_program *program = given->program;
    struct carrick_config config = given->core;
    config.mtu = host_mtu(given);
    config.trace = host_told;
    config.trace_user = host;
    *host = (struct carrick_host){
        .program = program, .records = given->records, .number = given->number, .burst = CARRICK_PORT_BATCH};
    carrick_host_tick(host);
    host->base = host->now;
    host->now = 0;
    config.base = host->base;
    config.elsewhere = given->ports[0];
    if (program->abi != CARRICK_ABI) {
        snprintf(error->text, sizeof error->text, "The program was compiled for another host: compile it again.");
        return false;
    }
    if (!host_open_network(host, given, config.mtu, error) || !host_start_core(host, &config, error)) {
        carrick_host_close(host);
        return false;
    }
    for (; host->port_count < given->port_count; host->port_count++)
        host->ports[host->port_count] = given->ports[host->port_count];
    if (host->records)
        carrick_record_opened(host, &config);
    return true;
}

void carrick_host_close(struct carrick_host *host) {
    carrick_unreserve(host->memory, host->memory_octets, 1);
    carrick_net_close(&host->net);
    middlebox_close(host);
    for (uint32_t i = 0; i < host->port_count; i++)
        carrick_port_close(host->ports[i]);
}

/* Frames that a drain reserves, however few the last ones were. */
#define BURST_LEAST 4u

/* Packets from the core of an endpoint to its port. */
static uint32_t host_send(struct carrick_host *host) {
    struct carrick_port *port = host->ports[0];
    uint32_t headroom = carrick_net_headroom(&host->net), total = 0;
    uint32_t joins = host->records ? 0 : port->joins, most = joins ? joins : host->net.config.mtu;
    for (;;) {
        struct carrick_frame frames[CARRICK_PORT_BATCH];
        uint8_t *buffers[CARRICK_PORT_BATCH];
        uint32_t lens[CARRICK_PORT_BATCH];
        uint16_t segments[CARRICK_PORT_BATCH] = {0};
        uint32_t room = carrick_port_reserve(port, host->now, frames, host->burst);
        host->port_full = room == 0;
        if (room == 0)
            return total;
        uint32_t owed = carrick_net_owed(&host->net, host->now, frames, room);
        for (uint32_t i = owed; i < room; i++)
            buffers[i - owed] = frames[i].data + headroom;
        /* Whoever looks on is told of each packet behind what the core tells of it. */
        uint32_t wanted = host->records && room > owed ? 1 : room - owed;
        uint32_t made =
            host->program->tx_burst(host->core, buffers, most, lens, joins ? segments : NULL, wanted, host->now);
        if (host->records && made > 0)
            carrick_record_packet(host, CARRICK_RECORD_SENT, buffers[0], lens[0]);
        for (uint32_t i = 0; i < made; i++) {
            frames[owed + i].len = lens[i];
            frames[owed + i].segment = segments[i];
            carrick_net_frame(&host->net, host->now, &frames[owed + i]);
        }
        if (owed + made > 0)
            carrick_port_commit(port, host->now, frames, owed + made);
        total += made;
        if (made < wanted && carrick_net_deadline(&host->net) > host->now &&
            host->net.replies_head == host->net.replies_tail) {
            if (total < host->burst / 2 && host->burst > BURST_LEAST)
                host->burst /= 2;
            return total;
        }
        host->burst = CARRICK_PORT_BATCH;
    }
}

uint32_t carrick_host_drain(struct carrick_host *host) {
    if (!host->middlebox)
        return host_send(host);
    uint32_t total = middlebox_drain(host);
    middlebox_push(host);
    return total;
}

static bool host_receive(struct carrick_host *host) {
    if (host->pending_first != host->pending_end)
        return true;
    struct carrick_frame frames[CARRICK_PORT_BATCH];
    uint32_t count = carrick_port_receive(host->ports[0], host->now, frames, CARRICK_PORT_BATCH);
    host->pending_first = 0;
    host->pending_end = carrick_net_receive(&host->net, host->now, frames, count, host->pending, host->pending_lens);
    host->pending_told = 0;
    return count != 0;
}

/* False: the core is full, and so is the port. */
static bool host_feed(struct carrick_host *host) {
    while (host->pending_first != host->pending_end) {
        uint32_t at = host->pending_first;
        if (host->records && host->pending_told == at) {
            carrick_record_packet(host, CARRICK_RECORD_ARRIVED, host->pending[at], host->pending_lens[at]);
            host->pending_told++;
        }
        uint32_t given = host->records ? 1 : host->pending_end - at;
        uint32_t taken =
            host->program->rx_burst(host->core, host->pending + at, host->pending_lens + at, given, host->now);
        host->pending_first += taken;
        if (host->pending_first != host->pending_end && carrick_host_drain(host) == 0 && taken == 0)
            return false;
    }
    return true;
}

bool carrick_host_input(struct carrick_host *host) {
    bool worked = host->middlebox ? middlebox_receive(host) : host_receive(host);
    bool open = host->middlebox || host_feed(host);
    host->timers_left = false;
    if (host->program->wake_by(host->core) <= host->now) {
        worked = true;
        while (open && host->program->advance(host->core, host->now) == CARRICK_AGAIN)
            open = carrick_host_drain(host) != 0;
        host->timers_left = !open;
    }
    return worked && open;
}

/* When there is something to do although the port is silent, of the network layer at `net`. */
static uint64_t host_deadline(const struct carrick_host *host, uint64_t net) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < host->port_count; i++) {
        uint64_t port = carrick_port_deadline(host->ports[i]);
        first = port < first ? port : first;
    }
    uint64_t core = host->program->wake_by(host->core);
    if (host->pending_first != host->pending_end || host->timers_left)
        core = UINT64_MAX; /* the core is full: the port's becoming writable is what to wait for */
    if (net < first)
        first = net;
    return core < first ? core : first;
}

uint64_t carrick_host_idle(const struct carrick_host *host) {
    uint64_t first = host_deadline(host, carrick_net_deadline(&host->net));
    if (first == UINT64_MAX)
        return UINT64_MAX;
    return first > host->now ? first - host->now : 0;
}

bool carrick_host_done(const struct carrick_host *host) {
    return host_deadline(host, carrick_net_waits(&host->net) ? host->now : UINT64_MAX) == UINT64_MAX;
}
