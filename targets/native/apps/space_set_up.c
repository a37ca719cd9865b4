/* SPDX-License-Identifier: MIT */
/* A filter for SYNs on the loopback device, and what the relay reads and sends with. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/inet_diag.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/space.h"
#include "carrick/ipv6.h"
#include "net/netlink.h"

#define MAC       14u /* bytes of a frame's header */
#define ON_BUFFER (1 << 20)

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

static bool of(const struct netlink_message *sent) {
    struct netlink_message message = *sent;
    return netlink_ask(NETLINK_ROUTE, &message);
}

static bool classes(uint16_t type, uint16_t flags) {
    struct tcmsg body = {.tcm_family = AF_UNSPEC,
                         .tcm_ifindex = SPACE_LOOPBACK,
                         .tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0),
                         .tcm_parent = TC_H_CLSACT};
    struct netlink_message message;
    netlink_begin(&message, type, NLM_F_ACK | flags, &body, sizeof body);
    netlink_put(&message, TCA_KIND, "clsact", sizeof "clsact");
    return of(&message);
}

#define FILTER_CODE  48
#define FILTER_TESTS 16

/* Classic BPF that is being written: tests, of which each leads on, or to where its group has another end. */
struct filter {
    struct sock_filter code[FILTER_CODE];
    uint16_t len, tests[FILTER_TESTS], pending;
};

static void filter_load(struct filter *filter, uint16_t what, uint32_t at) {
    filter->code[filter->len++] = (struct sock_filter)BPF_STMT((uint16_t)(BPF_LD | what), at);
}

static void filter_test(struct filter *filter, uint32_t value) {
    filter->tests[filter->pending++] = filter->len;
    filter->code[filter->len++] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JEQ | BPF_K, value);
}

static void filter_return(struct filter *filter, uint32_t value) {
    filter->code[filter->len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value);
}

/* What fails of the tests from `first` on goes on here. */
static void filter_else(struct filter *filter, uint16_t first) {
    while (filter->pending > first) {
        uint16_t test = filter->tests[--filter->pending];
        filter->code[test].jf = (uint8_t)(filter->len - test - 1);
    }
}

/* What is not the mark of a space's sockets, or of those that are bound. */
static void filter_test_mark(struct filter *filter, const struct space_place *place) {
    filter_load(filter, BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_MARK));
    if (place->kind == SPACE_CGROUP)
        filter->code[filter->len++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~SPACE_BITS);
    filter_test(filter, place->kind == SPACE_CGROUP ? place->mark : 0);
}

static void filter_test_address(struct filter *filter, uint32_t at, const struct space_address *address) {
    for (uint32_t word = 0; word < address->len / 4u; word++) {
        filter_load(filter, BPF_W | BPF_ABS, at + 4 * word);
        filter_test(filter, carrick_load32(address->octets + 4 * word));
    }
}

/* For packets of the stack's version, from programs, whose SYN is to a host that is not this one: `taken` of them,
 * `left` of all others. In a namespace, a program's have no mark. In a cgroup, both ends' have the same one, and the
 * program's are from the stack's address. */
static void filter_syns(struct filter *filter, const struct space_place *place, uint32_t frame, uint32_t taken,
                        uint32_t left) {
    const struct space_address loopback = {.octets = {[15] = 1}, .len = 16};
    struct space_address own = space_address_of(place->own);
    bool four = own.family == AF_INET;
    uint32_t from = frame + (four ? 12 : 8), to = from + own.len;
    filter->len = filter->pending = 0;
    filter_test_mark(filter, place);
    filter_load(filter, BPF_H | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL));
    filter_test(filter, four ? ETH_P_IP : ETH_P_IPV6);
    filter_load(filter, BPF_B | BPF_ABS, frame + (four ? 9 : 6));
    filter_test(filter, IPPROTO_TCP);
    if (four)
        filter->code[filter->len++] = (struct sock_filter)BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, frame);
    filter_load(filter, four ? BPF_B | BPF_IND : BPF_B | BPF_ABS, frame + 13 + (four ? 0 : CARRICK_IP6_HEADER));
    filter->code[filter->len++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12); /* SYN, ACK */
    filter_test(filter, 0x02);
    if (place->kind == SPACE_CGROUP)
        filter_test_address(filter, from, &own);
    uint16_t others = filter->pending;
    filter_test_address(filter, to, &own);
    filter_return(filter, left);
    filter_else(filter, others);
    if (four) {
        filter_load(filter, BPF_B | BPF_ABS, to);
        filter_test(filter, IN_LOOPBACKNET);
    } else {
        filter_test_address(filter, to, &loopback);
    }
    filter_return(filter, left);
    filter_else(filter, others);
    filter_return(filter, taken);
    filter_else(filter, 0);
    filter_return(filter, left);
}

