/* SPDX-License-Identifier: MIT */
/*
 * Frames by AF_XDP. Both ways they stay where they are: the kernel copies arriving ones into this process's memory (or
 * the device writes them there, where its driver can), the stack reads them in place, and writes those to send into the
 * same memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <arpa/inet.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ports/assemble.h"
#include "ports/bpf.h"
#include "ports/device.h"
#include "ports/xsk.h"

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

#define XDP_ARRIVING 2048u
/* On their way at once: fewer than a device of a pair takes without loss (256). */
#define XDP_LEAVING 128u
#define XDP_LARGEST 4096u

struct xdp {
    struct carrick_port port; /* its fd is the socket's */
    struct carrick_xsk xsk;
    int link;     /* of the program and the device; -1: none */
    int listener; /* lets the device receive frames for groups or other hosts; -1: none */
};

static uint32_t xdp_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct xdp *self = (struct xdp *)port;
    uint32_t came = carrick_xsk_receive(&self->xsk, frames, count), n = 0;
    for (uint32_t i = 0; i < came; i++)
        if (frames[i].len <= carrick_port_frame_room(port))
            frames[n++] = frames[i];
        else
            port->refused_len = frames[i].len;
    port->rx += n;
    port->rx_refused += came - n;
    return n;
}

static uint32_t xdp_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct xdp *self = (struct xdp *)port;
    (void)carrick_xsk_push(&self->xsk);
    uint32_t room = carrick_xsk_reserve(&self->xsk, frames, count);
    for (uint32_t n = 0; n < room; n++)
        frames[n].len = carrick_port_frame_max(port);
    return room;
}

static void xdp_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct xdp *self = (struct xdp *)port;
    port->tx += carrick_xsk_commit(&self->xsk, frames, count);
    (void)carrick_xsk_push(&self->xsk);
}

static bool xdp_busy(const struct carrick_port *port) {
    return carrick_xsk_waiting(&((const struct xdp *)port)->xsk);
}

static void xdp_recount(struct carrick_port *port) {
    struct xdp_statistics stats = {0};
    socklen_t octets = sizeof stats;
    if (getsockopt(port->fd, SOL_XDP, XDP_STATISTICS, &stats, &octets) != 0)
        return;
    port->rx_lost = stats.rx_dropped + stats.rx_ring_full;
    port->tx_refused = stats.tx_invalid_descs;
}

static void xdp_close(struct carrick_port *port) {
    struct xdp *self = (struct xdp *)port;
    if (self->link >= 0)
        close(self->link);
    if (self->listener >= 0)
        close(self->listener);
    carrick_xsk_close(&self->xsk);
    free(self);
}

static const struct carrick_port_ops xdp_ops = {.receive = xdp_receive,
                                                .reserve = xdp_reserve,
                                                .commit = xdp_commit,
                                                .busy = xdp_busy,
                                                .recount = xdp_recount,
                                                .close = xdp_close};

/* Hands over to the sockets in `map` what is for an address, in frames for this hardware address or a group; all else
 * goes on. What comes by a queue without a socket does too. */
static int xdp_load(int map, const uint8_t *mac, uint32_t address) {
    const struct bpf_insn program[] = {
        LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data)),
        LOAD(BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct xdp_md, data_end)),
        MOVE(BPF_REG_5, BPF_REG_2),
        ADD(BPF_REG_5, IP_TO + 4),
        IF_ABOVE(BPF_REG_5, BPF_REG_3, IF_NOT_FOR_LEN + 13),
        IF_NOT_FOR(mac, IF_NOT_FOR_LEN + 13),
        IF(BPF_JEQ, BPF_REG_4, htons(ETH_P_IP), 4),
        IF(BPF_JNE, BPF_REG_4, htons(ETH_P_ARP), 11),
        ADD(BPF_REG_5, ARP_TO - IP_TO),
        IF_ABOVE(BPF_REG_5, BPF_REG_3, 9),
        ADD(BPF_REG_2, ARP_TO - IP_TO),
        LOAD(BPF_W, BPF_REG_4, BPF_REG_2, IP_TO),
        IF(BPF_JNE, BPF_REG_4, htonl(address), 6),
        LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, rx_queue_index)),
        {.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
        {.code = 0},
        SET(BPF_REG_3, XDP_PASS),
        CALL(BPF_FUNC_redirect_map),
        EXIT,
        SET(BPF_REG_0, XDP_PASS),
        EXIT,
    };
    return carrick_bpf_load(BPF_PROG_TYPE_XDP, 0, program, sizeof program / sizeof program[0]);
}

