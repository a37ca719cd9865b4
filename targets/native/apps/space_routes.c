/* SPDX-License-Identifier: MIT */
/* How packets of a space come to the loopback device: addresses, routes and rules (rtnetlink(7)). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "apps/space.h"
#include "carrick/ipv6.h"
#include "net/netlink.h"

#define RULE 0x6361u /* its preference: behind the namespace's own addresses, before its other routes */
#define MADE (NLM_F_CREATE | NLM_F_EXCL)

static bool of(const struct netlink_message *sent) {
    struct netlink_message message = *sent;
    return netlink_ask(NETLINK_ROUTE, &message);
}

/* What is there from one who could not take it back is as good. */
static bool there(bool done) {
    return done || errno == EEXIST;
}

struct space_address space_address_of(struct carrick_ip6_address of) {
    struct space_address address = {.family = AF_INET6, .len = 16};
    carrick_ip6_store(address.octets, of);
    if (carrick_address_is_ipv4(of)) {
        memmove(address.octets, address.octets + 12, 4);
        address.family = AF_INET;
        address.len = 4;
    }
    return address;
}

static bool loopback_up(void) {
    struct ifinfomsg link = {.ifi_index = SPACE_LOOPBACK, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    struct netlink_message message;
    netlink_begin(&message, RTM_NEWLINK, NLM_F_ACK, &link, sizeof link);
    return of(&message);
}

/* The stack's address is the namespace's own, and at once: one that is still being looked for elsewhere is no source.
 */
static bool own_address(uint16_t type, uint16_t flags, const struct space_address *own) {
    struct ifaddrmsg body = {.ifa_family = own->family,
                             .ifa_prefixlen = (uint8_t)(own->len * 8),
                             .ifa_flags = IFA_F_NODAD,
                             .ifa_index = SPACE_LOOPBACK};
    struct netlink_message message;
    netlink_begin(&message, type, NLM_F_ACK | flags, &body, sizeof body);
    netlink_put(&message, IFA_LOCAL, own->octets, own->len);
    netlink_put(&message, IFA_ADDRESS, own->octets, own->len);
    return of(&message);
}

/* A destination that is this machine, of so many bits, for whoever sends from the stack's address. Each segment is
 * acknowledged at once, so that nothing waits here for what the stack would have sent already. */
static bool local_route(uint16_t type, uint16_t flags, const struct space_address *own, uint8_t bits, uint32_t table) {
    struct rtmsg body = {.rtm_family = own->family,
                         .rtm_dst_len = bits,
                         .rtm_table = RT_TABLE_UNSPEC,
                         .rtm_protocol = RTPROT_STATIC,
                         .rtm_scope = own->family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
                         .rtm_type = RTN_LOCAL};
    uint32_t device = SPACE_LOOPBACK, on = 1;
    struct netlink_message message;
    netlink_begin(&message, type, NLM_F_ACK | flags, &body, sizeof body);
    netlink_put(&message, RTA_TABLE, &table, sizeof table);
    netlink_put(&message, RTA_OIF, &device, sizeof device);
    if (bits)
        netlink_put(&message, RTA_DST, own->octets, own->len);
    netlink_put(&message, RTA_PREFSRC, own->octets, own->len);
    size_t metrics = netlink_put(&message, RTA_METRICS, NULL, 0);
    netlink_put(&message, RTAX_QUICKACK, &on, sizeof on);
    netlink_end(&message, metrics);
    return of(&message);
}

/* The kernel's own route to an address of a device. */
static bool leave_local_table(const struct space_address *own) {
    struct rtmsg body = {.rtm_family = own->family,
                         .rtm_dst_len = (uint8_t)(own->len * 8),
                         .rtm_table = RT_TABLE_LOCAL,
                         .rtm_scope = RT_SCOPE_NOWHERE,
                         .rtm_type = RTN_LOCAL};
    struct netlink_message message;
    netlink_begin(&message, RTM_DELROUTE, NLM_F_ACK, &body, sizeof body);
    netlink_put(&message, RTA_DST, own->octets, own->len);
    return of(&message) || errno == ESRCH;
}

/* What goes to a space's routes. */
enum rule {
    RULE_ALL,    /* streams; what else the namespace does is its own */
    RULE_MARKED, /* sockets of a cgroup that connect, and have no address yet; the relay's ends, and its packets */
    RULE_FROM,   /* streams from the stack's address, and to it; what a device receives is the stack's alone */
    RULE_TO,
};

static bool rule(uint16_t type, uint16_t flags, const struct space_place *place, enum rule which) {
    struct space_address own = space_address_of(place->own);
    struct fib_rule_hdr body = {.family = own.family, .action = FR_ACT_TO_TBL};
    uint32_t preference = RULE, mark = place->mark | SPACE_CONNECTS, mask = ~SPACE_BOUND;
    uint8_t protocol = IPPROTO_TCP, bits = (uint8_t)(own.len * 8);
    struct netlink_message message;
    body.src_len = which == RULE_FROM ? bits : 0;
    body.dst_len = which == RULE_TO ? bits : 0;
    netlink_begin(&message, type, NLM_F_ACK | flags, &body, sizeof body);
    netlink_put(&message, FRA_TABLE, &place->mark, sizeof place->mark);
    netlink_put(&message, FRA_PRIORITY, &preference, sizeof preference);
    if (which == RULE_MARKED) {
        netlink_put(&message, FRA_FWMARK, &mark, sizeof mark);
        netlink_put(&message, FRA_FWMASK, &mask, sizeof mask);
        return of(&message);
    }
    netlink_put(&message, FRA_IP_PROTO, &protocol, sizeof protocol);
    if (which != RULE_ALL) {
        netlink_put(&message, FRA_IIFNAME, "lo", sizeof "lo");
        netlink_put(&message, which == RULE_FROM ? FRA_SRC : FRA_DST, own.octets, own.len);
    }
    return of(&message);
}

/* Whether the machine itself has the address. */
static bool is_local(const struct space_address *address) {
    struct rtmsg body = {.rtm_family = address->family, .rtm_dst_len = (uint8_t)(address->len * 8)};
    struct netlink_message message;
    netlink_begin(&message, RTM_GETROUTE, 0, &body, sizeof body);
    netlink_put(&message, RTA_DST, address->octets, address->len);
    if (!netlink_ask(NETLINK_ROUTE, &message) || message.of.header.nlmsg_type != RTM_NEWROUTE)
        return false;
    memcpy(&body, message.of.octets + NLMSG_HDRLEN, sizeof body);
    return body.rtm_type == RTN_LOCAL;
}

/* All hosts are here, and whoever connects to one does so from the stack's address. */
static const char *route_all(const struct space_place *place, const struct space_address *own) {
    if (!there(own_address(RTM_NEWADDR, MADE, own)))
        return "its loopback device";
    return there(local_route(RTM_NEWROUTE, MADE, own, 0, place->mark)) &&
                   there(rule(RTM_NEWRULE, MADE, place, RULE_ALL))
               ? NULL
               : "its routes";
}

/* As above for those who are marked. The address is on the loopback device, as sources have to be, and yet not local:
 * the kernel must not answer what arrives for the stack. Where the machine has the address, the stack's port keeps that
 * from the kernel. */
static const char *route_marked(const struct space_place *place, const struct space_address *own) {
    uint8_t whole = (uint8_t)(own->len * 8);
    if (!place->is_local && (!there(own_address(RTM_NEWADDR, MADE, own)) || !leave_local_table(own)))
        return errno == EACCES ? "IPv6 of the loopback device (sysctl net.ipv6.conf.lo.disable_ipv6)"
                               : "an address of the loopback device";
    return local_route(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, own, whole, place->mark) &&
                   local_route(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, own, 0, place->mark) &&
                   there(rule(RTM_NEWRULE, MADE, place, RULE_FROM)) && there(rule(RTM_NEWRULE, MADE, place, RULE_TO)) &&
                   there(rule(RTM_NEWRULE, MADE, place, RULE_MARKED))
               ? NULL
               : "routes for it";
}

const char *space_route(struct space_place *place) {
    struct space_address own = space_address_of(place->own);
    place->is_local = place->kind == SPACE_CGROUP && is_local(&own);
    if (!loopback_up())
        return "the loopback device";
    return place->kind == SPACE_CGROUP ? route_marked(place, &own) : route_all(place, &own);
}

void space_route_no_longer(const struct space_place *place) {
    struct space_address own = space_address_of(place->own);
    if (place->kind == SPACE_CGROUP) {
        (void)rule(RTM_DELRULE, 0, place, RULE_MARKED);
        (void)rule(RTM_DELRULE, 0, place, RULE_FROM);
        (void)rule(RTM_DELRULE, 0, place, RULE_TO);
        (void)local_route(RTM_DELROUTE, 0, &own, (uint8_t)(own.len * 8), place->mark);
    } else {
        (void)rule(RTM_DELRULE, 0, place, RULE_ALL);
    }
    (void)local_route(RTM_DELROUTE, 0, &own, 0, place->mark);
    if (!place->is_local)
        (void)own_address(RTM_DELADDR, 0, &own);
}
