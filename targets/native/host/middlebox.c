/* SPDX-License-Identifier: MIT */
/*
 * A frame is written where the port to which it probably goes will send it from: of a forwarded packet, the port to
 * which its destination leads. Only a packet that goes by another one is copied.
 */
#include <stdlib.h>
#include <string.h>

#include "carrick/ip.h"
#include "carrick/records.h"
#include "host/middlebox.h"
#include "host/records.h"

#define ETHER_VLAN 0x8100u

/* What a port has reserved. */
struct outlet {
    struct carrick_frame frames[CARRICK_PORT_BATCH];
    uint32_t used, room;
};

struct carrick_middlebox {
    struct outlet outlets[CARRICK_INTERFACES];
    uint8_t *spare; /* a frame, for packets whose port is full or is not known */
};

static bool ports_fit(const struct carrick_host_config *config, struct carrick_port_error *error) {
    if (config->port_count < 2) {
        snprintf(error->text, sizeof error->text,
                 "The program is one in the network: give --port for each of its interfaces, two or more times.");
        return false;
    }
    for (uint32_t i = 1; i < config->port_count; i++) {
        if (config->ports[i]->ethernet == config->ports[0]->ethernet)
            continue;
        snprintf(error->text, sizeof error->text,
                 "Ports with Ethernet (packet, xdp) and without it (tun, udp, unix) cannot be bridged: take ports of "
                 "one kind.");
        return false;
    }
    return true;
}

bool middlebox_open(struct carrick_host *host, const struct carrick_host_config *config,
                    struct carrick_port_error *error) {
    if (!ports_fit(config, error))
        return false;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < config->port_count; i++)
        largest =
            largest < carrick_port_frame_max(config->ports[i]) ? carrick_port_frame_max(config->ports[i]) : largest;
    host->middlebox = calloc(1, sizeof *host->middlebox);
    bool open = host->middlebox && carrick_bridge_open(&host->bridge, config->ports, config->port_count,
                                                       host->net.config.six, config->core.seed);
    if (open)
        open = (host->middlebox->spare = calloc(1, largest)) != NULL;
    if (!open)
        snprintf(error->text, sizeof error->text, "There is not enough memory for the tables of a bridge.");
    return open;
}

void middlebox_close(struct carrick_host *host) {
    if (!host->middlebox)
        return;
    carrick_bridge_close(&host->bridge);
    free(host->middlebox->spare);
    free(host->middlebox);
    host->middlebox = NULL;
}

static void outlet_commit(struct carrick_host *host, uint32_t port) {
    struct outlet *outlet = &host->middlebox->outlets[port];
    if (outlet->used > 0)
        carrick_port_commit(host->ports[port], host->now, outlet->frames, outlet->used);
    outlet->used = outlet->room = 0;
}

/* Where the next frame of a port is to be written; NULL: the port is full. */
static uint8_t *outlet_next(struct carrick_host *host, uint32_t port) {
    struct outlet *outlet = &host->middlebox->outlets[port];
    if (outlet->used == outlet->room) {
        outlet_commit(host, port);
        outlet->room = carrick_port_reserve(host->ports[port], host->now, outlet->frames, CARRICK_PORT_BATCH);
    }
    return outlet->used < outlet->room ? outlet->frames[outlet->used].data : NULL;
}

/* Whether a port takes a frame of this length: a VLAN tag is beside its MTU. */
static bool port_takes(const struct carrick_port *port, const uint8_t *frame, uint32_t len) {
    uint32_t most = carrick_port_frame_max(port);
    if (port->ethernet && len > most)
        most += carrick_load16(frame + 12) == ETHER_VLAN ? CARRICK_VLAN_TAG : 0;
    return len <= most;
}

