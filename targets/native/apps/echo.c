/* SPDX-License-Identifier: MIT */
/* Sends back what it receives. */
#include <stdlib.h>

#include "apps/apps.h"
#include "apps/server.h"
#include "carrick/reserve.h"

#define ECHO_OCTETS 65536u
#define ECHO_PORT   7u

struct echo;

struct echo_connection {
    struct echo *echo;
    uint64_t handle;
    uint32_t held, sent; /* bytes in the buffer, and of those given back */
    uint8_t buffer[ECHO_OCTETS];
};

struct echo {
    struct carrick_server server;
    struct echo_connection *connections;
    uint32_t places; /* as many as the program can have connections */
};

static void echo_receive(struct echo_connection *c);

static uint32_t echo_place(const struct echo_connection *c) {
    return (uint32_t)(c - c->echo->connections);
}

static void echo_close(struct echo_connection *c, bool in_order) {
    carrick_server_close(&c->echo->server, echo_place(c), in_order);
}

static void echo_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct echo_connection *c = user;
    c->sent += (uint32_t)octets;
    carrick_server_moved(&c->echo->server, echo_place(c), octets);
    if (status != CARRICK_OK)
        echo_close(c, false);
    else if (c->sent >= c->held)
        echo_receive(c);
    else if (carrick_send(c->echo->server.stack, c->handle, c->buffer + c->sent, c->held - c->sent, echo_sent, c) != 0)
        echo_close(c, false);
}

static void echo_received(void *user, enum carrick_status status, uint64_t octets) {
    struct echo_connection *c = user;
    if (status != CARRICK_OK) {
        echo_close(c, status == CARRICK_END_OF_STREAM);
        return;
    }
    c->held = (uint32_t)octets;
    c->sent = 0;
    carrick_server_phase(&c->echo->server, echo_place(c), true);
    echo_sent(c, CARRICK_OK, 0);
}

static void echo_receive(struct echo_connection *c) {
    carrick_server_phase(&c->echo->server, echo_place(c), false);
    if (carrick_recv(c->echo->server.stack, c->handle, c->buffer, ECHO_OCTETS, echo_received, c) != 0)
        echo_close(c, false);
}

static void echo_accepted(void *user, uint32_t place, uint64_t connection) {
    struct echo *echo = user;
    struct echo_connection *c = &echo->connections[place];
    c->echo = echo;
    c->handle = connection;
    /* The end of what came is not to wait until the peer has acknowledged its beginning (RFC 9293 3.7.4). */
    if (carrick_stack_has(echo->server.stack, "set_nodelay"))
        (void)carrick_set_nodelay(echo->server.stack, connection, true, NULL, NULL);
    echo_receive(c);
}

static void echo_finish(void *state) {
    struct echo *echo = state;
    carrick_server_finish(&echo->server);
    carrick_unreserve(echo->connections, echo->places, sizeof *echo->connections);
    free(echo);
}

static void *echo_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    char number[16];
    uint16_t port = ECHO_PORT;
    struct carrick_server_limit limit = {.idle = CARRICK_SERVER_IDLE, .when_full = true};
    if (!carrick_server_argument(argument, number, sizeof number, &limit, error))
        return NULL;
    if (*number && !carrick_parse_port(number, &port)) {
        snprintf(error->text, sizeof error->text, "`%.40s` is no port: write a number from 1 to 65535.", number);
        return NULL;
    }
    struct echo *echo = calloc(1, sizeof *echo);
    if (echo) {
        echo->places = carrick_stack_capacity(stack);
        echo->connections = carrick_reserve(echo->places, sizeof *echo->connections);
    }
    if (!echo || !echo->connections)
        snprintf(error->text, sizeof error->text, "There is not enough memory for the echo server.");
    else if (carrick_server_start(&echo->server, stack, port, echo->places, echo_accepted, echo, error) &&
             carrick_server_limit(&echo->server, limit, error))
        return echo;
    if (echo)
        echo_finish(echo);
    return NULL;
}

const struct carrick_application carrick_echo_application = {
    .name = "echo", .usage = "echo[:PORT][,full=60s]", .start = echo_start, .finish = echo_finish};
