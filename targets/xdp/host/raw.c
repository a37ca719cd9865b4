/* SPDX-License-Identifier: MIT */
/* Packets that the kernel's own stack sends, which looks for their next hops: the program does not know these yet. */
#define _GNU_SOURCE
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "carrick/ip.h"
#include "carrick/ip6.h"
#include "core.h"

/* Over both versions packets bring their network header with them. */
const char *kernel_open_raw(struct carrick_kernel *kernel) {
    char device[IF_NAMESIZE];
    int family = kernel->six ? AF_INET6 : AF_INET;
    kernel->raw = socket(family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_RAW);
    if (kernel->raw < 0)
        return "packets may not be sent; run as root, or with CAP_NET_RAW";
    bool bound = if_indextoname(kernel->device, device) &&
                 setsockopt(kernel->raw, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)) == 0;
    return bound ? NULL : "its device was removed, or is in another network namespace";
}

static bool send_raw(const struct carrick_kernel *kernel, const uint8_t *packet, uint32_t len,
                     const struct carrick_hop *to) {
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } address;
    memset(&address, 0, sizeof address);
    if (kernel->six) {
        address.in6.sin6_family = AF_INET6;
        address.in6.sin6_scope_id = kernel->device; /* counts if the address is of one link */
        memcpy(&address.in6.sin6_addr, to->octets, to->len);
    } else {
        address.in.sin_family = AF_INET;
        memcpy(&address.in.sin_addr, to->octets, to->len);
    }
    socklen_t octets = kernel->six ? sizeof address.in6 : sizeof address.in;
    return sendto(kernel->raw, packet, len, 0, &address.any, octets) == (ssize_t)len;
}

void core_send(const struct carrick_core *core, const struct carrick_report *report, uint32_t octets) {
    struct carrick_kernel *kernel = core->kernel;
    const uint8_t *packet = (const uint8_t *)report->words;
    uint32_t len = report->number, header = kernel->six ? CARRICK_IP6_HEADER : CARRICK_IP_HEADER;
    if (len < header || len > octets - offsetof(struct carrick_report, words))
        return;
    struct carrick_hop to = {.len = kernel->six ? 16 : 4};
    memcpy(to.octets, packet + (kernel->six ? 24 : 16), to.len);
    if (send_raw(kernel, packet, len, &to))
        kernel->port.tx++;
    else
        kernel->port.tx_refused++;
    core_find_way(core, &to);
}
