/* SPDX-License-Identifier: MIT */
/*
 * What a host (a port loop, a simulator, a test) knows of a compiled transport program.
 *
 * A core is sans-I/O: packets, calls and time go in; packets, completions and the next deadline come out.
 * It lives in one block of memory that the host gives it and never allocates. It is not thread-safe:
 * one core, one thread. The meaning of every function is in docs/reference/execution.md.
 */
#ifndef CARRICK_PROGRAM_H
#define CARRICK_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carrick/instr.h"

#define CARRICK_ABI   15u
#define CARRICK_NEVER UINT64_MAX /* no deadline */

/* status_t: how a request ended. */
enum carrick_status {
    CARRICK_OK = 0,
    CARRICK_END_OF_STREAM,
    CARRICK_REFUSED,
    CARRICK_RESET,
    CARRICK_TIMED_OUT,
    CARRICK_CLOSED,
    CARRICK_NO_ROOM,
    CARRICK_IN_USE,
    CARRICK_INVALID,
    CARRICK_UNREACHABLE,
    CARRICK_BUSY,
    CARRICK_ABORTED,
};

/* Results of host calls, negative. */
enum carrick_error {
    CARRICK_AGAIN = -1,   /* nothing happened: drain tx (or completions), then call again */
    CARRICK_DROPPED = -2, /* rx: the packet was refused; a counter says why */
    CARRICK_BAD_ARG = -3, /* call: no such call, token 0, or data for a call without an addr_t; init: configuration
                             outside its range */
};

/* addr_t: where a contiguous region starts, how long it is, and the request that it belongs to. */
struct carrick_addr {
    uint8_t *ptr;   /* NULL: none */
    uint64_t len;   /* bytes */
    uint64_t token; /* 0: belongs to no request */
};

/* An IPv6 address: its first and its last 64 bits, in host order. */
struct carrick_ip6_address {
    uint64_t high, low;
};

/* One finished request. */
struct carrick_completion {
    uint64_t token;
    uint64_t value; /* bytes, or a handle: what the call says */
    uint8_t status; /* enum carrick_status */
};

/* One application request. */
struct carrick_request {
    uint64_t handle;          /* for calls on a context */
    uint64_t token;           /* chosen by the application, not 0; unique among its open requests */
    struct carrick_addr data; /* the event's addr_t field, if it has one (token is set by the core) */
    uint64_t args[16];        /* the event's other fields, in declared order; an IPv6 address takes two: high, low */
    bool writable;            /* the program may put bytes at `data` until the request is complete */
    uint32_t owner;           /* for whom: as carrick_stack_act_for says it; cores that hold no rates do not look */
};

enum carrick_trace_kind {
    CARRICK_TRACE_EVENT = 0,
    CARRICK_TRACE_INSTR, /* its number: enum carrick_instr */
    CARRICK_TRACE_CONTEXT,
    CARRICK_TRACE_SEGMENT,
    CARRICK_TRACE_DROP,
    CARRICK_TRACE_CLAIM,
    CARRICK_TRACE_SAMPLE, /* in place of a context: its handle, and one of its fields */
};

/* The bit of the records of a kind, and of an instruction. */
#define CARRICK_RECORD_BIT(kind, number)                                                                               \
    ((kind) == CARRICK_TRACE_INSTR ? UINT64_C(1) << (8 + (number)) : UINT64_C(1) << (kind))

/* Takes one trace record; only called in builds with CARRICK_TRACE defined, and with failed claims also in those with
 * CARRICK_CLAIMS. */
typedef void (*carrick_trace_fn)(void *user, uint32_t kind, uint32_t number, const uint64_t *words, uint32_t count);