/* As xdp_load, of an IPv6 address, what is for its group of neighbour discovery (RFC 4291 §2.7.1), and advertisements
 * to a group that another node has the address. */
static int xdp_load6(int map, const uint8_t *mac, struct carrick_ip6_address address) {
    const struct carrick_ip6_address group = {UINT64_C(0xff02) << 48,
                                              UINT64_C(0x1ff000000) | (address.low & UINT64_C(0xffffff))};
    const struct bpf_insn program[] = {
        LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, data)),
        LOAD(BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct xdp_md, data_end)),
        MOVE(BPF_REG_5, BPF_REG_2),
        ADD(BPF_REG_5, IP6_END),
        IF_ABOVE(BPF_REG_5, BPF_REG_3, IF_NOT_FOR_LEN + 42),
        IF_NOT_FOR(mac, IF_NOT_FOR_LEN + 42),
        IF(BPF_JNE, BPF_REG_4, htons(ETH_P_IPV6), 41),
        IF_NOT_TO(address, 7),
        IF(BPF_JEQ, BPF_REG_4, htonl((uint32_t)address.low), 26),
        IF_NOT_TO(group, 7),
        IF(BPF_JEQ, BPF_REG_4, htonl((uint32_t)group.low), 17),
        MOVE(BPF_REG_5, BPF_REG_2),
        ADD(BPF_REG_5, ND_END),
        IF_ABOVE(BPF_REG_5, BPF_REG_3, 20),
        LOAD(BPF_B, BPF_REG_4, BPF_REG_2, IP6_TO),
        IF(BPF_JNE, BPF_REG_4, 0xff, 18),
        LOAD(BPF_B, BPF_REG_4, BPF_REG_2, IP6_NEXT),
        IF(BPF_JNE, BPF_REG_4, IPPROTO_ICMPV6, 16),
        LOAD(BPF_B, BPF_REG_4, BPF_REG_2, ND_TYPE),
        IF(BPF_JNE, BPF_REG_4, ND_ADVERTISEMENT, 14),
        IF_NOT_AT(ND_TARGET, address, 12),
        LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, rx_queue_index)),
        {.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
        {.code = 0},
        SET(BPF_REG_3, XDP_PASS),
        CALL(BPF_FUNC_redirect_map),
        EXIT,
        SET(BPF_REG_0, XDP_PASS),
        EXIT,
    };
    return carrick_bpf_load(BPF_PROG_TYPE_XDP, 0, program, sizeof program / sizeof program[0]);
}

/* Hands over everything. */
static int xdp_load_all(int map) {
    const struct bpf_insn program[] = {
        LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, rx_queue_index)),
        {.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
        {.code = 0},
        SET(BPF_REG_3, XDP_PASS),
        CALL(BPF_FUNC_redirect_map),
        EXIT,
    };
    return carrick_bpf_load(BPF_PROG_TYPE_XDP, 0, program, sizeof program / sizeof program[0]);
}

/* The device receives what the program hands over. */
static bool xdp_listen(struct xdp *self, uint32_t device, struct carrick_ip6_address address) {
    self->listener = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    bool all = carrick_address_is_unspecified(address);
    return self->listener >= 0 && (all ? carrick_device_promiscuous(self->listener, device)
                                       : carrick_device_join(self->listener, device, address));
}

/* In the driver if it can, and else where the kernel has made a packet of it. */
static int xdp_attach(int program, uint32_t device) {
    int link = carrick_bpf_attach(program, device, BPF_XDP, XDP_FLAGS_DRV_MODE);
    if (link >= 0 || errno == EBUSY || errno == EEXIST || errno == EPERM)
        return link;
    return carrick_bpf_attach(program, device, BPF_XDP, XDP_FLAGS_SKB_MODE);
}

static int xdp_load_for(int map, const uint8_t *mac, struct carrick_ip6_address address) {
    if (carrick_address_is_unspecified(address))
        return xdp_load_all(map);
    return carrick_address_is_ipv4(address) ? xdp_load(map, mac, (uint32_t)address.low) : xdp_load6(map, mac, address);
}

