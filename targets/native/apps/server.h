/* SPDX-License-Identifier: MIT */
/*
 * What every server does: listen, and accept into places that were made before. Owns the listener and which places are
 * free; the connections' own state is the application's.
 */
#ifndef CARRICK_APPS_SERVER_H
#define CARRICK_APPS_SERVER_H

#include "carrick/app.h"

struct carrick_server {
    struct carrick_stack *stack;
    uint16_t port;
    uint64_t listener;
    uint32_t *free_places;
    uint32_t free_count;
    bool accepting;
    void (*accepted)(void *user, uint32_t place, uint64_t connection);
    void *user;
};

/* Listens; `accepted` is called for each connection with a place below `places`. False: out of memory, or the program
 * cannot listen. */
bool carrick_server_start(struct carrick_server *server, struct carrick_stack *stack, uint16_t port, uint32_t places,
                          void (*accepted)(void *user, uint32_t place, uint64_t connection), void *user,
                          struct carrick_port_error *error);

/* A connection is gone: its place can be used again. */
void carrick_server_release(struct carrick_server *server, uint32_t place);

void carrick_server_finish(struct carrick_server *server);

#endif
