/* SPDX-License-Identifier: MIT */
#include "tests/toy.h"

#include "carrick/cq.h"
#include "carrick/ip.h"

#define TOY_QUEUE 4u
#define TOY_PIECE 1000u
#define TOY_HELD  65536u

enum { TOY_LISTEN, TOY_ACCEPT, TOY_CONNECT, TOY_SEND, TOY_RECV, TOY_CLOSE, TOY_CHANGE, TOY_CALLS };
enum { TOY_RX, TOY_TX, TOY_DROPPED, TOY_TICKS, TOY_LOST, TOY_CALLED, TOY_CHANGED, TOY_COUNTERS };

struct carrick_core {
    struct carrick_config config;
    uint64_t taken, tick, deadline;
    uint32_t peer;
    uint64_t accept; /* token, 0: none */
    struct carrick_request recv;
    uint64_t counters[TOY_COUNTERS];
    struct carrick_cq cq;
    struct carrick_completion ring[1024];
    uint32_t head, tail, lens[TOY_QUEUE];
    uint8_t queue[TOY_QUEUE][TOY_PIECE];
    uint32_t held;
    uint8_t data[TOY_HELD];
};

static size_t toy_footprint(const struct carrick_config *config) {
    return config->mtu >= TOY_PIECE + CARRICK_IP_HEADER ? sizeof(struct carrick_core) : 0;
}

static uint32_t toy_capacity(const struct carrick_config *config) {
    return (void)config, 1;
}

static struct carrick_core *toy_init(void *memory, const struct carrick_config *config) {
    struct carrick_core *core = memory;
    core->config = *config;
    core->taken = config->params[0];
    core->tick = config->params[1];
    core->deadline = core->tick ? core->tick : CARRICK_NEVER;
    core->cq = (struct carrick_cq){.ring = core->ring, .capacity = 1024};
    core->config.params = NULL;
    return core;
}

/* Gives what is held to the open request, if there are both. */
static void toy_deliver(struct carrick_core *core) {
    if (core->recv.token == 0 || core->held == 0)
        return;
    uint32_t n = (uint32_t)carrick_min64(core->held, core->recv.data.len);
    memcpy(core->recv.data.ptr, core->data, n);
    memmove(core->data, core->data + n, core->held - n);
    core->held -= n;
    carrick_cq_put(&core->cq, core->recv.token, CARRICK_OK, n);
    core->recv.token = 0;
}

static int toy_rx(struct carrick_core *core, const uint8_t *packet, uint32_t len, uint64_t now) {
    (void)now;
    struct carrick_ip ip;
    if (core->tail - core->head == TOY_QUEUE)
        return CARRICK_AGAIN;
    int header = carrick_ip_parse(packet, len, core->config.address, TOY_PROTOCOL, &ip);
    if (header < 0) {
        core->counters[TOY_DROPPED]++;
        return CARRICK_DROPPED;
    }
    core->counters[TOY_RX]++;
    if (core->held + ip.payload_len > TOY_HELD) {
        core->counters[TOY_LOST]++;
        return 0;
    }
    core->peer = ip.src;
    memcpy(core->data + core->held, packet + header, ip.payload_len);
    core->held += ip.payload_len;
    if (core->accept)
        carrick_cq_put(&core->cq, core->accept, CARRICK_OK, 1);
    core->accept = 0;
    toy_deliver(core);
    return 0;
}

static uint32_t toy_rx_burst(struct carrick_core *core, const uint8_t *const *packets, const uint32_t *lens,
                             uint32_t count, uint64_t now) {
    uint32_t n = 0;
    while (n < count && toy_rx(core, packets[n], lens[n], now) != CARRICK_AGAIN)
        n++;
    return n;
}

static uint32_t toy_tx(struct carrick_core *core, uint8_t *buffer, uint32_t cap, uint64_t now) {
    (void)now;
    if (core->head == core->tail)
        return 0;
    uint32_t place = core->head++ % TOY_QUEUE, len = core->lens[place];
    if (len + CARRICK_IP_HEADER > cap)
        return 0;
    struct carrick_ip ip = {.src = core->config.address, .dst = core->peer, .protocol = TOY_PROTOCOL, .ttl = 64};
    carrick_ip_build(buffer, &ip, len, 0);
    memcpy(buffer + CARRICK_IP_HEADER, core->queue[place], len);
    core->counters[TOY_TX]++;
    return CARRICK_IP_HEADER + len;
}

static uint32_t toy_tx_burst(struct carrick_core *core, uint8_t *const *buffers, uint32_t cap, uint32_t *lens,
                             uint16_t *segments, uint32_t count, uint64_t now) {
    uint32_t n = 0;
    for (; n < count && (lens[n] = toy_tx(core, buffers[n], cap, now)) != 0; n++)
        if (segments)
            segments[n] = 0;
    return n;
}

