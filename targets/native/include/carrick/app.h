/* SPDX-License-Identifier: MIT */
/*
 * What an application sees of a compiled program with an interface of the shape `stream`, `multistream`, `message`,
 * `rpc` or `offload`: requests, each completed exactly once by a call of its `done`. For the shape `verbs`, see
 * carrick/verbs.h.
 *
 *     static void got(void *user, enum carrick_status status, uint64_t bytes) { ... }
 *     carrick_recv(stack, connection, buffer, sizeof buffer, got, user);
 *     carrick_stack_run(&stack, 1);
 *
 * A stack owns its port and all its memory, taken when it is opened; nothing is allocated afterwards. A stack belongs
 * to one thread. Memory given with a request stays the stack's until the request is completed. `done` is never called
 * from within the request itself, and may make new ones.
 */
#ifndef CARRICK_APP_H
#define CARRICK_APP_H

#include "carrick/address.h"
#include "carrick/port.h"

struct carrick_stack;

struct carrick_stack_config {
    const struct carrick_program *program;
    struct carrick_port *ports[CARRICK_INTERFACES]; /* one; of a program in the network, one for each interface. The
                                                       rest NULL. The stack closes them, also if it cannot be opened */
    struct carrick_ip6_address address;             /* of the program's version, as all addresses here */
    uint32_t prefix;                                /* 0..32, over IPv6 0..128 */
    struct carrick_ip6_address gateway;             /* all 0: none */
    uint64_t seed;     /* of all random numbers; take it from getrandom() unless a run must be repeatable */
    uint32_t requests; /* most open requests, a power of two; 0: four for each connection */
    const char *const
        *settings; /* "name=value" for the program's parameters, e.g. "rto_min=200ms"; ends with NULL; NULL: none */
    bool spin; /* never wait in the kernel: for measuring. Else the loop polls for 64 us before it waits, where that has
                  helped, and not at all with a real-time priority, whose time Linux limits */
    FILE *records;   /* receives a record of each event (carrick/records.h); the caller closes it; NULL: none */
    uint32_t number; /* of the stack there */
};

/* Reads a value of a kind (`unit` of carrick_param_info): a decimal number without a sign, and with a unit of that
 * kind. A time and a rate need their unit, but for 0. Returns false if the text is no such value. */
bool carrick_param_parse(const char *unit, const char *text, uint64_t *value);

/* Returns what to write for a value of that kind: "a number of bytes, as in 1500 or 64KiB". */
const char *carrick_param_wanted(const char *unit);

/* Writes a parameter's value as text, with its unit: "200ms". */
void carrick_param_show(const struct carrick_param_info *info, uint64_t value, char *text, size_t size);

/* Writes the program's parameters, with the settings applied, to `values`, which has an element for each. Returns false
 * if a setting is wrong; `error` says which. */
bool carrick_params_apply(const struct carrick_program *program, const char *const *settings, uint64_t *values,
                          struct carrick_port_error *error);

/* Opens a stack. Returns NULL on failure; `error` says why, and what to do. */
struct carrick_stack *carrick_stack_open(const struct carrick_stack_config *config, struct carrick_port_error *error);

/* Whether the stack may use its address: it may; another node has it; waiting failed. */
enum carrick_claim { CARRICK_CLAIM_OURS, CARRICK_CLAIM_TAKEN, CARRICK_CLAIM_FAILED };

/* Runs a stack that was just opened until it is known whether another node has its address (RFC 4862 section 5.4). That
 * takes a second over IPv6 and Ethernet, and no time elsewhere. `owner` becomes the hardware address of the node that
 * has it. Packets to the address are dropped meanwhile. */
enum carrick_claim carrick_stack_claim(struct carrick_stack *stack, uint8_t owner[6]);

/* Closes a stack and frees its memory. Open requests do not complete. */
void carrick_stack_close(struct carrick_stack *stack);

/* Runs up to 8 stacks of one thread until one of them is stopped; returns the code given to carrick_stack_stop, or 1 if
 * waiting failed. */
int carrick_stack_run(struct carrick_stack *const *stacks, uint32_t count);

/* Handles all pending input and timers, without waiting. Returns false if there was nothing to do. */
bool carrick_stack_turn(struct carrick_stack *stack);

/* Lets carrick_stack_run return `code` after what is queued now has been handed to the port. */
void carrick_stack_stop(struct carrick_stack *stack, int code);

/* The same, when no timer runs any more: what the program still exchanges with its peers has ended then. After `most`
 * nanoseconds in any case. */
void carrick_stack_linger(struct carrick_stack *stack, uint64_t most, int code);

