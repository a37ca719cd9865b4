/* SPDX-License-Identifier: MIT */
/*
 * What generated code asks of a core that is a process: where packets are read and written, and what the core keeps of
 * them. Another target has a header of the same name with the same macros, which the compiler finds first. `core` is
 * the program's own core.
 */
#ifndef CARRICK_DIALECT_H
#define CARRICK_DIALECT_H

#include "carrick/bounds.h"

/* The next random number. */
#define CARRICK_RANDOM(core) carrick_pcg_next(&(core)->rng)

/* Starts a timer, for the second time too, and stops it. */
#define CARRICK_TIMER_START(core, timer, after) carrick_timer_restart(&(core)->wheel, timer, (core)->now, after)
#define CARRICK_TIMER_STOP(core, timer)         carrick_timer_stop(&(core)->wheel, timer)

/* A copy of an event waits for the end of the chain. `member` is that of the event in what waits. */
#define CARRICK_RAISE(core, chain, number, member, copied)                                                             \
    do {                                                                                                               \
        (chain)->raised[(chain)->raised_count].kind = (number);                                                        \
        (chain)->raised[(chain)->raised_count++].event.member = (copied);                                              \
    } while (0)

/* Where the entry of a generate function is in the queue. */
#define CARRICK_ENTRY_PLACE(at) (at)

/* The instance of a context in a slot, and whether the slot was ever used. `number` is that of the context. */
#define CARRICK_SLOT(core, context, number, slot)      (&(core)->context##_slots[slot])
#define CARRICK_SLOT_USED(core, context, number, slot) ((slot) < (core)->context##_fresh)
/* The most instances that there can be. */
#define CARRICK_CAPACITY(core, context) (core)->context##_capacity

/* Declares `all`, the list of instances that `new_ctx` may delete. */
#define CARRICK_RETIRED(core, context, number, all) struct carrick_retired *all = &(core)->context##_retired
/* Takes what has this lock word for this processor, where several work on a core, and gives it back. */
#define CARRICK_HOLD(word)    ((void)0)
#define CARRICK_RELEASE(word) ((void)0)

/* Declares `s`, the scheduling blocks; what sets something of block `at` begins with this argument; the end. */
#define CARRICK_OPEN_BLOCKS(core, s) CARRICK_UNUSED struct carrick_sched *s = &(core)->sched
#define CARRICK_IN_BLOCK(s, at)      s
#define CARRICK_CLOSE_BLOCKS(s)      ((void)0)
/* The queue that a number of the program means, for the user of the chain. */
#define CARRICK_OWN_QUEUE(core, number) (number)

/* Declares `at`, a pointer to a scratchpad of this type. */
#define CARRICK_SCRATCH(core, type, at) type at##__, *at = &at##__

/* Returns how many bytes the TX unit of an instance can take. */
#define CARRICK_TX_ROOM(core, context, at) carrick_tx_room(&(at)->tx__, (core)->context##_tx_pool.mask)

/* The packet of this event, and the network header of a packet that is parsed. */
#define CARRICK_LOOKED_AT(core)  ((core)->looked_at)
#define CARRICK_IP(core, packet) ((packet)->ip)

/* Declares `again__`, a pointer to a copy of a header. The packet is read into it, and may turn out to be malformed. */
#define CARRICK_READ_AGAIN(core, type, member, header) type member##again__ = (header), *again__ = &member##again__

/* The member of a packet that says what no extract has read. */
#define CARRICK_REST(member) const uint8_t **member
/* Where an extract function begins to read: at the packet's own header, or at the next frame of its payload. */
#define CARRICK_PACKET_AT(core, packet) ((packet)->ptr)
#define CARRICK_FRAME_AT(core, packet)  ((packet)->rest[0])
/* Bytes that no extract has read, and the first of them; 0 if there is none. */
#define CARRICK_LEFT(packet)       ((uint32_t)((packet)->rest[1] - (packet)->rest[0]))
#define CARRICK_PEEK(core, packet) ((void)(core), (packet)->rest[0] < (packet)->rest[1] ? *(packet)->rest[0] : 0u)

