/* SPDX-License-Identifier: MIT */
/*
 * What generated code asks of a core in the kernel, with the names of carrick/dialect.h of the runtime. Pointers would
 * be arguments of functions that the verifier looks at by themselves: where they read and write is kept in the core.
 */
#ifndef CARRICK_DIALECT_H
#define CARRICK_DIALECT_H

#include "carrick/units.h"

/* A function that uses it has `shared`, what all processors share. */
#define CARRICK_RANDOM(core) carrick_random(shared)

#define CARRICK_TIMER_START(core, timer, after) carrick_timer_begin(timer, &(core)->timers, (core)->now, after)
#define CARRICK_TIMER_STOP(core, timer)         ((void)(core), carrick_timer_stop(timer))

#define CARRICK_RAISE(core, chain, number, member, copied)                                                             \
    do {                                                                                                               \
        uint32_t place__ = (core)->waiting_count;                                                                      \
        struct CARRICK_OWN(raised) *raised__ = bpf_map_lookup_elem(&carrick_raised, &place__);                         \
        if (raised__) {                                                                                                \
            raised__->kind = (number);                                                                                 \
            CARRICK_COPY(&raised__->event.member, &(copied));                                                          \
            (core)->waiting_count++;                                                                                   \
            (chain)->raised_count++;                                                                                   \
        }                                                                                                              \
    } while (0)

/* A generate function has `place`, and without blocks `alone`: the entry is not in the queue, but in the frame. */
#ifdef CARRICK_BLOCKS
#define CARRICK_ENTRY_PLACE(at) place
#else
#define CARRICK_ENTRY_PLACE(at) (alone ? 0 : place + 1)
#endif

#define CARRICK_SLOT(core, context, number, slot)      ((void)(core), bpf_map_lookup_elem(&slots_##number, &slot))
#define CARRICK_SLOT_USED(core, context, number, slot) true
#define CARRICK_CAPACITY(core, context)                CARRICK_OWN(context##_capacity)(core)

