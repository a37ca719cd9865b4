/* SPDX-License-Identifier: MIT */
/*
 * What every server does: listen, and accept into places that were made before. Owns the listener, which places are
 * free and, of the shape `multistream`, the connections; what it accepts is a connection of the shape `stream`, or a
 * stream of the other. Its state is the application's. A server may limit how long what it accepted goes on without
 * progress (carrick_server_limit), always or only while few places are free, so that peers that say nothing do not hold
 * all places.
 */
#ifndef CARRICK_APPS_SERVER_H
#define CARRICK_APPS_SERVER_H

#include "carrick/app.h"

#define CARRICK_CARRIERS        64u /* connections that carry streams, at most */
#define CARRICK_SERVER_PROGRESS 4096u
#define CARRICK_SERVER_IDLE     60000000000u /* nanoseconds: what servers take if nothing else is wanted */

struct carrick_server;

/* How long what was accepted may go on without progress. */
struct carrick_server_limit {
    uint64_t idle;  /* nanoseconds; 0: no limit */
    bool when_full; /* only while few places are free, and then who has been idle for longest goes first */
};

struct carrick_server_place {
    struct carrick_server *server;
    uint64_t handle;
    uint64_t since; /* when its phase began, or moved on */
    uint32_t moved; /* bytes since then */
    bool open, sends, given_up;
};

/* A connection that carries streams. */
struct carrick_carrier {
    struct carrick_server *server;
    uint64_t handle;
    bool open, accepting;
};

struct carrick_server {
    struct carrick_stack *stack;
    uint16_t port;
    uint64_t listener;
    struct carrick_server_place *places;
    uint32_t *free_places;
    uint32_t count, free_count;
    uint32_t promised; /* of the free places, to streams that are awaited */
    bool accepting;
    bool streams; /* the program's shape is `multistream` */
    struct carrick_carrier carriers[CARRICK_CARRIERS];
    void (*accepted)(void *user, uint32_t place, uint64_t connection);
    void *user;
    struct carrick_server_limit limit;
    uint32_t used;      /* no place from here on was ever used */
    int timer_plus_one; /* a descriptor + 1; 0: none */
    bool ticking;
};

/* Listens; `accepted` is called for each connection, or stream, with a place below `places`, of which the first ones
 * are used first. False: out of memory, or the program cannot listen. */
bool carrick_server_start(struct carrick_server *server, struct carrick_stack *stack, uint16_t port, uint32_t places,
                          void (*accepted)(void *user, uint32_t place, uint64_t connection), void *user,
                          struct carrick_port_error *error);

/* Takes `,idle=TIME` or `,full=TIME` off the end of an application's argument: `rest` is what stands before it. Without
 * one, *limit stays as it is. False: `error` says what is wrong with it. */
bool carrick_server_argument(const char *argument, char *rest, size_t size, struct carrick_server_limit *limit,
                             struct carrick_port_error *error);

/* Ends connections, or streams, that make no progress for so long. False: `error` says why not. Call it once, after
 * carrick_server_start. */
bool carrick_server_limit(struct carrick_server *server, struct carrick_server_limit limit,
                          struct carrick_port_error *error);

/* What is at a place begins something new, which has the whole time: it awaits a request, or `sends`. */
void carrick_server_phase(struct carrick_server *server, uint32_t place, bool sends);

/* So many bytes of that moved. CARRICK_SERVER_PROGRESS of them, and it has the whole time again. */
void carrick_server_moved(struct carrick_server *server, uint32_t place, uint64_t octets);

/* Ends what is at a place, which can be used again once that is done. In order: what was sent still arrives; of a
 * stream, the peer's end has been received. */
void carrick_server_close(struct carrick_server *server, uint32_t place, bool in_order);

void carrick_server_finish(struct carrick_server *server);

#endif
