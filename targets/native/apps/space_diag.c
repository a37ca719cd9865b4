/* SPDX-License-Identifier: MIT */
/* What the kernel tells of a namespace's sockets (sock_diag(7)). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "apps/space.h"
#include "carrick/ipv6.h"

#define ANSWER 8192u

union answer {
    struct nlmsghdr header;
    uint8_t octets[ANSWER];
};

static struct carrick_ip6_address address_of(uint8_t family, const uint32_t words[4]) {
    uint8_t octets[16];
    memcpy(octets, words, sizeof octets);
    return family == AF_INET ? carrick_address_of_ipv4(carrick_load32(octets)) : carrick_ip6_load(octets);
}

static void put_address(struct carrick_ip6_address address, uint32_t words[4]) {
    uint8_t octets[16];
    carrick_ip6_store(octets, address);
    memset(words, 0, sizeof octets);
    bool four = carrick_address_is_ipv4(address);
    memcpy(words, four ? octets + 12 : octets, four ? 4 : sizeof octets);
}

/* What is in an answer; NULL: it is of something else. */
static const struct inet_diag_msg *message_of(const union answer *answer, ssize_t len) {
    bool whole = len >= (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg));
    return whole && answer->header.nlmsg_type == SOCK_DIAG_BY_FAMILY
               ? (const struct inet_diag_msg *)(const void *)(answer->octets + NLMSG_HDRLEN)
               : NULL;
}

bool space_whose(const struct space *space, const struct space_flow *flow, uint32_t *uid) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 body;
    } ask = {.header = {.nlmsg_len = sizeof ask, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
             .body = {.sdiag_family = carrick_address_is_ipv4(flow->far) ? AF_INET : AF_INET6,
                      .sdiag_protocol = IPPROTO_TCP,
                      .idiag_states = UINT32_MAX,
                      .id = {.idiag_sport = htons(flow->program_port),
                             .idiag_dport = htons(flow->far_port),
                             .idiag_if = SPACE_LOOPBACK, /* also of a socket that is bound to it */
                             .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
    put_address(flow->program, ask.body.id.idiag_src);
    put_address(flow->far, ask.body.id.idiag_dst);
    union answer answer;
    if (send(space->diag, &ask, sizeof ask, 0) < 0)
        return false;
    /* The kernel answers within the call. */
    const struct inet_diag_msg *found = message_of(&answer, recv(space->diag, &answer, sizeof answer, 0));
    if (found)
        *uid = found->idiag_uid;
    return found != NULL;
}

bool space_next_gone(const struct space *space, struct space_flow *flow, bool *lost) {
    union answer answer;
    for (;;) {
        ssize_t len = recv(space->gone, &answer, sizeof answer, 0);
        *lost |= len < 0 && errno == ENOBUFS;
        if (len < 0)
            return false;
        const struct inet_diag_msg *of = message_of(&answer, len);
        if (!of)
            continue;
        flow->program = address_of(of->idiag_family, of->id.idiag_src);
        flow->far = address_of(of->idiag_family, of->id.idiag_dst);
        flow->program_port = ntohs(of->id.idiag_sport);
        flow->far_port = ntohs(of->id.idiag_dport);
        return true;
    }
}
