/* SPDX-License-Identifier: MIT */
/* Packets inside UDP datagrams. A datagram is a packet: no header of our own. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ports/batch.h"

#define UDP_DEPTH  1024u
#define UDP_MTU    1500u
#define UDP_BUFFER (4 << 20) /* bytes that the kernel may keep for a receiver that is late */

struct udp {
    struct carrick_port port;
    struct carrick_queue in, out;
};

static uint32_t udp_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    return carrick_batch_receive(port->fd, &((struct udp *)port)->in, port, port->mtu, frames, count);
}

static uint32_t udp_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct udp *self = (struct udp *)port;
    carrick_batch_flush(port->fd, &self->out, port);
    return carrick_queue_reserve(&self->out, frames, count, port->mtu);
}

static void udp_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct udp *self = (struct udp *)port;
    carrick_queue_commit(&self->out, frames, count);
    carrick_batch_flush(port->fd, &self->out, port);
}

static bool udp_busy(const struct carrick_port *port) {
    return carrick_queue_used(&((const struct udp *)port)->out) != 0;
}

static void udp_close(struct carrick_port *port) {
    struct udp *self = (struct udp *)port;
    if (port->fd >= 0)
        close(port->fd);
    carrick_queue_free(&self->in);
    carrick_queue_free(&self->out);
    free(self);
}

static const struct carrick_port_ops udp_ops = {
    .receive = udp_receive, .reserve = udp_reserve, .commit = udp_commit, .busy = udp_busy, .close = udp_close};

static bool udp_address(const char *ip, const char *port, struct sockaddr_in *out) {
    char *end;
    unsigned long number = strtoul(port, &end, 10);
    *out = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
    return *port && !*end && number > 0 && number <= 65535 && inet_pton(AF_INET, ip, &out->sin_addr) == 1;
}

static bool udp_parse(const char *spec, struct sockaddr_in *local, struct sockaddr_in *peer) {
    char text[64], *words[5] = {0}, *rest = NULL;
    int n = 0;
    if (strlen(spec) >= sizeof text)
        return false;
    strcpy(text, spec);
    for (char *w = strtok_r(text, ":", &rest); w && n < 5; w = strtok_r(NULL, ":", &rest))
        words[n++] = w;
    if (n == 2)
        return udp_address("127.0.0.1", words[0], local) && udp_address("127.0.0.1", words[1], peer);
    return n == 4 && udp_address(words[0], words[1], local) && udp_address(words[2], words[3], peer);
}

static bool udp_connect(struct udp *self, const struct sockaddr_in *local, const struct sockaddr_in *peer) {
    self->port.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (self->port.fd < 0)
        return false;
    int octets = UDP_BUFFER;
    /* The kernel gives what it may: less only means that a late receiver loses more. */
    (void)setsockopt(self->port.fd, SOL_SOCKET, SO_RCVBUF, &octets, sizeof octets);
    (void)setsockopt(self->port.fd, SOL_SOCKET, SO_SNDBUF, &octets, sizeof octets);
    return bind(self->port.fd, (const struct sockaddr *)local, sizeof *local) == 0 &&
           connect(self->port.fd, (const struct sockaddr *)peer, sizeof *peer) == 0;
}

struct carrick_port *carrick_udp_open(const char *spec, struct carrick_port_error *error) {
    struct sockaddr_in local, peer;
    if (!udp_parse(spec, &local, &peer)) {
        snprintf(error->text, sizeof error->text,
                 "`%s` is no pair of UDP ports: write LOCALPORT:PEERPORT or LOCALIP:PORT:PEERIP:PORT.", spec);
        return NULL;
    }
    struct udp *self = calloc(1, sizeof *self);
    if (!self) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for a port.");
        return NULL;
    }
    self->port = (struct carrick_port){.ops = &udp_ops, .kind = "udp", .fd = -1, .mtu = UDP_MTU};
    if (!carrick_queue_make(&self->in, UDP_MTU + 1, CARRICK_PORT_BATCH) ||
        !carrick_queue_make(&self->out, UDP_MTU, UDP_DEPTH)) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the buffers of a port.");
        udp_close(&self->port);
        return NULL;
    }
    if (!udp_connect(self, &local, &peer)) {
        snprintf(error->text, sizeof error->text, "The UDP port in `%s` cannot be used (%s): take another one.", spec,
                 strerror(errno));
        udp_close(&self->port);
        return NULL;
    }
    return &self->port;
}
