/* SPDX-License-Identifier: MIT */
/*
 * How the sockets of unmodified programs reach a stack in another process: the messages between `--app sockets:PATH`
 * and the preloaded library (LD_PRELOAD).
 *
 * A connection is a pair of Unix stream sockets: the program has one, the stack's process the other and moves the
 * bytes. So reading, writing, polling, duplicating, passing on and inheriting are the kernel's own. A listening socket
 * is a pair of SOCK_SEQPACKET sockets, over which accepted connections arrive as descriptors. Requests go over a short
 * SOCK_SEQPACKET connection to PATH: one carrick_ask, one carrick_answer (CONNECT: a second one, when it has ended).
 *
 * A datagram socket is a pair of SOCK_SEQPACKET sockets, too. A message over it begins with a carrick_letter, which has
 * the far address. A message from the program that does not is for the socket's peer.
 *
 * Bytes that were written with a descriptor, of whatever kind, are followed by more (MSG_MORE).
 *
 * The stack's process makes both pairs and passes one end to the program. It never reads or writes a descriptor that a
 * program passed to it: such a descriptor proves that the program has the socket, and only its cookie is compared.
 *
 * Nothing about a socket is kept in the program's process, so that fork, dup and exec lose nothing: sockets have names
 * in the abstract namespace, which say what they are.
 */
#ifndef CARRICK_SOCKETS_H
#define CARRICK_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "carrick/address.h"

#define CARRICK_SOCKETS_VERSION  8u
#define CARRICK_SOCKETS_VARIABLE "CARRICK_SOCKETS" /* of the environment: the path */

enum carrick_ask_kind {
    CARRICK_ASK_BIND = 1, /* address, port, options, six, only6; answers id, address, port, and the program's end of the
                             socket */
    CARRICK_ASK_LISTEN,   /* id, value: the backlog; with the program's end */
    CARRICK_ASK_CONNECT,  /* address, port, local_port, options, six, only6, value: 1: connect() does not wait; of a
                             bound socket also its id, with the program's end: its options are the connection's; answers
                             id, and the program's end of the connection, which poll reports as writable only once it is
                             connected */
    CARRICK_ASK_WHY, /* id: of a connection, with the program's end, value: of enum carrick_socket_why; answers with the
                        error that ended it; 0: none did, or somebody knows it already */
    CARRICK_ASK_SET, /* id, item: of enum carrick_socket_option, value; with the program's end, which only its owners
                        have */
    CARRICK_ASK_GET, /* id, item: an option, or one of CARRICK_ITEM; with the program's end; answers its value,
                        ENOPROTOOPT for a time that is the program's own */
    CARRICK_ASK_LINGER, /* id; with the program's end: who asks is about to close it */
    CARRICK_ASK_CLOSED, /* id, on the same connection: answers when the peer has all, or at once if the socket has other
                           owners */
    CARRICK_ASK_CONNECTED, /* id; with the program's end: connect() again. Answers 0: it is there, which nobody has been
                              told yet; EISCONN: somebody has; the error that ended it, once, then ECONNABORTED;
                              EALREADY: it is being made, and if the answer has its id, a second one follows that says
                              how that ended */
    CARRICK_ASK_SEND,   /* address: a datagram socket without a port shall send there, item, six, only6; answers as BIND
                         */
    CARRICK_ASK_OFFERS, /* address; answers id: 1 << SOCK_DGRAM, ..., of the types that this stack has for it, and
                           remote_port: bytes of the longest message */
};

/* `item` of BIND and CONNECT is the socket's type: SOCK_DGRAM, SOCK_SEQPACKET, else it is a stream. `value` of BIND of
 * a datagram socket: 1: others that say so, too, may have its port. CONNECT of a datagram socket with an id answers
 * when it is connected, and with the address `::` and port 0 when it has no peer any more. */

/* Who asks why a connection ended. */
enum carrick_socket_why {
    CARRICK_WHY_TAKE, /* one who takes the error, which is told once */
    CARRICK_WHY_LOOK, /* one who only looks */
    CARRICK_WHY_READ, /* one who reads: EPIPE, which is for those who write, is not for it */
};

/* The socket options that the stack receives; bits. The value of those that have none is 1 or 0. */
enum carrick_socket_option {
    CARRICK_OPTION_NODELAY = 1,   /* what is small is sent at once */
    CARRICK_OPTION_KEEPALIVE = 2, /* SO_KEEPALIVE */
    CARRICK_OPTION_RESET = 4,     /* SO_LINGER of no time: closing resets */
    CARRICK_OPTION_TOS = 8,       /* the value is the DiffServ field */
    CARRICK_OPTION_CORK = 16,     /* less than a segment waits for more; what waited is sent when it ends */
    CARRICK_OPTION_PATIENCE = 32, /* the value is how long what waits for the peer may wait, in ms; 0: any time */
    CARRICK_OPTION_LINGER = 64,   /* the value is how long the peer has to end its side after close, in s, as an int; 0:
                                     as the program has it, negative: no time */
    CARRICK_OPTION_RECEIVE = 128, /* the value is how much may wait for the program here, in bytes; 0: as ever */
    CARRICK_OPTIONS = 255,
};

