/* SPDX-License-Identifier: MIT */
/*
 * What generated programs and those who use them from outside have in common: the values of maps, and frames that ask
 * for something. Everything is as the machine has it. targets/xdp/loader/src/layout.rs says the same in Rust.
 */
#ifndef CARRICK_XDP_LAYOUT_H
#define CARRICK_XDP_LAYOUT_H

#include <stdint.h>

#include "carrick/counters.h"
#include "carrick/siphash.h"

/* The core's own address, in 16 bytes: over IPv4 it is the first four. */
#ifdef CARRICK_IPV6
#define CARRICK_HEAD_ADDRESS struct carrick_ip6_address address
#else
#define CARRICK_HEAD_ADDRESS uint32_t address, no_address[3]
#endif

/* What each processor has of its own (`carrick_cores`) begins with this, and then the parameters, 8 bytes each; the
 * loader writes it. */
#define CARRICK_HEAD                                                                                                   \
    uint64_t clock; /* the time, where the loader makes it; 0: the kernel's */                                         \
    struct carrick_key key;                                                                                            \
    CARRICK_HEAD_ADDRESS;                                                                                              \
    uint32_t mtu;                                                                                                      \
    uint32_t device; /* its index; 0: frames go back as they came */                                                   \
    uint32_t paced;  /* 1: packets wait until an empty frame asks for them */                                          \
    uint64_t taken;  /* packets of which something was made */                                                         \
    uint64_t busy;   /* packets that were dropped because another processor held an instance for too long */           \
    uint64_t counters[CARRICK_COUNTERS]

/* What all processors share (`carrick_shared`). The loader writes it, and looks at it. */
struct carrick_shared {
    uint64_t rng_state, rng_increment; /* the next random number */
    uint64_t identification;           /* of the next packet */
    uint64_t earliest;                 /* no timer that runs is due before; 0: none runs */
    uint64_t watched;                  /* when the host looks at timers by itself; 0: there is none */
    uint64_t called;                   /* 1: it was called since it looked */
    /* 1: frames that go back by the device (XDP_TX) may be lost: answers need the next hop of the unspecified one. */
    uint64_t one_way;
    /* Of the queue (`carrick_queue`): which entry is the oldest, and how many there ever were. Packets wait as long as
     * these differ: they leave in empty frames (CARRICK_REQUEST_PACKET). */
    uint64_t queue_head __attribute__((aligned(64)));
    uint64_t queue_tail;
    /* 1: whoever looks at reports does so anyway, or was woken, and need not be. It says 0 before it sleeps, and then
     * looks once more; whoever wakes it says 1. */
    uint64_t awake;
    /* Of the packets that wait none may leave before; where none waits for its turn, 0. */
    uint64_t due;
    /* Bytes of packets that the host was to have sent by the kernel's own stack, and of those that it has sent. */
    uint64_t handed, handed_sent;
    /* Entries of the queue that can wait until `due`: the headers of a burst (carrick/bursts.h). */
    uint64_t gathered;
    /* Packets that were stored or copied and are sent in the next frames, before those of the queue. */
    uint64_t leaving;
};
/* So many bytes wait at most, a small part of the reports: other packets are lost, and counted as `tx_queue_full`. */
#define CARRICK_HANDED_MOST 65536

/* The next hop to an address (`carrick_next_hops`, by that address as numbers of the machine's), which the host found.
 * That of the unspecified address says that frames can go back to whoever sent them, by the device. */
struct carrick_next_hop {
    uint64_t until; /* older, it is still used, but the host is asked for it again */
    uint8_t to[6], from[6];
    uint32_t reserved;
};
#define CARRICK_WAY_LASTS UINT64_C(1000000000) /* ns */

/* What the program has to know of its device (`carrick_own_device`): which frames are not for it. */
struct carrick_own_device {
    uint64_t mac;       /* its hardware address, as a number */
    uint32_t broadcast; /* the broadcast address of its network, over IPv4; 0: it has none */
    uint32_t attached;  /* 0: to none; then every frame is for the program, as in comparisons */
};

/* A timer of a context. The values of `slots_N` end with those of the instance, in the order of their declaration; in
 * front of them stand, 4 bytes each, the slot, its generation, the word that holds it, and whether it is there. */
struct carrick_timer {
    uint64_t deadline, order;
    uint64_t armed;
};

/* Entries of the queue, a power of two: part of the execution model. */
#define CARRICK_QUEUE 1024u

/* The most bytes that are copied at once: what rings and staged requests have beyond their end is that the verifier
 * sees it, and is never used. */
#define CARRICK_PIECE 16384u

/* The memory of an open request (`carrick_requests`), which the host chose, and frees when the request is complete:
 * what a program is given stands there, and what it delivers. */
#define CARRICK_STAGED_WHOLE 262144u
/* Of a stream, which takes and gives as much at once as there is room for. Each connection has two. */
#define CARRICK_STAGED_STREAM 65536u
#ifdef CARRICK_STREAM
#define CARRICK_STAGED CARRICK_STAGED_STREAM
#else
#define CARRICK_STAGED CARRICK_STAGED_WHOLE
#endif
struct carrick_staged {
    uint8_t octets[CARRICK_STAGED + CARRICK_PIECE];
};

/* Of a program in the network: its interfaces (`carrick_middlebox`), in the order of their numbers. The map
 * `carrick_ports` has their devices. Without any, what comes in a frame of the loader says by the last byte of its
 * source by which interface, and what leaves by the last byte of its destination. */
