/* SPDX-License-Identifier: MIT */
/* The network devices under the ports of stacks: a stack without its device ends, instead of being silent for good. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "host/stack.h"

/* What has become of the device of a port; NULL: nothing. `name` is what it is called now. */
static const char *device_fault(int fd, const struct carrick_port *port, char name[IFNAMSIZ]) {
    struct ifreq request = {.ifr_ifindex = (int)port->device};
    memcpy(name, port->device_name, IFNAMSIZ);
    if (ioctl(fd, SIOCGIFNAME, &request) != 0)
        return errno == ENODEV ? "was removed" : NULL;
    memcpy(name, request.ifr_name, IFNAMSIZ);
    if (ioctl(fd, SIOCGIFHWADDR, &request) != 0)
        return errno == ENODEV ? "was removed" : NULL;
    bool same = memcmp(request.ifr_hwaddr.sa_data, port->mac, sizeof port->mac) == 0;
    return same ? NULL : "has another hardware address";
}

static void devices_check(struct carrick_devices *devices) {
    for (uint32_t s = 0; s < devices->count; s++) {
        struct carrick_stack *stack = devices->stacks[s];
        for (uint32_t i = 0; i < stack->host.port_count; i++) {
            char name[IFNAMSIZ];
            const struct carrick_port *port = stack->host.ports[i];
            const char *fault = port->device ? device_fault(devices->fd, port, name) : NULL;
            if (!fault || devices->gone)
                continue;
            devices->gone = true;
            fprintf(stderr, "The network device %.15s %s: the stack ends, and has to be started again.\n", name, fault);
            carrick_stack_stop(devices->stacks[0], devices->code);
        }
    }
}

/* Some device has changed. Which one and how, the system is asked: messages can be lost. */
static void devices_changed(void *user) {
    char ignored[64];
    struct carrick_devices *devices = user;
    while (recv(devices->fd, ignored, sizeof ignored, MSG_DONTWAIT | MSG_TRUNC) >= 0 || errno == ENOBUFS)
        continue;
    devices_check(devices);
}

bool carrick_devices_watch(struct carrick_devices *devices, struct carrick_stack *const *stacks, uint32_t count,
                           int code, struct carrick_port_error *error) {
    const struct sockaddr_nl links = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
    bool any = false;
    *devices = (struct carrick_devices){.stacks = stacks, .count = count, .code = code, .fd = -1};
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t i = 0; i < stacks[s]->host.port_count; i++)
            any |= stacks[s]->host.ports[i]->device != 0;
    if (!any)
        return true;
    devices->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (devices->fd < 0 || bind(devices->fd, (const struct sockaddr *)&links, sizeof links) != 0 ||
        !carrick_stack_watch(stacks[0], devices->fd, devices_changed, devices)) {
        snprintf(error->text, sizeof error->text, "The system does not report changes of network devices: %s.",
                 strerror(errno));
        return false;
    }
    devices_check(devices); /* what has happened since the ports were opened */
    return true;
}