#define CARRICK_RETIRED(core, context, number, all)                                                                    \
    uint32_t only = 0;                                                                                                 \
    struct carrick_retired *all = bpf_map_lookup_elem(&retired_##number, &only);                                       \
    CARRICK_GIVEN(all)
#define CARRICK_HOLD(word)    CARRICK_GIVEN(carrick_hold(word))
#define CARRICK_RELEASE(word) carrick_release(word)

#define CARRICK_OPEN_BLOCKS(core, s)                                                                                   \
    CARRICK_GIVEN(core);                                                                                               \
    struct carrick_sched *s = CARRICK_OWN(blocks)(core);                                                               \
    CARRICK_GIVEN(s)
#define CARRICK_IN_BLOCK(s, at) at
#define CARRICK_CLOSE_BLOCKS(s) CARRICK_OWN(blocks_left)(s)
/* Each user has queues of its own. */
#ifdef CARRICK_OWNERS
#define CARRICK_OWN_QUEUE(core, number) ((number) + (core)->chain.owner * CARRICK_OWN_QUEUES)
#else
#define CARRICK_OWN_QUEUE(core, number) (number)
#endif

#define CARRICK_SCRATCH(core, type, at) type *at = &(core)->at

#define CARRICK_TX_ROOM(core, context, at) CARRICK_OWN(context##_tx_room)(at)

#define CARRICK_LOOKED_AT(core)  (&(core)->packet)
#define CARRICK_IP(core, packet) (&(core)->ip)

#define CARRICK_READ_AGAIN(core, type, member, header)                                                                 \
    type *again__ = &(core)->again.member;                                                                             \
    CARRICK_COPY(again__, &(header))

#define CARRICK_REST(member) uint32_t member[2]
/* A window on the packet, which moves to there if the program looks behind what it sees first. */
#if CARRICK_LOOKS
#define CARRICK_WINDOW_AT(core, at) ((void)CARRICK_OWN(look)(core, at), (const uint8_t *)(core)->in)
#else
#define CARRICK_WINDOW_AT(core, at) ((const uint8_t *)(core)->in)
#endif
#define CARRICK_PACKET_AT(core, packet) CARRICK_WINDOW_AT(core, 0)
#define CARRICK_FRAME_AT(core, packet)  CARRICK_WINDOW_AT(core, (packet)->rest[0])
#define CARRICK_LEFT(packet)            ((packet)->rest[1] - (packet)->rest[0])
#define CARRICK_PEEK(core, packet)      CARRICK_OWN(peek)(core, packet)

#define CARRICK_PACKET_PAYLOAD(core, packet, p, header_len)                                                            \
    CARRICK_TO_ADDR(CARRICK_IN_FRAME | ((core)->begin + (header_len)))
#define CARRICK_FRAME_PAYLOAD(core, packet, p, header_len)                                                             \
    CARRICK_TO_ADDR(CARRICK_IN_FRAME | ((core)->begin + (packet)->rest[0] + (header_len)))
#define CARRICK_ENTER_PAYLOAD(packet, p, header_len, len)                                                              \
    ((packet)->rest[0] = (header_len), (packet)->rest[1] = (header_len) + (uint32_t)(len))
#define CARRICK_SKIP_FRAME(packet, p, header_len, len) ((packet)->rest[0] += (header_len) + (uint32_t)(len))

#define CARRICK_IN_PARAM
#define CARRICK_IN_ARG
#define CARRICK_IN_AT(core, p, at) ((core)->in + carrick_at(at, CARRICK_SEEN))
/* How far the fields are read is in memory, where the verifier does not follow it. */
#define CARRICK_STEP_OVER(core, header_len, octets) ((core)->at = (header_len) + (octets))
#define CARRICK_STEP(core, header_len)              ((header_len) = CARRICK_READ((core)->at))

#define CARRICK_OUT_PARAM
#define CARRICK_OUT_ARG
#define CARRICK_OUT_BEGINS(core, p, from) ((void)(p), (core)->at = (from))
#define CARRICK_OUT_AT(core)              ((core)->out + CARRICK_BEGIN + carrick_at(CARRICK_READ((core)->at), CARRICK_HEADER_MAX))
#define CARRICK_OUT_HERE(core)            uint8_t *q = CARRICK_OUT_AT(core)
#define CARRICK_OUT_MOVE(core, octets)    ((core)->at += (octets))

/* There is no host with an engine that makes sums. That of the whole packet is made when it arrives. A header that is
 * longer than the window is summed where it lies. */
#define CARRICK_MAKES_SUMS(core)              true
#define CARRICK_PACKET_SUM(core, p, len)      ((core)->sum)
#define CARRICK_HEADER_SUM(core, p, len)      carrick_sum_of(p, CARRICK_SEEN, len)
#define CARRICK_LONG_HEADER_SUM(core, p, len) CARRICK_OWN(sum_at)((core)->begin + (core)->looked, len)
#define CARRICK_WRITTEN_HEADER_SUM(p, len)    carrick_sum_piece(p, len)

/* Payloads are put into the frame behind the function that makes the header. */
#define CARRICK_PAYLOAD_BEGINS(core, payload_of, octets) ((core)->payload = (payload_of), (core)->whole = (octets))
#define CARRICK_FRAMES_BEGIN(core, to)                   ((core)->whole = 0)
#define CARRICK_NEXT_FRAME(core)                         ((core)->out + CARRICK_BEGIN)
#define CARRICK_FRAMES_MOVE(core, to, len)               ((void)0)
#define CARRICK_PACKET_LEN(headers, payload_len)         ((int)(headers))

#define CARRICK_IDENTIFICATION(core) CARRICK_OWN(identification)()
#define CARRICK_BUILD_ROUTED(core, out, ip, header_len, len)                                                           \
    ((void)CARRICK_OWN(build_routed)(core, ip, header_len, len))

/* The packet leaves in the frame in which it came: its payload stays where it is. */
#define CARRICK_FORWARD_TO(core, len, interface) ((core)->out + CARRICK_ETHERNET)
#if CARRICK_STORES
#define CARRICK_FORWARD(core, headers, payload, len, interface)                                                        \
    ((void)CARRICK_OWN(store_with)(core, headers, payload, len, interface))
#else
#define CARRICK_FORWARD(core, headers, payload, len, interface)                                                        \
    carrick_store_with(&(core)->store, headers, payload, len, interface)
#endif

#endif
