/* SPDX-License-Identifier: MIT */
/* The script's commands that make and answer RPCs, up to SCRIPT_RPCS of them at once. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/pattern.h"
#include "apps/script.h"

static void rpcs_go_on(struct script *script);

/* The first failure is the answer. */
static void rpc_fail(struct script *script, const char *why) {
    if (script->failure[0] == 0)
        snprintf(script->failure, sizeof script->failure, "%s", why);
}

/* One has ended: well, or with the failure of the script. */
static void rpc_ended(struct script_rpc *rpc) {
    rpc->open = false;
    rpc->script->rpcs_open--;
    rpcs_go_on(rpc->script);
}

static void rpc_refused(struct script_rpc *rpc, const char *why) {
    rpc_fail(rpc->script, why);
    rpc_ended(rpc);
}

/* What came is what the other end was to send. */
static bool rpc_is_sound(struct script_rpc *rpc, uint64_t octets) {
    struct script *script = rpc->script;
    uint32_t len = (uint32_t)octets;
    uint32_t sound = carrick_pattern_check(script->in.seed, 0, rpc->buffer, len);
    char why[48];
    if (sound == len && octets == script->in.left)
        return true;
    snprintf(why, sizeof why, "corrupt %" PRIu32, sound);
    rpc_fail(script, why);
    return false;
}

static void rpc_answered(void *user, enum carrick_status status, uint64_t octets) {
    struct script_rpc *rpc = user;
    if (status != CARRICK_OK)
        rpc_fail(rpc->script, script_status(status));
    else if (rpc_is_sound(rpc, octets))
        rpc->script->value++;
    rpc_ended(rpc);
}

static void rpc_requested(void *user, enum carrick_status status, uint64_t handle) {
    struct script_rpc *rpc = user;
    if (status != CARRICK_OK)
        rpc_refused(rpc, script_status(status));
    else if (carrick_recv_response(rpc->script->stack, handle, rpc->buffer, SCRIPT_BUFFER, rpc_answered, rpc) != 0)
        rpc_refused(rpc, "invalid");
}

static void rpc_responded(void *user, enum carrick_status status, uint64_t octets) {
    struct script_rpc *rpc = user;
    (void)octets; /* all of them */
    if (status != CARRICK_OK)
        rpc_fail(rpc->script, script_status(status));
    else
        rpc->script->value++;
    rpc_ended(rpc);
}

static void rpc_taken(void *user, enum carrick_status status, uint64_t octets) {
    struct script_rpc *rpc = user;
    struct script *script = rpc->script;
    if (status != CARRICK_OK)
        rpc_refused(rpc, script_status(status));
    else if (!rpc_is_sound(rpc, octets))
        rpc_ended(rpc);
    else if (carrick_respond(script->stack, rpc->handle, script->out.buffer, (uint32_t)script->out.left, rpc_responded,
                             rpc) != 0)
        rpc_refused(rpc, "invalid");
}

static void rpc_accepted(void *user, enum carrick_status status, uint64_t handle) {
    struct script_rpc *rpc = user;
    rpc->handle = handle;
    if (status != CARRICK_OK)
        rpc_refused(rpc, script_status(status));
    else if (carrick_recv_request(rpc->script->stack, handle, rpc->buffer, SCRIPT_BUFFER, rpc_taken, rpc) != 0)
        rpc_refused(rpc, "invalid");
}

/* 0: its completion will come. */
static int rpc_begin(struct script *script, struct script_rpc *rpc) {
    if (script->is_server)
        return carrick_accept(script->stack, script->listener, rpc_accepted, rpc);
    return carrick_request(script->stack, script->listener, script->address, script->port, script->out.buffer,
                           (uint32_t)script->out.left, rpc_requested, rpc);
}

/* Begins what is to begin, and answers when all have ended. */
static void rpcs_go_on(struct script *script) {
    for (uint32_t i = 0; i < SCRIPT_RPCS && script->rpcs_left > 0 && script->failure[0] == 0; i++) {
        struct script_rpc *rpc = &script->rpcs[i];
        if (rpc->open)
            continue;
        rpc->script = script;
        rpc->open = true;
        script->rpcs_left--;
        script->rpcs_open++;
        if (rpc_begin(script, rpc) != 0) {
            rpc_fail(script, "the program has no such call");
            rpc->open = false;
            script->rpcs_open--;
        }
    }
    if (script->rpcs_open > 0)
        return;
    if (script->failure[0])
        script_answer(script, "%s", script->failure);
    else
        script_answer(script, "ok %" PRIu64, script->value);
    script_next(script);
}

/* The bytes that are sent and those that are to come: N SEED M SEED from a word on, this end's first. */
static bool rpc_octets(struct script *script, char **sent, char **come) {
    script->out.left = strtoull(sent[0], NULL, 10);
    script->in.left = strtoull(come[0], NULL, 10);
    script->in.seed = strtoull(come[1], NULL, 10);
    if (script->out.left == 0 || script->out.left > SCRIPT_BUFFER || script->in.left > SCRIPT_BUFFER)
        return false;
    carrick_pattern_fill(strtoull(sent[1], NULL, 10), 0, script->out.buffer, (uint32_t)script->out.left);
    return true;
}

bool script_rpc(struct script *script, char **words, int count) {
    bool call = strcmp(words[0], "call") == 0 && count == 8;
    bool serve = strcmp(words[0], "serve") == 0 && count == 6;
    if (!call && !serve)
        return false;
    bool known = call ? rpc_octets(script, words + 4, words + 6) : rpc_octets(script, words + 4, words + 2);
    if (call)
        known = known && carrick_parse_address(words[2], strlen(words[2]), &script->address) &&
                carrick_parse_port(words[3], &script->port);
    script->rpcs_left = (uint32_t)strtoul(words[1], NULL, 10);
    if (!known || script->rpcs_left == 0) {
        script_answer(script, "invalid");
        return true;
    }
    script->is_server = serve;
    script->failure[0] = 0;
    script->value = 0;
    script->rpcs_open = 0;
    rpcs_go_on(script);
    return true;
}
