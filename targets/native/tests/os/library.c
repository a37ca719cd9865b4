/* SPDX-License-Identifier: MIT */
/* Calls that the preloaded library leaves to the system: these give way to its own where it has them. */
#define _GNU_SOURCE
#include "tests/os/library.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "tests/os/calls.h"

#define SYSTEM(type, name, parameters, arguments)                                                                      \
    __attribute__((weak)) type app_##name parameters {                                                                 \
        return os_##name arguments;                                                                                    \
    }

SYSTEM(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
SYSTEM(ssize_t, send, (int fd, const void *data, size_t len, int flags), (fd, data, len, flags))
SYSTEM(ssize_t, sendto, (int fd, const void *data, size_t len, int flags, const struct sockaddr *to, socklen_t to_len),
       (fd, data, len, flags, to, to_len))
SYSTEM(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len))
SYSTEM(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
SYSTEM(int, shutdown, (int fd, int how), (fd, how))
SYSTEM(int, close, (int fd), (fd))
SYSTEM(int, dup, (int fd), (fd))

__attribute__((weak)) int app_fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    int argument = command == F_SETFL || command == F_SETFD ? va_arg(list, int) : 0;
    va_end(list);
    return os_fcntl(fd, command, argument);
}

/* What the library finds behind itself. A name that is missing here ends in a call of nothing. */
#define BEHIND(name)                                                                                                   \
    { #name, (void (*)(void))os_##name }

/* The section of the library's variables; the linker names its ends. */
extern char __start_preload_state[], __stop_preload_state[];

__attribute__((no_sanitize("address"))) void library_begin(void) {
    static char at_start[65536];
    static bool known;
    size_t size = (size_t)(__stop_preload_state - __start_preload_state);
    if (size > sizeof at_start)
        abort();
    for (volatile size_t i = 0; i < size; i++) {
        if (known)
            __start_preload_state[i] = at_start[i];
        else
            at_start[i] = __start_preload_state[i];
    }
    known = true;
}

void *os_dlsym(void *library, const char *name) {
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {BEHIND(bind),        BEHIND(listen),     BEHIND(accept4),    BEHIND(connect),  BEHIND(getsockname),
               BEHIND(getpeername), BEHIND(getsockopt), BEHIND(setsockopt), BEHIND(read),     BEHIND(readv),
               BEHIND(recv),        BEHIND(recvfrom),   BEHIND(recvmsg),    BEHIND(send),     BEHIND(sendto),
               BEHIND(sendmsg),     BEHIND(write),      BEHIND(poll),       BEHIND(shutdown), BEHIND(close),
               BEHIND(fcntl),       BEHIND(writev),     BEHIND(ppoll),      BEHIND(ioctl),    BEHIND(epoll_ctl),
               BEHIND(dup),         BEHIND(dup3),       BEHIND(socket)};
    /* No application here calls these. */
    static const char *const never[] = {"dup2", "preadv2", "recvmmsg", "sendmmsg", "splice"};
    (void)library;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        void *found;
        memcpy(&found, &all[i].function, sizeof found);
        if (strcmp(all[i].name, name) == 0)
            return found;
    }
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        if (strcmp(never[i], name) == 0)
            return NULL;
    fprintf(stderr, "the library wants `%s`, which the simulated system has not\n", name);
    abort();
}
