/* SPDX-License-Identifier: MIT */
/* Requests into the kernel, and completions out of it. */
#include <string.h>

#include "core.h"

/* A request for bytes waits so long (ns) for more of them, if the last one found fewer than it asked for: a request for
 * each packet would hold the connection whenever the next packet comes. What else is asked for takes it along. */
#define READ_TOGETHER UINT64_C(50000)
/* Empty frames that are given in one turn: after so many, others have theirs. */
#define EMPTY_AT_ONCE 64u
/* With so many packets waiting no request goes to the program: what a frame of them issues has to find room. */
#define QUEUED_MOST (CARRICK_QUEUE / 2)

static uint32_t staged_count(const struct carrick_config *config) {
    const struct carrick_kernel *kernel = config->elsewhere;
    return kernel->requests.memory ? kernel->requests.entries : 0;
}

size_t carrick_kernel_footprint(const struct carrick_config *config) {
    if (!config->elsewhere || config->completions & (config->completions - 1))
        return 0;
    return sizeof(struct carrick_core) + staged_count(config) * sizeof(struct staged) +
           core_most_timers(config->elsewhere) * sizeof(struct due);
}

struct carrick_core *carrick_kernel_init(void *memory, const struct carrick_config *config) {
    struct carrick_core *core = memory;
    if (carrick_kernel_footprint(config) == 0)
        return NULL;
    core->kernel = config->elsewhere;
    core->trace = config->trace;
    core->trace_user = config->trace_user;
    core->base = config->base;
    core->most_open = config->completions ? config->completions : 1024;
    core->staged_count = staged_count(config);
    core->due_most = core_most_timers(core->kernel);
    core->due = (struct due *)(void *)(core->staged + core->staged_count);
    core->staged_free = core->staged_count ? 0 : NOT_STAGED;
    for (uint32_t n = 0; n < core->staged_count; n++) {
        core->staged[n].next = n + 1 < core->staged_count ? n + 1 : NOT_STAGED;
        core->staged[n].first = NOT_STAGED;
    }
    /* Whoever was here before may have gone while it looked at them. */
    core_look_at_timers(core);
    core_find_way(core, &(struct carrick_hop){0});
    return core;
}

static uint64_t packets_waiting(const struct carrick_core *core) {
    const struct carrick_shared *shared = kernel_shared(core->kernel);
    uint64_t head = __atomic_load_n(&shared->queue_head, __ATOMIC_ACQUIRE);
    uint64_t queued = __atomic_load_n(&shared->queue_tail, __ATOMIC_ACQUIRE) - head;
    return queued + __atomic_load_n(&shared->leaving, __ATOMIC_ACQUIRE);
}

/* An empty frame, for the oldest packet that waits. */
static bool give_empty(struct tap *tap) {
    const struct carrick_host_request empty = {.kind = CARRICK_REQUEST_PACKET};
    if (!tap_room(tap))
        return false;
    tap_put(tap, &empty);
    return tap_push(tap);
}

/* Whether a frame can take one more request, and the queue what it issues: several of a frame leave one packet in it,
 * and where little room is left those that wait go first. Who waits for a moment has a share of the queue instead. */
static bool room_to_ask(const struct carrick_core *core) {
    struct tap *tap = &core->kernel->tap;
    bool room = tap_room(tap);
    if (kernel_shared(core->kernel)->due != 0)
        return room;
    for (uint32_t given = 0; room && given < EMPTY_AT_ONCE && packets_waiting(core) >= QUEUED_MOST; given++)
        room = give_empty(tap);
    return room && packets_waiting(core) < QUEUED_MOST;
}

bool core_ask(struct carrick_core *core, const struct carrick_host_request *host_request) {
    if (!room_to_ask(core))
        return false;
    core->goes_at = 0;
    tap_put(&core->kernel->tap, host_request);
    return true;
}

/* Whether one packet is to be expected of a request, which has the frame for itself then. */
static bool brings_octets(const struct carrick_request *request) {
    return request->data.ptr && !request->writable;
}

/* The request is put into the frame next: how long that can wait. */
static void may_wait(struct carrick_core *core, const struct carrick_request *request, uint64_t now) {
    core->drained = core->drained && request->writable;
    if (!core->drained)
        core->goes_at = 0;
    else if (core->kernel->tap.count == 0)
        core->goes_at = now + READ_TOGETHER;
}

/* Whether the event of a call has an addr_t: the program never sees the bytes of any other. */
static bool takes_octets(const struct carrick_call_info *call) {
    for (uint32_t f = 0; f < call->field_count; f++)
        if (call->fields[f].kind == CARRICK_FIELD_ADDR)
            return true;
    return false;
}

