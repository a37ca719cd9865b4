/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A core for hosts that another process has: each call goes there over a socket, and what came of it comes back. Both
 * processes are on one machine, so numbers have its byte order. The other one is `carrick run` (served.rs). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "carrick/counters.h"
#include "carrick/memory.h"
#include "carrick/program.h"

/* The same program compiled to C, which has the descriptions of its parameters and calls. */
extern const struct carrick_program compiled_program;

enum what {
    MAKE = 0,
    RX,
    TX,
    TX_INTERFACE,
    CALL,
    ADVANCE,
    DEADLINE,
    COMPLETION,
    COUNTERS,
    OPEN_CONTEXTS,
    IDENTIFY,
};

/* What a request brings for its addr_t. */
enum brings { NOTHING = 0, BYTES, ROOM };

/* What is asked; `len` bytes follow. */
struct ask {
    uint32_t what, core;
    uint64_t now, number;
    uint64_t len;
};

/* What came of it; `len` bytes follow, and so many trace records. */
struct answer {
    int64_t value;
    uint32_t len, records;
};

struct made {
    uint64_t seed, address_high, address_low;
    uint32_t mtu, completions, trace, params;
};

struct called {
    uint64_t handle, token, args[16];
    uint64_t len;
    uint32_t brings, scalars;
};

struct completed {
    uint64_t token, value;
    uint64_t status;
};

struct told {
    uint32_t kind, number, count, unused;
};

struct carrick_core {
    uint32_t number;
    carrick_trace_fn trace;
    void *trace_user;
    const char *names[CARRICK_ID_PARTS];
    char name_text[1024];
    uint64_t counters[CARRICK_COUNTERS]; /* the last that were asked for */
    struct carrick_memory memory;        /* where the program may put bytes */
    struct carrick_open open[];
};

static int the_socket = -1;