struct carrick_config {
    uint64_t seed;          /* randomness and the secret key */
    uint32_t address;       /* the core's IPv4 address, host order; not of a program over IPv6 */
    uint32_t mtu;           /* bytes of an IP packet, 68..65535; over IPv6 at least 1280 */
    uint32_t completions;   /* most open requests, a power of two; 0: 1024 */
    const uint64_t *params; /* a value for each of the program's parameters, in order; NULL: the defaults */
    carrick_trace_fn trace; /* NULL: none */
    void *trace_user;
    uint64_t base;   /* when the host's clock was 0, by the system's monotonic one */
    void *elsewhere; /* of a core that is not in this process: the port by which its host waits for it; NULL: none */
    struct carrick_ip6_address address6; /* the core's address, of a program over IPv6 */
    /* The host, or its device, makes and checks the checksums of packets: the core leaves each checksum16_t and crc32_t
     * 0, and accepts any. Not that of the IPv4 header or of ICMP. A core that is not in this process does not look. */
    bool checksums_offloaded;
    /* The trace records that the host reads: the sum of their CARRICK_RECORD_BITs. 0: all. */
    uint64_t records;
    /* The field that is sampled: 1 + the number of its context type, shifted by 32, and its number. Each record of such
     * a context then is a CARRICK_TRACE_SAMPLE, and other contexts have none. 0: contexts have whole records. */
    uint64_t sample;
};

struct carrick_param_info {
    const char *name;
    uint64_t initial, lo, hi; /* as the bits of the parameter's type; signed types in two's complement */
    bool is_signed;
    const char *unit; /* "ns", "B", "bps", "bool"; "": a plain number */
};

enum carrick_field_kind {
    CARRICK_FIELD_NUMBER = 0, /* one of a request's `args` */
    CARRICK_FIELD_ADDR,       /* an addr_t: a request's `data` */
    CARRICK_FIELD_IP6,        /* an IPv6 address: two of `args` */
};

struct carrick_field_info {
    const char *name;
    uint8_t kind; /* enum carrick_field_kind */
};

struct carrick_call_info {
    const char *name;
    const struct carrick_field_info *fields; /* of the event, addr_t included */
    uint32_t field_count;
    bool on_handle; /* goes to a handle */
};

/* A claim of the program: the condition of an assert. */
struct carrick_claim_info {
    const char *text;
    const char *file;
    uint32_t line;
};

#define CARRICK_ID_PARTS 16u /* of an identity, at most; an id's further parts are left out */

/* By what an instance of a context is found: the parts of its id. An IPv6 address is two parts of one name: high, low.
 */
struct carrick_identity {
    const char *const *names; /* of the parts, in declared order */
    uint32_t count;
    uint64_t parts[CARRICK_ID_PARTS];
};

enum carrick_network {
    CARRICK_NETWORK_IPV4 = 0, /* an IPv4 header, which the core makes and checks */
    CARRICK_NETWORK_LINK,     /* the program's own first field: a packet is what goes over the link */
    CARRICK_NETWORK_IPV6,     /* an IPv6 header, which the core makes and checks */
};

struct carrick_core;

/* A compiled program. The functions are grouped so that a host pays one indirect call for a batch of work. */
struct carrick_program {
    uint32_t abi;
    const char *name;
    const char *interface_name; /* "stream", ...; NULL: none */
    uint64_t source_hash;
    uint8_t network;  /* enum carrick_network: what a packet begins with */
    uint8_t protocol; /* of the IPv4 header, or of the last of the IPv6 headers */
    uint8_t traced;   /* built with CARRICK_TRACE: it records what it does */
    bool reports;     /* it reads errors that the network reports: rx also takes ICMP, over IPv6 ICMPv6 */
    const struct carrick_param_info *params;
    uint32_t param_count;
    const struct carrick_call_info *calls;
    uint32_t call_count;
    const char *const *counter_names;
    uint32_t counter_count;
    const struct carrick_claim_info *claims; /* by number, as trace records of failed claims have it */
    uint32_t claim_count;

