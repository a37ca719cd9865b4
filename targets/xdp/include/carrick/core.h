/* SPDX-License-Identifier: MIT */
/*
 * What a processor has, what all of them share, and what is done with it in every program. Here and in the headers like
 * this one CARRICK_OWN(name) is what the generated code before it has under a name. It says what its program is like:
 * CARRICK_PARSER (the function that parses), CARRICK_PROTOCOL (of IP), CARRICK_CHAINS (how many chains can have raised
 * events that wait), and 1 or 0 for CARRICK_WHOLE_SUM (a checksum over header and payload), CARRICK_LOOKS (it looks
 * behind what is seen of a packet), CARRICK_FRAMES (payloads have parts), CARRICK_MAKES_FRAMES (also those of packets
 * that leave), CARRICK_PAYLOADS (packets carry some), CARRICK_UNITS (contexts have units of data), CARRICK_STORES
 * (it stores or copies packets), CARRICK_CLAIMED (it claims something).
 */
#ifndef CARRICK_XDP_CORE_H
#define CARRICK_XDP_CORE_H

#include "carrick/arrived.h"
#if CARRICK_UNITS
#include "carrick/open.h"
#endif

/* What this processor has; NULL never. */
CARRICK_INLINE struct CARRICK_OWN(core) * CARRICK_OWN(here)(void) {
    uint32_t only = 0;
    return bpf_map_lookup_elem(&carrick_cores, &only);
}

CARRICK_INLINE struct carrick_shared *CARRICK_OWN(shared)(void) {
    uint32_t only = 0;
    return bpf_map_lookup_elem(&carrick_shared, &only);
}

/* The number of the next packet. */
CARRICK_INLINE uint16_t CARRICK_OWN(identification)(void) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    return shared ? (uint16_t)__sync_fetch_and_add(&shared->identification, 1) : 0;
}

/* Whether whoever reads reports has to be woken: once, since it looks at all of them then. To wake is an interrupt of
 * the processor's own, which in a virtual machine costs more than a packet. */
CARRICK_INLINE bool CARRICK_OWN(wakes)(struct carrick_shared *shared) {
    return shared && CARRICK_READ(shared->awake) == 0 && __sync_val_compare_and_swap(&shared->awake, 0, 1) == 0;
}

/* Sends `core->report`. 0: there is no room for it. */
CARRICK_GLOBAL_FN int CARRICK_OWN(send_report)(struct CARRICK_OWN(core) * core) {
    CARRICK_GIVEN(core);
    uint64_t words = core->report.count;
    CARRICK_BARRIER_VAR(words);
    if (words > CARRICK_REPORT_WORDS)
        words = CARRICK_REPORT_WORDS;
    uint64_t octets = 16 + words * 8;
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    uint64_t flags = CARRICK_OWN(wakes)(shared) ? CARRICK_FORCE_WAKEUP : CARRICK_NO_WAKEUP;
    if (bpf_ringbuf_output(&carrick_reports, &core->report, octets, flags) != 0) {
        core->counters[CARRICK_COUNT_COMPLETION_LOST]++;
        return 0;
    }
    /* Whoever reads them may have gone to sleep after it was asked. */
    if (flags == CARRICK_NO_WAKEUP && CARRICK_OWN(wakes)(shared)) {
        core->report.kind = CARRICK_REPORT_WAKE;
        (void)bpf_ringbuf_output(&carrick_reports, &core->report, 16, CARRICK_FORCE_WAKEUP);
    }
    return 1;
}

/* Completes a request. */
CARRICK_INLINE void CARRICK_OWN(complete)(struct CARRICK_OWN(core) * core, uint64_t token, uint8_t status,
                                          uint64_t value) {
#if CARRICK_UNITS
    carrick_open_end(&core->open, token);
#endif
    CARRICK_REPORT(core, CARRICK_REPORT_COMPLETION, 0, token, status, value);
}

#if CARRICK_LOOKS
/* `in` has what follows from here on, as much as is seen at once. */
CARRICK_GLOBAL_FN int CARRICK_OWN(look)(struct CARRICK_OWN(core) * core, uint32_t at) {
    if (!core || at == core->looked)
        return 0;
    core->looked = at;
    uint64_t octets = core->packet.len - at;
    if (octets > CARRICK_SEEN)
        octets = CARRICK_SEEN;
    CARRICK_BARRIER_VAR(octets);
    if (at >= core->packet.len || octets > CARRICK_SEEN)
        return 0;
    const struct carrick_arrived *arrived = carrick_arrived_here();
    at += core->begin;
    CARRICK_BARRIER_VAR(at);
    CARRICK_GIVEN(arrived && at < CARRICK_FRAME_MAX);
    return (int)bpf_probe_read_kernel(core->in, (uint32_t)octets, arrived->octets + at);
}
#endif

#ifdef CARRICK_SEGMENTS
/* Puts the network headers of a packet in front of its own header, which begins at CARRICK_BEGIN of `out` and has
 * `header` bytes: it moves to where they end. `len`: bytes behind the network headers. */