/* A message about the filter. It leaves what it does not take to the filters of others. */
static void filter_begin(struct netlink_message *message, uint16_t type, uint16_t flags,
                         const struct space_place *place) {
    uint32_t order = 1 + (place->mark & 0xffu);
    struct tcmsg body = {.tcm_family = AF_UNSPEC,
                         .tcm_ifindex = SPACE_LOOPBACK,
                         .tcm_handle = 1,
                         .tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
                         .tcm_info = TC_H_MAKE(order << 16, htons(ETH_P_ALL))};
    netlink_begin(message, type, NLM_F_ACK | flags, &body, sizeof body);
    netlink_put(message, TCA_KIND, "bpf", sizeof "bpf");
}

static bool drop_syns(const struct space_place *place) {
    struct filter filter;
    filter_syns(&filter, place, MAC, TC_ACT_SHOT, (uint32_t)TC_ACT_UNSPEC);
    uint32_t direct = TCA_BPF_FLAG_ACT_DIRECT;
    struct netlink_message message;
    filter_begin(&message, RTM_NEWTFILTER, NLM_F_CREATE, place);
    size_t options = netlink_put(&message, TCA_OPTIONS, NULL, 0);
    netlink_put(&message, TCA_BPF_OPS_LEN, &filter.len, sizeof filter.len);
    netlink_put(&message, TCA_BPF_OPS, filter.code, filter.len * sizeof filter.code[0]);
    netlink_put(&message, TCA_BPF_FLAGS, &direct, sizeof direct);
    netlink_end(&message, options);
    return of(&message);
}

static bool drop_no_longer(const struct space_place *place) {
    struct netlink_message message;
    filter_begin(&message, RTM_DELTFILTER, 0, place);
    return of(&message);
}

/* Whether filters of others are there. */
static bool has_filters(void) {
    struct tcmsg body = {
        .tcm_family = AF_UNSPEC, .tcm_ifindex = SPACE_LOOPBACK, .tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS)};
    struct netlink_message message;
    netlink_begin(&message, RTM_GETTFILTER, NLM_F_DUMP, &body, sizeof body);
    return netlink_ask(NETLINK_ROUTE, &message) && message.of.header.nlmsg_type == RTM_NEWTFILTER;
}

/* SYNs are read before they are dropped. */
static int open_tap(const struct space_place *place) {
    struct filter filter;
    filter_syns(&filter, place, 0, SPACE_PACKET, 0);
    struct sock_fprog program = {.len = filter.len, .filter = filter.code};
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = SPACE_LOOPBACK};
    int on = 1, size = ON_BUFFER;
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 &&
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) == 0 &&
        bind(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

static int open_raw(int family, uint32_t mark) {
    int fd = socket(family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_RAW);
    if (fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark);
    return fd;
}

static int open_diag(uint32_t groups) {
    const struct sockaddr_nl at = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int size = ON_BUFFER, fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

const char *space_set_up(struct space *space, struct space_place *place) {
    const char *failed = space_route(place);
    if (failed)
        return failed;
    if (place->kind == SPACE_NAMESPACE)
        (void)classes(RTM_DELQDISC, 0); /* of one who could not take it back */
    bool has_classes = classes(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL) || errno == EEXIST;
    if (!has_classes || !drop_syns(place))
        return "a filter on the loopback device (sch_ingress, cls_bpf)";
    uint32_t mark = place->mark | SPACE_CONNECTS;
    space->tap = open_tap(place);
    space->raw[0] = open_raw(AF_INET, mark);
    space->raw[1] = open_raw(AF_INET6, mark);
    if (space->tap < 0 || space->raw[0] < 0 || (space->raw[1] < 0 && !carrick_address_is_ipv4(place->own)))
        return "packet sockets";
    space->diag = open_diag(0);
    space->gone = open_diag(1u << (SKNLGRP_INET_TCP_DESTROY - 1) | 1u << (SKNLGRP_INET6_TCP_DESTROY - 1));
    return space->diag < 0 || space->gone < 0 ? "news of sockets (inet_diag)" : NULL;
}

void space_take_back(const struct space_place *place) {
    space_route_no_longer(place);
    (void)drop_no_longer(place);
    if (!has_filters())
        (void)classes(RTM_DELQDISC, 0);
}
