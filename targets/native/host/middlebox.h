/* SPDX-License-Identifier: MIT */
/* The host of a program in the network: its packets between several ports. */
#ifndef CARRICK_HOST_MIDDLEBOX_H
#define CARRICK_HOST_MIDDLEBOX_H

#include "carrick/host.h"

/* False: `error` says what is wrong. */
bool middlebox_open(struct carrick_host *host, const struct carrick_host_config *config,
                    struct carrick_port_error *error);
void middlebox_close(struct carrick_host *host);

/* Frames from all ports: their packets to the core, what it makes of them to the ports. False: there were none. */
bool middlebox_receive(struct carrick_host *host);

/* Packets from the core to the ports. Returns how many. */
uint32_t middlebox_drain(struct carrick_host *host);

/* Lets go what was put in the ports since the last time, and what waits there. */
void middlebox_push(struct carrick_host *host);

#endif
