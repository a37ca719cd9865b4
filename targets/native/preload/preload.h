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

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "carrick/sockets.h"

/* What the program's calls would have reached: a type, a name, parameters, arguments. (Those that take what they need
 * behind `...` get it as a pointer, as the kernel does.) */
#define PRELOAD_LIBC(CALL)                                                                                             \
    CALL(int, bind, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len))                       \
    CALL(int, listen, (int fd, int backlog), (fd, backlog))                                                            \
    CALL(int, accept4, (int fd, struct sockaddr *address, socklen_t *len, int flags), (fd, address, len, flags))       \
    CALL(int, connect, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len))                    \
    CALL(int, shutdown, (int fd, int how), (fd, how))                                                                  \
    CALL(int, getsockname, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len))                     \
    CALL(int, getpeername, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len))                     \
    CALL(int, getsockopt, (int fd, int level, int option, void *value, socklen_t *len),                                \
         (fd, level, option, value, len))                                                                              \
    CALL(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t len),                           \
         (fd, level, option, value, len))                                                                              \
    CALL(int, ioctl, (int fd, unsigned long request, void *argument), (fd, request, argument))                         \
    CALL(ssize_t, read, (int fd, void *data, size_t len), (fd, data, len))                                             \
    CALL(ssize_t, readv, (int fd, const struct iovec *pieces, int count), (fd, pieces, count))                         \
    CALL(ssize_t, preadv2, (int fd, const struct iovec *pieces, int count, off_t at, int flags),                       \
         (fd, pieces, count, at, flags))                                                                               \
    CALL(ssize_t, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned flags),            \
         (from, from_at, to, to_at, len, flags))                                                                       \
    CALL(ssize_t, recv, (int fd, void *data, size_t len, int flags), (fd, data, len, flags))                           \
    CALL(ssize_t, recvfrom,                                                                                            \
         (int fd, void *data, size_t len, int flags, struct sockaddr *address, socklen_t *address_len),                \
         (fd, data, len, flags, address, address_len))                                                                 \
    CALL(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))                          \
    CALL(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),       \
         (fd, messages, count, flags, timeout))                                                                        \
    CALL(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len))                                      \
    CALL(ssize_t, writev, (int fd, const struct iovec *pieces, int count), (fd, pieces, count))                        \
    CALL(ssize_t, sendto,                                                                                              \
         (int fd, const void *data, size_t len, int flags, const struct sockaddr *address, socklen_t address_len),     \
         (fd, data, len, flags, address, address_len))                                                                 \
    CALL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))                    \
    CALL(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags), (fd, messages, count, flags))   \
    CALL(int, socket, (int domain, int type, int protocol), (domain, type, protocol))                                  \
    CALL(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))                           \
    CALL(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),        \
         (fds, count, timeout, mask))                                                                                  \
    CALL(int, epoll_ctl, (int set, int operation, int fd, struct epoll_event *event), (set, operation, fd, event))     \
    CALL(int, dup, (int fd), (fd))                                                                                     \
    CALL(int, dup2, (int fd, int other), (fd, other))                                                                  \
    CALL(int, dup3, (int fd, int other, int flags), (fd, other, flags))                                                \
    CALL(int, fcntl, (int fd, int command, void *argument), (fd, command, argument))                                   \
    CALL(int, close, (int fd), (fd))
#define PRELOAD_FIELD(type, name, parameters, arguments) type(*name) parameters;

/* Each is found when the library is loaded, or by its first call: constructors of other libraries call some before. */
struct preload_libc {
    PRELOAD_LIBC(PRELOAD_FIELD)
};
extern struct preload_libc preload_libc;

/* The library's functions are seen by the program, all else is not. */
#define PRELOADED __attribute__((visibility("default")))

/* What the socket is. False: not one of ours. */
bool preload_name(int fd, struct carrick_socket_name *name);
/* The same of the stack's end of a connection, which has the addresses. False: there is no connection. */
bool preload_ends(int fd, struct carrick_socket_name *name);

/* Whether it is a connection of ours, or one that begins. */
bool preload_is_connection(int fd);

/* Reaches the door's socket, which has this address. */
extern int (*preload_reach)(int fd, const struct sockaddr_un *door);
/* The path of the door as of the start, which stays when the program clears its environment; empty: there is none. */
const char *preload_door(void);

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
/* Waits for a further answer, as connect() of `fd` waits: as long as its SO_SNDTIMEO says. Returns the answer's error;
 * EINPROGRESS: the time is over; EINTR: a signal's handler that does not restart calls has run. */
int preload_await(int connection, int fd);
/* Asks what has one answer, with a descriptor if `fd` is not negative. Returns its error, ENETDOWN if there is no
 * stack. */
int preload_tell(const struct carrick_ask *ask, int fd);

/* The type of a socket of the kernel's over IP that may become one of ours: SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET; 0:
 * it is none. If so, `ask` has its type and family. */
int preload_type(int fd, struct carrick_ask *ask);
/* The same of one that has a connection. */
bool preload_connects(int fd, struct carrick_ask *ask);
/* A socket of the kernel's that stands for one of the type SOCK_SEQPACKET, which the kernel has not: it becomes ours
 * with bind() or connect(), and sends nothing itself. -1: the system gives none. */
