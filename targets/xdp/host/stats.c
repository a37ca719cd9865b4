/* SPDX-License-Identifier: MIT */
/* What a host wants to know of a program in the kernel. */
#include <string.h>

#include "core.h"

const uint64_t *carrick_kernel_counters(const struct carrick_core *core) {
    /* The core is the host's; only its counters change here. */
    uint64_t *counters = core->kernel->counters;
    if (!carrick_kernel_read_cores(core->kernel))
        return counters;
    memset(counters, 0, sizeof core->kernel->counters);
    for (uint32_t p = 0; p < core->kernel->processors; p++)
        for (uint32_t n = 0; n < CARRICK_COUNTERS; n++)
            counters[n] += carrick_kernel_head(core->kernel, p)->counters[n];
    bool middlebox =
        core->kernel->bridge.fd >= 0 && kernel_bpf_lookup(core->kernel->bridge.fd, 0, core->kernel->all_bridge);
    for (uint32_t n = 0; middlebox && n < core->kernel->processors * CARRICK_MIDDLEBOX_COUNTERS; n++)
        counters[CARRICK_COUNTERS + n % CARRICK_MIDDLEBOX_COUNTERS] += core->kernel->all_bridge[n];
    return counters;
}

uint32_t carrick_kernel_capacity(const struct carrick_config *config) {
    const struct carrick_kernel *kernel = config->elsewhere;
    uint32_t most = 0;
    for (uint32_t c = 0; c < kernel->places->context_count; c++)
        if (kernel->places->contexts[c].served && kernel->contexts[c].entries > most)
            most = kernel->contexts[c].entries;
    return most;
}

uint32_t carrick_kernel_open_contexts(const struct carrick_core *core) {
    uint32_t open = 0;
    for (uint32_t c = 0; c < core->kernel->places->context_count; c++) {
        const struct kernel_map *slots = &core->kernel->contexts[c];
        const struct carrick_context_place *place = &core->kernel->places->contexts[c];
        for (uint32_t slot = 0; slot < slots->entries && !place->global; slot++)
            open += core_word(kernel_at(slots, slot) + place->slot + CARRICK_PLACE_LIVE) != 0;
    }
    return open;
}

/* A number of 1, 2, 4 or 8 bytes. */
static uint64_t number(const uint8_t *at, const struct carrick_part_place *part) {
    uint64_t value = 0;
    memcpy(&value, at, part->octets < sizeof value ? part->octets : sizeof value);
    uint64_t sign = UINT64_C(1) << (part->octets * 8u - 1);
    return part->is_signed && value & sign ? value | ~(sign - 1) : value;
}

bool carrick_kernel_identify(struct carrick_core *core, uint64_t handle, struct carrick_identity *out) {
    const struct carrick_kernel *kernel = core->kernel;
    uint32_t context = (uint32_t)(handle >> 56) - 1, slot = (uint32_t)handle;
    uint32_t generation = (uint32_t)(handle >> 32) & 0xffffff;
    if (context >= kernel->places->context_count || slot >= kernel->contexts[context].entries)
        return false;
    const struct carrick_context_place *place = &kernel->places->contexts[context];
    const uint8_t *instance = kernel_at(&kernel->contexts[context], slot);
    if (core_word(instance + place->slot + CARRICK_PLACE_LIVE) == 0 ||
        core_word(instance + place->slot + CARRICK_PLACE_GENERATION) != generation)
        return false;
    *out = (struct carrick_identity){.names = kernel->part_names[context], .count = place->part_count};
    for (uint32_t p = 0; p < place->part_count; p++)
        out->parts[p] = number(instance + place->parts[p].at, &place->parts[p]);
    return true;
}
