/* SPDX-License-Identifier: MIT */
/* What an application calls: the preloaded library's functions where it has them, the system's otherwise. */
#ifndef CARRICK_TESTS_OS_LIBRARY_H
#define CARRICK_TESTS_OS_LIBRARY_H

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Before each run: what the library keeps in a program is as at its start. */
void library_begin(void);

int app_socket(int domain, int type, int protocol);
int app_bind(int fd, const struct sockaddr *address, socklen_t len);
int app_listen(int fd, int backlog);
int app_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int app_connect(int fd, const struct sockaddr *address, socklen_t len);
int app_getsockname(int fd, struct sockaddr *address, socklen_t *len);
int app_getpeername(int fd, struct sockaddr *address, socklen_t *len);
int app_getsockopt(int fd, int level, int option, void *value, socklen_t *len);
int app_setsockopt(int fd, int level, int option, const void *value, socklen_t len);
ssize_t app_recv(int fd, void *data, size_t len, int flags);
ssize_t app_read(int fd, void *data, size_t len);
ssize_t app_send(int fd, const void *data, size_t len, int flags);
ssize_t app_sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *to, socklen_t to_len);
ssize_t app_write(int fd, const void *data, size_t len);
int app_poll(struct pollfd *fds, nfds_t count, int timeout);
int app_shutdown(int fd, int how);
int app_close(int fd);
int app_dup(int fd);
int app_fcntl(int fd, int command, ...);

#endif
