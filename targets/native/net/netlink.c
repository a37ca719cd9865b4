/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/netlink.h"

#define HEADER sizeof(struct nlattr)

/* All begins at multiples of 4 bytes. */
static size_t aligned(size_t octets) {
    return (octets + 3) & ~(size_t)3;
}

void netlink_begin(struct netlink_message *message, uint16_t type, uint16_t flags, const void *body, size_t octets) {
    memset(&message->of.header, 0, sizeof message->of.header);
    message->of.header.nlmsg_type = type;
    message->of.header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    memcpy(message->of.octets + NLMSG_HDRLEN, body, octets);
    message->of.header.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + aligned(octets));
}

/* Requests are of this program's own making, and short. */
size_t netlink_put(struct netlink_message *message, uint16_t type, const void *value, size_t octets) {
    size_t at = message->of.header.nlmsg_len;
    struct nlattr attribute = {.nla_type = type, .nla_len = (uint16_t)(HEADER + octets)};
    memset(message->of.octets + at, 0, HEADER + aligned(octets));
    memcpy(message->of.octets + at, &attribute, sizeof attribute);
    if (octets)
        memcpy(message->of.octets + at + HEADER, value, octets);
    message->of.header.nlmsg_len = (uint32_t)(at + HEADER + aligned(octets));
    return at;
}

void netlink_end(struct netlink_message *message, size_t at) {
    uint16_t octets = (uint16_t)(message->of.header.nlmsg_len - at);
    memcpy(message->of.octets + at + offsetof(struct nlattr, nla_len), &octets, sizeof octets);
}

bool netlink_ask(int protocol, struct netlink_message *message) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        return false;
    ssize_t octets = send(fd, message->of.octets, message->of.header.nlmsg_len, 0);
    if (octets >= 0)
        octets = recv(fd, message->of.octets, sizeof message->of.octets, 0);
    int why = octets < 0 ? errno : 0;
    close(fd);
    if (why == 0 && (size_t)octets < NLMSG_HDRLEN)
        why = EPROTO;
    if (why == 0 && message->of.header.nlmsg_len > (size_t)octets)
        why = EPROTO;
    if (why == 0 && message->of.header.nlmsg_type == NLMSG_ERROR) {
        struct nlmsgerr error;
        memcpy(&error, message->of.octets + NLMSG_HDRLEN, sizeof error);
        why = -error.error;
    }
    errno = why;
    return why == 0;
}

const void *netlink_find(const struct nlmsghdr *message, size_t body, uint16_t type, size_t octets) {
    const uint8_t *begin = (const uint8_t *)message;
    size_t at = NLMSG_HDRLEN + aligned(body), end = message->nlmsg_len;
    while (at + HEADER <= end) {
        struct nlattr attribute;
        memcpy(&attribute, begin + at, sizeof attribute);
        if (attribute.nla_len < HEADER || at + attribute.nla_len > end)
            return NULL;
        if ((attribute.nla_type & NLA_TYPE_MASK) == type)
            return attribute.nla_len - (size_t)HEADER >= octets ? begin + at + HEADER : NULL;
        at += aligned(attribute.nla_len);
    }
    return NULL;
}
