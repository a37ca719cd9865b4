/* SPDX-License-Identifier: MIT */
/* A wire with faults over any port: a line of frames under way in each direction. */
#include <string.h>

#include "ports/line.h"

struct fault {
    struct carrick_port port;
    struct carrick_fault_config config;
    struct carrick_fault_counts counts;
    struct carrick_line in, out;
    struct carrick_queue staging; /* what reserve lends */
    uint32_t lent[CARRICK_PORT_BATCH];
    uint32_t lent_len; /* slots of `in` that the caller of receive holds */
};

static uint32_t fault_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    struct fault *self = (struct fault *)port;
    while (self->lent_len > 0)
        carrick_line_release(&self->in, self->lent[--self->lent_len]);
    struct carrick_frame arrived[CARRICK_PORT_BATCH];
    uint32_t n = carrick_port_receive(port->inner, now, arrived, CARRICK_PORT_BATCH);
    for (uint32_t i = 0; i < n; i++)
        carrick_line_put(&self->in, now, arrived[i].data, arrived[i].len);
    if (count > CARRICK_PORT_BATCH)
        count = CARRICK_PORT_BATCH;
    while (self->lent_len < count &&
           carrick_line_take(&self->in, now, &frames[self->lent_len], &self->lent[self->lent_len]))
        self->lent_len++;
    port->rx += self->lent_len;
    return self->lent_len;
}

/* Hands what is due to the port below, as far as it has room. */
static void fault_flush(struct fault *self, uint64_t now) {
    while (carrick_line_deadline(&self->out) <= now) {
        struct carrick_frame room[CARRICK_PORT_BATCH], due;
        uint32_t slot, n = 0, free_places = carrick_port_reserve(self->port.inner, now, room, CARRICK_PORT_BATCH);
        if (free_places == 0)
            return;
        for (; n < free_places && carrick_line_take(&self->out, now, &due, &slot); n++) {
            memcpy(room[n].data, due.data, due.len);
            room[n].len = due.len;
            carrick_line_release(&self->out, slot);
        }
        carrick_port_commit(self->port.inner, now, room, n);
    }
}

static uint32_t fault_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    struct fault *self = (struct fault *)port;
    struct carrick_frame none[1];
    fault_flush(self, now);
    (void)carrick_port_reserve(port->inner, now, none, 1); /* the port below pushes on what it holds */
    if (carrick_line_deadline(&self->out) <= now)
        return 0; /* the device is full: so is the wire */
    return carrick_queue_reserve(&self->staging, frames, count, carrick_port_frame_max(port));
}

static void fault_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    struct fault *self = (struct fault *)port;
    for (uint32_t i = 0; i < count; i++)
        carrick_line_put(&self->out, now, frames[i].data, frames[i].len);
    port->tx += count;
    fault_flush(self, now);
}

static bool fault_busy(const struct carrick_port *port) {
    return carrick_port_busy(port->inner);
}

static uint64_t fault_deadline(const struct carrick_port *port) {
    const struct fault *self = (const struct fault *)port;
    uint64_t first = carrick_port_deadline(port->inner), in = carrick_line_deadline(&self->in);
    /* While the device is full, its becoming writable is what to wait for. */
    uint64_t out = carrick_port_busy(port->inner) ? UINT64_MAX : carrick_line_deadline(&self->out);
    first = in < first ? in : first;
    return out < first ? out : first;
}

static void fault_close(struct carrick_port *port) {
    struct fault *self = (struct fault *)port;
    carrick_line_free(&self->in);
    carrick_line_free(&self->out);
    carrick_queue_free(&self->staging);
    carrick_port_close(port->inner);
    free(self);
}

static const struct carrick_port_ops fault_ops = {.receive = fault_receive,
                                                  .reserve = fault_reserve,
                                                  .commit = fault_commit,
                                                  .busy = fault_busy,
                                                  .deadline = fault_deadline,
                                                  .close = fault_close};

struct carrick_port *carrick_fault_wrap(struct carrick_port *inner, const struct carrick_fault_config *config,
                                        struct carrick_port_error *error) {
    struct fault *self = calloc(1, sizeof *self);
    if (!self) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for a faulty wire.");
        return NULL;
    }
    self->port = carrick_port_over(inner, &fault_ops, "fault");
    self->config = *config;
    bool in = carrick_line_make(&self->in, &self->config, &self->counts, 101, inner);
    bool out = carrick_line_make(&self->out, &self->config, &self->counts, 102, inner);
    if (in && out && carrick_queue_make(&self->staging, carrick_port_frame_room(inner), CARRICK_PORT_BATCH))
        return &self->port;
    snprintf(error->text, sizeof error->text, "There is not enough memory for a faulty wire.");
    self->port.inner = NULL; /* still the caller's */
    fault_close(&self->port);
    return NULL;
}

struct carrick_fault_counts carrick_fault_counts(const struct carrick_port *port) {
    return ((const struct fault *)port)->counts;
}
