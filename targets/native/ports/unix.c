/* SPDX-License-Identifier: MIT */
/*
 * Frames as messages between two processes of one machine: datagrams of Unix sockets, which keep their bounds and are
 * not lost. A frame is what the program makes, whatever it begins with.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "carrick/socket_file.h"
#include "ports/batch.h"

#define UNIX_DEPTH 1024u
#define UNIX_MTU   1500u

struct unix_port {
    struct carrick_port port;
    struct sockaddr_un local, peer;
    bool bound, joined;
    struct carrick_queue in, out;
};

/* The peer may come later, go, and come again: what is sent while it is not there is lost, as on a wire. */
static void unix_flush(struct unix_port *self) {
    if (!self->joined)
        self->joined = connect(self->port.fd, (const struct sockaddr *)&self->peer, sizeof self->peer) == 0;
    uint64_t refused = self->port.tx_refused;
    carrick_batch_flush(self->port.fd, &self->out, &self->port);
    if (self->port.tx_refused != refused)
        self->joined = false;
}

static uint32_t unix_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    return carrick_batch_receive(port->fd, &((struct unix_port *)port)->in, port, port->mtu, frames, count);
}

static uint32_t unix_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct unix_port *self = (struct unix_port *)port;
    unix_flush(self);
    return carrick_queue_reserve(&self->out, frames, count, port->mtu);
}

static void unix_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct unix_port *self = (struct unix_port *)port;
    carrick_queue_commit(&self->out, frames, count);
    unix_flush(self);
}

static bool unix_busy(const struct carrick_port *port) {
    return carrick_queue_used(&((const struct unix_port *)port)->out) != 0;
}

static void unix_close(struct carrick_port *port) {
    struct unix_port *self = (struct unix_port *)port;
    if (port->fd >= 0)
        close(port->fd);
    if (self->bound)
        (void)unlink(self->local.sun_path);
    carrick_queue_free(&self->in);
    carrick_queue_free(&self->out);
    free(self);
}

static const struct carrick_port_ops unix_ops = {
    .receive = unix_receive, .reserve = unix_reserve, .commit = unix_commit, .busy = unix_busy, .close = unix_close};

static bool unix_address(const char *path, size_t len, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (len == 0 || len >= sizeof address->sun_path)
        return false;
    memcpy(address->sun_path, path, len);
    return true;
}

struct carrick_port *carrick_unix_open(const char *spec, struct carrick_port_error *error) {
    struct unix_port *self = calloc(1, sizeof *self);
    if (!self) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for a port.");
        return NULL;
    }
    self->port = (struct carrick_port){.ops = &unix_ops, .kind = "unix", .fd = -1, .mtu = UNIX_MTU};
    size_t len = strcspn(spec, ":");
    if (spec[len] != ':' || !unix_address(spec, len, &self->local) ||
        !unix_address(spec + len + 1, strlen(spec + len + 1), &self->peer)) {
        snprintf(error->text, sizeof error->text,
                 "`%.80s` is no pair of sockets: write LOCALPATH:PEERPATH, each of at most %zu letters.", spec,
                 sizeof self->local.sun_path - 1);
        unix_close(&self->port);
        return NULL;
    }
    if (!carrick_queue_make(&self->in, UNIX_MTU + 1, CARRICK_PORT_BATCH) ||
        !carrick_queue_make(&self->out, UNIX_MTU, UNIX_DEPTH)) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the buffers of a port.");
        unix_close(&self->port);
        return NULL;
    }
    self->port.fd =
        carrick_socket_file_open(self->local.sun_path, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0600, error);
    self->bound = self->port.fd >= 0;
    if (!self->bound) {
        unix_close(&self->port);
        return NULL;
    }
    return &self->port;
}
