/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/os/model.h"

#include <string.h>

#include "tests/os/os.h"

#define FLOWS 1024u
#define MARKS 32u
#define HOLD  UINT64_C(200000000) /* nanoseconds that what is followed by more may wait */

struct model_end {
    struct model_name name;
    struct flow *flow;
    uint64_t sent, offered, received; /* bytes; of `received`, the peer's */
    uint64_t last_at;                 /* when the peer received last */
    uint64_t finished_at;             /* OS_NEVER: it may send more */
    bool claimed;                     /* its program knows that it has it */
    bool closed, peer_over, accepted;
    enum model_want want;
    uint64_t since;
    /* When bytes were sent, or are to be sent at the latest: up to `end`, at `at`; the oldest not yet received first.
     */
    struct {
        uint64_t end, at;
    } marks[MARKS];
    uint32_t mark_count;
};

struct flow {
    struct model_end ends[2];
    bool may_break;
    uint64_t began;
};

static struct flow flows[FLOWS];
static uint32_t flow_count;
static uint64_t patience;
static bool excused;

void model_begin(uint64_t most) {
    flow_count = 0;
    patience = most;
    excused = false;
}

static bool same(struct model_name a, struct model_name b) {
    return a.address == b.address && a.port == b.port;
}

static struct model_end *claim(struct model_end *end) {
    end->claimed = true;
    return end;
}

struct model_end *model_end(struct model_name local, struct model_name remote) {
    bool later = local.address > remote.address;
    struct model_name names[2] = {later ? remote : local, later ? local : remote};
    for (uint32_t i = flow_count; i-- > 0;)
        if (same(flows[i].ends[0].name, names[0]) && same(flows[i].ends[1].name, names[1]) &&
            !(flows[i].ends[later].closed))
            return claim(&flows[i].ends[later]);
    if (flow_count == FLOWS)
        os_broken("the run has more connections than the model");
    struct flow *flow = &flows[flow_count++];
    *flow = (struct flow){.began = os_now()};
    for (int i = 0; i < 2; i++) {
        flow->ends[i].name = names[i];
        flow->ends[i].flow = flow;
        flow->ends[i].finished_at = OS_NEVER;
        flow->ends[i].last_at = os_now();
    }
    return claim(&flow->ends[later]);
}

static struct model_end *peer_of(const struct model_end *end) {
    return &end->flow->ends[end == &end->flow->ends[0]];
}

static uint64_t number_of(const struct model_end *end) {
    const struct model_end *peer = peer_of(end);
    return carrick_mix(carrick_mix((uint64_t)end->name.address << 16 | end->name.port, peer->name.address),
                       peer->name.port);
}

uint64_t model_shared(const struct model_end *end) {
    return number_of(&end->flow->ends[0]);
}

static uint8_t octet(uint64_t number, uint64_t at) {
    return (uint8_t)(carrick_mix(number, at / 8) >> (at % 8 * 8));
}

void model_offer(struct model_end *end, uint8_t *octets, uint32_t len) {
    uint64_t number = number_of(end);
    for (uint32_t i = 0; i < len; i++)
        octets[i] = octet(number, end->sent + i);
    end->offered = end->sent + len;
}

/* What waited for more waits no longer. */
static void release(struct model_end *end) {
    for (uint32_t i = 0; i < end->mark_count; i++)
        if (end->marks[i].at > os_now())
            end->marks[i].at = os_now();
}

/* What follows may be held back, and with it what the relay has not read yet. */
static void hold(struct model_end *end) {
    for (uint32_t i = 0; i < end->mark_count; i++)
        end->marks[i].at = os_now() + HOLD;
}

void model_sent(struct model_end *end, uint32_t len, bool more) {
    end->sent += len;
    end->offered = end->sent;
    if (more)
        hold(end);
    else
        release(end);
    if (!len || peer_of(end)->received >= end->sent)
        return;
    if (end->mark_count < MARKS)
        end->marks[end->mark_count++].at = os_now() + (more ? HOLD : 0);
    end->marks[end->mark_count - 1].end = end->sent;
}

/* Data that is under way when a server resets a connection can bring its SYN cookie back once more. It opens a
 * connection that no program of the peer's has, with the same bytes; or, where the reset was lost, one that the
 * peer's program takes for the one it has. */
static uint64_t offered(const struct model_end *from) {
    uint64_t most = from->offered;
    for (uint32_t i = 0; i < flow_count && from->closed; i++)
        for (int e = 0; e < 2; e++) {
            const struct model_end *end = &flows[i].ends[e];
            if (same(end->name, from->name) && same(peer_of(end)->name, peer_of(from)->name) && end->offered > most)
                most = end->offered;
        }
    return most;
}