static bool xdp_bring_program(struct xdp *self, uint32_t device, struct carrick_ip6_address address) {
    const uint32_t queue = 0;
    int map = carrick_bpf_map(BPF_MAP_TYPE_XSKMAP, 1);
    int program = map < 0 ? -1 : xdp_load_for(map, self->port.mac, address);
    if (program >= 0 && carrick_bpf_update(map, &queue, &self->xsk.fd))
        self->link = xdp_attach(program, device);
    int why = errno;
    if (map >= 0)
        close(map); /* the program holds it, and the link the program */
    if (program >= 0)
        close(program);
    errno = why;
    return self->link >= 0;
}

static void xdp_explain(const char *device, int why, struct carrick_port_error *error) {
    if (why == EPERM || why == EACCES)
        snprintf(error->text, sizeof error->text,
                 "AF_XDP needs privileges: run as root, or `setcap cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock+ep` "
                 "the executable.");
    else if (why == EBUSY || why == EEXIST)
        snprintf(error->text, sizeof error->text,
                 "The network device %s has an XDP program, or its queue an AF_XDP socket (`bpftool net` tells): end "
                 "whose it is, or take packet:%s.",
                 device, device);
    else if (why == EAFNOSUPPORT)
        snprintf(error->text, sizeof error->text, "This kernel has no AF_XDP (CONFIG_XDP_SOCKETS): take packet:%s.",
                 device);
    else if (why == ENOBUFS) /* without CAP_IPC_LOCK */
        snprintf(
            error->text, sizeof error->text,
            "The frames of AF_XDP need more locked memory than the processes of this user may have together: raise the "
            "limit (ulimit -l, LimitMEMLOCK=), or take packet:%s.",
            device);
    else if (!carrick_device_missing(device, why, error))
        snprintf(error->text, sizeof error->text, "AF_XDP cannot use the network device %s (%s): take packet:%s.",
                 device, strerror(why), device);
}

/* Whether AF_XDP can have the device as it is; what is to be mended is said. */
static bool xdp_fits(const char *name, const struct carrick_device *device, struct carrick_port_error *error) {
    uint32_t largest = carrick_xsk_room(XDP_LARGEST) - CARRICK_ETHER_HEADER - CARRICK_VLAN_TAG;
    if (device->mtu > largest)
        snprintf(
            error->text, sizeof error->text,
            "The network device %s has an MTU of %u, and AF_XDP takes %u at most: `ip link set %s mtu %u`, or take "
            "packet:%s.",
            name, device->mtu, largest, name, largest, name);
    else if (device->queues > 1)
        snprintf(error->text, sizeof error->text,
                 "The network device %s has %u queues, and an AF_XDP socket hears one: `ethtool -L %s combined 1` (or "
                 "`rx 1`), or take packet:%s.",
                 name, device->queues, name, name);
    else
        return true;
    return false;
}

/* Whoever may not is told so before all else. */
static bool xdp_allowed(void) {
    int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    return fd >= 0 && close(fd) == 0;
}

static bool xdp_setup(struct xdp *self, const char *name, struct carrick_ip6_address address,
                      struct carrick_port_error *error) {
    struct carrick_device device;
    if (!xdp_allowed() || !carrick_device_ask(name, &device)) {
        xdp_explain(name, errno, error);
        return false;
    }
    if (!xdp_fits(name, &device, error))
        return false;
    carrick_device_under(&self->port, name, &device);
    bool small = carrick_port_frame_room(&self->port) <= carrick_xsk_room(XDP_LARGEST / 2);
    const struct carrick_xsk_config config = {.device = device.index,
                                              .frame_octets = small ? XDP_LARGEST / 2 : XDP_LARGEST,
                                              .receiving = XDP_ARRIVING,
                                              .sending = XDP_LEAVING,
                                              .flags = XDP_USE_NEED_WAKEUP};
    bool open = carrick_xsk_open(&self->xsk, &config) && xdp_listen(self, device.index, address) &&
                xdp_bring_program(self, device.index, address);
    if (!open)
        xdp_explain(name, errno, error);
    self->port.fd = self->xsk.fd;
    return open;
}

struct carrick_port *carrick_xdp_open(const char *device, struct carrick_ip6_address address,
                                      struct carrick_port_error *error) {
    struct xdp *self = calloc(1, sizeof *self);
    if (!self) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for a port.");
        return NULL;
    }
    self->port = (struct carrick_port){.ops = &xdp_ops, .kind = "xdp", .fd = -1, .ethernet = true};
    self->xsk.fd = self->link = self->listener = -1;
    if (xdp_setup(self, device, address, error))
        return &self->port;
    xdp_close(&self->port);
    return NULL;
}
