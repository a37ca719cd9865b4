/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "carrick/bounds.h"
#include "carrick/reserve.h"
#include "host/requests.h"

static const char *const call_names[CALL_KINDS] = {
    "listen",      "unlisten",      "accept",         "connect",        "send",          "recv",
    "shutdown",    "close",         "abort",          "open",           "request",       "recv_request",
    "respond",     "recv_response", "cancel",         "open_stream",    "accept_stream", "reset",
    "register",    "deregister",    "post_recv",      "post_send",      "post_write",    "post_read",
    "set_nodelay", "set_keepalive", "cancel_connect", "set_tos",        "info",          "set_user_timeout",
    "set_linger",  "orphan",        "drain",          "change_context", "take",          "put",
    "consume",     "limit"};
static const char *const field_names[FIELDS] = {
    "local_ip", "local_port", "remote_ip", "remote_port", "backlog",      "len",       "local_qp", "remote_qp",
    "send_psn", "recv_psn",   "key",       "addr",        "may_read",     "may_write", "with_imm", "imm",
    "on",       "request",    "tos",       "item",        "milliseconds", "by",        "buffer"};

static struct carrick_call_map map_call(const struct carrick_program *program, const char *name) {
    struct carrick_call_map map = {.number = -1};
    memset(map.place, -1, sizeof map.place);
    for (uint32_t c = 0; c < program->call_count; c++) {
        const struct carrick_call_info *call = &program->calls[c];
        if (strcmp(call->name, name) != 0)
            continue;
        map.number = (int32_t)c;
        int8_t place = 0;
        for (uint32_t f = 0; f < call->field_count; f++) {
            for (int k = 0; k < FIELDS; k++)
                if (strcmp(call->fields[f].name, field_names[k]) == 0)
                    map.place[k] = place;
            uint8_t kind = call->fields[f].kind;
            place = (int8_t)(place + (kind == CARRICK_FIELD_IP6 ? 2 : kind != CARRICK_FIELD_ADDR));
        }
    }
    return map;
}

bool carrick_requests_make(struct carrick_requests *all, const struct carrick_program *program, uint32_t count) {
    *all =
        (struct carrick_requests){.count = count, .free = NO_SLOT, .waiting_first = NO_SLOT, .waiting_last = NO_SLOT};
    all->six = program->network == CARRICK_NETWORK_IPV6;
    for (int k = 0; k < CALL_KINDS; k++)
        all->calls[k] = map_call(program, call_names[k]);
    all->slots = carrick_reserve(count, sizeof *all->slots);
    return all->slots != NULL;
}

void carrick_requests_free(struct carrick_requests *all) {
    carrick_unreserve(all->slots, all->count, sizeof *all->slots);
}

struct carrick_slot *carrick_requests_begin(struct carrick_requests *all, enum carrick_call_kind kind) {
    uint32_t n = all->free;
    if (n != NO_SLOT)
        all->free = all->slots[n].next;
    else if (all->fresh < all->count)
        n = all->fresh++;
    else
        return NULL;
    struct carrick_slot *slot = &all->slots[n];
    slot->next = NO_SLOT;
    slot->kind = (uint8_t)kind;
    slot->open = true;
    slot->tries = 0;
    CARRICK_ZERO(&slot->request);
    slot->request.token = (uint64_t)++slot->generation << 32 | (n + 1);
    return slot;
}

struct carrick_slot *carrick_requests_find(struct carrick_requests *all, uint64_t token) {
    uint32_t n = (uint32_t)token - 1;
    if (n >= all->count || !all->slots[n].open || all->slots[n].request.token != token)
        return NULL;
    return &all->slots[n];
}

void carrick_requests_end(struct carrick_requests *all, struct carrick_slot *slot) {
    slot->open = false;
    slot->next = all->free;
    all->free = (uint32_t)(slot - all->slots);
}

bool carrick_requests_set_address(const struct carrick_requests *all, struct carrick_slot *slot,
                                  enum carrick_call_field field, struct carrick_ip6_address address) {
    int place = all->calls[slot->kind].place[field];
    if (!carrick_address_is_unspecified(address) && carrick_address_is_ipv4(address) == all->six)
        return false;
    carrick_requests_set(all, slot, field, all->six ? address.high : (uint32_t)address.low);
    if (all->six && place >= 0 && place + 1 < 16)
        slot->request.args[place + 1] = address.low;
    return true;
}

void carrick_requests_copy_address(const struct carrick_requests *all, struct carrick_slot *to,
                                   const struct carrick_slot *from, enum carrick_call_field field) {
    int target = all->calls[to->kind].place[field], source = all->calls[from->kind].place[field];
    for (int word = 0; target >= 0 && source >= 0 && word <= all->six; word++)
        to->request.args[target + word] = from->request.args[source + word];
}

uint64_t carrick_requests_get(const struct carrick_requests *all, const struct carrick_slot *slot,
                              enum carrick_call_field field) {
    int place = all->calls[slot->kind].place[field];
    return place >= 0 && place < 16 ? slot->request.args[place] : 0;
}

static int call_core(const struct carrick_requests *all, struct carrick_host *host, const struct carrick_slot *slot) {
    return host->program->call(host->core, (uint32_t)all->calls[slot->kind].number, &slot->request, host->now);
}

int carrick_requests_submit(struct carrick_requests *all, struct carrick_host *host, struct carrick_slot *slot) {
    int result = all->waiting_first == NO_SLOT ? call_core(all, host, slot) : CARRICK_AGAIN;
    if (result != CARRICK_AGAIN) {
        if (result != 0)
            carrick_requests_end(all, slot);
        return result;
    }
    uint32_t n = (uint32_t)(slot - all->slots);
    if (all->waiting_first == NO_SLOT)
        all->waiting_first = n;
    else
        all->slots[all->waiting_last].next = n;
    all->waiting_last = n;
    return 0;
}

/* A request that waited, and that the core refuses: nothing but this will complete it. */
static void refuse(struct carrick_requests *all, struct carrick_slot *slot) {
    carrick_done_fn tell = slot->done;
    void *user = slot->user;
    carrick_requests_end(all, slot);
    if (tell)
        tell(user, CARRICK_INVALID, 0);
}

bool carrick_requests_retry(struct carrick_requests *all, struct carrick_host *host) {
    bool went = false;
    while (all->waiting_first != NO_SLOT) {
        struct carrick_slot *slot = &all->slots[all->waiting_first];
        uint32_t next = slot->next;
        int result = call_core(all, host, slot);
        if (result == CARRICK_AGAIN)
            return went;
        all->waiting_first = next;
        went = true;
        if (result != 0)
            refuse(all, slot);
    }
    return went;
}