/* Where a payload begins, behind the header at `p` of a packet or of a frame. */
#define CARRICK_PACKET_PAYLOAD(core, packet, p, header_len) ((p) + (header_len))
#define CARRICK_FRAME_PAYLOAD(core, packet, p, header_len)  ((p) + (header_len))
/* The next extract reads the payload of this packet, or what follows this frame. */
#define CARRICK_ENTER_PAYLOAD(packet, p, header_len, len)                                                              \
    ((packet)->rest[0] = (p) + (header_len), (packet)->rest[1] = (packet)->rest[0] + (len))
#define CARRICK_SKIP_FRAME(packet, p, header_len, len) ((packet)->rest[0] = (p) + (header_len) + (len))

/* Behind the parameters, and the arguments, of functions that read options: `p`, where the header begins. */
#define CARRICK_IN_PARAM , CARRICK_UNUSED const uint8_t *p
#define CARRICK_IN_ARG   , p
/* A pointer to so many bytes behind `p`. */
#define CARRICK_IN_AT(core, p, at) ((void)(core), (p) + (at))
/* The fields of a header are read one after the other. `header_len` is the number of bytes before the next one: it
 * moves over a field, and is valid after CARRICK_STEP. */
#define CARRICK_STEP_OVER(core, header_len, octets) ((header_len) += (octets))
#define CARRICK_STEP(core, header_len)              ((void)0)

/* The same of functions that write options: `q`, where the next byte goes. CARRICK_OUT_BEGINS declares it, so many
 * bytes behind `p`. */
#define CARRICK_OUT_PARAM                 , CARRICK_UNUSED uint8_t *q
#define CARRICK_OUT_ARG                   , q
#define CARRICK_OUT_BEGINS(core, p, from) CARRICK_UNUSED uint8_t *q = ((void)(core), (p) + (from))
/* Declares `q` where it is not a parameter; where the next byte goes; and so many bytes are written. */
#define CARRICK_OUT_HERE(core)         ((void)(core))
#define CARRICK_OUT_AT(core)           ((void)(core), q)
#define CARRICK_OUT_MOVE(core, octets) ((void)(core), q += (octets))

/* Whether the core makes and checks the checksums of packets. */
#define CARRICK_MAKES_SUMS(core) (!(core)->checksums_offloaded)
/* The sum of a packet that arrived, of its header, and of the header of a packet that is made. */
#define CARRICK_PACKET_SUM(core, p, len)      carrick_sum(p, len)
#define CARRICK_HEADER_SUM(core, p, len)      carrick_sum(p, len)
#define CARRICK_LONG_HEADER_SUM(core, p, len) carrick_sum(p, len)
#define CARRICK_WRITTEN_HEADER_SUM(p, len)    carrick_sum(p, len)

/* The next packet has this payload, which has `octets` bytes in all packets. */
#define CARRICK_PAYLOAD_BEGINS(core, payload_of, octets) ((void)0)
/* The frames of a packet begin at `to`; where the next one goes; and all frames go to `to`, behind a header that is
 * shorter than it can be. */
#define CARRICK_FRAMES_BEGIN(core, to)     ((void)((core)->frames = (to)))
#define CARRICK_NEXT_FRAME(core)           ((core)->frames + (core)->assembly_buffer)
#define CARRICK_FRAMES_MOVE(core, to, len) memmove(to, (core)->frames, len)
/* What the function that makes a packet returns. */
#define CARRICK_PACKET_LEN(headers, payload_len) ((uint32_t)((headers) + (payload_len)))

/* The number of the next packet, for its IPv4 header. */
#define CARRICK_IDENTIFICATION(core) ((core)->identification++)
/* Writes the network headers of a packet with a path, in front of `header_len` bytes; `len` bytes follow them. */
#define CARRICK_BUILD_ROUTED(core, out, ip, header_len, len) carrick_ip6_build_routed(out, ip, len)

/* Where the current packet is written with another header, in all `len` bytes; and its end. */
#define CARRICK_FORWARD_TO(core, len, interface)                carrick_store_make(&(core)->store, len, interface)
#define CARRICK_FORWARD(core, headers, payload, len, interface) ((void)0)

#endif
