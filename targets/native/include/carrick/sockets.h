/* SPDX-License-Identifier: MIT */
/*
 * How the sockets of unmodified programs reach a stack in another process: what `--app sockets:PATH` and the library
 * that is preloaded (LD_PRELOAD) tell each other.
 *
 * A connection is a pair of Unix stream sockets: the program has one, the stack's process the other and moves the
 * octets. So reading, writing, polling, duplicating, passing on and inheriting are the kernel's own. A listening socket
 * is a pair of SOCK_SEQPACKET sockets, over which accepted connections come as descriptors. Requests go over a short
 * SOCK_SEQPACKET connection to PATH: one carrick_ask, one carrick_answer (CONNECT: a second one, when it has ended).
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

#define CARRICK_SOCKETS_VERSION  4u
#define CARRICK_SOCKETS_VARIABLE "CARRICK_SOCKETS" /* of the environment: the path */

enum carrick_ask_kind {
    CARRICK_ASK_BIND = 1, /* address, port, options, six; answers id, address, port, and the program's end of the
                             socket */
    CARRICK_ASK_LISTEN,   /* id, value: the backlog; with the program's end */
    CARRICK_ASK_CONNECT,  /* address, port, local_port, options, six, value: 1: poll reports the socket as writable only
                             once it is connected; answers id, and the program's end of the connection */
    CARRICK_ASK_WHY, /* id: of a connection, with the program's end; answers with the error that ended it, once; 0: none
                        did, or somebody knows it already */
    CARRICK_ASK_SET, /* id, options, value; with the program's end, which only its owners have */
    CARRICK_ASK_GET, /* id, value: of enum carrick_socket_value; with the program's end; answers value */
    CARRICK_ASK_LINGER, /* id; with the program's end: who asks is about to close it */
    CARRICK_ASK_CLOSED, /* id, on the same connection: answers when the peer has all, or at once if the socket has other
                           owners */
};

/* What of a socket's options the stack is told; bits. */
enum carrick_socket_option {
    CARRICK_OPTION_NODELAY = 1,   /* what is small is sent at once */
    CARRICK_OPTION_KEEPALIVE = 2, /* SO_KEEPALIVE */
    CARRICK_OPTION_RESET = 4,     /* SO_LINGER of no time: closing resets */
    CARRICK_OPTION_TOS = 8,       /* the value is the DiffServ field; of the others it is 1 or 0 */
    CARRICK_OPTION_PATIENCE = 32, /* the value is how long what waits for the peer may wait, in ms; 0: any time */
    CARRICK_OPTION_LINGER = 64,   /* the value is how long the peer has to end its side after close, in s, as an int; 0:
                                     as the program has it, negative: no time */
    CARRICK_OPTION_CORK = 16,     /* what is small waits, whatever NODELAY says; what waited is sent when it ends */
};

/* What can be asked of a socket. */
enum carrick_socket_value {
    CARRICK_VALUE_OPTIONS = 0, /* those that are on, and from bit 8 the DiffServ field */
    CARRICK_VALUE_PATIENCE = 1,
    CARRICK_VALUE_LINGER = 2,
    CARRICK_VALUE_INFO = 3, /* and the next ones: what the program tells, as enum carrick_info numbers it */
};

struct carrick_ask {
    uint32_t version;
    uint32_t kind;
    uint64_t id;
    uint32_t address; /* IPv4, host order */
    uint16_t port, local_port;
    uint32_t options; /* of enum carrick_socket_option */
    uint32_t value;
    uint32_t six;      /* 1: of the family AF_INET6, which an IPv4 address is mapped into */
    uint32_t tos;      /* the DiffServ field, with CARRICK_OPTION_TOS in the options */
    uint32_t patience; /* with CARRICK_OPTION_PATIENCE */
    uint32_t reserved;
};

struct carrick_answer {
    int32_t error; /* an errno; 0: none; CARRICK_NOT_OURS */
    uint32_t local_address, remote_address;
    uint16_t local_port, remote_port;
    uint64_t id; /* of GET: the value */
};

/* The kernel shall do it. */
#define CARRICK_NOT_OURS (-1)

enum carrick_socket_kind {
    CARRICK_SOCKET_CONNECTION = 'c', /* a program's end */
    CARRICK_SOCKET_ENDS = 'e',       /* the stack's end of it: knows the addresses once it is connected */
    CARRICK_SOCKET_BOUND = 'b',
};

/* What a name says. */
struct carrick_socket_name {
    char kind; /* of enum carrick_socket_kind */
    uint64_t id;
    bool six;
    uint32_t local_address, remote_address;
    uint16_t local_port, remote_port;
};

/* Makes the name; returns the length of the address. */
socklen_t carrick_socket_name_make(const struct carrick_socket_name *name, struct sockaddr_un *address);

/* Sends a message over a SOCK_SEQPACKET socket, with a descriptor if `fd` is not negative; `flags` as of sendmsg.
 * False: it did not go, and errno says why. */
bool carrick_socket_pass(int socket, const void *data, size_t len, int fd, int flags);

/* What the kernel calls a socket, and no other one as long as it runs (SO_COOKIE); 0: it is none. */
uint64_t carrick_socket_cookie(int fd);

/* Takes a message, as recvmsg does; *fd is the descriptor that came along, closed by exec, or -1. */
ssize_t carrick_socket_take(int socket, void *data, size_t len, int *fd, int flags);

/* False: it is not one of ours. */
bool carrick_socket_name_read(const struct sockaddr_un *address, socklen_t len, struct carrick_socket_name *name);

#endif