int preload_make_packets(int domain, int flags);
/* Whether it is one. */
bool preload_stands_for_packets(int fd);
/* The address and port within, also of loopback. False: it is of another family. */
bool preload_any_address(const struct sockaddr *from, socklen_t len, struct carrick_ask *ask);
/* The address and port within. False: it is of another family, or of loopback. */
bool preload_address(const struct sockaddr *from, socklen_t len, struct carrick_ask *ask);
/* Writes an address as the kernel would: what fits into *len, and its length. */
void preload_give(bool six, struct carrick_ip6_address address, uint16_t port, struct sockaddr *to, socklen_t *len);

/* Whether the socket is the kernel's and may still become one of ours. */
bool preload_is_fresh(int fd);
/* Whether another may take its place: it is fresh, or ours and not a connection. */
bool preload_may_change(int fd);
/* Carries out what the program did with a socket before another took its place: its duplicates in this process and its
 * places in epoll sets are the other's, too. `begin` before `fd` itself is replaced; returns what `end` is to have. */
uint64_t preload_replace_begin(int fd);
void preload_replace_end(int fd, uint64_t old);
/* `other` is a duplicate, made of `fd` by this process. */
int preload_duplicated(int fd, int other);

/* Which descriptors are ours, as far as this process has seen. It is a hint alone: one that was closed
 * unseen may be another file by now, and one that came from another process is missing. */
/* It has this name; NULL: it is not ours. */
void preload_mark(int fd, const struct carrick_socket_name *name);
/* `other` is what `fd` is. */
void preload_mark_as(int fd, int other);
bool preload_marked(int fd);

/* The same of datagram sockets. */
bool preload_marked_letters(int fd);

/* Datagram sockets of ours (CARRICK_SOCKET_LETTERS). */

/* On one that has a peer: as PRELOAD_LISTENS. */
#define PRELOAD_HAS_PEER SO_DONTROUTE
/* Bytes that one can hold at least that were sent, whatever its program asks for: the longest message. */
#define LETTERS_BUFFER 131072
bool preload_has_peer(int fd);
/* Whether the socket is one, also where it came from another process. */
bool preload_is_letters(int fd, struct carrick_socket_name *name);
/* Puts the stack's socket in the place of the kernel's. Returns an errno. */
int preload_letters_replace(int fd, int own, bool has_peer);
/* Gives a socket of the kernel's a peer at the stack. Returns an errno; CARRICK_NOT_OURS: the kernel shall do it. */
int preload_letters_connect(int fd, const struct carrick_ask *ask);
/* The same of one of ours, which may also lose its peer (AF_UNSPEC). */
int preload_letters_join(int fd, const struct carrick_socket_name *name, const struct sockaddr *address, socklen_t len);
/* The kernel's socket `fd` sends to an address: it becomes one of ours if the stack has the address. Returns an errno,
 * 0 if it has, CARRICK_NOT_OURS if the kernel shall do it. */
int preload_letters_begin(int fd, const struct sockaddr *address, socklen_t len);
ssize_t preload_letters_send(int fd, const struct carrick_socket_name *name, const struct msghdr *message, int flags);
ssize_t preload_letters_receive(int fd, const struct carrick_socket_name *name, struct msghdr *message, int flags);
/* The error that waits to be received; and that, which is taken. */
int preload_letters_waiting(int fd);
int preload_letters_error(int fd);
/* Both ends. Returns an errno. */
int preload_letters_ends(int fd, const struct carrick_socket_name *name, struct carrick_answer *ends);
int preload_letters_shutdown(int fd, int how);
/* Types that the stack has for an address (CARRICK_ASK_OFFERS). */
uint32_t preload_offers(const struct carrick_ask *of);

/* How an error is asked for: by whoever takes it, by whoever only looks, or by one who reads (whom the error of writing
 * to a peer that has ended is not for). */
int preload_why(int fd, uint64_t id, uint32_t manner);
/* What reading returns that has got this, which is not positive: -1 with errno, if the connection broke off. */
ssize_t preload_ended(int fd, ssize_t got);

/* The process has given up system calls, and may die of one that it does not make itself (seccomp): nothing is added to
 * its calls any more. */
extern atomic_bool preload_confined;

/* Whether a connection is over, for both ends. */
bool preload_is_over(int fd, const struct carrick_socket_name *name);

/* Whether to receive with these flags differs for one of ours; and that. */
bool preload_differs(int fd, int flags);
ssize_t preload_receive(int fd, const struct iovec *pieces, size_t count, int flags);

/* On a listening socket of ours, and on none of ours that does not listen: an option of Unix sockets that does nothing
 * else, and that all owners of the socket see. */
#define PRELOAD_LISTENS SO_BROADCAST
bool preload_listens(int fd);

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
/* Puts a socket of the kernel's in the place of one of ours, with its options, which may become one of ours again. */
int preload_forget(int fd, const struct carrick_socket_name *name);

#endif