/* Sends a frame, which may have been written where the port's next one is. */
static void outlet_put(struct carrick_host *host, uint32_t port, const uint8_t *frame, uint32_t len) {
    struct outlet *outlet = &host->middlebox->outlets[port];
    uint8_t *place = outlet_next(host, port);
    if (!port_takes(host->ports[port], frame, len)) {
        host->bridge.counters[CARRICK_BRIDGE_TOO_LONG]++;
    } else if (!place) {
        host->bridge.counters[CARRICK_BRIDGE_FULL]++;
    } else {
        if (place != frame)
            memcpy(place, frame, len);
        outlet->frames[outlet->used++].len = len;
    }
}

/* Sends a frame to where the bridge says. */
static void send_to(struct carrick_host *host, uint32_t to, const uint8_t *frame, uint32_t len) {
    if (to < host->port_count)
        outlet_put(host, to, frame, len);
    /* What was written for one of the ports is copied to the others before that one takes it. */
    for (uint32_t pass = 0; to == CARRICK_BRIDGE_OTHERS && pass < 2; pass++)
        for (uint32_t port = 0; port < host->port_count; port++)
            if (port != host->bridge.arrived_by && (outlet_next(host, port) == frame) == (pass == 1))
                outlet_put(host, port, frame, len);
}

/* Where the core writes its next packet. */
static uint8_t *place_for_next(struct carrick_host *host) {
    uint32_t toward = host->bridge.toward;
    uint8_t *place = host->bridge.frame && toward < host->port_count ? outlet_next(host, toward) : NULL;
    return place ? place : host->middlebox->spare;
}

uint32_t middlebox_drain(struct carrick_host *host) {
    const struct carrick_program *program = host->program;
    uint32_t headroom = host->bridge.headroom, mtu = host->net.config.mtu, total = 0;
    for (;; total++) {
        uint8_t *frame = place_for_next(host);
        uint32_t len = program->tx(host->core, frame + headroom, mtu, host->now);
        if (len == 0)
            return total;
        if (host->records)
            carrick_record_packet(host, CARRICK_RECORD_SENT, frame + headroom, len);
        uint32_t to = carrick_bridge_frame(&host->bridge, host->now, program->tx_interface(host->core), frame);
        send_to(host, to, frame, headroom + len);
    }
}

/* Gives the core a packet, and sends what it makes of it. */
static void feed(struct carrick_host *host, uint32_t interface, const uint8_t *packet, uint32_t len) {
    if (host->records)
        carrick_record_packet(host, CARRICK_RECORD_ARRIVED, packet, len);
    bool stuck = false;
    while (host->program->rx_on(host->core, interface, packet, len, host->now) == CARRICK_AGAIN) {
        bool moved = middlebox_drain(host) != 0; /* events that waited are handled there too */
        if (!moved && stuck) {
            host->bridge.counters[CARRICK_BRIDGE_REFUSED]++;
            break;
        }
        stuck = !moved;
    }
    (void)middlebox_drain(host);
}

bool middlebox_receive(struct carrick_host *host) {
    struct carrick_frame frames[CARRICK_PORT_BATCH];
    bool worked = false;
    for (uint32_t port = 0; port < host->port_count; port++) {
        uint32_t count = carrick_port_receive(host->ports[port], host->now, frames, CARRICK_PORT_BATCH);
        worked |= count != 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t to = carrick_bridge_receive(&host->bridge, host->now, port, &frames[i]);
            if (to == CARRICK_BRIDGE_CORE)
                feed(host, port, frames[i].data + host->bridge.headroom, frames[i].len - host->bridge.headroom);
            else
                send_to(host, to, frames[i].data, frames[i].len);
        }
        carrick_bridge_forget(&host->bridge);
    }
    return worked;
}

void middlebox_push(struct carrick_host *host) {
    struct carrick_frame none[1];
    for (uint32_t port = 0; port < host->port_count; port++) {
        outlet_commit(host, port);
        (void)carrick_port_reserve(host->ports[port], host->now, none, 1); /* it pushes on what waits */
    }
}
