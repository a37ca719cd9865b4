/* SPDX-License-Identifier: MIT */
/*
 * An application that obeys a line at a time, for tests and measurements: each line of standard input is a command, and
 * is answered with one line: `ok`, `ok VALUE`, or what went wrong (`reset`, `refused`, `timed_out`, `unreachable`,
 * `closed`, `end COUNT`, `corrupt AT`). Commands wait for each other.
 *
 *     listen PORT [BACKLOG]     unlisten     connect IP PORT     accept     use N (connections are numbered from 0)
 *     open IP PORT LOCALPORT (of messages: each send and each recv is one)
 *     open_stream and accept_stream (of the connection in use; numbered as connections are)      reset
 *     send N SEED               recv N SEED              finish SEED (receive to the end; answers the count)
 *     exchange N SEED M SEED    shutdown                 close              abort
 *     echo                      ping COUNT SIZE (answers nanoseconds: median, 99th percentile)
 *     blast N (sends as fast as it goes)                 timed_recv N (answers nanoseconds)
 *
 * and, of RPCs, several at once, whose requests have N bytes and whose responses M:
 *
 *     endpoint PORT             call COUNT IP PORT N SEED M SEED             serve COUNT N SEED M SEED
 */
#ifndef CARRICK_APPS_SCRIPT_H
#define CARRICK_APPS_SCRIPT_H

#include "apps/apps.h"

#define SCRIPT_BUFFER      262144u
#define SCRIPT_LINE        256u
#define SCRIPT_CONNECTIONS 256u
#define SCRIPT_PINGS       1000000u
#define SCRIPT_WORDS       8
#define SCRIPT_RPCS        8u

/* One half of a transfer. */
struct script_half {
    bool running, plain; /* plain: what the bytes are does not matter */
    uint64_t left, done, seed;
    uint32_t held, at; /* sending: bytes in the buffer, and of those taken */
    uint8_t buffer[SCRIPT_BUFFER];
};

/* An RPC of either end. */
struct script_rpc {
    struct script *script;
    uint64_t handle;
    bool open;
    uint8_t buffer[SCRIPT_BUFFER];
};

enum script_task { TASK_NONE, TASK_SEND, TASK_RECV, TASK_FINISH, TASK_EXCHANGE, TASK_TIMED, TASK_ECHO, TASK_PING };

struct script_connection {
    uint64_t handle;
    uint64_t sent, received; /* bytes since it was opened */
    bool open;
};

struct script {
    struct carrick_stack *stack;
    struct script_connection connections[SCRIPT_CONNECTIONS];
    uint32_t connection_count, current;
    uint64_t listener;
    bool busy, ended; /* a command is being obeyed; there are no more lines */
    enum script_task task;
    uint64_t value;   /* what the answer says */
    uint64_t begin;   /* nanoseconds */
    char failure[48]; /* the answer once both halves are at rest; empty: none */
    struct script_half out, in;
    uint32_t ping_count, ping_size, pings;
    uint64_t *times; /* SCRIPT_PINGS of them */
    struct script_rpc rpcs[SCRIPT_RPCS];
    uint32_t rpcs_left, rpcs_open; /* that are to begin, and that have begun and not ended */
    bool is_server;
    struct carrick_ip6_address address; /* of the server */
    uint16_t port;
    char lines[4096];
    uint32_t lines_len;
};

/* Ends the command that is being obeyed with this answer, and goes on with the next one. */
void script_answer(struct script *script, const char *format, ...) __attribute__((format(printf, 2, 3)));
void script_answer_status(struct script *script, enum carrick_status status);
const char *script_status(enum carrick_status status);

/* Obeys lines until one has to be waited for. */
void script_next(struct script *script);

/* The connection in use, NULL: there is none (and that is the answer). */
struct script_connection *script_connection(struct script *script);

/* Starts a command of RPCs. False: it is none of these. */
bool script_rpc(struct script *script, char **words, int count);

/* Starts a command on a connection. False: it is none of these. */
bool script_transfer(struct script *script, char **words, int count);

#endif
