/* SPDX-License-Identifier: MIT */
/*
 * The records that a stack writes as events happen: a stream of records, each a head and its words, in the byte order
 * of the machine. `carrick run --trace` and `carrick trace --run` read it.
 *
 * Only a core that was built with CARRICK_TRACE defined writes records (see carrick/program.h for these kinds).
 */
#ifndef CARRICK_RECORDS_H
#define CARRICK_RECORDS_H

#include <stdint.h>

/* Kinds beside those of enum carrick_trace_kind. */
enum carrick_record_kind {
    /* First of each host. Words: struct carrick_record_opening, then each parameter. */
    CARRICK_RECORD_OPENED = 256,
    /* A packet that the core made, or that goes to it. Number: its bytes, which are in the words. */
    CARRICK_RECORD_SENT,
    CARRICK_RECORD_ARRIVED,
    /* Number: the status. Words: the request's token, the value. */
    CARRICK_RECORD_COMPLETED,
};

/* A request to a stack whose program takes changes, one a message: change `item` of the context with a handle. */
struct carrick_change {
    uint32_t host;
    uint32_t item;
    uint64_t handle;
};

struct carrick_record_head {
    uint64_t now;  /* nanoseconds since the stack was opened */
    uint32_t host; /* of the process: 0, or 1 for the second one */
    uint32_t kind;
    uint32_t number;
    uint32_t count; /* of the words that follow, 64 bits each */
};

struct carrick_record_opening {
    uint64_t source_hash;
    uint64_t address_high, address_low; /* of an IPv4 address the low half alone */
    uint64_t mtu;
    uint64_t seed;
};

#endif