/* Calls `ready` from carrick_stack_run whenever `fd` can be read. A stack watches at most 5 descriptors; returns false
 * for one more. NULL as `ready` ends the watch. */
bool carrick_stack_watch(struct carrick_stack *stack, int fd, void (*ready)(void *user), void *user);

/* Changes of contexts while stacks run: root's messages on a socket become requests of the program. */
struct carrick_changes {
    struct carrick_stack *const *stacks;
    uint32_t count;
    int fd;
    uint32_t by; /* the process that made the socket */
};

/* Takes changes of these stacks (struct carrick_change in carrick/records.h) from `fd`, one of a pair of sockets that
 * root made. The stacks and `changes` are there as long as the first stack runs. False: `error` says why not. */
bool carrick_changes_open(struct carrick_changes *changes, struct carrick_stack *const *stacks, uint32_t count, int fd,
                          struct carrick_port_error *error);

/* The network devices under the ports of stacks. */
struct carrick_devices {
    struct carrick_stack *const *stacks;
    uint32_t count;
    int fd, code;
    bool gone;
};

/* Stops the first of these stacks with a code when the network device under one of their ports is removed, is moved to
 * another network namespace, or gets another hardware address; a line on standard error names it. A device may have
 * another name, and may be down for a while. The stacks and `devices` are there as long as the first stack runs. False:
 * `error` says why not. */
bool carrick_devices_watch(struct carrick_devices *devices, struct carrick_stack *const *stacks, uint32_t count,
                           int code, struct carrick_port_error *error);

/* Sets the owner of requests that begin from now on, for the program in the kernel, which limits the rate of each
 * owner. 0, the default, is no owner. */
void carrick_stack_act_for(struct carrick_stack *stack, uint32_t owner);

/* The address it was opened with. */
struct carrick_ip6_address carrick_stack_address(const struct carrick_stack *stack);

/* The most instances that the program can have of what has data: of a stream's, connections. */
uint32_t carrick_stack_capacity(const struct carrick_stack *stack);

/* Whether the program's packets can have this address: it is of the same version of the Internet Protocol. */
bool carrick_stack_speaks_to(const struct carrick_stack *stack, struct carrick_ip6_address address);

/* A random number that follows from the stack's seed. */
uint32_t carrick_stack_random(struct carrick_stack *stack);

/* Returns the next dynamic port (RFC 6335 section 6). It may be in use. */
uint16_t carrick_stack_next_port(struct carrick_stack *stack);

/* Nanoseconds since the stack was opened, as of its last turn, callback of a descriptor, or request. */
uint64_t carrick_stack_now(const struct carrick_stack *stack);

/* The core's clock is this many nanoseconds behind the machine's monotonic clock. */
uint64_t carrick_stack_epoch(const struct carrick_stack *stack);

/* Prints each counter that is not 0 as "name value". */
void carrick_stack_print_counters(const struct carrick_stack *stack, FILE *out);

/* The core's counter of this name, 0 if there is none. */
uint64_t carrick_stack_counter(const struct carrick_stack *stack, const char *name);

/* Whether the program has the call ("listen", ...). */
bool carrick_stack_has(const struct carrick_stack *stack, const char *call);

/* The two ends of a connection; 0 for what the program's id of it does not have. */
struct carrick_ends {
    struct carrick_ip6_address local_address, remote_address;
    uint16_t local_port, remote_port;
};

/* The ends of a connection, as its program knows it: those parts of its id that are named local_ip, local_port,
 * remote_ip and remote_port. False: there is no such connection any more. */
bool carrick_connection_ends(const struct carrick_stack *stack, uint64_t connection, struct carrick_ends *ends);

/* How a request ended. `value`: see each request. */
typedef void (*carrick_done_fn)(void *user, enum carrick_status status, uint64_t value);

/*
 * The requests return 0 if `done` will be called, CARRICK_AGAIN if too many requests are open, CARRICK_BAD_ARG if the
 * program has no such call, its call takes no bytes, or an address is of the other version of the Internet Protocol.
 */

/* Value: the listener's handle. */
int carrick_listen(struct carrick_stack *stack, uint16_t port, uint32_t backlog, carrick_done_fn done, void *user);
/* Value: the handle of the next connection that a peer opened; of an RPC whose request has come whole. */
int carrick_accept(struct carrick_stack *stack, uint64_t listener, carrick_done_fn done, void *user);
/* Value: the connection's handle. `local_port` 0: a free one is chosen. */
int carrick_connect(struct carrick_stack *stack, uint16_t local_port, struct carrick_ip6_address address, uint16_t port,
                    carrick_done_fn done, void *user);
