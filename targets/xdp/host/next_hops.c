/* SPDX-License-Identifier: MIT */
/*
 * By which next hop an address is reached (`carrick_next_hops`): what the kernel's routes and neighbours say, asked for
 * again each time that the program says that it is old. What is not known, or can only be sent by the kernel's own
 * stack, is not there: the program hands such packets up.
 */
#define _GNU_SOURCE
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "carrick/ip6.h"
#include "core.h"
#include "net/netlink.h"
#include "ports/bpf.h"

/* Documentation/netlink/specs/netdev.yaml in the kernel's source. */
#define NETDEV_FAMILY       "netdev"
#define NETDEV_DEV_GET      1
#define NETDEV_IFINDEX      1
#define NETDEV_XDP_FEATURES 3
#define NETDEV_XDP_XMIT     4u /* the device takes frames that programs send by it */

bool kernel_device_takes(uint32_t device) {
    struct netlink_message message;
    struct genlmsghdr body = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};
    netlink_begin(&message, GENL_ID_CTRL, 0, &body, sizeof body);
    netlink_put(&message, CTRL_ATTR_FAMILY_NAME, NETDEV_FAMILY, sizeof NETDEV_FAMILY);
    if (!netlink_ask(NETLINK_GENERIC, &message))
        return true;
    const void *found = netlink_find(&message.of.header, sizeof body, CTRL_ATTR_FAMILY_ID, 2);
    if (!found)
        return true;
    uint16_t family;
    uint64_t features;
    memcpy(&family, found, sizeof family);
    body = (struct genlmsghdr){.cmd = NETDEV_DEV_GET, .version = 1};
    netlink_begin(&message, family, 0, &body, sizeof body);
    netlink_put(&message, NETDEV_IFINDEX, &device, sizeof device);
    if (!netlink_ask(NETLINK_GENERIC, &message))
        return true;
    found = netlink_find(&message.of.header, sizeof body, NETDEV_XDP_FEATURES, sizeof features);
    if (!found)
        return true;
    memcpy(&features, found, sizeof features);
    return features & NETDEV_XDP_XMIT;
}

/* Whether frames that a program sends back (XDP_TX) are sure to arrive. A pair of devices drops them where nothing
 * takes frames in batches at the other end. Where that end has no program (but GRO), it even leaves them in their ring
 * until something else comes: veth_xdp_flush of drivers/net/veth.c in the kernel's source. */
void carrick_kernel_look_at_device(struct carrick_kernel *kernel) {
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request = {.ifr_data = (char *)&driver};
    bool known = if_indextoname(kernel->device, request.ifr_name) && ioctl(kernel->raw, SIOCETHTOOL, &request) == 0;
    bool pair = known && strcmp(driver.driver, "veth") == 0;
    __atomic_store_n(&kernel_shared(kernel)->one_way, pair, __ATOMIC_RELEASE);
}

static uint64_t kernel_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The same; a no is good for as long as a way is, since all packets come here then. */
static bool device_takes(struct carrick_kernel *kernel, uint64_t now) {
    if (now < kernel->refuses_until)
        return false;
    bool takes = kernel_device_takes(kernel->device);
    if (!takes)
        kernel->refuses_until = now + CARRICK_WAY_LASTS;
    return takes;
}

static uint8_t family(const struct carrick_hop *of) {
    return of->len == 16 ? AF_INET6 : AF_INET;
}

/* The address of the next hop to an address; false: there is no way by the device. */
static bool next_hop(uint32_t device, const struct carrick_hop *to, struct carrick_hop *hop) {
    struct netlink_message message;
    const struct rtmsg body = {.rtm_family = family(to), .rtm_dst_len = (uint8_t)(to->len * 8)};
    netlink_begin(&message, RTM_GETROUTE, 0, &body, sizeof body);
    netlink_put(&message, RTA_DST, to->octets, to->len);
    netlink_put(&message, RTA_OIF, &device, sizeof device);
    if (!netlink_ask(NETLINK_ROUTE, &message))
        return false;
    const void *gateway = netlink_find(&message.of.header, sizeof body, RTA_GATEWAY, to->len);
    *hop = *to;
    if (gateway)
        memcpy(hop->octets, gateway, to->len);
    return true;
}

/* The MAC address of a neighbour, if the kernel knows it. */
static bool neighbour(uint32_t device, const struct carrick_hop *hop, uint8_t address[6]) {
    struct netlink_message message;
    struct ndmsg body = {.ndm_family = family(hop), .ndm_ifindex = (int)device};
    netlink_begin(&message, RTM_GETNEIGH, 0, &body, sizeof body);
    netlink_put(&message, NDA_DST, hop->octets, hop->len);
    if (!netlink_ask(NETLINK_ROUTE, &message))
        return false;
    memcpy(&body, message.of.octets + NLMSG_HDRLEN, sizeof body);
    const void *found = netlink_find(&message.of.header, sizeof body, NDA_LLADDR, 6);
    if (!found || !(body.ndm_state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP)))
        return false;
    memcpy(address, found, 6);
    return true;
}

/* The device's own MAC address. */
static bool own(const struct carrick_kernel *kernel, uint8_t address[6]) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    if (!if_indextoname(kernel->device, request.ifr_name) || ioctl(kernel->raw, SIOCGIFHWADDR, &request) != 0)
        return false;
    memcpy(address, request.ifr_hwaddr.sa_data, 6);
    return true;
}

/* Sets the path to an address, or removes it. Its key are the numbers that the program has of the address: of none,
 * zeros. */
static void set_way(const struct carrick_kernel *kernel, const struct carrick_hop *to, bool known,
                    const struct carrick_next_hop *way) {
    const struct carrick_ip6_address six = carrick_ip6_load(to->octets);
    const uint32_t four = carrick_load32(to->octets);
    const void *key = kernel->six ? (const void *)&six : (const void *)&four;
    if (known)
        (void)carrick_bpf_update(kernel->next_hops, key, way);
    else
        (void)kernel_bpf_delete(kernel->next_hops, key);
}

struct carrick_hop core_reported_hop(const struct carrick_core *core, const uint64_t *words) {
    struct carrick_hop hop = {.len = 0};
    if (core->kernel->six)
        carrick_ip6_store(hop.octets, (struct carrick_ip6_address){words[0], words[1]});
    else
        carrick_store32(hop.octets, (uint32_t)words[0]);
    static const uint8_t none[sizeof hop.octets];
    if (memcmp(hop.octets, none, sizeof none) != 0)
        hop.len = core->kernel->six ? 16 : 4;
    return hop;
}

void core_find_way(const struct carrick_core *core, const struct carrick_hop *to) {
    struct carrick_kernel *kernel = core->kernel;
    uint64_t now = kernel_now();
    struct carrick_next_hop way = {.until = now + CARRICK_WAY_LASTS};
    struct carrick_hop hop;
    bool takes = device_takes(kernel, now);
    set_way(kernel, &(struct carrick_hop){0}, takes, &way);
    if (to->len == 0)
        return;
    bool known =
        takes && next_hop(kernel->device, to, &hop) && neighbour(kernel->device, &hop, way.to) && own(kernel, way.from);
    set_way(kernel, to, known, &way);
}
