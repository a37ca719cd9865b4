/* SPDX-License-Identifier: MIT */
/* What ports ask the kernel of a network device, in the network namespace of this thread. */
#ifndef CARRICK_PORTS_DEVICE_H
#define CARRICK_PORTS_DEVICE_H

#include "carrick/port.h"

struct carrick_device {
    uint32_t index, mtu;
    bool paired;     /* one of a veth pair */
    uint32_t queues; /* of received frames, in use; 1 also where the device does not say */
    uint8_t mac[6];
};

/* False: errno says why. */
bool carrick_device_ask(const char *name, struct carrick_device *device);

/* Sets what a port has of its device. */
void carrick_device_under(struct carrick_port *port, const char *name, const struct carrick_device *device);

/* Lets a device receive frames for other hosts as long as this packet socket is open. False: errno says why. */
bool carrick_device_promiscuous(int socket, uint32_t index);

/* Lets a device receive questions of neighbour discovery for an address, as long as this packet socket is open; for an
 * IPv4 address there is nothing to do. False: errno says why. */
bool carrick_device_join(int socket, uint32_t index, struct carrick_ip6_address address);

/* Whether there is no such device, which is then said. */
bool carrick_device_missing(const char *name, int why, struct carrick_port_error *error);

#endif