void model_received(struct model_end *end, const uint8_t *octets, uint32_t len) {
    struct model_end *from = peer_of(end);
    uint64_t number = number_of(from);
    if (from->claimed && end->received + len > offered(from))
        os_broken("%u octets arrived, and %llu were never sent", len,
                  (unsigned long long)(end->received + len - offered(from)));
    for (uint32_t i = 0; i < len; i++)
        if (octets[i] != octet(number, end->received + i))
            os_broken("octet %llu of a connection is not the one that was sent",
                      (unsigned long long)(end->received + i));
    end->received += len;
    from->last_at = os_now();
    uint32_t old = 0;
    while (old < from->mark_count && from->marks[old].end <= end->received)
        old++;
    from->mark_count -= old;
    memmove(from->marks, from->marks + old, from->mark_count * sizeof from->marks[0]);
}

void model_finish(struct model_end *end) {
    if (end->finished_at == OS_NEVER)
        end->finished_at = os_now();
    release(end);
}

void model_close(struct model_end *end, bool reset) {
    if (end->closed)
        return;
    model_finish(end);
    end->closed = true;
    end->want = MODEL_NOTHING;
    /* What the peer sends to one that is gone is answered with a reset. */
    if (reset || !end->peer_over)
        end->flow->may_break = true;
}

void model_resets(struct model_end *end) {
    end->flow->may_break = true;
}

void model_over(struct model_end *end) {
    const struct model_end *from = peer_of(end);
    /* A program that closes a socket that is connecting does not learn that it was connected. */
    if (!from->claimed)
        end->flow->may_break = true;
    else if (from->finished_at == OS_NEVER)
        os_broken("the end of a stream that its sender has not ended");
    if (end->received < from->sent)
        os_broken("the end of a stream after %llu of %llu octets", (unsigned long long)end->received,
                  (unsigned long long)from->sent);
    end->peer_over = true;
    end->want = MODEL_NOTHING;
}

void model_broken(struct model_end *end, int error, const char *call) {
    const struct flow *flow = end->flow;
    end->want = MODEL_NOTHING;
    if (!flow->may_break && !excused && peer_of(end)->claimed)
        os_broken("%s: the connection has broken off without a reason: %s", call, strerror(error));
    end->flow->may_break = true;
}

void model_wants(struct model_end *end, enum model_want want) {
    if (want != end->want)
        end->since = os_now();
    end->want = want;
}

void model_excuse(void) {
    excused = true;
}

void model_accepted(struct model_end *end) {
    end->accepted = true;
}

void model_unlisten(uint16_t port, uint32_t address) {
    for (uint32_t i = 0; i < flow_count; i++)
        for (int e = 0; e < 2; e++) {
            const struct model_end *end = &flows[i].ends[e];
            if (end->name.port == port && end->name.address == address && !end->accepted)
                flows[i].may_break = true;
        }
}

static bool too_long(uint64_t since, uint64_t there) {
    uint64_t from = since > there ? since : there;
    return os_now() > from && os_now() - from > patience;
}

/* What found the accept queue full comes again, after pauses that double: the next is as long as all before, and one
 * more round. */
static bool accept_too_long(uint64_t since, uint64_t began) {
    uint64_t from = since > began ? since : began;
    return os_now() > from && os_now() - from > patience + (from - began);
}

void model_check_accept(struct model_name listener, uint64_t since) {
    if (patience == OS_NEVER || excused || since == OS_NEVER)
        return;
    for (uint32_t i = 0; i < flow_count; i++)
        for (int e = 0; e < 2 && !flows[i].may_break; e++)
            if (same(flows[i].ends[e].name, listener) && !flows[i].ends[e].accepted &&
                accept_too_long(since, flows[i].began))
                os_broken("a server waits for a connection, and there is one");
}

static void check_end(const struct model_end *end) {
    const struct model_end *peer = peer_of(end);
    if (end->want == MODEL_DATA && peer->mark_count && too_long(end->since, peer->marks[0].at))
        os_broken("someone waits for %llu octets that were sent", (unsigned long long)(peer->sent - end->received));
    if (end->want == MODEL_DATA && peer->finished_at != OS_NEVER && end->received == peer->sent &&
        too_long(end->since > peer->last_at ? end->since : peer->last_at, peer->finished_at))
        os_broken("someone waits for the end of a stream that has ended");
    if (end->want == MODEL_SPACE && peer->received == end->sent && too_long(end->since, end->last_at))
        os_broken("someone waits for space to send, and all that was sent has arrived");
}

void model_check(void) {
    if (patience == OS_NEVER || excused)
        return;
    for (uint32_t i = 0; i < flow_count; i++)
        for (int e = 0; e < 2 && !flows[i].may_break; e++)
            check_end(&flows[i].ends[e]);
}