    /* Bytes of memory for this configuration (64-byte aligned), 0 if the configuration is invalid. Pages of data
     * buffers are only touched when used, so give it memory that the system zeroes on demand (mmap). */
    size_t (*footprint)(const struct carrick_config *config);
    /* The most instances with this configuration of what has data, such as a stream's connections (without data: of any
     * context): how many a host may be asked for. */
    uint32_t (*capacity)(const struct carrick_config *config);
    /* Makes a core in `memory`, which must be zeroed. Returns NULL if the configuration is invalid. */
    struct carrick_core *(*init)(void *memory, const struct carrick_config *config);
    /* One packet from the network: 0, CARRICK_DROPPED or CARRICK_AGAIN. The bytes are not used after the return. */
    int (*rx)(struct carrick_core *core, const uint8_t *packet, uint32_t len, uint64_t now);
    /* Takes packets until one is refused with CARRICK_AGAIN; returns how many were taken (dropped ones included). */
    uint32_t (*rx_burst)(struct carrick_core *core, const uint8_t *const *packets, const uint32_t *lens, uint32_t count,
                         uint64_t now);
    /* The next packet: its length, 0 if there is none. `buffer` has at least `cap` bytes. */
    uint32_t (*tx)(struct carrick_core *core, uint8_t *buffer, uint32_t cap, uint64_t now);
    /* Up to `count` packets into buffers[i], lengths into lens[i]; returns how many. `segments` is NULL unless the host
     * has an engine of segmentation: then a buffer (`cap` bytes, at most 65535) may have the header of a packet before
     * the payload of several. segments[i] is the payload of each of these but the last, in bytes; 0: it is one packet.
     * The checksum that the engine makes has the sum of the pseudo-header. */
    uint32_t (*tx_burst)(struct carrick_core *core, uint8_t *const *buffers, uint32_t cap, uint32_t *lens,
                         uint16_t *segments, uint32_t count, uint64_t now);
    /* One application request: 0, CARRICK_AGAIN or CARRICK_BAD_ARG. */
    int (*call)(struct carrick_core *core, uint32_t call, const struct carrick_request *request, uint64_t now);
    /* Fires the timers that are due: 0, or CARRICK_AGAIN if some are left because the blueprint queue is full. Events
     * that wait, of a program that schedules them, are handled here, in tx and in next_completion. */
    int (*advance)(struct carrick_core *core, uint64_t now);
    /* For a host in virtual time: when the next timer is due, or a packet goes that waits for its moment only
     * (nanoseconds, exact), if that is before `before`; CARRICK_NEVER if not. */
    uint64_t (*next_deadline)(struct carrick_core *core, uint64_t before);
    /* For a host in real time: the next deadline or earlier, found in constant time however many timers run. A host
     * that calls `advance` then and finds nothing due asks again. */
    uint64_t (*wake_by)(const struct carrick_core *core);
    /* The oldest completion: true if there was one. */
    bool (*next_completion)(struct carrick_core *core, struct carrick_completion *out);
    /* counter_count values. */
    const uint64_t *(*counters)(const struct carrick_core *core);
    /* Open instances over all contexts. */
    uint32_t (*open_contexts)(const struct carrick_core *core);
    /* What the instance with this handle is found by. False: there is none. */
    bool (*identify)(struct carrick_core *core, uint64_t handle, struct carrick_identity *out);

    /* Of a program in the network, else NULL. As rx, of a packet that arrived by this interface; refused with
     * CARRICK_AGAIN also while a packet is queued. */
    int (*rx_on)(struct carrick_core *core, uint32_t interface, const uint8_t *packet, uint32_t len, uint64_t now);
    /* Returns the interface for the packet that tx made last; CARRICK_ROUTE (carrick/store.h): the one to its
     * destination. */
    uint32_t (*tx_interface)(const struct carrick_core *core);
    /* The most bytes of a request's data; 0: as many as there are. */
    uint32_t request_most;
    /* The first condition on parameters (as written) that this configuration does not meet; NULL if it meets all or if
     * a parameter is outside its range. The function is NULL if the program requires nothing. */
    const char *(*unmet)(const struct carrick_config *config);
};

/* The program that an executable is linked with, which its host defines. */
const struct carrick_program *carrick_program_entry(void);

#endif
