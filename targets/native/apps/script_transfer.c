/* SPDX-License-Identifier: MIT */
/* The script's commands that move bytes. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/pattern.h"
#include "apps/script.h"

static void half_send(struct script *script);
static void half_receive(struct script *script);
static void task_step(struct script *script);

/* The first failure is the answer. */
static void task_fail(struct script *script, const char *why) {
    if (script->failure[0] == 0)
        snprintf(script->failure, sizeof script->failure, "%s", why);
}

static void half_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct script *script = user;
    struct script_half *out = &script->out;
    out->running = false;
    if (status != CARRICK_OK)
        task_fail(script, script_status(status));
    out->at += (uint32_t)octets;
    out->left -= octets;
    out->done += octets;
    script->connections[script->current].sent += octets;
    half_send(script);
    task_step(script);
    script_next(script);
}

/* Goes on sending while something is left. */
static void half_send(struct script *script) {
    struct script_half *out = &script->out;
    const struct script_connection *c = &script->connections[script->current];
    if (out->left == 0 || script->failure[0])
        return;
    if (out->at == out->held) {
        out->at = 0;
        out->held = out->left < SCRIPT_BUFFER ? (uint32_t)out->left : SCRIPT_BUFFER;
        if (!out->plain)
            carrick_pattern_fill(out->seed, c->sent, out->buffer, out->held);
    }
    out->running =
        carrick_send(script->stack, c->handle, out->buffer + out->at, out->held - out->at, half_sent, script) == 0;
    if (!out->running)
        task_fail(script, "invalid");
}

static void half_received(void *user, enum carrick_status status, uint64_t octets) {
    struct script *script = user;
    struct script_half *in = &script->in;
    struct script_connection *c = &script->connections[script->current];
    in->running = false;
    if (status == CARRICK_END_OF_STREAM && (script->task == TASK_FINISH || script->task == TASK_ECHO)) {
        in->left = 0;
    } else if (status == CARRICK_END_OF_STREAM) {
        char why[32];
        snprintf(why, sizeof why, "end %" PRIu64, in->done);
        task_fail(script, why);
    } else if (status != CARRICK_OK) {
        task_fail(script, script_status(status));
    } else {
        uint32_t sound =
            in->plain ? (uint32_t)octets : carrick_pattern_check(in->seed, c->received, in->buffer, (uint32_t)octets);
        if (sound < octets) {
            char why[32];
            snprintf(why, sizeof why, "corrupt %" PRIu64, c->received + sound);
            task_fail(script, why);
        }
        c->received += octets;
        in->done += octets;
        in->left -= octets;
        in->held = (uint32_t)octets;
    }
    task_step(script);
    script_next(script);
}

