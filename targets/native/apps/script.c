/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/script.h"

void script_answer(struct script *script, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
    script->busy = false;
    script->task = TASK_NONE;
}

const char *script_status(enum carrick_status status) {
    static const char *const names[] = {"ok",      "end 0",  "refused", "reset",       "timed_out", "closed",
                                        "no_room", "in_use", "invalid", "unreachable", "busy",      "aborted"};
    return (unsigned)status < sizeof names / sizeof names[0] ? names[status] : "unknown";
}

void script_answer_status(struct script *script, enum carrick_status status) {
    script_answer(script, "%s", script_status(status));
}

struct script_connection *script_connection(struct script *script) {
    struct script_connection *c = &script->connections[script->current];
    if (script->current < script->connection_count && c->open)
        return c;
    script_answer(script, script->current < script->connection_count ? "closed" : "no such connection");
    return NULL;
}

static void script_listening(void *user, enum carrick_status status, uint64_t listener) {
    struct script *script = user;
    if (status == CARRICK_OK)
        script->listener = listener;
    script_answer_status(script, status);
    script_next(script);
}

static void script_opened(void *user, enum carrick_status status, uint64_t handle) {
    struct script *script = user;
    if (status == CARRICK_OK && script->connection_count < SCRIPT_CONNECTIONS) {
        script->current = script->connection_count++;
        script->connections[script->current] = (struct script_connection){.handle = handle, .open = true};
    }
    script_answer_status(script, status);
    script_next(script);
}

static void script_done(void *user, enum carrick_status status, uint64_t value) {
    (void)value;
    script_answer_status(user, status);
    script_next(user);
}

/* The commands on the stack itself. -1: it is none; else what the request said. */
static int script_open(struct script *script, char **words, int count) {
    struct carrick_ip6_address address;
    uint16_t port;
    if (strcmp(words[0], "listen") == 0 && count >= 2 && carrick_parse_port(words[1], &port))
        return carrick_listen(script->stack, port, count > 2 ? (uint32_t)atoi(words[2]) : 128, script_listening,
                              script) != 0;
    if (strcmp(words[0], "accept") == 0)
        return carrick_accept(script->stack, script->listener, script_opened, script) != 0;
    if (strcmp(words[0], "unlisten") == 0)
        return carrick_unlisten(script->stack, script->listener, script_done, script) != 0;
    if (strcmp(words[0], "connect") == 0 && count == 3 && carrick_parse_address(words[1], strlen(words[1]), &address) &&
        carrick_parse_port(words[2], &port))
        return carrick_connect(script->stack, 0, address, port, script_opened, script) != 0;
    uint16_t local;
    if (strcmp(words[0], "endpoint") == 0 && count == 2 && carrick_parse_port(words[1], &local))
        return carrick_open(script->stack, local, (struct carrick_ip6_address){0}, 0, script_listening, script) != 0;
    if (strcmp(words[0], "open") == 0 && count == 4 && carrick_parse_address(words[1], strlen(words[1]), &address) &&
        carrick_parse_port(words[2], &port) && carrick_parse_port(words[3], &local))
        return carrick_open(script->stack, local, address, port, script_opened, script) != 0;
    return -1;
}

/* The commands on streams: of a connection, and `reset`. */
static bool script_stream(struct script *script, const char *word) {
    bool opens = strcmp(word, "open_stream") == 0, accepts = strcmp(word, "accept_stream") == 0;
    if (!opens && !accepts && strcmp(word, "reset") != 0)
        return false;
    struct script_connection *c = script_connection(script);
    if (!c)
        return true;
    int refused = opens     ? carrick_open_stream(script->stack, c->handle, script_opened, script)
                  : accepts ? carrick_accept_stream(script->stack, c->handle, script_opened, script)
                            : carrick_reset(script->stack, c->handle, script_done, script);
    if (refused)
        script_answer(script, "the program has no such call");
    return true;
}

/* Closing answers at once, as a socket does; what becomes of it nobody asks. */
static bool script_close(struct script *script, const char *word) {
    bool closing = strcmp(word, "close") == 0;
    if (!closing && strcmp(word, "abort") != 0)
        return false;
    struct script_connection *c = script_connection(script);
    if (!c)
        return true;
    c->open = false;
    if (closing)
        (void)carrick_close(script->stack, c->handle, NULL, NULL);
    else
        (void)carrick_abort(script->stack, c->handle, NULL, NULL);
    script_answer(script, "ok");
    return true;
}

static void script_shut(struct script *script) {
    const struct script_connection *c = script_connection(script);
    if (c && carrick_shutdown(script->stack, c->handle, script_done, script) != 0)
        script_answer(script, "the program has no such call");
}

static void script_obey(struct script *script, char *line) {
    char *words[SCRIPT_WORDS], *rest = NULL;
    int count = 0;
    for (char *w = strtok_r(line, " ", &rest); w && count < SCRIPT_WORDS; w = strtok_r(NULL, " ", &rest))
        words[count++] = w;
    if (count == 0)
        return;
    script->busy = true;
    int refused = script_open(script, words, count);
    if (refused > 0)
        script_answer(script, "the program has no such call");
    if (refused >= 0 || script_close(script, words[0]) || script_stream(script, words[0]) ||
        script_rpc(script, words, count))
        return;
    if (strcmp(words[0], "use") == 0 && count == 2) {
        script->current = (uint32_t)atoi(words[1]);
        script_answer(script, "ok");
    } else if (strcmp(words[0], "shutdown") == 0) {
        script_shut(script);
    } else if (!script_transfer(script, words, count)) {
        script_answer(script, "unknown command: %s", words[0]);
    }
}

void script_next(struct script *script) {
    char *end;
    while (!script->busy && (end = memchr(script->lines, '\n', script->lines_len)) != NULL) {
        char line[SCRIPT_LINE];
        uint32_t len = (uint32_t)(end - script->lines);
        snprintf(line, sizeof line, "%.*s", (int)len, script->lines);
        script->lines_len -= len + 1;
        memmove(script->lines, end + 1, script->lines_len);
        script_obey(script, line);
    }
    if (!script->busy && script->ended)
        carrick_stack_stop(script->stack, CARRICK_EXIT_OK);
}

static void script_read(void *user) {
    struct script *script = user;
    ssize_t got = read(STDIN_FILENO, script->lines + script->lines_len, sizeof script->lines - script->lines_len);
    if (got <= 0 && script->lines_len < sizeof script->lines) {
        script->ended = true;
        (void)carrick_stack_watch(script->stack, STDIN_FILENO, NULL, NULL);
    }
    if (got > 0)
        script->lines_len += (uint32_t)got;
    script_next(script);
}

static void *script_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    struct script *script = calloc(1, sizeof *script);
    if (script)
        script->times = calloc(SCRIPT_PINGS, sizeof *script->times);
    if (!script || !script->times) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the script.");
        free(script);
        return NULL;
    }
    script->stack = stack;
    if (strcmp(argument, "-") == 0 && carrick_stack_watch(stack, STDIN_FILENO, script_read, script))
        return script;
    snprintf(error->text, sizeof error->text, "A script comes from standard input: write script:-.");
    free(script->times);
    free(script);
    return NULL;
}

static void script_finish(void *state) {
    struct script *script = state;
    free(script->times);
    free(script);
}

const struct carrick_application carrick_script_application = {
    .name = "script", .usage = "script:-", .start = script_start, .finish = script_finish};