#define CARRICK_INTERFACES_MOST 8u
struct carrick_middlebox {
    uint32_t count;
    uint32_t devices[CARRICK_INTERFACES_MOST];
    uint8_t own[CARRICK_INTERFACES_MOST][6]; /* their hardware addresses */
};

/* Elements of `carrick_held` beyond the packets that the program may store: for others that go on after a copy. */
#define CARRICK_HELD_MORE 64u

/* What it counts beside the counters of all programs (`carrick_bridge`). */
enum carrick_middlebox_counter {
    CARRICK_MIDDLEBOX_PASSED,       /* frames that the program does not see, sent on */
    CARRICK_MIDDLEBOX_LOCAL,        /* frames to a host of the interface by which they came */
    CARRICK_MIDDLEBOX_SHORT,        /* frames shorter than their header */
    CARRICK_MIDDLEBOX_UNKNOWN,      /* packets of the program to an address that was never seen */
    CARRICK_MIDDLEBOX_NO_INTERFACE, /* packets of the program by an interface that the node does not have */
    CARRICK_MIDDLEBOX_COUNTERS
};
#define CARRICK_MIDDLEBOX_COUNTER_NAMES                                                                                \
    "bridge_passed", "bridge_local", "bridge_short", "bridge_unknown", "bridge_no_interface"

/* Who has instances, as the host says it (struct carrick_host_request): what left of them (`carrick_rates`). */
struct carrick_owner {
    uint64_t packets, octets; /* that left, with network header */
    uint64_t delayed;         /* blueprints that a rate held back */
    uint64_t refused;         /* blueprints for which there was no place: each has a share of the queue */
    uint64_t waiting;         /* blueprints that wait now */
};

/* Where a request stands in place of what an Ethernet header says of a packet: for local experiments, IEEE 802. */
#define CARRICK_REQUEST_TYPE 0x88b5u

enum carrick_request_kind {
    CARRICK_REQUEST_CALL,   /* a call of the interface: its number */
    CARRICK_REQUEST_TIMER,  /* the timer `number & 255` of an instance of the context `number >> 8` is due */
    CARRICK_REQUEST_PACKET, /* an empty frame: for the oldest packet that waits */
};

enum carrick_request_flags {
    CARRICK_REQUEST_HOLD = 1,     /* what it issues waits, and none leaves in this frame */
    CARRICK_REQUEST_WRITABLE = 2, /* the program may put bytes into the request's memory until it is complete */
};

/* What stands behind the Ethernet header of a frame that asks for something. */
struct carrick_host_request {
    uint16_t kind, flags;
    uint32_t number;
    uint64_t handle, token;
    uint64_t data_len; /* bytes of the event's addr_t field, CARRICK_STAGED at most */
    uint32_t staged;   /* 1 + which of `carrick_requests` they are in; 0: the field is `none` */
    uint16_t more;     /* 1: another request stands behind this one */
    uint16_t owner;    /* whose the instance is from now on, and what is made for it; 0: nothing is said of that */
    uint64_t args[16]; /* the event's other fields, in declared order */
};
/* The most requests of a frame. */
#define CARRICK_ASKED_AT_ONCE 8u

/* One report (`carrick_reports`): of a trace, or a request that is complete (token, status, value). So many words of it
 * are sent as there are. */
#define CARRICK_REPORT_WORDS 2048u
struct carrick_report {
    uint32_t kind, number;
    uint64_t count;
    uint64_t words[CARRICK_REPORT_WORDS];
};

/* The kinds of trace records are those of carrick/program.h. */
#define CARRICK_REPORT_COMPLETION 16u
/* A packet of `number` bytes for the kernel's own stack to send, since the program knows no way for it. */
#define CARRICK_REPORT_SEND 17u
/* Packets wait, or a timer is due before the host looks: it is to look now. */
#define CARRICK_REPORT_CALL 18u
/* The way to an address, one word or over IPv6 two, is old: the host is to look for it again. */
#define CARRICK_REPORT_WAY 20u
/* Nothing but that there are others: whoever looks went to sleep while they were written. */
#define CARRICK_REPORT_WAKE 19u

/* Where what is in the values of `slots_N`: bytes from the beginning. */
struct carrick_part_place {
    uint32_t at;
    uint16_t octets, is_signed;
    char name[32];
};

struct carrick_context_place {
    uint32_t slot;   /* the slot's number, and then what is below */
    uint32_t timers; /* the first one */
    uint32_t timer_count, part_count;
    uint32_t global;
    uint32_t served; /* applications have connections of it, or whatever else the program serves them with */
    struct carrick_part_place parts[16]; /* of the id, those that a host can see */
};

#define CARRICK_PLACE_GENERATION 4u
#define CARRICK_PLACE_HELD       8u
#define CARRICK_PLACE_LIVE       12u

/* A hash of the headers, which the compiler of programs and hosts is given: where it differs, they were built by
 * different versions of Carrick, and understand this file differently. */
#ifndef CARRICK_LAYOUT
#define CARRICK_LAYOUT 0
#endif

/* The map `.rodata.places`. */
struct carrick_places {
    uint64_t layout; /* always the first word: CARRICK_LAYOUT */
    uint64_t source_hash;
    uint32_t context_count, reserved;
    struct carrick_context_place contexts[];
};

#endif
