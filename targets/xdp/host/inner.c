/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inner.h"
#include "kernel.h"
#include "netlink.h"

/* The device by which this process sends. */
#define INSIDE "carrick0"
/* The kernel's own stack has nothing to say on these devices. Where it has no IPv6, it says nothing. */
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

static void name_gate(char name[IF_NAMESIZE]) {
    snprintf(name, IF_NAMESIZE, "carrick-%u", (unsigned)getpid() % 10000000u);
}

/* Makes the pair: one end in this network namespace, the other, the gate, in another one. */
static bool make_pair(int outside, uint32_t mtu) {
    struct netlink_message message;
    char gate[IF_NAMESIZE];
    const struct ifinfomsg body = {.ifi_family = AF_UNSPEC};
    name_gate(gate);
    netlink_begin(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, &body, sizeof body);
    netlink_put(&message, IFLA_IFNAME, INSIDE, sizeof INSIDE);
    netlink_put(&message, IFLA_MTU, &mtu, sizeof mtu);
    size_t info = netlink_put(&message, IFLA_LINKINFO, NULL, 0);
    netlink_put(&message, IFLA_INFO_KIND, "veth", 4);
    size_t data = netlink_put(&message, IFLA_INFO_DATA, NULL, 0);
    size_t peer = netlink_put(&message, VETH_INFO_PEER, &body, sizeof body);
    netlink_put(&message, IFLA_IFNAME, gate, strlen(gate) + 1);
    netlink_put(&message, IFLA_MTU, &mtu, sizeof mtu);
    netlink_put(&message, IFLA_NET_NS_FD, &outside, sizeof outside);
    netlink_end(&message, peer);
    netlink_end(&message, data);
    netlink_end(&message, info);
    return netlink_ask(NETLINK_ROUTE, &message);
}

static bool set_up(uint32_t device) {
    struct netlink_message message;
    const struct ifinfomsg body = {
        .ifi_family = AF_UNSPEC, .ifi_index = (int)device, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    netlink_begin(&message, RTM_NEWLINK, NLM_F_ACK, &body, sizeof body);
    return netlink_ask(NETLINK_ROUTE, &message);
}

/* In the namespace of its own: the pair, and the socket. */
static const char *open_inside(struct inner *inner, int outside, uint32_t frame_octets) {
    silence("default");
    if (!make_pair(outside, frame_octets))
        return "a pair of devices of its own";
    uint32_t inside = if_nametoindex(INSIDE);
    if (inside == 0 || !set_up(inside))
        return "the device of its own";
    return frames_open(&inner->frames, inside, frame_octets) ? NULL : "a socket of AF_XDP";
}

/* In the program's namespace: the device that runs `egress`. */
static const char *open_outside(struct inner *inner, int egress) {
    char gate[IF_NAMESIZE];
    name_gate(gate);
    inner->gate = if_nametoindex(gate);
    if (inner->gate == 0)
        return "the device that runs egress";
    silence(gate);
    inner->link = kernel_bpf_attach(egress, inner->gate);
    if (inner->link < 0)
        return "egress on a device of its own";
    return set_up(inner->gate) ? NULL : "the device that runs egress";
}

const char *inner_open(struct inner *inner, int egress, uint32_t frame_octets) {
    const char *lacking = NULL;
    int outside = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (outside < 0 || unshare(CLONE_NEWNET) != 0)
        lacking = "a network namespace of its own; run as root, or with CAP_SYS_ADMIN and CAP_NET_ADMIN";
    else
        lacking = open_inside(inner, outside, frame_octets);
    int why = errno;
    if (outside >= 0 && setns(outside, CLONE_NEWNET) != 0 && !lacking) {
        why = errno;
        lacking = "the network namespace of its program";
    }
    if (outside >= 0)
        close(outside);
    errno = why;
    return lacking ? lacking : open_outside(inner, egress);
}

/* The pair would go with the process, but some time after it. */
void inner_close(struct inner *inner) {
    struct netlink_message message;
    const struct ifinfomsg body = {.ifi_family = AF_UNSPEC, .ifi_index = (int)inner->gate};
    frames_close(&inner->frames);
    if (inner->link >= 0)
        close(inner->link);
    if (inner->gate == 0)
        return;
    netlink_begin(&message, RTM_DELLINK, NLM_F_ACK, &body, sizeof body);
    (void)netlink_ask(NETLINK_ROUTE, &message);
}
