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

#include "tap.h"
#include "kernel.h"
#include "net/netlink.h"
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
static bool frame_open(struct tap *tap, uint32_t octets) {
    tap->octets = octets;
    tap->most = (octets - CARRICK_ETHER_HEADER) / (uint32_t)sizeof(struct carrick_host_request);
    if (tap->most > CARRICK_ASKED_AT_ONCE)
        tap->most = CARRICK_ASKED_AT_ONCE;
    tap->frame = calloc(1, octets);
    if (!tap->frame || tap->most == 0)
        return false;
    tap->frame[12] = CARRICK_REQUEST_TYPE >> 8;
    tap->frame[13] = CARRICK_REQUEST_TYPE & 255;
    return true;
}

const char *tap_open(struct tap *tap, int egress, uint32_t octets) {
    struct ifreq device = {.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL)};
    if (!frame_open(tap, octets))
        return "there is no memory for a request, or no room for one in a packet of its device";
    snprintf(device.ifr_name, IF_NAMESIZE, "carrick-%u", (unsigned)getpid() % 10000000u);
    /* One that does not block takes frames without a socket buffer. */
    tap->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tap->fd < 0 || ioctl(tap->fd, TUNSETIFF, &device) != 0)
        return "a TAP device of its own; run as root, or with CAP_NET_ADMIN, where there is /dev/net/tun";
    silence(device.ifr_name);
    uint32_t index = if_nametoindex(device.ifr_name);
    tap->link = carrick_bpf_attach(egress, index, BPF_XDP, XDP_FLAGS_DRV_MODE);
    if (tap->link < 0)
        return "egress on a device of its own";
    return set_up(index) ? NULL : "the device that runs egress";
}

/* The device goes with its descriptor. */
void tap_close(struct tap *tap) {
    if (tap->link >= 0)
        close(tap->link);
    if (tap->fd >= 0)
        close(tap->fd);
    free(tap->frame);
}

bool tap_room(struct tap *tap) {
    return tap->count < tap->most || tap_push(tap);
}

void tap_put(struct tap *tap, const struct carrick_host_request *host_request) {
    uint8_t *place = tap->frame + CARRICK_ETHER_HEADER + tap->count * sizeof *host_request;
    memcpy(place, host_request, sizeof *host_request);
    if (tap->count++ > 0)
        place[(ptrdiff_t)offsetof(struct carrick_host_request, more) - (ptrdiff_t)sizeof *host_request] = 1;
}

bool tap_push(struct tap *tap) {
    /* Of the full size: a packet has room in it, and such a frame cannot be made longer. */
    if (tap->count > 0 && write(tap->fd, tap->frame, tap->octets) == (ssize_t)tap->octets)
        tap->count = 0;
    return tap->count == 0;
}
