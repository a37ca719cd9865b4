/* SPDX-License-Identifier: MIT */
/* The calls of the simulated system: each is the call of Linux whose name is behind `os_`, and means what that means.
 */
#ifndef CARRICK_TESTS_OS_CALLS_H
#define CARRICK_TESTS_OS_CALLS_H

#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

/* Descriptors, and waiting for them. */
int os_close(int fd);
int os_dup(int from);
int os_dup3(int from, int to, int flags);
int os_fcntl(int fd, int command, ...);
int os_poll(struct pollfd *fds, nfds_t count, int timeout);
int os_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const void *mask);
int os_epoll_create1(int flags);
int os_epoll_ctl(int set, int operation, int fd, struct epoll_event *event);
int os_epoll_wait(int set, struct epoll_event *events, int most, int timeout);

int os_eventfd(unsigned value, int flags);
int os_timerfd_create(int clock, int flags);
int os_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *before);

/* Sockets: how they are made, named and connected; their options. */
int os_socket(int domain, int type, int protocol);
int os_socketpair(int domain, int type, int protocol, int ends[2]);
int os_bind(int fd, const struct sockaddr *address, socklen_t len);
int os_listen(int fd, int backlog);
int os_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int os_connect(int fd, const struct sockaddr *address, socklen_t len);
int os_shutdown(int fd, int how);
int os_getsockname(int fd, struct sockaddr *address, socklen_t *len);
int os_getpeername(int fd, struct sockaddr *address, socklen_t *len);
int os_getsockopt(int fd, int level, int option, void *value, socklen_t *len);
int os_setsockopt(int fd, int level, int option, const void *value, socklen_t len);

/* What is written and read. */
ssize_t os_send(int fd, const void *data, size_t len, int flags);
ssize_t os_sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *to, socklen_t to_len);
ssize_t os_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t os_write(int fd, const void *data, size_t len);
ssize_t os_writev(int fd, const struct iovec *pieces, int count);
ssize_t os_recv(int fd, void *data, size_t len, int flags);
ssize_t os_recvfrom(int fd, void *data, size_t len, int flags, struct sockaddr *from, socklen_t *from_len);
ssize_t os_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t os_read(int fd, void *data, size_t len);
ssize_t os_readv(int fd, const struct iovec *pieces, int count);

/* Memory. */
void *os_calloc(size_t count, size_t size);
void *os_aligned_alloc(size_t alignment, size_t size);
void os_free(void *memory);
void *os_mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset);
int os_munmap(void *at, size_t len);

/* The clock, randomness, files' names, limits, what is printed, and what the library finds behind itself. */
int os_clock_gettime(clockid_t clock, struct timespec *time);
ssize_t os_getrandom(void *octets, size_t len, unsigned flags);
char *os_getenv(const char *name);
int os_unlink(const char *path);
char *os_realpath(const char *path, char *real);
int os_stat(const char *path, struct stat *is);
int os_lstat(const char *path, struct stat *is);
uid_t os_geteuid(void);
gid_t os_getegid(void);
int os_seteuid(uid_t user);
int os_setegid(gid_t group);
int os_ioctl(int fd, unsigned long request, ...);
mode_t os_umask(mode_t mask);
int os_getrlimit(int resource, struct rlimit *limit);
int os_setrlimit(int resource, const struct rlimit *limit);
int os_fprintf(FILE *out, const char *format, ...);
size_t os_fwrite(const void *data, size_t size, size_t count, FILE *out);
int os_fputc(int letter, FILE *out);
int os_fflush(FILE *out);
int os_raise(int signal);
void *os_dlsym(void *library, const char *name);

#endif
