/* SPDX-License-Identifier: MIT */
/* The octets of requests, which the program does not see where the application has them. */
#include <string.h>

#include "core.h"

static uint8_t *staged_octets(const struct carrick_core *core, uint32_t n) {
    return kernel_at(&core->kernel->requests, n);
}

bool core_stage(struct carrick_core *core, const struct carrick_request *request, struct carrick_asked *asked) {
    uint32_t n = core->staged_free;
    if (n == NOT_STAGED)
        return false;
    struct staged *s = &core->staged[n];
    core->staged_free = s->next;
    uint64_t len = request->data.len;
    s->token = request->token;
    s->data = request->data.ptr;
    s->len = len;
    s->writable = request->writable;
    if (!s->writable)
        memcpy(staged_octets(core, n), s->data, len);
    asked->staged = n + 1;
    asked->data_len = len;
    asked->flags |= s->writable ? CARRICK_REQUEST_WRITABLE : 0;
    return true;
}

void core_unstage(struct carrick_core *core, uint64_t token, uint64_t octets) {
    for (uint32_t n = 0; n < core->staged_count; n++) {
        struct staged *s = &core->staged[n];
        if (s->token != token)
            continue;
        if (s->writable)
            memcpy(s->data, staged_octets(core, n), octets < s->len ? octets : s->len);
        s->token = 0;
        s->next = core->staged_free;
        core->staged_free = n;
        return;
    }
}
