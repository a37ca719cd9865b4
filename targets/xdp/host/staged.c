/* SPDX-License-Identifier: MIT */
/* The bytes of requests, which the program does not see where the application has them. */
#include <string.h>

#include "core.h"

static uint8_t *staged_octets(const struct carrick_core *core, uint32_t n) {
    return kernel_at(&core->kernel->requests, n);
}

/* The first element of those whose tokens begin at the same place. */
static uint32_t *begin_at(struct carrick_core *core, uint64_t token) {
    return &core->staged[token % core->staged_count].first;
}

bool core_stage(struct carrick_core *core, const struct carrick_request *request,
                struct carrick_host_request *host_request) {
    uint32_t n = core->staged_free;
    if (n == NOT_STAGED)
        return false;
    struct staged *s = &core->staged[n];
    core->staged_free = s->next;
    uint32_t *first = begin_at(core, request->token);
    s->next = *first;
    *first = n;
    uint64_t len = request->data.len;
    s->token = request->token;
    s->data = request->data.ptr;
    s->len = len;
    s->writable = request->writable;
    if (!s->writable)
        memcpy(staged_octets(core, n), s->data, len);
    host_request->staged = n + 1;
    host_request->data_len = len;
    host_request->flags |= s->writable ? CARRICK_REQUEST_WRITABLE : 0;
    return true;
}

void core_unstage(struct carrick_core *core, uint64_t token, uint64_t octets) {
    if (core->staged_count == 0)
        return;
    uint32_t *at = begin_at(core, token);
    while (*at != NOT_STAGED && core->staged[*at].token != token)
        at = &core->staged[*at].next;
    uint32_t n = *at;
    if (n == NOT_STAGED)
        return;
    struct staged *s = &core->staged[n];
    if (s->writable) {
        memcpy(s->data, staged_octets(core, n), octets < s->len ? octets : s->len);
        core->drained = octets < s->len;
    }
    *at = s->next;
    s->next = core->staged_free;
    core->staged_free = n;
}
