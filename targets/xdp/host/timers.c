/* SPDX-License-Identifier: MIT */
/*
 * Timers lie in the instances. `earliest` of what all processors share says from when on one can be due that the host
 * has not seen; programs lower it where they start one. Only then all instances are looked at that ever were one, and
 * whatever is due soon is noted: so however many timers are due one after the other, they are looked at once.
 */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* So far ahead timers are noted (ns), and so many at most. */
#define SOON       UINT64_C(100000000)
#define NOTED_MOST 65536u

/* Lowers it to a deadline, unless it is lower. */
static void lower(uint64_t *earliest, uint64_t deadline) {
    uint64_t there = __atomic_load_n(earliest, __ATOMIC_RELAXED);
    while (there == 0 || deadline < there)
        if (__atomic_compare_exchange_n(earliest, &there, deadline, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return;
}

void core_look_at_timers(const struct carrick_core *core) {
    lower(&kernel_shared(core->kernel)->earliest, 1);
}

static uint64_t first_timer(const struct carrick_core *core) {
    return __atomic_load_n(&kernel_shared(core->kernel)->earliest, __ATOMIC_SEQ_CST);
}

uint64_t core_packet_due(const struct carrick_core *core) {
    const struct carrick_shared *shared = kernel_shared(core->kernel);
    uint64_t head = __atomic_load_n(&shared->queue_head, __ATOMIC_SEQ_CST);
    bool wait = head != __atomic_load_n(&shared->queue_tail, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&shared->leaving, __ATOMIC_SEQ_CST) != 0)
        return 0;
    return wait ? __atomic_load_n(&shared->due, __ATOMIC_SEQ_CST) : CARRICK_NEVER;
}

static uint64_t first_due(const struct carrick_core *core) {
    uint64_t timer = first_timer(core), first = core_packet_due(core);
    uint64_t noted = core->due_first < core->due_count ? core->due[core->due_first].deadline : CARRICK_NEVER;
    first = timer && timer < first ? timer : first;
    /* Requests in a frame that wait for others, or for memory: nothing calls when there is some again. */
    uint64_t request = core->goes_at ? core->base + core->goes_at : 0;
    if (core->kernel->tap.count > 0 && request < first)
        first = request;
    return noted < first ? noted : first;
}

uint64_t core_watch(const struct carrick_core *core) {
    uint64_t first;
    /* A program that lowers it first and then looks at what is watched either sees this, or is seen. */
    do {
        first = first_due(core);
        __atomic_store_n(&kernel_shared(core->kernel)->watched, first ? first : 1, __ATOMIC_SEQ_CST);
    } while (first != first_due(core));
    return first;
}

static int sooner(const void *left, const void *right) {
    const struct due *a = left, *b = right;
    if (a->deadline != b->deadline)
        return a->deadline < b->deadline ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* What has been found: when the first timer is due of those that were not noted; 0: there is no other. */
struct found {
    uint64_t until, next;
};

static void found_timer(struct carrick_core *core, struct found *found, const struct due *due) {
    if (due->deadline <= found->until && core->due_count < core->due_most)
        core->due[core->due_count++] = *due;
    else if (found->next == 0 || due->deadline < found->next)
        found->next = due->deadline;
}

/* The timers of an instance. It may change meanwhile: what is fired the program looks at once more. */
static void look_at(struct carrick_core *core, struct found *found, uint32_t context, uint32_t slot,
                    const uint8_t *instance) {
    const struct carrick_context_place *place = &core->kernel->places->contexts[context];
    if (core_word(instance + place->slot + CARRICK_PLACE_LIVE) == 0)
        return;
    uint64_t generation = core_word(instance + place->slot + CARRICK_PLACE_GENERATION);
    for (uint32_t t = 0; t < place->timer_count; t++) {
        const uint8_t *timer = instance + place->timers + t * sizeof(struct carrick_timer);
        if (core_long(timer + offsetof(struct carrick_timer, armed)) == 0)
            continue;
        struct due due = {.deadline = core_long(timer + offsetof(struct carrick_timer, deadline)),
                          .order = core_long(timer + offsetof(struct carrick_timer, order)),
                          .handle = (uint64_t)(context + 1) << 56 | generation << 32 | slot,
                          .timer = timer,
                          .number = context << 8 | t};
        found_timer(core, found, &due);
    }
}

/* Slots are used from the first one on, one that was freed before one that never was. But those that processors have
 * just taken may not look used yet, one of each. */
static void look_at_context(struct carrick_core *core, struct found *found, uint32_t context) {
    const struct kernel_map *slots = &core->kernel->contexts[context];
    const struct carrick_context_place *place = &core->kernel->places->contexts[context];
    uint32_t unused = 0;
    for (uint32_t slot = 0; slot < slots->entries && unused <= core->kernel->processors; slot++) {
        const uint8_t *instance = kernel_at(slots, slot);
        bool used = core_word(instance + place->slot + CARRICK_PLACE_GENERATION) != 0;
        unused = used ? 0 : unused + 1;
        if (used)
            look_at(core, found, context, slot, instance);
    }
}

/* Notes what is due soon, and lowers `earliest` to what is not. */
static void look_at_all(struct carrick_core *core, uint64_t now) {
    uint64_t *earliest = &kernel_shared(core->kernel)->earliest;
    /* What is started from here on lowers it again; what was before is seen here. */
    __atomic_store_n(earliest, 0, __ATOMIC_SEQ_CST);
    struct found found = {.until = now + SOON};
    core->due_first = core->due_count = 0;
    for (uint32_t context = 0; context < core->kernel->places->context_count; context++)
        if (core->kernel->places->contexts[context].timer_count > 0)
            look_at_context(core, &found, context);
    if (found.next != 0)
        lower(earliest, found.next);
    qsort(core->due, core->due_count, sizeof core->due[0], sooner);
}

/* Whether it has been neither stopped nor started again since it was noted. */
static bool still_due(const struct due *due) {
    return core_long(due->timer + offsetof(struct carrick_timer, armed)) != 0 &&
           core_long(due->timer + offsetof(struct carrick_timer, deadline)) == due->deadline &&
           core_long(due->timer + offsetof(struct carrick_timer, order)) == due->order;
}

void core_fire(struct carrick_core *core, uint64_t now) {
    uint64_t first = first_timer(core);
    if (first != 0 && first <= now)
        look_at_all(core, now);
    for (; core->due_first < core->due_count && core->due[core->due_first].deadline <= now; core->due_first++) {
        const struct due *due = &core->due[core->due_first];
        struct carrick_host_request host_request = {
            .kind = CARRICK_REQUEST_TIMER, .number = due->number, .handle = due->handle};
        if (still_due(due) && !core_ask(core, &host_request))
            return;
    }
}

uint32_t core_most_timers(const struct carrick_kernel *kernel) {
    uint64_t most = 0;
    for (uint32_t context = 0; context < kernel->places->context_count; context++)
        most += (uint64_t)kernel->contexts[context].entries * kernel->places->contexts[context].timer_count;
    return most < NOTED_MOST ? (uint32_t)most : NOTED_MOST;
}
