/* SPDX-License-Identifier: MIT */
#include "carrick/sockets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define PREFIX "carrick/"

socklen_t carrick_socket_name_make(const struct carrick_socket_name *name, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    int len = snprintf(address->sun_path + 1, sizeof address->sun_path - 1,
                       PREFIX "%c/%016" PRIx64 "/%d/%08" PRIx32 ":%04x/%08" PRIx32 ":%04x", name->kind, name->id,
                       name->six, name->local_address, name->local_port, name->remote_address, name->remote_port);
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
    int six;
    unsigned local_port, remote_port;
    if (sscanf(text, PREFIX "%c/%" SCNx64 "/%d/%" SCNx32 ":%x/%" SCNx32 ":%x", &kind, &name->id, &six,
               &name->local_address, &local_port, &name->remote_address, &remote_port) != 7)
        return false;
    if (kind != CARRICK_SOCKET_CONNECTION && kind != CARRICK_SOCKET_ENDS && kind != CARRICK_SOCKET_BOUND)
        return false;
    name->kind = kind;
    name->six = six != 0;
    name->local_port = (uint16_t)local_port;
    name->remote_port = (uint16_t)remote_port;
    return true;
}