static void toy_connect(struct carrick_core *core, const struct carrick_request *request) {
    bool taken = core->taken > 0;
    core->taken -= taken;
    core->peer = (uint32_t)request->args[2];
    carrick_cq_put(&core->cq, request->token, taken ? CARRICK_IN_USE : CARRICK_OK, request->args[1]);
}

static void toy_send(struct carrick_core *core, const struct carrick_request *request) {
    uint32_t n = (uint32_t)carrick_min64(request->data.len, TOY_PIECE), place = core->tail++ % TOY_QUEUE;
    memcpy(core->queue[place], request->data.ptr, n);
    core->lens[place] = n;
    carrick_cq_put(&core->cq, request->token, CARRICK_OK, n);
}

static int toy_call(struct carrick_core *core, uint32_t call, const struct carrick_request *request, uint64_t now) {
    core->counters[TOY_CALLED] = now;
    if (call >= TOY_CALLS || request->token == 0)
        return CARRICK_BAD_ARG;
    if (core->tail - core->head == TOY_QUEUE || core->cq.open == core->cq.capacity)
        return CARRICK_AGAIN;
    core->cq.open++;
    if (call == TOY_CONNECT)
        toy_connect(core, request);
    else if (call == TOY_SEND)
        toy_send(core, request);
    else if (call == TOY_ACCEPT)
        core->accept = request->token;
    else if (call == TOY_RECV)
        core->recv = *request;
    else
        carrick_cq_put(&core->cq, request->token, CARRICK_OK, 1);
    if (call == TOY_CHANGE)
        core->counters[TOY_CHANGED] += request->handle * request->args[0];
    toy_deliver(core);
    return 0;
}

static int toy_advance(struct carrick_core *core, uint64_t now) {
    while (core->deadline <= now) {
        core->counters[TOY_TICKS]++;
        core->deadline += core->tick;
    }
    return 0;
}

static uint64_t toy_wake_by(const struct carrick_core *core) {
    return core->deadline;
}

static bool toy_completion(struct carrick_core *core, struct carrick_completion *out) {
    return carrick_cq_take(&core->cq, out);
}

static const uint64_t *toy_counters(const struct carrick_core *core) {
    return core->counters;
}

static uint32_t toy_open(const struct carrick_core *core) {
    return core->peer != 0;
}

/* One connection at most, whose handle is 1. */
static bool toy_identify(struct carrick_core *core, uint64_t handle, struct carrick_identity *out) {
    static const char *const names[] = {"remote_ip", "flavour"};
    *out = (struct carrick_identity){.names = names, .count = 2, .parts = {core->peer, 7}};
    return core->peer != 0 && handle == 1;
}

static const char *toy_unmet(const struct carrick_config *config) {
    return config->params[0] == 7 && config->params[1] == 7 ? "taken != tick" : NULL;
}

static const struct carrick_param_info toy_params[] = {{"taken", 0, 0, 1000, false, ""},
                                                       {"tick", 0, 0, 1000000000, true, "ns"}};
static const struct carrick_field_info toy_listen_fields[] = {
    {"local_ip", false}, {"local_port", false}, {"backlog", false}};
/* Not in the usual order, and with one that no application knows. */
static const struct carrick_field_info toy_connect_fields[] = {
    {"flavour", false}, {"local_port", false}, {"remote_ip", false}, {"remote_port", false}};
static const struct carrick_field_info toy_data_fields[] = {{"data", true}, {"len", false}};
static const struct carrick_field_info toy_change_fields[] = {{"item", false}, {"by", false}};
static const struct carrick_call_info toy_calls[] = {{"listen", toy_listen_fields, 3, false},
                                                     {"accept", NULL, 0, true},
                                                     {"connect", toy_connect_fields, 4, false},
                                                     {"send", toy_data_fields, 2, true},
                                                     {"recv", toy_data_fields, 2, true},
                                                     {"close", NULL, 0, true},
                                                     {"change_context", toy_change_fields, 2, true}};
static const char *const toy_names[] = {"rx_packets", "tx_packets", "dropped", "ticks", "lost", "called", "changed"};

const struct carrick_program toy_program = {.abi = CARRICK_ABI,
                                            .name = "toy",
                                            .interface_name = "stream",
                                            .protocol = TOY_PROTOCOL,
                                            .params = toy_params,
                                            .param_count = 2,
                                            .calls = toy_calls,
                                            .call_count = TOY_CALLS,
                                            .counter_names = toy_names,
                                            .counter_count = TOY_COUNTERS,
                                            .footprint = toy_footprint,
                                            .capacity = toy_capacity,
                                            .init = toy_init,
                                            .rx = toy_rx,
                                            .rx_burst = toy_rx_burst,
                                            .tx = toy_tx,
                                            .tx_burst = toy_tx_burst,
                                            .call = toy_call,
                                            .advance = toy_advance,
                                            .wake_by = toy_wake_by,
                                            .next_completion = toy_completion,
                                            .counters = toy_counters,
                                            .open_contexts = toy_open,
                                            .identify = toy_identify,
                                            .unmet = toy_unmet};
