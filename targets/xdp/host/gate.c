/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gate.h"
#include "kernel.h"
#include "netlink.h"
#include "ports/bpf.h"

/* The kernel's own stack has nothing to say on this device. Where it has no IPv6, it says nothing. */
#define SILENCE "/proc/sys/net/ipv6/conf/%s/disable_ipv6"

static void silence(const char *device) {
    char path[sizeof SILENCE + IF_NAMESIZE];
    snprintf(path, sizeof path, SILENCE, device);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, "1", 1);
    close(fd);
}

static bool set_up(uint32_t device) {
    struct netlink_message message;
    const struct ifinfomsg body = {
        .ifi_family = AF_UNSPEC, .ifi_index = (int)device, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    netlink_begin(&message, RTM_NEWLINK, NLM_F_ACK, &body, sizeof body);
    return netlink_ask(NETLINK_ROUTE, &message);
}

/* Frames begin as no packet does, so that `egress` takes nothing else. */
static bool frame_open(struct gate *gate, uint32_t octets) {
    gate->octets = octets;
    gate->most = (octets - CARRICK_ETHER_HEADER) / (uint32_t)sizeof(struct carrick_asked);
    if (gate->most > CARRICK_ASKED_AT_ONCE)
        gate->most = CARRICK_ASKED_AT_ONCE;
    gate->frame = calloc(1, octets);
    if (!gate->frame || gate->most == 0)
        return false;
    gate->frame[12] = CARRICK_REQUEST_TYPE >> 8;
    gate->frame[13] = CARRICK_REQUEST_TYPE & 255;
    return true;
}

const char *gate_open(struct gate *gate, int egress, uint32_t octets) {
    struct ifreq device = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL)};
    if (!frame_open(gate, octets))
        return "there is no memory for a request, or no room for one in a packet of its device";
    snprintf(device.ifr_name, IF_NAMESIZE, "carrick-%u", (unsigned)getpid() % 10000000u);
    /* One that does not block takes frames without a socket buffer. */
    gate->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (gate->fd < 0 || ioctl(gate->fd, TUNSETIFF, &device) != 0)
        return "a TAP device of its own; run as root, or with CAP_NET_ADMIN, where there is /dev/net/tun";
    silence(device.ifr_name);
    uint32_t index = if_nametoindex(device.ifr_name);
    gate->link = carrick_bpf_attach(egress, index, BPF_XDP, XDP_FLAGS_DRV_MODE);
    if (gate->link < 0)
        return "egress on a device of its own";
    return set_up(index) ? NULL : "the device that runs egress";
}

/* The device goes with its descriptor. */
void gate_close(struct gate *gate) {
    if (gate->link >= 0)
        close(gate->link);
    if (gate->fd >= 0)
        close(gate->fd);
    free(gate->frame);
}

bool gate_room(struct gate *gate) {
    return gate->count < gate->most || gate_push(gate);
}

void gate_put(struct gate *gate, const struct carrick_asked *asked) {
    uint8_t *place = gate->frame + CARRICK_ETHER_HEADER + gate->count * sizeof *asked;
    memcpy(place, asked, sizeof *asked);
    if (gate->count++ > 0)
        place[(ptrdiff_t)offsetof(struct carrick_asked, more) - (ptrdiff_t)sizeof *asked] = 1;
}

bool gate_push(struct gate *gate) {
    /* Of the full size: a packet has room in it, and such a frame cannot be made longer. */
    if (gate->count > 0 && write(gate->fd, gate->frame, gate->octets) == (ssize_t)gate->octets)
        gate->count = 0;
    return gate->count == 0;
}
