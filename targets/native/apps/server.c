/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "apps/apps.h"
#include "apps/server.h"

static void server_accept(struct carrick_server *server);

/* How often a server looks for those without progress, in each such time; while places are short, not less often than
 * once in SERVER_AFTER. */
#define SERVER_LOOKS 4u
#define SERVER_AFTER 1000000000u
/* Few places are free if they are one of so many, or less; as many are to be. */
#define SERVER_FEW 16u
/* Connections that give up their places for others at one look. */
#define SERVER_AT_ONCE 16u

/* Looks again after a while. */
static void server_tick(struct carrick_server *server) {
    if (!server->limit.idle || server->ticking)
        return;
    uint64_t after = server->limit.idle / SERVER_LOOKS + 1;
    if (server->limit.when_full && after > SERVER_AFTER)
        after = SERVER_AFTER;
    struct itimerspec once = {
        .it_value = {.tv_sec = (time_t)(after / 1000000000u), .tv_nsec = (long)(after % 1000000000u)}};
    server->ticking = timerfd_settime(server->timer_plus_one - 1, 0, &once, NULL) == 0;
}

static void server_take(struct carrick_server *server, uint64_t handle) {
    uint32_t place = server->free_places[--server->free_count];
    server->places[place].handle = handle;
    server->places[place].open = true;
    server->places[place].given_up = false;
    if (server->used <= place)
        server->used = place + 1;
    carrick_server_phase(server, place, false);
    server_tick(server);
    server->accepted(server->user, place, handle);
}

void carrick_server_phase(struct carrick_server *server, uint32_t at, bool sends) {
    struct carrick_server_place *place = &server->places[at];
    place->since = carrick_stack_now(server->stack);
    place->moved = 0;
    place->sends = sends;
}

void carrick_server_moved(struct carrick_server *server, uint32_t at, uint64_t octets) {
    struct carrick_server_place *place = &server->places[at];
    place->moved += (uint32_t)octets;
    if (place->moved >= CARRICK_SERVER_PROGRESS)
        carrick_server_phase(server, at, place->sends);
}

/* Its open request completes with an error, and the application closes it. What a peer does not take is not awaited. */
static void server_give_up(struct carrick_server *server, struct carrick_server_place *place) {
    bool resets = place->sends && carrick_stack_has(server->stack, "abort");
    int refused = server->streams ? carrick_reset(server->stack, place->handle, NULL, NULL)
                  : resets        ? carrick_abort(server->stack, place->handle, NULL, NULL)
                                  : carrick_close(server->stack, place->handle, NULL, NULL);
    place->given_up = refused == 0;
}

static bool server_is_idle(const struct carrick_server *server, const struct carrick_server_place *place,
                           uint64_t now) {
    return place->open && !place->given_up && now - place->since >= server->limit.idle;
}

/* NULL: nobody is idle. */
static struct carrick_server_place *server_longest_idle(struct carrick_server *server, uint64_t now) {
    struct carrick_server_place *longest = NULL;
    for (uint32_t i = 0; i < server->used; i++) {
        struct carrick_server_place *place = &server->places[i];
        if (server_is_idle(server, place, now) && (!longest || place->since < longest->since))
            longest = place;
    }
    return longest;
}

/* So that some places are free, if there are connections without progress. */
static void server_make_space(struct carrick_server *server, uint64_t now) {
    uint32_t wanted = server->count / SERVER_FEW + 1;
    for (uint32_t n = 0; n < SERVER_AT_ONCE && server->free_count + n < wanted; n++) {
        struct carrick_server_place *longest = server_longest_idle(server, now);
        if (!longest)
            return;
        server_give_up(server, longest);
    }
}

static void server_end_idle(struct carrick_server *server, uint64_t now) {
    for (uint32_t i = 0; i < server->used; i++)
        if (server_is_idle(server, &server->places[i], now))
            server_give_up(server, &server->places[i]);
}

static void server_looks(void *user) {
    struct carrick_server *server = user;
    uint64_t times;
    if (read(server->timer_plus_one - 1, &times, sizeof times) != sizeof times)
        return;
    server->ticking = false;
    if (server->limit.when_full)
        server_make_space(server, carrick_stack_now(server->stack));
    else
        server_end_idle(server, carrick_stack_now(server->stack));
    if (server->free_count < server->count)
        server_tick(server);
}

bool carrick_server_argument(const char *argument, char *rest, size_t size, struct carrick_server_limit *limit,
                             struct carrick_port_error *error) {
    const char *option = strrchr(argument, ',');
    bool idle = option && strncmp(option, ",idle=", 6) == 0, full = option && strncmp(option, ",full=", 6) == 0;
    size_t len = idle || full ? (size_t)(option - argument) : strlen(argument);
    if (len >= size) {
        snprintf(error->text, sizeof error->text, "`%.80s` is too long: write at most %zu letters.", argument,
                 size - 1);
        return false;
    }
    memcpy(rest, argument, len);
    rest[len] = 0;
    if (!idle && !full)
        return true;
    limit->when_full = full;
    if (carrick_param_parse("ns", option + 6, &limit->idle))
        return true;
    snprintf(error->text, sizeof error->text,
             "`%.80s` has no time with its unit: write %.5s10s or %.5s500ms, or %.5s0s for no limit.", option + 1,
             option + 1, option + 1, option + 1);
    return false;
}

bool carrick_server_limit(struct carrick_server *server, struct carrick_server_limit limit,
                          struct carrick_port_error *error) {
    if (!limit.idle)
        return true;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    server->timer_plus_one = timer + 1;
    if (timer >= 0 && carrick_stack_watch(server->stack, timer, server_looks, server)) {
        server->limit = limit;
        return true;
    }
    snprintf(error->text, sizeof error->text, "There is no timer for the server's idle limit.");
    return false;
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
    server->count = places;
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
    place->open = false;
    int refused = !server->streams ? carrick_close(server->stack, place->handle, server_closed, place)
                  : in_order       ? carrick_shutdown(server->stack, place->handle, server_closed, place)
                                   : carrick_reset(server->stack, place->handle, server_closed, place);
    if (refused)
        server_closed(place, CARRICK_OK, 0);
}

void carrick_server_finish(struct carrick_server *server) {
    if (server->timer_plus_one > 0) {
        (void)carrick_stack_watch(server->stack, server->timer_plus_one - 1, NULL, NULL);
        close(server->timer_plus_one - 1);
    }
    server->timer_plus_one = 0;
    free(server->places);
    free(server->free_places);
    server->places = NULL;
    server->free_places = NULL;
}
