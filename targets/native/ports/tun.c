/* SPDX-License-Identifier: MIT */
/* The TUN device: one system call for each packet, because the kernel offers nothing else. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ports/queue.h"

#define TUN_DEPTH 512u

struct tun {
    struct carrick_port port;
    struct carrick_queue in, out;
};

static uint32_t tun_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct tun *self = (struct tun *)port;
    uint32_t n = 0;
    while (n < count && n < CARRICK_PORT_BATCH) {
        uint8_t *place = carrick_queue_at(&self->in, n);
        ssize_t got = read(port->fd, place, self->in.stride);
        if (got < 0)
            break;
        frames[n++] = (struct carrick_frame){.data = place, .len = (uint32_t)got};
    }
    port->rx += n;
    return n;
}

/* Writes what waits until the device refuses. */
static void tun_flush(struct tun *self) {
    struct carrick_queue *q = &self->out;
    for (; q->head != q->tail; q->head++) {
        uint32_t len = *carrick_queue_len(q, q->head);
        if (len == 0)
            continue;
        ssize_t put = write(self->port.fd, carrick_queue_at(q, q->head), len);
        if (put < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (put < 0)
            self->port.tx_refused++;
        else
            self->port.tx++;
    }
}

static uint32_t tun_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct tun *self = (struct tun *)port;
    tun_flush(self);
    return carrick_queue_reserve(&self->out, frames, count, port->mtu);
}

static void tun_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct tun *self = (struct tun *)port;
    carrick_queue_commit(&self->out, frames, count);
    tun_flush(self);
}

static bool tun_busy(const struct carrick_port *port) {
    return carrick_queue_used(&((const struct tun *)port)->out) != 0;
}

static void tun_close(struct carrick_port *port) {
    struct tun *self = (struct tun *)port;
    if (port->fd >= 0)
        close(port->fd);
    carrick_queue_free(&self->in);
    carrick_queue_free(&self->out);
    free(self);
}

static const struct carrick_port_ops tun_ops = {
    .receive = tun_receive, .reserve = tun_reserve, .commit = tun_commit, .busy = tun_busy, .close = tun_close};

static uint32_t tun_mtu(const struct ifreq *device) {
    struct ifreq request = *device;
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint32_t mtu = 1500;
    if (s >= 0 && ioctl(s, SIOCGIFMTU, &request) == 0 && request.ifr_mtu >= 68 && request.ifr_mtu <= 65535)
        mtu = (uint32_t)request.ifr_mtu;
    if (s >= 0)
        close(s);
    return mtu;
}

static void tun_explain(const char *device, int why, struct carrick_port_error *error) {
    if (why == EPERM || why == EACCES)
        snprintf(error->text, sizeof error->text,
                 "The TUN device %s needs a privilege: run as root, or make it yours with `ip tuntap add %s mode tun "
                 "user $USER`.",
                 device, device);
    else if (why == ENOENT || why == ENODEV)
        snprintf(error->text, sizeof error->text, "This machine has no /dev/net/tun: load it with `modprobe tun`.");
    else if (why == EBUSY)
        snprintf(error->text, sizeof error->text,
                 "The TUN device %s is in use: end the process that holds it, or take another name.", device);
    else
        snprintf(error->text, sizeof error->text, "The TUN device %s cannot be opened (%s): check its name.", device,
                 strerror(why));
}

struct carrick_port *carrick_tun_open(const char *device, struct carrick_port_error *error) {
    struct ifreq request = {0};
    if (strlen(device) >= sizeof request.ifr_name) {
        snprintf(error->text, sizeof error->text, "The name of the TUN device is too long: take at most %zu letters.",
                 sizeof request.ifr_name - 1);
        return NULL;
    }
    struct tun *self = calloc(1, sizeof *self);
    if (!self) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for a port.");
        return NULL;
    }
    memcpy(request.ifr_name, device, strlen(device));
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    self->port = (struct carrick_port){.ops = &tun_ops, .kind = "tun"};
    self->port.fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (self->port.fd < 0 || ioctl(self->port.fd, TUNSETIFF, &request) != 0) {
        tun_explain(device, errno, error);
        tun_close(&self->port);
        return NULL;
    }
    self->port.mtu = tun_mtu(&request);
    if (!carrick_queue_make(&self->in, self->port.mtu, CARRICK_PORT_BATCH) ||
        !carrick_queue_make(&self->out, self->port.mtu, TUN_DEPTH)) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the buffers of %s.", device);
        tun_close(&self->port);
        return NULL;
    }
    return &self->port;
}