/* Names the request that was begun last, as long as it is open. */
uint32_t carrick_last_request(const struct carrick_stack *stack);
/* The local port of an open request of carrick_connect; another one may follow if it is in use. 0: it is not open. */
uint16_t carrick_connect_port(const struct carrick_stack *stack, uint32_t request);
/* Ends an open request of carrick_connect, which completes with CARRICK_ABORTED: the peer is no longer called. Of
 * programs that have the call `cancel_connect`. */
int carrick_cancel_connect(struct carrick_stack *stack, uint32_t request, carrick_done_fn done, void *user);
/* Shape `message`: both ends open. Value: the handle of what joins them. Or one end listens, with carrick_listen: then
 * carrick_accept gives the handle of what a peer's first message began.
 * Shape `rpc`: clients and servers open `local_port`; address and port are those of no peer. Value: the endpoint. */
int carrick_open(struct carrick_stack *stack, uint16_t local_port, struct carrick_ip6_address address, uint16_t port,
                 carrick_done_fn done, void *user);
/* Sends bytes. Value: bytes taken, 1..len; of a message all. `len` is at least 1. CARRICK_BUSY: no buffer space for the
 * message now. */
int carrick_send(struct carrick_stack *stack, uint64_t connection, const void *data, uint32_t len, carrick_done_fn done,
                 void *user);
/* Receives bytes. Value: their number, 1..len; of a message what fits into `len`. CARRICK_END_OF_STREAM: the peer sends
 * no more. */
int carrick_recv(struct carrick_stack *stack, uint64_t connection, void *data, uint32_t len, carrick_done_fn done,
                 void *user);
/* Ends the sending direction. */
int carrick_shutdown(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user);
/* Closes a listener. */
int carrick_unlisten(struct carrick_stack *stack, uint64_t listener, carrick_done_fn done, void *user);
/* Closes a connection gracefully: data already sent still arrives. */
int carrick_close(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user);
/* Aborts a connection, with a reset to the peer. */
int carrick_abort(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user);

/* Sends small data at once. For programs with the call `set_nodelay`. */
int carrick_set_nodelay(struct carrick_stack *stack, uint64_t connection, bool on, carrick_done_fn done, void *user);
/* Probes a silent peer (SO_KEEPALIVE). For programs with the call `set_keepalive`. */
int carrick_set_keepalive(struct carrick_stack *stack, uint64_t connection, bool on, carrick_done_fn done, void *user);

/* Sets the DiffServ field of its packets, as in the header. For programs with the call `set_tos`. */
int carrick_set_tos(struct carrick_stack *stack, uint64_t connection, uint8_t tos, carrick_done_fn done, void *user);

/* Sets the time for which sent data may be unacknowledged before the connection ends with CARRICK_TIMED_OUT; 0: the
 * program's default. For programs with the call `set_user_timeout`. */
int carrick_set_user_timeout(struct carrick_stack *stack, uint64_t connection, uint32_t milliseconds,
                             carrick_done_fn done, void *user);

/* Sets the time in which the peer must also close after carrick_close; 0: the program's default. For programs with the
 * call `set_linger`. */
int carrick_set_linger(struct carrick_stack *stack, uint64_t connection, uint32_t milliseconds, carrick_done_fn done,
                       void *user);

/* Closes a connection whose process is gone: its data is still sent, but the connection waits for the peer no longer
 * than after carrick_close. For programs with the call `orphan`. */
int carrick_orphan(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user);

/* Completes when the peer has acknowledged all data, also after carrick_close. For programs with the call `drain`. */
int carrick_drain(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user);

/* What a program reports of a connection: times in nanoseconds, amounts in bytes. */
enum carrick_info {
    CARRICK_INFO_STATE = 0, /* 0: closed; 1, 2: opened by us, by the peer; 3: open; 4, 5: ended by us, and the peer
                               knows it; 6: ended by the peer; 7, 8: by both, at once, or first by the peer; 9: over */
    CARRICK_INFO_SEGMENT,   /* the most data in a packet */
    CARRICK_INFO_RTT,       /* the round-trip time, smoothed */
    CARRICK_INFO_RTT_VARIATION,
    CARRICK_INFO_TIMEOUT,
    CARRICK_INFO_WINDOW, /* of congestion */
    CARRICK_INFO_THRESHOLD,
    CARRICK_INFO_IN_FLIGHT,
    CARRICK_INFO_RETRIES,   /* timeouts in a row */
    CARRICK_INFO_LINGER,    /* how long the peer has to end its side too, after carrick_close */
    CARRICK_INFO_PROBES,    /* keep-alive or zero-window probes in a row */
    CARRICK_INFO_RECOVERY,  /* 0: nothing is missing; 1: perhaps something is; 3: a loss is being repaired; 4: after a
                               timeout */
    CARRICK_INFO_OPTIONS,   /* 1: timestamps, 2: selective acknowledgements, 4: window scale, 8: ECN; from bit 8 the
                               peer's shift of the window, from bit 16 ours */
    CARRICK_INFO_ACK_DELAY, /* how long an acknowledgement waits for data */
    CARRICK_INFO_LOST,
    CARRICK_INFO_SENT_AGAIN,
    CARRICK_INFO_ARRIVED,      /* behind what is missing */
    CARRICK_INFO_SILENCE,      /* since the peer's last acknowledgement */
    CARRICK_INFO_OFFERED,      /* the peer may send */
    CARRICK_INFO_SEGMENT_MOST, /* that the peer may send, with its options */
    CARRICK_INFO_END,          /* no value: the status is how the connection ended, CARRICK_OK while it has not */
    CARRICK_INFOS
};

