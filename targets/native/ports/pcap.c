/* SPDX-License-Identifier: MIT */
/* Writes what passes to a pcapng file: section, interface, and an enhanced packet block for each frame. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carrick/port.h"

#define PCAP_BUFFER    (1u << 20)
#define LINK_ETHERNET  1u
#define LINK_RAW_IP    101u /* of either version */
#define LINK_USER0     147u /* nobody else's */
#define FLAG_INBOUND   1u
#define FLAG_OUTBOUND  2u
#define TIMES_IN_NANOS 9u
#define ORDER_IS_BIG   (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* A capture, of one port or more. */
struct capture {
    FILE *file;
    char *buffer, *path;
    uint64_t epoch_ns;
    uint32_t interfaces; /* that it describes */
    uint32_t open;       /* ports that write to it */
    bool failed;         /* it has ended early */
};

struct pcap {
    struct carrick_port port;
    struct capture *to;
    uint32_t interface;
};

static void put32(const struct capture *to, uint32_t v) {
    fwrite(&v, sizeof v, 1, to->file);
}

static void put16(const struct capture *to, uint16_t a, uint16_t b) {
    uint16_t both[2] = {a, b};
    fwrite(both, sizeof both, 1, to->file);
}

/* Bytes, and zeros up to a multiple of 4. */
static void put_padded(const struct capture *to, const void *data, uint32_t len) {
    fwrite(data, 1, len, to->file);
    fwrite("\0\0\0", 1, (4 - len % 4) % 4, to->file);
}

static void capture_begin(const struct capture *to) {
    static const char tool[] = "Carrick";
    put32(to, 0x0a0d0d0a); /* section header; byte order is the machine's, told by the magic */
    put32(to, 44);
    put32(to, 0x1a2b3c4d);
    put16(to, 1, 0);
    put32(to, UINT32_MAX); /* section length: not said */
    put32(to, UINT32_MAX);
    put16(to, 4, sizeof tool - 1); /* shb_userappl */
    put_padded(to, tool, sizeof tool - 1);
    put16(to, 0, 0);
    put32(to, 44);
}

static void pcap_describe(struct pcap *self) {
    struct capture *to = self->to;
    put32(to, 1); /* interface description */
    put32(to, 32);
    bool anything = strcmp(self->port.inner->kind, "unix") == 0;
    put16(to, self->port.ethernet ? LINK_ETHERNET : anything ? LINK_USER0 : LINK_RAW_IP, 0);
    put32(to, 0);    /* no limit */
    put16(to, 9, 1); /* if_tsresol */
    put_padded(to, &(uint8_t){TIMES_IN_NANOS}, 1);
    put16(to, 0, 0);
    put32(to, 32);
    self->interface = to->interfaces++;
    to->open++;
}

/* What is written before a disk is full can be read. Frames after that would leave a gap, so the capture ends there. */
static void capture_check(struct capture *to) {
    if (!ferror(to->file))
        return;
    fprintf(stderr, "Cannot write the capture %s: %s. It ends here.\n", to->path, strerror(errno));
    to->failed = true;
}

static void pcap_put(struct pcap *self, uint64_t now, uint32_t flags, const struct carrick_frame *frame) {
    if (self->to->failed)
        return;
    uint64_t at = self->to->epoch_ns + now;
    uint32_t len = 44 + (frame->len + 3u) / 4 * 4;
    uint32_t head[7] = {6,          len,       self->interface, (uint32_t)(at >> 32), (uint32_t)at,
                        frame->len, frame->len};     /* enhanced packet */
    uint32_t tail[4] = {2 | 4 << 16, flags, 0, len}; /* epb_flags, the end */
    if (ORDER_IS_BIG)
        tail[0] = 2 << 16 | 4;
    fwrite(head, sizeof head, 1, self->to->file);
    put_padded(self->to, frame->data, frame->len);
    fwrite(tail, sizeof tail, 1, self->to->file);
    capture_check(self->to);
}

static uint32_t pcap_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    uint32_t n = carrick_port_receive(port->inner, now, frames, count);
    for (uint32_t i = 0; i < n; i++)
        pcap_put((struct pcap *)port, now, FLAG_INBOUND, &frames[i]);
    port->rx += n;
    return n;
}

static uint32_t pcap_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    return carrick_port_reserve(port->inner, now, frames, count);
}

static void pcap_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (frames[i].len != 0)
            pcap_put((struct pcap *)port, now, FLAG_OUTBOUND, &frames[i]);
    port->tx += count;
    carrick_port_commit(port->inner, now, frames, count);
}

static bool pcap_busy(const struct carrick_port *port) {
    return carrick_port_busy(port->inner);
}

static uint64_t pcap_deadline(const struct carrick_port *port) {
    return carrick_port_deadline(port->inner);
}

bool carrick_pcap_whole(struct carrick_port *port) {
    struct capture *to = ((struct pcap *)port)->to;
    if (!to->failed && fflush(to->file) != 0)
        capture_check(to);
    return !to->failed;
}

static void capture_end(struct capture *to) {
    fclose(to->file);
    free(to->path);
    free(to->buffer);
    free(to);
}

static void pcap_close(struct carrick_port *port) {
    struct pcap *self = (struct pcap *)port;
    (void)carrick_pcap_whole(port);
    if (--self->to->open == 0)
        capture_end(self->to);
    carrick_port_close(port->inner);
    free(self);
}

static const struct carrick_port_ops pcap_ops = {.receive = pcap_receive,
                                                 .reserve = pcap_reserve,
                                                 .commit = pcap_commit,
                                                 .busy = pcap_busy,
                                                 .deadline = pcap_deadline,
                                                 .close = pcap_close};

static struct carrick_port *wrap(struct carrick_port *inner, struct capture *to, struct pcap *self) {
    self->port = carrick_port_over(inner, &pcap_ops, "pcap");
    self->to = to;
    pcap_describe(self);
    return &self->port;
}

struct carrick_port *carrick_pcap_wrap(struct carrick_port *inner, const char *path, uint64_t epoch_ns,
                                       struct carrick_port_error *error) {
    struct pcap *self = calloc(1, sizeof *self);
    struct capture *to = calloc(1, sizeof *to);
    char *buffer = malloc(PCAP_BUFFER), *kept = strdup(path);
    FILE *file = self && to && buffer && kept ? fopen(path, "wbe") : NULL;
    if (!file) {
        snprintf(error->text, sizeof error->text, "The capture `%.100s` cannot be written (%s): choose another path.",
                 path, strerror(errno));
        free(kept);
        free(buffer);
        free(to);
        free(self);
        return NULL;
    }
    *to = (struct capture){.file = file, .buffer = buffer, .path = kept, .epoch_ns = epoch_ns};
    setvbuf(file, buffer, _IOFBF, PCAP_BUFFER);
    capture_begin(to);
    return wrap(inner, to, self);
}

struct carrick_port *carrick_pcap_join(struct carrick_port *inner, struct carrick_port *first,
                                       struct carrick_port_error *error) {
    struct pcap *self = calloc(1, sizeof *self);
    if (self)
        return wrap(inner, ((struct pcap *)first)->to, self);
    snprintf(error->text, sizeof error->text, "There is not enough memory for a port.");
    return NULL;
}
