/* SPDX-License-Identifier: MIT */
/*
 * An offload: takes messages of a program in the network, and puts others in their place or consumes them. What it does
 * to a message is decided here (apps/offload_model.c), or by a process that has connected (apps/offload_process.c).
 *
 *     carrick_take --> carrick_recv --> the model, after its service time --> carrick_put or carrick_consume
 *                                   \-> the process, at most `within` ----/
 */
#ifndef CARRICK_APPS_OFFLOAD_H
#define CARRICK_APPS_OFFLOAD_H

#include "apps/apps.h"
#include "carrick/offload.h"
#include "carrick/program.h"

#define OFFLOAD_WORKERS 256u
#define OFFLOAD_LONGEST 1048576u /* bytes of a message, at most */

struct offload_settings {
    uint64_t service; /* nanoseconds of a message, or their mean */
    bool exponential;
    double ratio[2];  /* of a message's length behind the offload to that before it: least and greatest */
    double intercept; /* share of messages that are consumed */
    uint32_t workers; /* messages that it has at once */
    uint32_t buffer;  /* bytes of messages that the program may hold */
    uint32_t longest; /* bytes of a message */
    uint64_t within;  /* nanoseconds that a process has for an answer */
    char path[108];   /* of the socket for processes; empty: there is none */
};

/* Reads `name=value,...`. False: `error` says what is wrong. */
bool offload_settings_read(const char *text, struct offload_settings *settings, struct carrick_port_error *error);

/* What a worker waits for. */
enum offload_wait {
    OFFLOAD_REQUEST, /* a completion */
    OFFLOAD_RETRY,   /* the time to take again */
    OFFLOAD_SERVICE, /* the end of its service time */
    OFFLOAD_SOCKET,  /* space in the socket of the process */
    OFFLOAD_PROCESS, /* the answer of the process */
};

struct offload_worker {
    struct offload *all;
    enum offload_wait waits;
    uint64_t deadline; /* of the wait, on the stack's clock; CARRICK_NEVER: none */
    uint64_t message;  /* the program's handle of it */
    uint64_t number;   /* the process's name of it */
    uint32_t len;
    bool consumed;   /* the answer that is under way */
    uint8_t *taken;  /* the message: one byte more than the longest, which shows that one is longer */
    uint8_t *answer; /* what takes its place */
};

enum offload_count {
    OFFLOAD_TAKEN,
    OFFLOAD_PUT,
    OFFLOAD_CONSUMED,
    OFFLOAD_REFUSED,  /* answers that the program did not take */
    OFFLOAD_TOO_LONG, /* messages longer than `longest` */
    OFFLOAD_ENDED,    /* messages that ended before they were received */
    OFFLOAD_PASSED,   /* messages that passed unchanged for want of a valid answer */
    OFFLOAD_LATE,     /* of these, messages without an answer in time */
    OFFLOAD_INVALID,  /* answers of the process that were no valid ones */
    OFFLOAD_NEEDLESS, /* answers of the process to messages that it does not have */
    OFFLOAD_COUNTS
};

struct offload_process {
    int epoll, listener, timer;
    int fd; /* of the process; -1: none is connected */
    bool bound;
};

struct offload {
    struct carrick_stack *stack;
    struct offload_settings settings;
    struct offload_process process;
    uint64_t opened;     /* handle */
    uint64_t generation; /* of the numbers of messages */
    uint64_t counts[OFFLOAD_COUNTS];
    bool said[OFFLOAD_COUNTS];
    uint8_t *memory;
    uint8_t *record; /* the answer of the process that is read */
    struct offload_worker workers[OFFLOAD_WORKERS];
};

/* Answers of workers: each makes the request, after which the worker takes again. */
void offload_put(struct offload_worker *worker, const uint8_t *data, uint32_t len);
void offload_consume(struct offload_worker *worker);
/* The message passes unchanged. */
void offload_pass(struct offload_worker *worker);

/* Counts, and prints a sentence the first time. */
void offload_note(struct offload *all, enum offload_count count, const char *sentence);

/* Nanoseconds that the model takes for a message. */
uint64_t offload_model_time(struct offload *all);
/* What the model answers. */
void offload_model_answer(struct offload_worker *worker);

/* Makes the socket, the timer and what waits for both. False: `error` says why not. */
bool offload_process_open(struct offload *all, struct carrick_port_error *error);
void offload_process_close(struct offload *all);
/* Gives the process a message. False: there is no process, or no space for now. */
bool offload_process_give(struct offload_worker *worker);

/* Has offload_due called at the first deadline of all workers. */
void offload_set_timer(const struct offload *all);
/* Does what is due. */
void offload_due(struct offload *all);

#endif
