/* SPDX-License-Identifier: MIT */
/*
 * The packet socket. Reception: a ring in memory shared with the kernel, version 2 of it, because version 3 hands
 * frames over by the block, and a lone frame would wait for its block's timer, a whole tick of the kernel; here each is
 * ours as soon as it is written. A frame that holds several packets is longer than a place of the ring: its beginning
 * is there, and the whole of it waits in the socket's queue (PACKET_COPY_THRESH). Sending: batches through a second
 * socket, which receives nothing.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <linux/virtio_net.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carrick/ip.h"
#include "ports/assemble.h"
#include "ports/batch.h"
#include "ports/bpf.h"
#include "ports/device.h"
#include "ports/segments.h"

#define RING_FRAMES  4096u
#define PACKET_DEPTH 128u
/* Bytes of the socket's queue, with what the kernel adds to each frame. */
#define PACKET_LONG (8 << 20)
#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif
/* BPF_TCX_INGRESS of Linux 6.6. */
#define TCX_INGRESS 46u

/* The tag of a VLAN, which the kernel takes out of a frame. */
struct packet_tag {
    bool there;
    uint16_t type, control;
};

struct packet {
    struct carrick_port port; /* its fd receives */
    int sender;
    int keeper; /* the link of the program that keeps packets from the kernel's own stack; -1: none */
    bool all;   /* also frames for other hosts */
    uint8_t *ring;
    size_t ring_octets;
    uint32_t slot_octets;
    uint32_t first, lent; /* the slots first..first + lent are the caller's */
    struct carrick_queue out;
    /* The last frame that holds several packets, and the packets that are made of it. */
    struct carrick_segments segments;
    uint8_t *whole;
    struct packet_tag tag;
    struct carrick_queue pieces;
};

static struct tpacket2_hdr *packet_slot(const struct packet *self, uint32_t n) {
    return (struct tpacket2_hdr *)(void *)(self->ring + (size_t)(n % RING_FRAMES) * self->slot_octets);
}

/* Does what the sender's device would have done: the ones' complement sum from csum_start to the end. */
static bool packet_finish_checksum(uint8_t *frame, uint32_t len, const struct virtio_net_hdr *left) {
    uint32_t start = left->csum_start, at = start + left->csum_offset;
    if (at + 2 > len)
        return false;
    carrick_store_sum(frame + at, carrick_sum(frame + start, len - start));
    return true;
}

_Static_assert(sizeof(struct tpacket2_hdr) % TPACKET_ALIGNMENT == 0, "the address follows the header at once");

static struct packet_tag packet_tag(const struct tpacket2_hdr *slot) {
    bool named = slot->tp_status & TP_STATUS_VLAN_TPID_VALID;
    return (struct packet_tag){slot->tp_status & TP_STATUS_VLAN_VALID, named ? slot->tp_vlan_tpid : ETH_P_8021Q,
                               slot->tp_vlan_tci};
}

/* Puts it back, over what is before the frame in its place. */
static void packet_put_tag(const struct packet_tag *tag, struct carrick_frame *frame) {
    frame->data -= CARRICK_VLAN_TAG;
    frame->len += CARRICK_VLAN_TAG;
    memmove(frame->data, frame->data + CARRICK_VLAN_TAG, 2 * ETH_ALEN);
    carrick_store16(frame->data + 12, tag->type);
    carrick_store16(frame->data + 14, tag->control);
}

/* Whether a frame is for this host, and of no VLAN. (A tag with the number 0 has a priority alone.) */
static bool packet_is_ours(const struct tpacket2_hdr *slot, const struct sockaddr_ll *from) {
    bool vlan = (slot->tp_status & TP_STATUS_VLAN_VALID) && (slot->tp_vlan_tci & VLAN_ID) != 0;
    return from->sll_pkttype != PACKET_OTHERHOST && !vlan;
}

/* A frame that is not handed on. */
static void packet_refuse(struct packet *self, uint32_t len) {
    self->port.rx_refused++;
    if (len > carrick_port_frame_max(&self->port))
        self->port.refused_len = len;
}