static void half_receive(struct script *script) {
    struct script_half *in = &script->in;
    if (in->left == 0 || script->failure[0])
        return;
    uint32_t want = in->left < SCRIPT_BUFFER ? (uint32_t)in->left : SCRIPT_BUFFER;
    uint64_t handle = script->connections[script->current].handle;
    in->running = carrick_recv(script->stack, handle, in->buffer, want, half_received, script) == 0;
    if (!in->running)
        task_fail(script, "invalid");
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void ping_step(struct script *script) {
    uint64_t now = carrick_stack_now(script->stack);
    if (script->pings > 0)
        script->times[script->pings - 1] = now - script->begin;
    if (script->pings == script->ping_count) {
        qsort(script->times, script->ping_count, sizeof *script->times, by_size);
        script_answer(script, "ok %" PRIu64 " %" PRIu64, script->times[script->ping_count / 2],
                      script->times[(uint64_t)script->ping_count * 99 / 100]);
        return;
    }
    script->pings++;
    script->begin = now;
    script->out.left = script->in.left = script->ping_size;
    half_send(script);
    half_receive(script);
}

/* Sends back what came. */
static void echo_step(struct script *script) {
    struct script_half *in = &script->in, *out = &script->out;
    if (in->held > 0) {
        memcpy(out->buffer, in->buffer, in->held);
        out->left = out->held = in->held;
        out->at = in->held = 0;
        half_send(script);
    } else if (in->left > 0) {
        half_receive(script);
    } else {
        script_answer(script, "ok");
    }
}

/* What to do when a half has moved: answers when the task is done. */
static void task_step(struct script *script) {
    if (script->task == TASK_NONE || script->out.running || script->in.running)
        return;
    if (script->failure[0]) {
        script_answer(script, "%s", script->failure);
        return;
    }
    if (script->task == TASK_ECHO && script->out.left == 0) {
        echo_step(script);
        return;
    }
    if (script->in.left > 0) {
        half_receive(script);
        return;
    }
    if (script->out.left > 0)
        return;
    if (script->task == TASK_PING)
        ping_step(script);
    else if (script->task == TASK_TIMED)
        script_answer(script, "ok %" PRIu64, carrick_stack_now(script->stack) - script->begin);
    else if (script->task == TASK_FINISH)
        script_answer(script, "ok %" PRIu64, script->in.done);
    else
        script_answer(script, "ok %" PRIu64, script->value);
}

static uint64_t word_number(char **words, int count, int n) {
    return n < count ? strtoull(words[n], NULL, 10) : 0;
}

/* A new task with nothing to do yet. */
static void task_begin(struct script *script, enum script_task task, bool plain) {
    script->task = task;
    script->failure[0] = 0;
    script->begin = carrick_stack_now(script->stack);
    struct script_half *halves[2] = {&script->out, &script->in};
    for (int i = 0; i < 2; i++) {
        halves[i]->left = halves[i]->done = 0;
        halves[i]->held = halves[i]->at = 0;
        halves[i]->plain = plain;
    }
}

/* Sends n bytes and receives m, at the same time. */
static void task_move(struct script *script, uint64_t n, uint64_t seed_out, uint64_t m, uint64_t seed_in,
                      uint64_t value) {
    script->out.left = n;
    script->out.seed = seed_out;
    script->in.left = m;
    script->in.seed = seed_in;
    script->value = value;
    half_send(script);
    half_receive(script);
    task_step(script);
}

static bool transfer_plain(struct script *script, char **words, int count) {
    uint64_t n = word_number(words, count, 1);
    if (strcmp(words[0], "blast") == 0) {
        task_begin(script, TASK_SEND, true);
        task_move(script, n, 0, 0, 0, n);
    } else if (strcmp(words[0], "timed_recv") == 0) {
        task_begin(script, TASK_TIMED, true);
        task_move(script, 0, 0, n, 0, 0);
    } else if (strcmp(words[0], "echo") == 0) {
        task_begin(script, TASK_ECHO, true);
        task_move(script, 0, 0, UINT64_MAX, 0, 0);
    } else if (strcmp(words[0], "ping") == 0 && n >= 1 && n <= SCRIPT_PINGS) {
        task_begin(script, TASK_PING, true);
        script->ping_count = (uint32_t)n;
        script->ping_size = (uint32_t)word_number(words, count, 2);
        script->pings = 0;
        task_step(script);
    } else {
        return false;
    }
    return true;
}

bool script_transfer(struct script *script, char **words, int count) {
    uint64_t n = word_number(words, count, 1), seed = word_number(words, count, 2);
    if (!script_connection(script))
        return true;
    if (strcmp(words[0], "send") == 0) {
        task_begin(script, TASK_SEND, false);
        task_move(script, n, seed, 0, 0, n);
    } else if (strcmp(words[0], "recv") == 0) {
        task_begin(script, TASK_RECV, false);
        task_move(script, 0, 0, n, seed, n);
    } else if (strcmp(words[0], "finish") == 0) {
        task_begin(script, TASK_FINISH, false);
        task_move(script, 0, 0, UINT64_MAX, n, 0);
    } else if (strcmp(words[0], "exchange") == 0) {
        uint64_t m = word_number(words, count, 3);
        task_begin(script, TASK_EXCHANGE, false);
        task_move(script, n, seed, m, word_number(words, count, 4), m);
    } else {
        return transfer_plain(script, words, count);
    }
    return true;
}
