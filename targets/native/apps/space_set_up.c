/* SPDX-License-Identifier: MIT */
/* How a namespace becomes a space: routes that lead all streams to the loopback device, and a filter for SYNs there. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/if.h>
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

#define LOOPBACK  1u      /* its index, in every namespace */
#define RULE      0x6361u /* its preference: behind the namespace's own addresses, before its other routes */
#define MAC       14u     /* bytes of a frame's header */
#define ON_BUFFER (1 << 20)

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

static bool of(const struct netlink_message *sent) {
    struct netlink_message message = *sent;
    return netlink_ask(NETLINK_ROUTE, &message);
}

/* What is there from one who could not take it back is as good. */
static bool there(bool done) {
    return done || errno == EEXIST;
}

struct address {
    uint8_t octets[16];
    uint8_t family, len;
};

static struct address address_of(struct carrick_ip6_address own) {
    struct address address = {.family = AF_INET6, .len = 16};
    carrick_ip6_store(address.octets, own);
    if (carrick_address_is_ipv4(own)) {
        memmove(address.octets, address.octets + 12, 4);
        address.family = AF_INET;
        address.len = 4;
    }
    return address;
}

static bool loopback_up(void) {
    struct ifinfomsg link = {.ifi_index = LOOPBACK, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct netlink_message message;
    netlink_begin(&message, RTM_NEWLINK, NLM_F_ACK, &link, sizeof link);
    return of(&message);
}

/* The stack's address is the namespace's own, and at once: one that is still being looked for elsewhere is no source.
 */
static bool own_address(uint16_t type, uint16_t flags, const struct address *own) {
    struct ifaddrmsg body = {.ifa_family = own->family,
                             .ifa_prefixlen = (uint8_t)(own->len * 8),
                             .ifa_flags = IFA_F_NODAD,
                             .ifa_index = LOOPBACK};
    struct netlink_message message;
    netlink_begin(&message, type, NLM_F_ACK | flags, &body, sizeof body);
    netlink_put(&message, IFA_LOCAL, own->octets, own->len);
    netlink_put(&message, IFA_ADDRESS, own->octets, own->len);
    return of(&message);
}

/* All hosts are here, and whoever connects to one does so from the stack's address. Each segment is acknowledged at
 * once, so that nothing waits here for what the stack would have sent already. */
static bool all_hosts(uint16_t type, uint16_t flags, const struct address *own) {
    struct rtmsg body = {.rtm_family = own->family,
                         .rtm_table = RT_TABLE_UNSPEC,
                         .rtm_protocol = RTPROT_STATIC,
                         .rtm_scope = own->family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
                         .rtm_type = RTN_LOCAL};
    uint32_t device = LOOPBACK, table = SPACE_TABLE, on = 1;
    struct netlink_message message;
    netlink_begin(&message, type, NLM_F_ACK | flags, &body, sizeof body);
    netlink_put(&message, RTA_TABLE, &table, sizeof table);
    netlink_put(&message, RTA_OIF, &device, sizeof device);
    netlink_put(&message, RTA_PREFSRC, own->octets, own->len);
    size_t metrics = netlink_put(&message, RTA_METRICS, NULL, 0);
    netlink_put(&message, RTAX_QUICKACK, &on, sizeof on);
    netlink_end(&message, metrics);
    return of(&message);
}

/* Streams go there; what else the namespace does is its own. */
static bool stream_rule(uint16_t type, uint16_t flags, const struct address *own) {
    struct fib_rule_hdr body = {.family = own->family, .action = FR_ACT_TO_TBL};
    uint32_t table = SPACE_TABLE, preference = RULE;
    uint8_t protocol = IPPROTO_TCP;
    struct netlink_message message;
    netlink_begin(&message, type, NLM_F_ACK | flags, &body, sizeof body);
    netlink_put(&message, FRA_TABLE, &table, sizeof table);
    netlink_put(&message, FRA_PRIORITY, &preference, sizeof preference);
    netlink_put(&message, FRA_IP_PROTO, &protocol, sizeof protocol);
    return of(&message);
}

static bool classes(uint16_t type, uint16_t flags) {
    struct tcmsg body = {.tcm_family = AF_UNSPEC,
                         .tcm_ifindex = LOOPBACK,
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

static void filter_test_address(struct filter *filter, uint32_t at, const struct address *address) {
    for (uint32_t word = 0; word < address->len / 4u; word++) {
        filter_load(filter, BPF_W | BPF_ABS, at + 4 * word);
        filter_test(filter, carrick_load32(address->octets + 4 * word));
    }
}

/* For packets of the stack's version whose SYN is to a host that is not the namespace itself: `taken` of them, `left`
 * of all others. */
static void filter_syns(struct filter *filter, const struct address *own, uint32_t frame, uint32_t taken,
                        uint32_t left) {
    const struct address loopback = {.octets = {[15] = 1}, .len = 16};
    bool four = own->family == AF_INET;
    uint32_t to = frame + (four ? 16 : 24);
    filter->len = filter->pending = 0;
    filter_load(filter, BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_MARK));
    filter_test(filter, 0);
    filter_load(filter, BPF_H | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL));
    filter_test(filter, four ? ETH_P_IP : ETH_P_IPV6);
    filter_load(filter, BPF_B | BPF_ABS, frame + (four ? 9 : 6));
    filter_test(filter, IPPROTO_TCP);
    if (four)
        filter->code[filter->len++] = (struct sock_filter)BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, frame);
    filter_load(filter, four ? BPF_B | BPF_IND : BPF_B | BPF_ABS, frame + 13 + (four ? 0 : CARRICK_IP6_HEADER));
    filter->code[filter->len++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12); /* SYN, ACK */
    filter_test(filter, 0x02);
    uint16_t others = filter->pending;
    filter_test_address(filter, to, own);
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

static bool drop_syns(const struct address *own) {
    struct filter filter;
    filter_syns(&filter, own, MAC, TC_ACT_SHOT, TC_ACT_OK);
    uint32_t direct = TCA_BPF_FLAG_ACT_DIRECT;
    struct tcmsg body = {.tcm_family = AF_UNSPEC,
                         .tcm_ifindex = LOOPBACK,
                         .tcm_handle = 1,
                         .tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
                         .tcm_info = TC_H_MAKE(1u << 16, htons(ETH_P_ALL))};
    struct netlink_message message;
    netlink_begin(&message, RTM_NEWTFILTER, NLM_F_ACK | NLM_F_CREATE, &body, sizeof body);
    netlink_put(&message, TCA_KIND, "bpf", sizeof "bpf");
    size_t options = netlink_put(&message, TCA_OPTIONS, NULL, 0);
    netlink_put(&message, TCA_BPF_OPS_LEN, &filter.len, sizeof filter.len);
    netlink_put(&message, TCA_BPF_OPS, filter.code, filter.len * sizeof filter.code[0]);
    netlink_put(&message, TCA_BPF_FLAGS, &direct, sizeof direct);
    netlink_end(&message, options);
    return of(&message);
}

/* SYNs are read before they are dropped. */
static int open_tap(const struct address *own) {
    struct filter filter;
    filter_syns(&filter, own, 0, SPACE_PACKET, 0);
    struct sock_fprog program = {.len = filter.len, .filter = filter.code};
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = LOOPBACK};
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

static int open_raw(int family) {
    int mark = (int)SPACE_MARK, fd = socket(family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_RAW);
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

const char *space_set_up(struct space *space, struct carrick_ip6_address from) {
    struct address own = address_of(from);
    uint16_t made = NLM_F_CREATE | NLM_F_EXCL;
    if (!loopback_up() || !there(own_address(RTM_NEWADDR, made, &own)))
        return "its loopback device";
    if (!there(all_hosts(RTM_NEWROUTE, made, &own)) || !there(stream_rule(RTM_NEWRULE, made, &own)))
        return "its routes";
    (void)classes(RTM_DELQDISC, 0); /* of one who could not take it back */
    if (!classes(RTM_NEWQDISC, made) || !drop_syns(&own))
        return "a filter on its loopback device (sch_ingress, cls_bpf)";
    space->tap = open_tap(&own);
    space->raw[0] = open_raw(AF_INET);
    space->raw[1] = open_raw(AF_INET6);
    if (space->tap < 0 || space->raw[0] < 0 || (space->raw[1] < 0 && own.family == AF_INET6))
        return "packet sockets";
    space->diag = open_diag(0);
    space->gone = open_diag(1u << (SKNLGRP_INET_TCP_DESTROY - 1) | 1u << (SKNLGRP_INET6_TCP_DESTROY - 1));
    return space->diag < 0 || space->gone < 0 ? "news of its sockets (inet_diag)" : NULL;
}

void space_take_back(struct carrick_ip6_address from) {
    struct address own = address_of(from);
    (void)stream_rule(RTM_DELRULE, 0, &own);
    (void)all_hosts(RTM_DELROUTE, 0, &own);
    (void)own_address(RTM_DELADDR, 0, &own);
    (void)classes(RTM_DELQDISC, 0);
}
