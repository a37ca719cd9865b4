/* SPDX-License-Identifier: MIT */
/* Calls that the preloaded library leaves to the system: these give way to its own where it has them. */
#define _GNU_SOURCE
#include "tests/os/library.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define SYSTEM(type, name, parameters, arguments)                                                                      \
    type os_##name parameters;                                                                                         \
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

int os_fcntl(int fd, int command, ...);
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
int os_bind(int fd, const struct sockaddr *address, socklen_t len);
int os_listen(int fd, int backlog);
int os_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int os_connect(int fd, const struct sockaddr *address, socklen_t len);
int os_getsockname(int fd, struct sockaddr *address, socklen_t *len);
int os_getpeername(int fd, struct sockaddr *address, socklen_t *len);
int os_getsockopt(int fd, int level, int option, void *value, socklen_t *len);
int os_setsockopt(int fd, int level, int option, const void *value, socklen_t len);
ssize_t os_read(int fd, void *data, size_t len);
ssize_t os_readv(int fd, const struct iovec *pieces, int count);
ssize_t os_recv(int fd, void *data, size_t len, int flags);
ssize_t os_recvfrom(int fd, void *data, size_t len, int flags, struct sockaddr *from, socklen_t *from_len);
ssize_t os_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t os_sendmsg(int fd, const struct msghdr *message, int flags);
void *os_dlsym(void *library, const char *name);

void *os_dlsym(void *library, const char *name) {
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {BEHIND(bind),        BEHIND(listen),     BEHIND(accept4),    BEHIND(connect),  BEHIND(getsockname),
               BEHIND(getpeername), BEHIND(getsockopt), BEHIND(setsockopt), BEHIND(read),     BEHIND(readv),
               BEHIND(recv),        BEHIND(recvfrom),   BEHIND(recvmsg),    BEHIND(send),     BEHIND(sendto),
               BEHIND(sendmsg),     BEHIND(write),      BEHIND(poll),       BEHIND(shutdown), BEHIND(close),
               BEHIND(fcntl)};
    (void)library;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        void *found;
        memcpy(&found, &all[i].function, sizeof found);
        if (strcmp(all[i].name, name) == 0)
            return found;
    }
    fprintf(stderr, "the library wants `%s`, which the simulated system has not\n", name);
    abort();
}