__attribute__((format(printf, 1, 2))) _Noreturn static void broken(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void give(const void *from, size_t len) {
    for (const char *next = from; len != 0;) {
        ssize_t sent = send(the_socket, next, len, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            broken("the process that has the core takes nothing any more: %s", strerror(errno));
        next += sent;
        len -= (size_t)sent;
    }
}

static void take(void *to, size_t len) {
    for (char *next = to; len != 0;) {
        ssize_t got = recv(the_socket, next, len, MSG_WAITALL);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            broken("the process that has the core has ended");
        next += got;
        len -= (size_t)got;
    }
}

/* Bytes that nobody wants. */
static void skip(size_t len) {
    for (char unused[4096]; len != 0;) {
        size_t some = len < sizeof unused ? len : sizeof unused;
        take(unused, some);
        len -= some;
    }
}

/* Begins to ask: `len` bytes are to follow. */
static void begin(const struct carrick_core *core, enum what what, uint64_t number, uint64_t now, size_t len) {
    const struct ask ask = {.what = what, .core = core->number, .now = now, .number = number, .len = len};
    give(&ask, sizeof ask);
}

/* What came of it: up to `most` bytes at `to`. */
static struct answer answered(void *to, size_t most) {
    struct answer answer;
    take(&answer, sizeof answer);
    size_t wanted = answer.len < most ? answer.len : most;
    take(to, wanted);
    skip(answer.len - wanted);
    return answer;
}

/* The records at the end of an answer. */
static void records(const struct carrick_core *core, const struct answer *answer) {
    for (uint32_t i = 0; i < answer->records; i++) {
        struct told told;
        uint64_t words[512];
        take(&told, sizeof told);
        uint32_t kept = told.count < 512 ? told.count : 512;
        take(words, kept * sizeof *words);
        skip((told.count - kept) * sizeof *words);
        if (core->trace)
            core->trace(core->trace_user, told.kind, told.number, words, kept);
    }
}

/* Asks for what has an answer of one value. */
static int64_t value_of(const struct carrick_core *core, enum what what, uint64_t number, uint64_t now,
                        const void *with, size_t len) {
    begin(core, what, number, now, len);
    give(with, len);
    const struct answer answer = answered(NULL, 0);
    records(core, &answer);
    return answer.value;
}

/* Places for open requests. */
static uint32_t places(const struct carrick_config *config) {
    return 2 * (config->completions ? config->completions : 1024);
}

static size_t footprint(const struct carrick_config *config) {
    if (compiled_program.footprint(config) == 0)
        return 0;
    return sizeof(struct carrick_core) + places(config) * sizeof(struct carrick_open);
}

static struct carrick_core *init(void *memory, const struct carrick_config *config) {
    const char *given = secure_getenv("CARRICK_CORE_SOCKET");
    if (!given)
        broken("CARRICK_CORE_SOCKET: set by `carrick run`; there is no core without it");
    the_socket = atoi(given);
    struct carrick_core *core = memory;
    core->memory = (struct carrick_memory){.open = core->open, .mask = places(config) - 1};
    core->trace = config->trace;
    core->trace_user = config->trace_user;
    const bool six = compiled_program.network == CARRICK_NETWORK_IPV6;
    const struct made made = {.seed = config->seed,
                              .address_high = six ? config->address6.high : 0,
                              .address_low = six ? config->address6.low : config->address,
                              .mtu = config->mtu,
                              .completions = config->completions,
                              .trace = config->trace != NULL,
                              .params = config->params ? compiled_program.param_count : 0};
    const size_t params = made.params * sizeof *config->params;
    begin(core, MAKE, 0, 0, sizeof made + params);
    give(&made, sizeof made);
    give(config->params, params);
    char why[512] = "";
    const struct answer answer = answered(why, sizeof why - 1);
    if (answer.value < 0)
        broken("%s", why);
    core->number = (uint32_t)answer.value;
    records(core, &answer);
    return core;
}

static int rx_on(struct carrick_core *core, uint32_t interface, const uint8_t *packet, uint32_t len, uint64_t now) {
    return (int)value_of(core, RX, interface, now, packet, len);
}

static int rx(struct carrick_core *core, const uint8_t *packet, uint32_t len, uint64_t now) {
    return rx_on(core, 0, packet, len, now);
}

static uint32_t rx_burst(struct carrick_core *core, const uint8_t *const *packets, const uint32_t *lens, uint32_t count,
                         uint64_t now) {
    uint32_t taken = 0;
    while (taken < count && rx(core, packets[taken], lens[taken], now) != CARRICK_AGAIN)
        taken++;
    return taken;
}

static uint32_t tx(struct carrick_core *core, uint8_t *buffer, uint32_t cap, uint64_t now) {
    begin(core, TX, 0, now, 0);
    const struct answer answer = answered(buffer, cap);
    records(core, &answer);
    return answer.len <= cap ? answer.len : 0;
}

static uint32_t tx_burst(struct carrick_core *core, uint8_t *const *buffers, uint32_t cap, uint32_t *lens,
                         uint16_t *segments, uint32_t count, uint64_t now) {
    uint32_t given = 0;
    for (; given < count && (lens[given] = tx(core, buffers[given], cap, now)) != 0; given++)
        if (segments)
            segments[given] = 0;
    return given;
}

static uint32_t tx_interface(const struct carrick_core *core) {
    return (uint32_t)value_of(core, TX_INTERFACE, 0, 0, NULL, 0);
}

/* How many of a request's arguments the call has. */
static uint32_t scalars_of(const struct carrick_call_info *call) {
    uint32_t scalars = 0;
    for (uint32_t i = 0; i < call->field_count; i++)
        scalars += call->fields[i].kind == CARRICK_FIELD_IP6 ? 2 : call->fields[i].kind == CARRICK_FIELD_NUMBER;
    return scalars;
}

static int call(struct carrick_core *core, uint32_t call, const struct carrick_request *request, uint64_t now) {
    if (call >= compiled_program.call_count)
        return CARRICK_BAD_ARG;
    const struct carrick_addr *data = &request->data;
    struct called called = {.handle = request->handle,
                            .token = request->token,
                            .len = data->len,
                            .scalars = scalars_of(&compiled_program.calls[call])};
    memcpy(called.args, request->args, sizeof called.args);
    called.brings = !data->ptr ? NOTHING : request->writable ? ROOM : BYTES;
    const size_t bytes = called.brings == BYTES ? data->len : 0;
    begin(core, CALL, call, now, sizeof called + bytes);
    give(&called, sizeof called);
    give(data->ptr, bytes);
    const struct answer answer = answered(NULL, 0);
    records(core, &answer);
    /* The core took it, so no more requests are open than can be. */
    if (answer.value == 0 && called.brings == ROOM) {
        carrick_memory_take(&core->memory, (struct carrick_addr){data->ptr, data->len, request->token}, true);
        carrick_memory_keep(&core->memory, 1);
    }
    return (int)answer.value;
}

static int advance(struct carrick_core *core, uint64_t now) {
    return (int)value_of(core, ADVANCE, 0, now, NULL, 0);
}

static uint64_t next_deadline(struct carrick_core *core, uint64_t before) {
    return (uint64_t)value_of(core, DEADLINE, before, 0, NULL, 0);
}

static uint64_t wake_by(const struct carrick_core *core) {
    return (uint64_t)value_of(core, DEADLINE, CARRICK_NEVER, 0, NULL, 0);
}

static bool next_completion(struct carrick_core *core, struct carrick_completion *out) {
    begin(core, COMPLETION, 0, 0, 0);
    struct answer answer;
    take(&answer, sizeof answer);
    const bool one = answer.len >= sizeof(struct completed);
    if (one) {
        struct completed completed;
        take(&completed, sizeof completed);
        *out = (struct carrick_completion){completed.token, completed.value, (uint8_t)completed.status};
        const struct carrick_open *open = carrick_memory_find(&core->memory, completed.token);
        const size_t bytes = answer.len - sizeof completed;
        const size_t wanted = open->token ? carrick_min64(bytes, open->len) : 0;
        take(open->ptr, wanted);
        skip(bytes - wanted);
        carrick_memory_forget(&core->memory, completed.token);
    }
    records(core, &answer);
    return one;
}

static const uint64_t *counters(const struct carrick_core *core) {
    struct carrick_core *own = (struct carrick_core *)core; /* it is not constant, and only keeps the answer */
    begin(core, COUNTERS, 0, 0, 0);
    const struct answer answer = answered(own->counters, sizeof own->counters);
    records(core, &answer);
    return core->counters;
}

static uint32_t open_contexts(const struct carrick_core *core) {
    return (uint32_t)value_of(core, OPEN_CONTEXTS, 0, 0, NULL, 0);
}

/* The parts of the identity, and their names one after the other. */
static bool identify(struct carrick_core *core, uint64_t handle, struct carrick_identity *out) {
    begin(core, IDENTIFY, handle, 0, 0);
    struct answer answer;
    take(&answer, sizeof answer);
    const bool known = answer.value >= 0 && answer.value <= CARRICK_ID_PARTS;
    const uint32_t count = known ? (uint32_t)answer.value : 0;
    take(out->parts, count * sizeof *out->parts);
    const size_t text = answer.len - count * sizeof *out->parts;
    const size_t kept = carrick_min64(text, sizeof core->name_text - 1);
    take(core->name_text, kept);
    skip(text - kept);
    const char *next = core->name_text, *end = core->name_text + kept;
    core->name_text[kept] = 0;
    for (uint32_t i = 0; i < count; i++) {
        core->names[i] = next; /* empty, of those that are too long together */
        next += next == end ? 0 : strlen(next) + 1;
        next = next < end ? next : end;
    }
    out->names = core->names;
    out->count = count;
    records(core, &answer);
    return known;
}

/* The core's table, under the name that the table of a compiled core has: what builds this gives it. */
struct carrick_program PROGRAM;

__attribute__((constructor)) static void describe(void) {
    PROGRAM = compiled_program;
    PROGRAM.traced = 1;
    PROGRAM.footprint = footprint;
    PROGRAM.init = init;
    PROGRAM.rx = rx;
    PROGRAM.rx_burst = rx_burst;
    PROGRAM.tx = tx;
    PROGRAM.tx_burst = tx_burst;
    PROGRAM.call = call;
    PROGRAM.advance = advance;
    PROGRAM.next_deadline = next_deadline;
    PROGRAM.wake_by = wake_by;
    PROGRAM.next_completion = next_completion;
    PROGRAM.counters = counters;
    PROGRAM.open_contexts = open_contexts;
    PROGRAM.identify = identify;
    if (compiled_program.rx_on) {
        PROGRAM.rx_on = rx_on;
        PROGRAM.tx_interface = tx_interface;
    }
}
