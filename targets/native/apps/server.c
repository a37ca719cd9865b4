/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "apps/apps.h"
#include "apps/server.h"

static void server_accept(struct carrick_server *server);

static void server_take(struct carrick_server *server, uint64_t handle) {
    uint32_t place = server->free_places[--server->free_count];
    server->places[place].handle = handle;
    server->accepted(server->user, place, handle);
}

static struct carrick_carrier *server_free_carrier(struct carrick_server *server) {
    for (uint32_t i = 0; i < CARRICK_CARRIERS; i++)
        if (!server->carriers[i].open)
            return &server->carriers[i];
    return NULL;
}

static void server_stream_came(void *user, enum carrick_status status, uint64_t stream) {
    struct carrick_carrier *carrier = user;
    struct carrick_server *server = carrier->server;
    carrier->accepting = false;
    server->promised--;
    if (status == CARRICK_OK)
        server_take(server, stream);
    else
        carrier->open = false; /* the connection is over */
    server_accept(server);
}

/* Awaits a stream of each connection, as far as there are places. */
static void server_accept_streams(struct carrick_server *server) {
    for (uint32_t i = 0; i < CARRICK_CARRIERS && server->promised < server->free_count; i++) {
        struct carrick_carrier *carrier = &server->carriers[i];
        if (!carrier->open || carrier->accepting)
            continue;
        carrier->accepting = carrick_accept_stream(server->stack, carrier->handle, server_stream_came, carrier) == 0;
        server->promised += carrier->accepting;
    }
}

static void server_accepted(void *user, enum carrick_status status, uint64_t connection) {
    struct carrick_server *server = user;
    server->accepting = false;
    if (status == CARRICK_OK && server->streams) {
        struct carrick_carrier *carrier = server_free_carrier(server);
        *carrier = (struct carrick_carrier){.server = server, .handle = connection, .open = true};
    } else if (status == CARRICK_OK) {
        server_take(server, connection);
    } else if (status != CARRICK_RESET && status != CARRICK_ABORTED) {
        fprintf(stderr, "cannot accept: %s\n", carrick_status_text(status));
        return;
    }
    server_accept(server);
}

static void server_accept(struct carrick_server *server) {
    if (server->streams)
        server_accept_streams(server);
    bool room = server->streams ? server_free_carrier(server) != NULL : server->free_count > 0;
    if (room && !server->accepting)
        server->accepting = carrick_accept(server->stack, server->listener, server_accepted, server) == 0;
}

static void server_listening(void *user, enum carrick_status status, uint64_t listener) {
    struct carrick_server *server = user;
    if (status != CARRICK_OK) {
        fprintf(stderr, "cannot listen on port %u: %s\n", server->port, carrick_status_text(status));
        carrick_stack_stop(server->stack, CARRICK_EXIT_FAILED);
        return;
    }
    server->listener = listener;
    fprintf(stderr, "listening on port %u\n", server->port);
    server_accept(server);
}

bool carrick_server_start(struct carrick_server *server, struct carrick_stack *stack, uint16_t port, uint32_t places,
                          void (*accepted)(void *user, uint32_t place, uint64_t connection), void *user,
                          struct carrick_port_error *error) {
    *server = (struct carrick_server){.stack = stack, .port = port, .accepted = accepted, .user = user};
    server->streams = carrick_stack_has(stack, "accept_stream");
    server->places = calloc(places, sizeof *server->places);
    server->free_places = calloc(places, sizeof *server->free_places);
    if (!server->places || !server->free_places) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for %u connections.", places);
        carrick_server_finish(server);
        return false;
    }
    for (uint32_t i = 0; i < places; i++) {
        server->places[i].server = server;
        server->free_places[server->free_count++] = places - 1 - i;
    }
    if (carrick_stack_has(stack, "accept") && carrick_listen(stack, port, places, server_listening, server) == 0)
        return true;
    snprintf(error->text, sizeof error->text, "The program cannot serve: its interface has no `listen` and `accept`.");
    carrick_server_finish(server);
    return false;
}

/* It is gone in any case. */
static void server_closed(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value;
    struct carrick_server_place *place = user;
    struct carrick_server *server = place->server;
    server->free_places[server->free_count++] = (uint32_t)(place - server->places);
    server_accept(server);
}

void carrick_server_close(struct carrick_server *server, uint32_t at, bool in_order) {
    struct carrick_server_place *place = &server->places[at];
    int refused = !server->streams ? carrick_close(server->stack, place->handle, server_closed, place)
                  : in_order       ? carrick_shutdown(server->stack, place->handle, server_closed, place)
                                   : carrick_reset(server->stack, place->handle, server_closed, place);
    if (refused)
        server_closed(place, CARRICK_OK, 0);
}

void carrick_server_finish(struct carrick_server *server) {
    free(server->places);
    free(server->free_places);
    server->places = NULL;
    server->free_places = NULL;
}
