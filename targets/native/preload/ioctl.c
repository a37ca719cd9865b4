/* SPDX-License-Identifier: MIT */
/* How much of what was written the peer has not acknowledged. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "preload/preload.h"

PRELOADED int ioctl(int fd, unsigned long request, ...) {
    struct carrick_socket_name name;
    uint64_t queued = 0;
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (request == FIONREAD && preload_is_letters(fd, &name)) { /* of the next message */
        struct msghdr none = {0};
        ssize_t len = preload_letters_receive(fd, &name, &none, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
        *(int *)argument = len > 0 ? (int)len : 0;
        return 0;
    }
    if (request == SIOCOUTQ && preload_is_letters(fd, &name))
        return preload_libc.ioctl(fd, request, argument);
    if ((request != SIOCOUTQ && request != SIOCOUTQNSD) || !preload_name(fd, &name))
        return preload_libc.ioctl(fd, request, argument);
    bool sent = request == SIOCOUTQ, connection = name.kind == CARRICK_SOCKET_CONNECTION;
    int error =
        connection ? preload_get(fd, name.id, sent ? CARRICK_ITEM_QUEUED : CARRICK_ITEM_UNSENT, &queued) : EINVAL;
    if (connection && (error == EINVAL || error == ENOTCONN)) /* of a connection that is not there nothing is */
        error = 0;
    if (error) {
        errno = error;
        return -1;
    }
    *(int *)argument = (int)queued;
    return 0;
}
