/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "apps/apps.h"
#include "apps/server.h"

static void server_accept(struct carrick_server *server);

static void server_accepted(void *user, enum carrick_status status, uint64_t connection) {
    struct carrick_server *server = user;
    server->accepting = false;
    if (status == CARRICK_OK) {
        uint32_t place = server->free_places[--server->free_count];
        server->accepted(server->user, place, connection);
    } else if (status != CARRICK_RESET && status != CARRICK_ABORTED) {
        fprintf(stderr, "cannot accept: %s\n", carrick_status_text(status));
        return;
    }
    server_accept(server);
}

static void server_accept(struct carrick_server *server) {
    if (server->accepting || server->free_count == 0)
        return;
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
    server->free_places = calloc(places, sizeof *server->free_places);
    if (!server->free_places) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for %u connections.", places);
        return false;
    }
    for (uint32_t i = 0; i < places; i++)
        server->free_places[server->free_count++] = places - 1 - i;
    if (carrick_stack_has(stack, "accept") && carrick_listen(stack, port, places, server_listening, server) == 0)
        return true;
    snprintf(error->text, sizeof error->text, "The program cannot serve: its interface has no `listen` and `accept`.");
    carrick_server_finish(server);
    return false;
}

void carrick_server_release(struct carrick_server *server, uint32_t place) {
    server->free_places[server->free_count++] = place;
    server_accept(server);
}

void carrick_server_finish(struct carrick_server *server) {
    free(server->free_places);
    server->free_places = NULL;
}
