/* SPDX-License-Identifier: MIT */
/* rtnetlink(7), in so far as a host needs it: one request, one answer. */
#ifndef CARRICK_NET_NETLINK_H
#define CARRICK_NET_NETLINK_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETLINK_OCTETS 4096u

/* A message; what is in `octets` counts as far as the header says. */
struct netlink_message {
    union {
        struct nlmsghdr header;
        uint8_t octets[NETLINK_OCTETS];
    } of;
};

/* Begins a request: its type, flags beyond NLM_F_REQUEST, and what all requests of this type begin with. */
void netlink_begin(struct netlink_message *message, uint16_t type, uint16_t flags, const void *body, size_t octets);
/* Adds an attribute; returns where it begins, for netlink_end. */
size_t netlink_put(struct netlink_message *message, uint16_t type, const void *value, size_t octets);
/* All that was added since an attribute began is in it. */
void netlink_end(struct netlink_message *message, size_t at);

/* Sends a request by a socket of this thread's network namespace, and takes the answer in its place. False: errno says
 * why. A request without NLM_F_ACK is one that is answered with what it asks for. */
bool netlink_ask(int protocol, struct netlink_message *message);

/* The bytes of an attribute behind `body` bytes of an answer; NULL: it is not there, or shorter than `octets`. */
const void *netlink_find(const struct nlmsghdr *message, size_t body, uint16_t type, size_t octets);

#endif