/* Reads an item. Value: the item. CARRICK_INVALID: the program does not report it. For programs with the call `info`.
 */
int carrick_info(struct carrick_stack *stack, uint64_t connection, enum carrick_info item, carrick_done_fn done,
                 void *user);

/* What holds for all messages of a program. */
enum carrick_limit {
    CARRICK_LIMIT_MESSAGE = 0, /* bytes of the longest one */
    CARRICK_LIMIT_FIRST_PORT,  /* the ports that an application may have */
    CARRICK_LIMIT_LAST_PORT,
    CARRICK_LIMITS
};

/* Shape `message`. Value: the item. CARRICK_INVALID: the program does not report it. For programs with the call
 * `limit`. */
int carrick_limit(struct carrick_stack *stack, enum carrick_limit item, carrick_done_fn done, void *user);

/* Shape `multistream`. A connection is listened for, accepted, connected to and closed as above; bytes go over its
 * streams, with carrick_send, carrick_recv and carrick_shutdown. A stream is over when both directions are: the peer's
 * end has been received, and what was sent before carrick_shutdown has arrived. It needs no close. */

/* Opens a stream. Value: its handle, as soon as the peer allows one more. */
int carrick_open_stream(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user);
/* Value: the handle of the next stream that the peer opened. CARRICK_CLOSED: the connection is over. */
int carrick_accept_stream(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user);
/* Resets both directions of a stream, with a report to the peer. */
int carrick_reset(struct carrick_stack *stack, uint64_t stream, carrick_done_fn done, void *user);

/* Shape `rpc`. `data` stays as it is until the request has ended. */

/* A client's request to a server. Value: the RPC's handle. CARRICK_NO_ROOM, CARRICK_BUSY: not now. */
int carrick_request(struct carrick_stack *stack, uint64_t endpoint, struct carrick_ip6_address address, uint16_t port,
                    const void *data, uint32_t len, carrick_done_fn done, void *user);
/* The request of an RPC that was accepted. Value: its bytes, as many as fit into `len`. */
int carrick_recv_request(struct carrick_stack *stack, uint64_t rpc, void *data, uint32_t len, carrick_done_fn done,
                         void *user);
/* The response to it. Value: `len`. */
int carrick_respond(struct carrick_stack *stack, uint64_t rpc, const void *data, uint32_t len, carrick_done_fn done,
                    void *user);
/* The client waits for its response. Value: its bytes, as many as fit into `len`. The RPC has ended then, also if it
 * failed. */
int carrick_recv_response(struct carrick_stack *stack, uint64_t rpc, void *data, uint32_t len, carrick_done_fn done,
                          void *user);
/* Ends an RPC at either end. */
int carrick_cancel(struct carrick_stack *stack, uint64_t rpc, carrick_done_fn done, void *user);

/* Shape `offload`, of programs in the network. A message is received with carrick_recv. */

/* Lets the program hold so many bytes of messages. Value: the handle for carrick_take. For programs with the call
 * `open`; of others that handle is 0. */
int carrick_open_offload(struct carrick_stack *stack, uint32_t buffer, carrick_done_fn done, void *user);
/* Value: the handle of the next message that has arrived whole. CARRICK_BUSY: too many requests wait, or the message
 * ended in the meantime. */
int carrick_take(struct carrick_stack *stack, uint64_t opened, carrick_done_fn done, void *user);
/* Puts a message in the place of one that was taken. Value: `len`. */
int carrick_put(struct carrick_stack *stack, uint64_t message, const void *data, uint32_t len, carrick_done_fn done,
                void *user);
/* Ends a message that was taken, as its receiver would: for its sender it is delivered. */
int carrick_consume(struct carrick_stack *stack, uint64_t message, carrick_done_fn done, void *user);

/* "connection refused", ...: of an enum carrick_status. */
const char *carrick_status_text(enum carrick_status status);

#endif