/* Whether the frame in a slot is whole, and one packet. */
static bool packet_accept(struct packet *self, struct tpacket2_hdr *slot, struct carrick_frame *frame) {
    struct virtio_net_hdr left;
    uint8_t *base = (uint8_t *)slot;
    memcpy(&left, base + slot->tp_mac - sizeof left, sizeof left);
    *frame = (struct carrick_frame){.data = base + slot->tp_mac, .len = slot->tp_snaplen};
    bool whole = slot->tp_len <= slot->tp_snaplen && slot->tp_len <= carrick_port_frame_max(&self->port);
    if (whole && (left.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
        whole = packet_finish_checksum(frame->data, frame->len, &left);
    struct packet_tag tag = packet_tag(slot);
    if (!whole)
        packet_refuse(self, slot->tp_len);
    else if (self->all && tag.there)
        packet_put_tag(&tag, frame);
    return whole;
}

/* Takes the whole of the frame whose beginning is in a slot, and if it is for us begins to make packets of it. */
static void packet_take_whole(struct packet *self, const struct tpacket2_hdr *slot, bool ours) {
    struct virtio_net_hdr how = {0};
    struct iovec pieces[] = {{&how, sizeof how}, {self->whole, CARRICK_SEGMENTS_MOST}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    const uint8_t *base = (const uint8_t *)slot;
    uint32_t len = slot->tp_len;
    if (slot->tp_status & TP_STATUS_COPY) {
        ssize_t got = recvmsg(self->port.fd, &message, MSG_DONTWAIT);
        if (got < 0 && errno != EAGAIN &&
            errno != EINVAL) /* an error of the socket is told first, and takes no frame */
            got = recvmsg(self->port.fd, &message, MSG_DONTWAIT);
        len = got < (ssize_t)sizeof how ? 0 : (uint32_t)got - (uint32_t)sizeof how;
    } else if (len <= CARRICK_SEGMENTS_MOST) {
        memcpy(&how, base + slot->tp_mac - sizeof how, sizeof how);
        memcpy(self->whole, base + slot->tp_mac, len);
    }
    if (!ours)
        return;
    self->tag = packet_tag(slot);
    bool whole = slot->tp_len <= CARRICK_SEGMENTS_MOST; /* more than IP can say would be cut off */
    if (!whole || !carrick_segments_begin(&self->segments, self->whole, len, &how)) {
        self->port.rx_refused++;
        self->segments.payload = self->segments.done = 0;
    } else if (carrick_segments_longest(&self->segments) > carrick_port_frame_max(&self->port)) {
        packet_refuse(self, carrick_segments_longest(&self->segments));
        self->segments.done = self->segments.payload;
    }
}

/* Makes packets of the last frame that holds several, and returns behind which of `frames` they end. */
static uint32_t packet_cut(struct packet *self, struct carrick_frame *frames, uint32_t n, uint32_t count) {
    while (n < count && n < CARRICK_PORT_BATCH && carrick_segments_left(&self->segments)) {
        frames[n].data = carrick_queue_at(&self->pieces, n) + CARRICK_VLAN_TAG;
        frames[n].len = carrick_segments_next(&self->segments, frames[n].data);
        if (self->all && self->tag.there)
            packet_put_tag(&self->tag, &frames[n]);
        n++;
    }
    return n;
}

/* Frames of the ring's next slot, after the `n` that are there already. */
static uint32_t packet_next(struct packet *self, struct carrick_frame *frames, uint32_t n, uint32_t count) {
    struct tpacket2_hdr *slot = packet_slot(self, self->first + self->lent++);
    struct sockaddr_ll from;
    struct virtio_net_hdr how;
    memcpy(&from, (uint8_t *)slot + sizeof *slot, sizeof from); /* TPACKET_ALIGN(sizeof *slot), as asserted above */
    memcpy(&how, (uint8_t *)slot + slot->tp_mac - sizeof how, sizeof how);
    bool ours = (self->all || packet_is_ours(slot, &from)) && from.sll_pkttype != PACKET_OUTGOING;
    bool several = how.gso_type != VIRTIO_NET_HDR_GSO_NONE, there = slot->tp_len <= slot->tp_snaplen;
    if ((slot->tp_status & TP_STATUS_COPY) || (several && there)) {
        packet_take_whole(self, slot, ours);
        return packet_cut(self, frames, n, count);
    }
    if (several && ours)
        self->port.rx_lost++; /* the socket's queue was full */
    return n + (ours && !several && packet_accept(self, slot, &frames[n]));
}

static void packet_give_back(struct packet *self) {
    for (; self->lent > 0; self->lent--, self->first++)
        __atomic_store_n(&packet_slot(self, self->first)->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
}

static uint32_t packet_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct packet *self = (struct packet *)port;
    packet_give_back(self);
    uint32_t n = packet_cut(self, frames, 0, count);
    while (n < count && self->lent < RING_FRAMES && !carrick_segments_left(&self->segments)) {
        struct tpacket2_hdr *slot = packet_slot(self, self->first + self->lent);
        if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            break;
        n = packet_next(self, frames, n, count);
    }
    port->rx += n;
    return n;
}

/* A kernel that does not cut frames gets packets from now on. */
static void packet_flush(struct packet *self) {
    int why = carrick_batch_flush(self->sender, &self->out, &self->port);
    if (CARRICK_LIKELY((why != EINVAL && why != EOPNOTSUPP) || self->port.joins == 0))
        return;
    struct virtio_net_hdr how;
    memcpy(&how, carrick_queue_at(&self->out, self->out.refused) - sizeof how, sizeof how);
    if (how.gso_type == VIRTIO_NET_HDR_GSO_NONE)
        return;
    fprintf(stderr, "The kernel does not cut frames of several packets at %s (%s): each packet is sent by itself.\n",
            self->port.device_name, strerror(why));
    self->port.joins = 0;
}

static uint32_t packet_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct packet *self = (struct packet *)port;
    packet_flush(self);
    return carrick_queue_reserve(&self->out, frames, count,
                                 port->joins ? CARRICK_SEGMENTS_MOST : carrick_port_frame_max(port));
}

static void packet_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct packet *self = (struct packet *)port;
    uint32_t first = self->out.tail;
    carrick_queue_commit(&self->out, frames, count);
    for (uint32_t i = 0; i < count; i++) {
        struct virtio_net_hdr how;
        if (frames[i].len == 0)
            continue;
        if (!carrick_segments_describe(frames[i].data, frames[i].len, frames[i].segment, &how)) {
            *carrick_queue_len(&self->out, first + i) = 0;
            port->tx_refused++;
        }
        memcpy(frames[i].data - sizeof how, &how, sizeof how);
    }
    packet_flush(self);
}

static bool packet_busy(const struct carrick_port *port) {
    return carrick_queue_used(&((const struct packet *)port)->out) != 0;
}

/* Packets that are still to be made of a frame wake nobody. */
static uint64_t packet_deadline(const struct carrick_port *port) {
    return carrick_segments_left(&((const struct packet *)port)->segments) ? 0 : UINT64_MAX;
}

/* The kernel begins anew with each answer. */
static void packet_recount(struct carrick_port *port) {
    struct tpacket_stats stats = {0};
    socklen_t octets = sizeof stats;
    if (getsockopt(port->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &octets) == 0)
        port->rx_lost += stats.tp_drops;
}

static void packet_close(struct carrick_port *port) {
    struct packet *self = (struct packet *)port;
    if (self->ring)
        munmap(self->ring, self->ring_octets);
    if (port->fd >= 0)
        close(port->fd);
    if (self->sender >= 0)
        close(self->sender);
    if (self->keeper >= 0)
        close(self->keeper);
    carrick_queue_free(&self->out);
    carrick_queue_free(&self->pieces);
    free(self->whole);
    free(self);
}

static const struct carrick_port_ops packet_ops = {.receive = packet_receive,
                                                   .reserve = packet_reserve,
                                                   .commit = packet_commit,
                                                   .busy = packet_busy,
                                                   .deadline = packet_deadline,
                                                   .recount = packet_recount,
                                                   .close = packet_close};

static bool packet_set(int fd, int option, int value) {
    return setsockopt(fd, SOL_PACKET, option, &value, sizeof value) == 0;
}

static bool packet_map_ring(struct packet *self) {
    /* Header, virtio header and link header before the packet, in a slot that is a power of two so that blocks hold
     * whole ones. */
    uint32_t need = carrick_port_frame_max(&self->port) + 128, slot = 2048;
    while (slot < need)
        slot *= 2;
    uint32_t block = slot > 65536 ? slot : 65536;
    struct tpacket_req request = {.tp_block_size = block,
                                  .tp_block_nr = (uint32_t)((uint64_t)RING_FRAMES * slot / block),
                                  .tp_frame_size = slot,
                                  .tp_frame_nr = RING_FRAMES};
    self->slot_octets = slot;
    if (setsockopt(self->port.fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0)
        return false;
    self->ring_octets = (size_t)RING_FRAMES * slot;
    void *map = mmap(NULL, self->ring_octets, PROT_READ | PROT_WRITE, MAP_SHARED, self->port.fd, 0);
    if (map == MAP_FAILED)
        return false;
    self->ring = map;
    return true;
}

/* Room for frames that hold several packets; without the privilege, as much as the system allows. */
static void packet_make_room(int fd, int privileged, int option) {
    int room = PACKET_LONG;
    if (setsockopt(fd, SOL_SOCKET, privileged, &room, sizeof room) != 0)
        (void)setsockopt(fd, SOL_SOCKET, option, &room, sizeof room);
}

/* Such frames wait for us whole. */
static bool packet_take_long(struct packet *self) {
    packet_make_room(self->port.fd, SO_RCVBUFFORCE, SO_RCVBUF);
    self->whole = malloc(CARRICK_SEGMENTS_MOST);
    return self->whole && packet_set(self->port.fd, PACKET_COPY_THRESH, 1) &&
           carrick_queue_make(&self->pieces, carrick_port_frame_room(&self->port), CARRICK_PORT_BATCH);
}

/* What is not ours goes on: to the end, which is the n-th instruction. */
#define KEEPER_BEGINS(n)                                                                                               \
    SET(BPF_REG_0, TC_ACT_UNSPEC), LOAD(BPF_W, BPF_REG_4, BPF_REG_1, offsetof(struct __sk_buff, pkt_type)),            \
        IF(BPF_JEQ, BPF_REG_4, PACKET_OTHERHOST, (n)-3),                                                               \
        LOAD(BPF_W, BPF_REG_4, BPF_REG_1, offsetof(struct __sk_buff, vlan_tci)), AND(BPF_REG_4, VLAN_ID),              \
        IF(BPF_JNE, BPF_REG_4, 0, (n)-6), LOAD(BPF_W, BPF_REG_2, BPF_REG_1, offsetof(struct __sk_buff, data)),         \
        LOAD(BPF_W, BPF_REG_3, BPF_REG_1, offsetof(struct __sk_buff, data_end)), MOVE(BPF_REG_5, BPF_REG_2)

/* Drops packets of a protocol to an address after the sockets have them, and lets all others go on. */
static int packet_load_keeper(uint32_t address, uint8_t protocol) {
    const struct bpf_insn program[] = {
        KEEPER_BEGINS(18),
        ADD(BPF_REG_5, IP_TO + 4),
        IF_ABOVE(BPF_REG_5, BPF_REG_3, 7),
        LOAD(BPF_H, BPF_REG_4, BPF_REG_2, ETHER_TYPE),
        IF(BPF_JNE, BPF_REG_4, htons(ETH_P_IP), 5),
        LOAD(BPF_B, BPF_REG_4, BPF_REG_2, IP_PROTOCOL),
        IF(BPF_JNE, BPF_REG_4, protocol, 3),
        LOAD(BPF_W, BPF_REG_4, BPF_REG_2, IP_TO),
        IF(BPF_JNE, BPF_REG_4, htonl(address), 1),
        SET(BPF_REG_0, TC_ACT_SHOT),
        EXIT,
    };
    return carrick_bpf_load(BPF_PROG_TYPE_SCHED_CLS, 0, program, sizeof program / sizeof program[0]);
}

/* The same of IPv6. */
static int packet_load_keeper6(struct carrick_ip6_address address, uint8_t protocol) {
    const struct bpf_insn program[] = {
        KEEPER_BEGINS(24),
        ADD(BPF_REG_5, IP6_END),
        IF_ABOVE(BPF_REG_5, BPF_REG_3, 13),
        LOAD(BPF_H, BPF_REG_4, BPF_REG_2, ETHER_TYPE),
        IF(BPF_JNE, BPF_REG_4, htons(ETH_P_IPV6), 11),
        LOAD(BPF_B, BPF_REG_4, BPF_REG_2, IP6_NEXT),
        IF(BPF_JNE, BPF_REG_4, protocol, 9),
        IF_NOT_TO(address, 7),
        SET(BPF_REG_0, TC_ACT_SHOT),
        EXIT,
    };
    return carrick_bpf_load(BPF_PROG_TYPE_SCHED_CLS, 0, program, sizeof program / sizeof program[0]);
}

/* The kernel's own stack would look for whom the stack's packets are, and answer that nobody is there. Without the
 * privilege, or before Linux 6.6, it does. */
static void packet_keep(struct packet *self, uint32_t device, const struct carrick_port_taken *taken) {
    int program = carrick_address_is_ipv4(taken->address)
                      ? packet_load_keeper((uint32_t)taken->address.low, taken->protocol)
                      : packet_load_keeper6(taken->address, taken->protocol);
    if (program < 0)
        return;
    self->keeper = carrick_bpf_attach(program, device, TCX_INGRESS, 0);
    close(program);
}

static bool packet_setup(struct packet *self, const char *device, const struct carrick_port_taken *taken) {
    struct carrick_device asked;
    self->port.fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    self->sender = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->port.fd < 0 || self->sender < 0 || !carrick_device_ask(device, &asked))
        return false;
    carrick_device_under(&self->port, device, &asked);
    struct sockaddr_ll where = {
        .sll_family = AF_PACKET, .sll_ifindex = (int)asked.index, .sll_protocol = htons(ETH_P_ALL)};
    if (!packet_set(self->port.fd, PACKET_VERSION, TPACKET_V2) || !packet_set(self->port.fd, PACKET_VNET_HDR, 1) ||
        !packet_map_ring(self) || !packet_take_long(self) ||
        (self->all && !carrick_device_promiscuous(self->port.fd, asked.index)) ||
        bind(self->port.fd, (struct sockaddr *)&where, sizeof where) != 0)
        return false;
    /* Old kernels have not: then our own frames are told apart by their type. */
    (void)packet_set(self->port.fd, PACKET_IGNORE_OUTGOING, 1);
    where.sll_protocol = 0;
    if (!packet_set(self->sender, PACKET_VNET_HDR, 1) ||
        bind(self->sender, (struct sockaddr *)&where, sizeof where) != 0)
        return false;
    packet_make_room(self->sender, SO_SNDBUFFORCE, SO_SNDBUF);
    self->port.out_fd = self->sender;
    self->port.joins = CARRICK_SEGMENTS_MOST - CARRICK_ETHER_HEADER;
    if (taken && !carrick_address_is_unspecified(taken->address)) {
        if (!carrick_device_join(self->port.fd, asked.index, taken->address))
            return false;
        packet_keep(self, asked.index, taken);
    }
    return carrick_queue_make_after(&self->out, sizeof(struct virtio_net_hdr), CARRICK_SEGMENTS_MOST, PACKET_DEPTH);
}

static void packet_explain(const char *device, int why, struct carrick_port_error *error) {
    if (why == EPERM || why == EACCES)
        snprintf(error->text, sizeof error->text,
                 "A packet socket needs a privilege: run as root, or `setcap cap_net_raw+ep` the executable.");
    else if (!carrick_device_missing(device, why, error))
        snprintf(error->text, sizeof error->text, "The network device %s cannot be used (%s).", device, strerror(why));
}

struct carrick_port *carrick_packet_open(const char *device, const struct carrick_port_taken *taken,
                                         struct carrick_port_error *error) {
    struct packet *self = calloc(1, sizeof *self);
    if (!self) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for a port.");
        return NULL;
    }
    self->port = (struct carrick_port){.ops = &packet_ops, .kind = "packet", .fd = -1, .ethernet = true};
    self->sender = self->keeper = -1;
    self->all = !taken;
    if (packet_setup(self, device, taken))
        return &self->port;
    packet_explain(device, errno, error);
    packet_close(&self->port);
    return NULL;
}