/* The options of a socket: those that are on, and the values of those that have one. */
struct carrick_socket_options {
    uint32_t on;
    uint32_t tos;
    uint32_t patience;
    int32_t linger;
    uint32_t receive;
};

void carrick_socket_options_set(struct carrick_socket_options *options, enum carrick_socket_option option,
                                uint32_t value);
uint32_t carrick_socket_options_get(const struct carrick_socket_options *options, enum carrick_socket_option option);

/* What else a connection reports: this, and what the program reports, as enum carrick_info numbers it; for how many
 * nanoseconds nothing was sent, or received; bytes that the peer has not acknowledged, and those of them that were not
 * sent yet; its local end while it is being made, which the answer has. */
#define CARRICK_ITEM_INFO     0x10000u
#define CARRICK_ITEM_SENT     0x20000u
#define CARRICK_ITEM_RECEIVED 0x20001u
#define CARRICK_ITEM_QUEUED   0x20002u
#define CARRICK_ITEM_UNSENT   0x20003u
#define CARRICK_ITEM_LOCAL    0x20004u
#define CARRICK_ITEM_PEER     0x20005u /* of a datagram socket: both ends, which the answer has */

/* In every version the first word of an ask is its version, and that of an answer its error: EPROTO to an ask of
 * another version, whatever the rest of it is. */
struct carrick_ask {
    uint32_t version;
    uint32_t kind;
    uint64_t id;
    struct carrick_ip6_address address; /* `::` means any address of either version, ::ffff:0.0.0.0 any of IPv4 */
    uint16_t port, local_port;
    uint32_t item;
    uint32_t value;
    uint32_t six;   /* 1: of the family AF_INET6, which an IPv4 address is mapped into */
    uint32_t only6; /* 1: IPV6_V6ONLY is set, so the socket reaches no IPv4 address */
    struct carrick_socket_options options;
};

struct carrick_answer {
    int32_t error; /* an errno; 0: none; CARRICK_NOT_OURS */
    uint16_t local_port, remote_port;
    uint64_t id; /* of GET: the value */
    struct carrick_ip6_address local_address, remote_address;
};

/* The kernel shall do it. */
#define CARRICK_NOT_OURS (-1)
/* The same of all sockets of this type. */
#define CARRICK_NOT_THIS_TYPE (-2)

/* What a message of a datagram socket begins with. */
struct carrick_letter {
    uint64_t id;                        /* of the socket */
    struct carrick_ip6_address address; /* whence, or where to; `::`: to the peer */
    uint16_t port;
    uint16_t unused;
    int32_t error; /* 0, or an errno: the message is that an earlier one met this */
};

enum carrick_socket_kind {
    CARRICK_SOCKET_CONNECTION = 'c', /* a program's end */
    CARRICK_SOCKET_ENDS = 'e',       /* the stack's end of it: knows the addresses once it is connected */
    CARRICK_SOCKET_BOUND = 'b',
    CARRICK_SOCKET_LETTERS = 'd', /* a program's datagram socket: remote_address is the stack's, and remote_port the
                                     length of the longest message */
};

/* What a name says. */
struct carrick_socket_name {
    char kind; /* of enum carrick_socket_kind */
    uint64_t id;
    bool six, only6;
    bool packets; /* its type is SOCK_SEQPACKET; remote_port of a program's end is the length of the longest message */
    struct carrick_ip6_address local_address, remote_address;
    uint16_t local_port, remote_port;
};

/* Makes the name; returns the length of the address. */
socklen_t carrick_socket_name_make(const struct carrick_socket_name *name, struct sockaddr_un *address);

/* Sends bytes by `transmit`, which is sendmsg, with a descriptor if `fd` is not negative. Returns what that returns. */
ssize_t carrick_socket_put(ssize_t (*transmit)(int socket, const struct msghdr *message, int flags), int socket,
                           const void *data, size_t len, int fd, int flags);

/* Sends a message over a SOCK_SEQPACKET socket, with a descriptor if `fd` is not negative; `flags` as of sendmsg.
 * False: it did not go, and errno says why. */
bool carrick_socket_pass(int socket, const void *data, size_t len, int fd, int flags);

/* Writes an address as sockets have it: of AF_INET for one of IPv4, else of AF_INET6. Returns its length. */
socklen_t carrick_socket_address(struct carrick_ip6_address address, uint16_t port, struct sockaddr_storage *to);

/* What the kernel calls a socket, and no other one as long as it runs (SO_COOKIE); 0: it is none. */
uint64_t carrick_socket_cookie(int fd);

/* Takes a message by `receive`, which is recvmsg; *fd is the descriptor that arrived with it, closed by exec, or -1. */
ssize_t carrick_socket_take(ssize_t (*receive)(int socket, struct msghdr *message, int flags), int socket, void *data,
                            size_t len, int *fd, int flags);

/* False: it is not one of ours. */
bool carrick_socket_name_read(const struct sockaddr_un *address, socklen_t len, struct carrick_socket_name *name);

#endif
