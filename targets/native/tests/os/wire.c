/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/os/wire.h"

#include "tests/os/os.h"

#define WIRE_MTU    1500u
#define WIRE_STRIDE 1536u
#define WIRE_DEPTH  512u

struct frame {
    uint64_t due;
    uint32_t len;
    uint8_t octets[WIRE_STRIDE];
};

static struct end {
    struct carrick_port port;
    struct os_file *event; /* can be read when a frame is due */
    struct frame out[WIRE_DEPTH];
    uint32_t head, tail, lent; /* of `out`; what the other end holds of it */
    uint64_t octets;
    bool open;
} ends[2];
static uint64_t wire_delay;

static struct end *other(const struct end *end) {
    return &ends[end == &ends[0]];
}

/* The other end's descriptor can be read when the first frame that it has not taken is due. */
static void wire_tell(struct end *from) {
    const struct end *to = other(from);
    uint32_t first = from->head + from->lent;
    if (to->open)
        os_event_at(to->event, first == from->tail ? OS_NEVER : from->out[first % WIRE_DEPTH].due);
}

static uint32_t wire_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct end *from = other((struct end *)port);
    from->head += from->lent;
    from->lent = 0;
    uint32_t n = 0;
    while (n < count && from->head + from->lent != from->tail) {
        struct frame *frame = &from->out[(from->head + from->lent) % WIRE_DEPTH];
        if (frame->due > os_now())
            break;
        from->lent++;
        if (frame->len)
            frames[n++] = (struct carrick_frame){.data = frame->octets, .len = frame->len};
    }
    port->rx += n;
    wire_tell(from);
    return n;
}

static uint32_t wire_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct end *end = (struct end *)port;
    uint32_t free_places = WIRE_DEPTH - (end->tail - end->head);
    count = count < free_places ? count : free_places;
    for (uint32_t i = 0; i < count; i++)
        frames[i] = (struct carrick_frame){.data = end->out[(end->tail + i) % WIRE_DEPTH].octets,
                                           .len = carrick_port_frame_max(port)};
    return count;
}

void wire_show(const char *what, const uint8_t *octets, uint32_t len, uint32_t skip) {
    char text[3 * 36 + 1] = "";
    uint32_t from = skip + 20;
    for (uint32_t i = 0; i < 36 && from + i < len; i++)
        snprintf(text + i * 2 + i / 4, 4, "%02x ", octets[from + i]);
    os_say("%s: %u octets: %s", what, len, text);
}

static void wire_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct end *end = (struct end *)port;
    for (uint32_t i = 0; i < count; i++) {
        struct frame *frame = &end->out[end->tail++ % WIRE_DEPTH];
        frame->len = frames[i].len;
        frame->due = os_now() + wire_delay;
        end->octets += frames[i].len;
        wire_show("wire", frame->octets, frame->len, end->port.ethernet ? CARRICK_ETHER_HEADER : 0);
    }
    if (!other(end)->open) /* nobody is there to take them */
        end->head = end->tail;
    port->tx += count;
    wire_tell(end);
}

static void wire_close(struct carrick_port *port) {
    ((struct end *)port)->open = false;
}

static const struct carrick_port_ops wire_ops = {
    .receive = wire_receive, .reserve = wire_reserve, .commit = wire_commit, .close = wire_close};

void wire_begin(uint64_t delay, bool ethernet) {
    wire_delay = delay;
    for (uint32_t i = 0; i < 2; i++) {
        struct end *end = &ends[i];
        end->port = (struct carrick_port){.ops = &wire_ops, .kind = "wire", .fd = -1, .mtu = WIRE_MTU};
        end->port.ethernet = ethernet;
        end->port.mac[0] = 2;
        end->port.mac[5] = (uint8_t)(i + 1);
        end->head = end->tail = end->lent = 0;
        end->octets = 0;
        end->open = false;
    }
}

struct carrick_port *wire_open(uint32_t number) {
    struct end *end = &ends[number];
    end->event = os_event_make(&end->port.fd);
    end->open = true;
    wire_tell(other(end));
    return &end->port;
}

uint64_t wire_octets(uint32_t number) {
    return ends[number].octets;
}