int carrick_kernel_call(struct carrick_core *core, uint32_t call, const struct carrick_request *request, uint64_t now) {
    const struct carrick_program *program = carrick_program_entry();
    if (call >= program->call_count || request->token == 0 ||
        (request->data.ptr && !takes_octets(&program->calls[call])))
        return CARRICK_BAD_ARG;
    if (core->open == core->most_open || !room_to_ask(core))
        return CARRICK_AGAIN;
    if (request->data.ptr && request->data.len + CARRICK_PIECE > core->kernel->requests.value) {
        bool other = core->refused != 0;
        core->refused = other ? core->refused : request->token;
        return other ? CARRICK_AGAIN : 0;
    }
    struct carrick_host_request host_request = {.kind = CARRICK_REQUEST_CALL,
                                                .number = call,
                                                .handle = request->handle,
                                                .token = request->token,
                                                .owner = (uint16_t)request->owner};
    memcpy(host_request.args, request->args, sizeof host_request.args);
    if (request->data.ptr && !core_stage(core, request, &host_request))
        return CARRICK_AGAIN;
    core->open++;
    /* Whoever asks is awake, and looks at reports before it sleeps. */
    kernel_awake(core->kernel, true);
    may_wait(core, request, now);
    tap_put(&core->kernel->tap, &host_request);
    if (brings_octets(request))
        (void)tap_push(&core->kernel->tap);
    return 0;
}

bool carrick_kernel_next_completion(struct carrick_core *core, struct carrick_completion *out) {
    const struct kernel_ring *ring = &core->kernel->reports;
    const struct carrick_report *report;
    uint32_t octets;
    bool found = core->refused != 0;
    if (found) {
        *out = (struct carrick_completion){.token = core->refused, .status = CARRICK_NO_ROOM};
        core->refused = 0;
    }
    while (!found && (report = kernel_report(ring, &octets))) {
        uint32_t words = (octets - (uint32_t)offsetof(struct carrick_report, words)) / 8;
        if (report->kind == CARRICK_REPORT_COMPLETION && words >= 3) {
            *out = (struct carrick_completion){
                .token = report->words[0], .status = (uint8_t)report->words[1], .value = report->words[2]};
            core->open -= core->open > 0;
            core_unstage(core, out->token, out->value);
            found = true;
        } else if (report->kind == CARRICK_REPORT_SEND) {
            core_send(core, report, octets);
            __atomic_fetch_add(&kernel_shared(core->kernel)->handed_sent, report->number, __ATOMIC_RELEASE);
        } else if (report->kind == CARRICK_REPORT_WAY && words >= (core->kernel->six ? 2 : 1)) {
            const struct carrick_hop old = core_reported_hop(core, report->words);
            core_find_way(core, &old);
        } else if (report->kind < CARRICK_REPORT_COMPLETION && core->trace) {
            core->trace(core->trace_user, report->kind, report->number, report->words, words);
        }
        kernel_next(ring);
    }
    return found;
}

/* Frames for packets that wait, if one can leave by now; `most` at most. Returns how many. */
static uint32_t give_some(const struct carrick_core *core, uint32_t most, uint64_t now) {
    uint64_t wait = core_packet_due(core) <= core->base + now ? packets_waiting(core) : 0;
    uint32_t given = 0;
    while (given < wait && given < most && give_empty(&core->kernel->tap))
        given++;
    return given;
}

/* No packet leaves by the host: those that wait are given frames of the device. */
uint32_t carrick_kernel_tx_burst(struct carrick_core *core, uint8_t *const *buffers, uint32_t cap, uint32_t *lens,
                                 uint16_t *segments, uint32_t count, uint64_t now) {
    (void)buffers, (void)cap, (void)lens, (void)segments, (void)count;
    /* What comes from here on calls again. */
    __atomic_store_n(&kernel_shared(core->kernel)->called, 0, __ATOMIC_SEQ_CST);
    bool pushed = now < core->goes_at || tap_push(&core->kernel->tap);
    /* Of those that wait for their moment nobody knows how many may leave by now: as long as some do, twice as many. */
    uint32_t most = core_packet_due(core) == 0 ? EMPTY_AT_ONCE : 1;
    for (uint32_t given = 0; pushed && given < EMPTY_AT_ONCE; most *= 2) {
        uint32_t left = EMPTY_AT_ONCE - given, more = give_some(core, most < left ? most : left, now);
        if (more == 0)
            break;
        given += more;
    }
    return 0;
}

uint32_t carrick_kernel_tx(struct carrick_core *core, uint8_t *buffer, uint32_t cap, uint64_t now) {
    uint32_t len;
    return carrick_kernel_tx_burst(core, &buffer, cap, &len, NULL, 1, now);
}

/* None comes by the host either. */
uint32_t carrick_kernel_rx_burst(struct carrick_core *core, const uint8_t *const *packets, const uint32_t *lens,
                                 uint32_t count, uint64_t now) {
    (void)core, (void)packets, (void)lens, (void)now;
    return count;
}

int carrick_kernel_rx(struct carrick_core *core, const uint8_t *packet, uint32_t len, uint64_t now) {
    (void)core, (void)packet, (void)len, (void)now;
    return CARRICK_DROPPED;
}

int carrick_kernel_advance(struct carrick_core *core, uint64_t now) {
    core_fire(core, core->base + now);
    return 0;
}

uint64_t carrick_kernel_wake_by(const struct carrick_core *core) {
    uint64_t first = core_watch(core);
    if (first == CARRICK_NEVER)
        return CARRICK_NEVER;
    return first > core->base ? first - core->base : 0;
}
