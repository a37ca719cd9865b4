/* SPDX-License-Identifier: MIT */
/* What both sides of a door speak: names, and messages with a descriptor. */
#define _GNU_SOURCE
#include "carrick/sockets.h"

#include "carrick/ipv6.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PREFIX "carrick/"
/* Of the digit that represents the family. */
#define ONLY6   2
#define PACKETS 4

socklen_t carrick_socket_name_make(const struct carrick_socket_name *name, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    int len =
        snprintf(address->sun_path + 1, sizeof address->sun_path - 1,
                 PREFIX "%c/%016" PRIx64 "/%d/%016" PRIx64 "%016" PRIx64 ":%04x/%016" PRIx64 "%016" PRIx64 ":%04x",
                 name->kind, name->id, name->six | (name->only6 ? ONLY6 : 0) | (name->packets ? PACKETS : 0),
                 name->local_address.high, name->local_address.low, name->local_port, name->remote_address.high,
                 name->remote_address.low, name->remote_port);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

bool carrick_socket_name_read(const struct sockaddr_un *address, socklen_t len, struct carrick_socket_name *name) {
    char text[sizeof address->sun_path];
    size_t path = offsetof(struct sockaddr_un, sun_path);
    if (len <= path + 1 || len > sizeof *address || address->sun_family != AF_UNIX || address->sun_path[0] != 0)
        return false;
    memcpy(text, address->sun_path + 1, len - path - 1);
    text[len - path - 1] = 0;
    char kind;
    int family;
    unsigned local_port, remote_port;
    if (sscanf(text, PREFIX "%c/%" SCNx64 "/%d/%16" SCNx64 "%16" SCNx64 ":%x/%16" SCNx64 "%16" SCNx64 ":%x", &kind,
               &name->id, &family, &name->local_address.high, &name->local_address.low, &local_port,
               &name->remote_address.high, &name->remote_address.low, &remote_port) != 9)
        return false;
    if (kind != CARRICK_SOCKET_CONNECTION && kind != CARRICK_SOCKET_ENDS && kind != CARRICK_SOCKET_BOUND &&
        kind != CARRICK_SOCKET_LETTERS)
        return false;
    name->kind = kind;
    name->six = (family & 1) != 0;
    name->only6 = (family & ONLY6) != 0;
    name->packets = (family & PACKETS) != 0;
    name->local_port = (uint16_t)local_port;
    name->remote_port = (uint16_t)remote_port;
    return true;
}

void carrick_socket_options_set(struct carrick_socket_options *options, enum carrick_socket_option option,
                                uint32_t value) {
    bool on = value != 0 || option == CARRICK_OPTION_TOS;
    options->on = on ? options->on | option : options->on & ~(uint32_t)option;
    if (option == CARRICK_OPTION_TOS)
        options->tos = value & 0xff;
    else if (option == CARRICK_OPTION_PATIENCE)
        options->patience = value;
    else if (option == CARRICK_OPTION_LINGER)
        options->linger = (int32_t)value;
    else if (option == CARRICK_OPTION_RECEIVE)
        options->receive = value;
}

uint32_t carrick_socket_options_get(const struct carrick_socket_options *options, enum carrick_socket_option option) {
    switch (option) {
    case CARRICK_OPTION_TOS:
        return options->tos;
    case CARRICK_OPTION_PATIENCE:
        return options->patience;
    case CARRICK_OPTION_LINGER:
        return (uint32_t)options->linger;
    case CARRICK_OPTION_RECEIVE:
        return options->receive;
    default:
        return (options->on & option) != 0;
    }
}

ssize_t carrick_socket_put(ssize_t (*transmit)(int socket, const struct msghdr *message, int flags), int socket,
                           const void *data, size_t len, int fd, int flags) {
    union {
        const void *given;
        void *octets;
    } region = {data}; /* they are only read */
    struct iovec piece = {region.octets, len};
    union {
        struct cmsghdr head;
        char octets[CMSG_SPACE(sizeof fd)];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control.octets;
        message.msg_controllen = sizeof control.octets;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    return transmit(socket, &message, flags);
}

bool carrick_socket_pass(int socket, const void *data, size_t len, int fd, int flags) {
    return carrick_socket_put(sendmsg, socket, data, len, fd, flags | MSG_NOSIGNAL) == (ssize_t)len;
}

socklen_t carrick_socket_address(struct carrick_ip6_address address, uint16_t port, struct sockaddr_storage *to) {
    memset(to, 0, sizeof *to);
    to->ss_family = carrick_address_is_ipv4(address) ? AF_INET : AF_INET6;
    if (to->ss_family == AF_INET) {
        struct sockaddr_in *in = (void *)to;
        in->sin_port = htons(port);
        in->sin_addr.s_addr = htonl((uint32_t)address.low);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (void *)to;
    in6->sin6_port = htons(port);
    carrick_ip6_store(in6->sin6_addr.s6_addr, address);
    return sizeof *in6;
}

uint64_t carrick_socket_cookie(int fd) {
    uint64_t cookie = 0;
    socklen_t len = sizeof cookie;
    return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) == 0 ? cookie : 0;
}

ssize_t carrick_socket_take(ssize_t (*receive)(int socket, struct msghdr *message, int flags), int socket, void *data,
                            size_t len, int *fd, int flags) {
    struct iovec piece = {data, len};
    union {
        struct cmsghdr head;
        char octets[CMSG_SPACE(sizeof *fd)];
    } control;
    /* Room for one descriptor and not for what its alignment leaves: the system closes any others. */
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.octets, .msg_controllen = CMSG_LEN(sizeof *fd)};
    *fd = -1;
    ssize_t got = receive(socket, &message, flags | MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = got < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return got;
}
