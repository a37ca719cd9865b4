/* SPDX-License-Identifier: MIT */
/* The open requests of an application: tokens to whom to tell, and the queue of those that the core could not take yet.
 */
#ifndef CARRICK_HOST_REQUESTS_H
#define CARRICK_HOST_REQUESTS_H

#include "carrick/address.h"
#include "carrick/app.h"
#include "carrick/host.h"

enum carrick_call_kind {
    CALL_LISTEN,
    CALL_UNLISTEN,
    CALL_ACCEPT,
    CALL_CONNECT,
    CALL_SEND,
    CALL_RECV,
    CALL_SHUTDOWN,
    CALL_CLOSE,
    CALL_ABORT,
    CALL_OPEN,
    CALL_REQUEST,
    CALL_RECV_REQUEST,
    CALL_RESPOND,
    CALL_RECV_RESPONSE,
    CALL_CANCEL,
    CALL_OPEN_STREAM,
    CALL_ACCEPT_STREAM,
    CALL_RESET,
    CALL_REGISTER,
    CALL_DEREGISTER,
    CALL_POST_RECV,
    CALL_POST_SEND,
    CALL_POST_WRITE,
    CALL_POST_READ,
    CALL_SET_NODELAY,
    CALL_SET_KEEPALIVE,
    CALL_CANCEL_CONNECT,
    CALL_SET_TOS,
    CALL_INFO,
    CALL_SET_USER_TIMEOUT,
    CALL_SET_LINGER,
    CALL_ORPHAN,
    CALL_DRAIN,
    CALL_CHANGE_CONTEXT,
    CALL_TAKE,
    CALL_PUT,
    CALL_CONSUME,
    CALL_LIMIT,
    CALL_KINDS
};

/* The fields that the shapes know; a program's others are 0. */
enum carrick_call_field {
    FIELD_LOCAL_IP,
    FIELD_LOCAL_PORT,
    FIELD_REMOTE_IP,
    FIELD_REMOTE_PORT,
    FIELD_BACKLOG,
    FIELD_LEN,
    FIELD_LOCAL_QP,
    FIELD_REMOTE_QP,
    FIELD_SEND_PSN,
    FIELD_RECV_PSN,
    FIELD_KEY,
    FIELD_ADDR,
    FIELD_MAY_READ,
    FIELD_MAY_WRITE,
    FIELD_WITH_IMM,
    FIELD_IMM,
    FIELD_ON,
    FIELD_REQUEST,
    FIELD_TOS,
    FIELD_ITEM,
    FIELD_MILLISECONDS,
    FIELD_BY,
    FIELD_BUFFER,
    FIELDS
};

/* Where a call of the program is, and where its fields are among the arguments; found once, by name. */
struct carrick_call_map {
    int32_t number;       /* -1: the program has no such call */
    int8_t place[FIELDS]; /* -1: the event has no such field */
};

struct carrick_slot {
    carrick_done_fn done;
    void *user;
    struct carrick_request request;
    uint32_t generation; /* so that a completion that comes twice finds nobody */
    uint32_t next;       /* in the list of the free, or in the queue of the waiting; NO_SLOT: none */
    uint8_t kind;
    uint8_t tries; /* of a local port that we choose */
    bool open;
};

#define NO_SLOT UINT32_MAX

struct carrick_requests {
    struct carrick_call_map calls[CALL_KINDS];
    struct carrick_slot *slots;
    bool six;                                                 /* addresses of the program are of IPv6 */
    uint32_t count, fresh, free, waiting_first, waiting_last; /* fresh: slots from here on were never used */
};

/* False: out of memory. */
bool carrick_requests_make(struct carrick_requests *all, const struct carrick_program *program, uint32_t count);
void carrick_requests_free(struct carrick_requests *all);

/* A free slot with its token and no arguments, NULL: none. Stands for an open request until carrick_requests_end. */
struct carrick_slot *carrick_requests_begin(struct carrick_requests *all, enum carrick_call_kind kind);

/* The slot of a token, NULL: no open request has it. */
struct carrick_slot *carrick_requests_find(struct carrick_requests *all, uint64_t token);
void carrick_requests_end(struct carrick_requests *all, struct carrick_slot *slot);

/* Sets an argument, if the program's event has the field. */
static inline void carrick_requests_set(const struct carrick_requests *all, struct carrick_slot *slot,
                                        enum carrick_call_field field, uint64_t value) {
    int place = all->calls[slot->kind].place[field];
    if (place >= 0 && place < 16)
        slot->request.args[place] = value;
}

/* The same of an address, which may be all 0. False: it is of the other version of the Internet Protocol. */
bool carrick_requests_set_address(const struct carrick_requests *all, struct carrick_slot *slot,
                                  enum carrick_call_field field, struct carrick_ip6_address address);

/* Sets an address as another request has it. */
void carrick_requests_copy_address(const struct carrick_requests *all, struct carrick_slot *to,
                                   const struct carrick_slot *from, enum carrick_call_field field);

/* The argument as it was set; 0: the program's event has no such field. */
uint64_t carrick_requests_get(const struct carrick_requests *all, const struct carrick_slot *slot,
                              enum carrick_call_field field);

/* Gives the request to the core, or queues it behind those that wait. CARRICK_BAD_ARG: the core refuses it, and it is
 * no longer open. */
int carrick_requests_submit(struct carrick_requests *all, struct carrick_host *host, struct carrick_slot *slot);

/* Tries the waiting ones again, in order; those that the core refuses complete with CARRICK_INVALID. True: at least one
 * went. */
bool carrick_requests_retry(struct carrick_requests *all, struct carrick_host *host);

#endif