CARRICK_GLOBAL_FN int CARRICK_OWN(build_routed)(struct CARRICK_OWN(core) * core, const struct carrick_ip6 *ip,
                                                uint32_t header, uint32_t len) {
    CARRICK_GIVEN(core && ip);
    uint32_t net = carrick_ip6_headers(ip);
    carrick_ip6_build_routed(core->out + CARRICK_ETHERNET, ip, len);
    CARRICK_BARRIER_VAR(net);
    CARRICK_BARRIER_VAR(header);
    if (net >= CARRICK_NET_LONGEST || header > CARRICK_HEADER_MAX)
        return 0;
    return (int)bpf_probe_read_kernel(core->out + CARRICK_ETHERNET + net, header, core->out + CARRICK_BEGIN);
}
#endif

#if CARRICK_READS_FRAMES
/* The sum of so many bytes of the frame that came, CARRICK_SUMMED at most. */
CARRICK_GLOBAL_FN uint64_t CARRICK_OWN(sum_of_piece)(uint64_t begin, uint32_t piece) {
    const struct carrick_arrived *arrived = carrick_arrived_here();
    CARRICK_GIVEN(arrived && begin < CARRICK_FRAME_MAX && piece <= CARRICK_SUMMED);
    return carrick_sum_piece(arrived->octets + begin, piece);
}

/* The sum of all bytes of the frame from `begin` on, `len` of them. */
CARRICK_GLOBAL_FN uint64_t CARRICK_OWN(sum_at)(uint64_t begin, uint32_t len) {
    uint64_t sum = 0;
    for (uint32_t at = 0; at < CARRICK_FRAME_MAX && at < len; at += CARRICK_SUMMED)
        sum += CARRICK_OWN(sum_of_piece)(begin + at, (uint32_t)carrick_min64(len - at, CARRICK_SUMMED));
    return sum;
}
#endif

#if defined(CARRICK_MIDDLEBOX) && CARRICK_WHOLE_SUM
/* The sum of what is behind the first bytes of the packet that came. All of it was summed. */
CARRICK_GLOBAL_FN uint64_t CARRICK_OWN(sum_behind)(struct CARRICK_OWN(core) * core, uint32_t octets) {
    CARRICK_GIVEN(core);
    uint64_t less = (uint16_t)~carrick_sum_16(CARRICK_OWN(sum_at)(core->begin, octets));
    return carrick_sum_join(0, octets, core->sum + less);
}
#endif

#if CARRICK_STORES
#include "carrick/stored.h"
#endif

#if CARRICK_FRAMES
/* The next byte that no extract has taken; 0 if there is none. */
CARRICK_GLOBAL_FN uint8_t CARRICK_OWN(peek)(struct CARRICK_OWN(core) * core,
                                            const struct CARRICK_OWN(packet) * packet) {
    if (!core || !packet || packet->rest[0] >= packet->rest[1])
        return 0;
    (void)CARRICK_OWN(look)(core, packet->rest[0]);
    return core->in[0];
}
#endif

/* Raised events. What the chain that has run, or the parser, raised comes before what waits. */
CARRICK_INLINE void CARRICK_OWN(raised_here)(struct CARRICK_OWN(core) * core) {
    uint32_t end = core->waiting_count, count = core->chain.raised_count;
    core->chain.raised_count = 0;
    if (count > 0 && core->level_count < CARRICK_CHAINS) {
        struct carrick_level *level = &core->levels[carrick_at(core->level_count, CARRICK_CHAINS)];
        core->level_count++;
        *level = (struct carrick_level){end - count, end - count, end};
    }
}

/* The event to run next; NULL if there is none, or none where this looks. */
CARRICK_INLINE struct CARRICK_OWN(raised) * CARRICK_OWN(next_raised)(struct CARRICK_OWN(core) * core) {
    struct carrick_level *level = &core->levels[carrick_at(core->level_count - 1, CARRICK_CHAINS)];
    if (level->next >= level->end) {
        core->waiting_count = level->first;
        core->level_count--;
        return NULL;
    }
    uint32_t place = level->next++;
    return bpf_map_lookup_elem(&carrick_raised, &place);
}

#if CARRICK_MAKES_FRAMES
/* What is put together on this processor. */
CARRICK_INLINE struct carrick_laid *carrick_laid_here(void) {
    uint32_t only = 0;
    return bpf_map_lookup_elem(&carrick_laid, &only);
}

/* Puts a header there that was written. */
CARRICK_GLOBAL_FN int CARRICK_OWN(lay_header)(struct CARRICK_OWN(core) * core, uint32_t len) {
    struct carrick_laid *assembly_buffer = carrick_laid_here();
    CARRICK_GIVEN(core && assembly_buffer);
    carrick_lay(assembly_buffer, core->assembly_buffer, core->out + CARRICK_BEGIN, len);
    core->assembly_buffer += len;
    return 0;
}
#endif

#endif
