/* SPDX-License-Identifier: MIT */
/* The wire of memory: frames are built in the ring from which the other end reads them. */
#include "ports/queue.h"

struct loop {
    struct carrick_port port;
    struct carrick_queue out; /* towards the other end */
    struct loop *peer;        /* NULL: closed */
    uint32_t lent;            /* places of peer->out that the caller of receive still holds */
};

static uint32_t loop_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct loop *self = (struct loop *)port;
    if (!self->peer)
        return 0;
    struct carrick_queue *in = &self->peer->out;
    in->head += self->lent;
    self->lent = 0;
    uint32_t n = 0;
    while (n < count && in->head + self->lent != in->tail) {
        uint32_t place = in->head + self->lent++;
        uint32_t len = *carrick_queue_len(in, place);
        if (len != 0)
            frames[n++] = (struct carrick_frame){.data = carrick_queue_at(in, place), .len = len};
    }
    port->rx += n;
    return n;
}

static uint32_t loop_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct loop *self = (struct loop *)port;
    return carrick_queue_reserve(&self->out, frames, count, carrick_port_frame_max(port));
}

static void loop_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    (void)now;
    carrick_queue_commit(&((struct loop *)port)->out, frames, count);
    port->tx += count;
}

static void loop_close(struct carrick_port *port) {
    struct loop *self = (struct loop *)port;
    if (self->peer)
        self->peer->peer = NULL;
    carrick_queue_free(&self->out);
    free(self);
}

static const struct carrick_port_ops loop_ops = {
    .receive = loop_receive, .reserve = loop_reserve, .commit = loop_commit, .close = loop_close};

static struct loop *loop_make(uint32_t mtu, uint32_t depth) {
    struct loop *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->port = (struct carrick_port){.ops = &loop_ops, .kind = "loop", .fd = -1, .mtu = mtu};
    if (carrick_queue_make(&self->out, mtu, depth))
        return self;
    loop_close(&self->port);
    return NULL;
}

bool carrick_loop_open(uint32_t mtu, uint32_t depth, struct carrick_port *ends[2], struct carrick_port_error *error) {
    struct loop *a = loop_make(mtu, depth), *b = loop_make(mtu, depth);
    if (!a || !b) {
        if (a)
            loop_close(&a->port);
        if (b)
            loop_close(&b->port);
        snprintf(error->text, sizeof error->text, "There is not enough memory for %u frames: take fewer.", depth);
        return false;
    }
    a->peer = b;
    b->peer = a;
    ends[0] = &a->port;
    ends[1] = &b->port;
    return true;
}
