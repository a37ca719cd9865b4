/* SPDX-License-Identifier: MIT */
/*
 * The library that brings an unmodified program's stream sockets to a stack in another process:
 *
 *     LD_PRELOAD=libcarrick-sockets.so CARRICK_SOCKETS=/run/stack.sock curl http://10.0.0.2/
 *
 * What a socket is stands in its name (carrick/sockets.h), so there is no state here. Loopback, and all that is not a
 * stream over IP, is the kernel's as ever.
 */
#ifndef CARRICK_PRELOAD_H
#define CARRICK_PRELOAD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "carrick/sockets.h"

/* What the program's calls would have reached. */
struct preload_libc {
    int (*bind)(int fd, const struct sockaddr *address, socklen_t len);
    int (*listen)(int fd, int backlog);
    int (*accept4)(int fd, struct sockaddr *address, socklen_t *len, int flags);
    int (*connect)(int fd, const struct sockaddr *address, socklen_t len);
    int (*getsockname)(int fd, struct sockaddr *address, socklen_t *len);
    int (*getpeername)(int fd, struct sockaddr *address, socklen_t *len);
    int (*getsockopt)(int fd, int level, int option, void *value, socklen_t *len);
    int (*setsockopt)(int fd, int level, int option, const void *value, socklen_t len);
    ssize_t (*read)(int fd, void *data, size_t len);
    ssize_t (*readv)(int fd, const struct iovec *pieces, int count);
    ssize_t (*recv)(int fd, void *data, size_t len, int flags);
    ssize_t (*recvfrom)(int fd, void *data, size_t len, int flags, struct sockaddr *address, socklen_t *address_len);
    ssize_t (*recvmsg)(int fd, struct msghdr *message, int flags);
    ssize_t (*sendto)(int fd, const void *data, size_t len, int flags, const struct sockaddr *address,
                      socklen_t address_len);
    ssize_t (*sendmsg)(int fd, const struct msghdr *message, int flags);
    int (*close)(int fd);
};
extern struct preload_libc preload_libc;

/* The library's functions are seen by the program, all else is not. */
#define PRELOADED __attribute__((visibility("default")))

/* What the socket is. False: not one of ours. */
bool preload_name(int fd, struct carrick_socket_name *name);
/* The same of the stack's end of a connection, which has the addresses. False: there is no connection. */
bool preload_ends(int fd, struct carrick_socket_name *name);

/* Asks, with a descriptor if `fd` is not negative, and takes the first answer, with the descriptor that it brings in
 * *got (-1: none). The connection, on which more may come and which the caller closes; -1: there is no stack, with
 * errno. */
int preload_ask(const struct carrick_ask *ask, int fd, struct carrick_answer *answer, int *got);
/* Reads a value of a socket: an option, or one of CARRICK_ITEM. Returns an errno. */
int preload_get(int fd, uint64_t id, uint32_t item, uint64_t *value);
/* The same of several, from this one on. */
int preload_get_all(int fd, uint64_t id, uint32_t item, uint32_t count, uint64_t *values);
/* Asks more on the same connection. False: the stack is gone. */
bool preload_ask_on(int connection, const struct carrick_ask *ask);
/* Waits for a further answer. False: the stack is gone. */
bool preload_answer(int connection, struct carrick_answer *answer);
/* Asks what has one answer, with a descriptor if `fd` is not negative. Returns its error, ENETDOWN if there is no
 * stack. */
int preload_tell(const struct carrick_ask *ask, int fd);

/* Whether the socket is one of the kernel's streams over IP. If so, `ask` has its family. */
bool preload_is_stream(int fd, struct carrick_ask *ask);
/* The address and port within. False: it is of another family, or of loopback. */
bool preload_address(const struct sockaddr *from, socklen_t len, struct carrick_ask *ask);
/* Writes an address as the kernel would: what fits into *len, and its length. */
void preload_give(bool six, struct carrick_ip6_address address, uint16_t port, struct sockaddr *to, socklen_t *len);

/* Whether the socket is the kernel's and may still become one of ours. */
bool preload_is_fresh(int fd);
/* What of a kernel's socket's options the stack is to know. */
void preload_options(int fd, struct carrick_socket_options *options);
/* The program has set TCP_LINGER2 of a socket that may become one of ours. Where it never has, the stack's own time
 * counts. */
void preload_sets_linger2(void);
/* The option as the stack names it; 0: the stack does not have it. */
uint32_t preload_option(int level, int option);
/* The program has set that closing waits: from now on close() looks whether it does for the socket that it closes. */
void preload_lingers(void);
/* An accepted socket waits as its listening socket does. */
void preload_linger_as(int listening, int accepted);

/* Puts `from` in the place of `fd`, with its flags and those of its options that are the kernel's own, and closes
 * `from`. */
int preload_replace(int fd, int from);

#endif
