/* SPDX-License-Identifier: MIT */
/* Frames that hold several packets, against the kernel: it cuts a frame where a device lets it, and so do we where the
 * frame arrives whole. Both ends of a veth pair in a network namespace without a name, which goes with this process. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carrick/ip.h"
#include "ports/segments.h"
#include "tests/check.h"

#define PACKETS 200u
#define ROOM    2048u

static struct carrick_port_error error;

/* What arrived, or was made. */
struct packets {
    uint8_t octets[PACKETS][ROOM];
    uint32_t lens[PACKETS], count;
};

static struct packets by_kernel, by_port, by_hand;

struct shape {
    bool six, udp;
    uint8_t flags;
    uint32_t payload, size;
    uint8_t to; /* the first byte of the hardware address */
};

static struct {
    struct virtio_net_hdr how;
    uint8_t frame[CARRICK_SEGMENTS_MOST];
} sent;

static bool run(const char *what) {
    char line[400];
    CHECK(snprintf(line, sizeof line, "exec 2>/dev/null >&2; %s", what) < (int)sizeof line);
    return system(line) == 0;
}

static bool make_wire(void) {
    return geteuid() == 0 && unshare(CLONE_NEWNET) == 0 &&
           run("ip link add ours0 type veth peer name kernel0 && ip link set ours0 address 02:00:00:00:00:01 && "
               "ip link set ours0 up && ip link set kernel0 up && ethtool -K kernel0 tx on tso on && ethtool -K ours0 "
               "tx off");
}

static uint32_t write_network(const struct shape *shape, uint8_t *ip, uint32_t header) {
    uint32_t len = header + shape->payload;
    uint8_t protocol = shape->udp ? IPPROTO_UDP : IPPROTO_TCP;
    if (shape->six) {
        ip[0] = 0x60;
        carrick_store16(ip + 4, (uint16_t)len);
        ip[6] = protocol;
        ip[7] = 64;
        for (uint32_t i = 0; i < 32; i++)
            ip[8 + i] = (uint8_t)(0xfd + i);
        return 40;
    }
    ip[0] = 0x45;
    carrick_store16(ip + 2, (uint16_t)(20 + len));
    carrick_store16(ip + 4, 0xfffe); /* numbers go round */
    ip[8] = 64;
    ip[9] = protocol;
    carrick_store32(ip + 12, 0x0a4d0302);
    carrick_store32(ip + 16, 0x0a4d0301);
    carrick_store_sum(ip + 10, carrick_sum(ip, 20));
    return 20;
}

/* Makes the frame, and returns its length. */
static uint32_t write_frame(const struct shape *shape) {
    uint8_t *frame = sent.frame, *ip = frame + 14;
    uint32_t header = shape->udp ? 8 : 32;
    memset(&sent, 0, sizeof sent);
    frame[0] = shape->to;
    frame[5] = 1;
    frame[6] = 2;
    frame[11] = 2;
    carrick_store16(frame + 12, shape->six ? ETH_P_IPV6 : ETH_P_IP);
    uint8_t *transport = ip + write_network(shape, ip, header);
    carrick_store16(transport, 4000);
    carrick_store16(transport + 2, 5000);
    if (shape->udp) {
        carrick_store16(transport + 4, (uint16_t)(header + shape->payload));
    } else {
        carrick_store32(transport + 4, 0xfffffc00u);
        transport[12] = 0x80;
        transport[13] = shape->flags;
        carrick_store16(transport + 14, 1000);
        memcpy(transport + 20, "\1\1\10\12timestamp", 12);
    }
    for (uint32_t i = 0; i < shape->payload; i++)
        transport[header + i] = (uint8_t)(i * 7 + i / 251);
    uint8_t rest[4] = {0, shape->udp ? IPPROTO_UDP : IPPROTO_TCP};
    carrick_store16(rest + 2, (uint16_t)(header + shape->payload));
    uint64_t sum = carrick_sum(rest, 4) + (shape->six ? carrick_sum(ip + 8, 32) : carrick_sum(ip + 12, 8));
    uint16_t folded = carrick_sum_16(sum);
    memcpy(transport + (shape->udp ? 6 : 16), &folded, 2);
    uint8_t type = shape->six ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
    sent.how.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    sent.how.gso_type = shape->udp ? VIRTIO_NET_HDR_GSO_UDP_L4 : type;
    if (shape->flags & 0x80)
        sent.how.gso_type |= VIRTIO_NET_HDR_GSO_ECN;
    sent.how.csum_start = (uint16_t)(transport - frame);
    sent.how.csum_offset = shape->udp ? 6 : 16;
    sent.how.gso_size = (uint16_t)shape->size;
    sent.how.hdr_len = (uint16_t)(sent.how.csum_start + header);
    return sent.how.hdr_len + shape->payload;
}

/* A socket at a device; one that sends frames with virtio's header. */
static int socket_at(const char *device, bool sends) {
    int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1, room = 4 << 20;
    struct sockaddr_ll at = {.sll_family = AF_PACKET,
                             .sll_ifindex = (int)if_nametoindex(device),
                             .sll_protocol = htons(sends ? 0 : ETH_P_ALL)};
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(!sends || setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) == 0);
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) == 0);
    return fd;
}

/* Frames of the kernel's own, such as neighbour discovery, are not looked at. */
static void keep(struct packets *all, const uint8_t *frame, uint32_t len) {
    if (memcmp(frame, sent.frame, 12) != 0)
        return;
    CHECK(all->count < PACKETS && len <= ROOM);
    memcpy(all->octets[all->count], frame, len);
    all->lens[all->count++] = len;
}

static void receive_by_kernel(int fd, uint32_t wanted) {
    static uint8_t frame[CARRICK_SEGMENTS_MOST];
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    by_kernel.count = 0;
    while (by_kernel.count < wanted && poll(&readable, 1, 5000) == 1) {
        ssize_t got = recv(fd, frame, sizeof frame, 0);
        CHECK(got > 12);
        keep(&by_kernel, frame, (uint32_t)got);
    }
}

static void receive_by_port(struct carrick_port *port, uint32_t wanted, uint32_t batch) {
    uint64_t refused = port->rx_refused;
    by_port.count = 0;
    for (int tries = 0; by_port.count < wanted && port->rx_refused == refused && tries < 5000; tries++) {
        struct carrick_frame frames[CARRICK_PORT_BATCH];
        uint32_t n = carrick_port_receive(port, 0, frames, batch);
        for (uint32_t i = 0; i < n; i++)
            keep(&by_port, frames[i].data, frames[i].len);
        struct pollfd readable = {.fd = port->fd, .events = POLLIN};
        /* Nobody sleeps while there is more. */
        CHECK(by_port.count == wanted || n < batch || carrick_port_deadline(port) == 0 || poll(&readable, 1, 0) == 1);
        if (n == 0)
            (void)poll(&readable, 1, 1);
    }
}

static void make_by_hand(uint32_t len) {
    struct carrick_segments all;
    by_hand.count = 0;
    CHECK(carrick_segments_begin(&all, sent.frame, len, &sent.how));
    while (carrick_segments_left(&all)) {
        uint32_t longest = carrick_segments_longest(&all), n = by_hand.count++;
        by_hand.lens[n] = carrick_segments_next(&all, by_hand.octets[n]);
        CHECK(by_hand.lens[n] == longest);
    }
}

static void check_same(const struct packets *a, const struct packets *b) {
    CHECK(a->count == b->count);
    for (uint32_t i = 0; i < a->count; i++)
        CHECK(a->lens[i] == b->lens[i] && memcmp(a->octets[i], b->octets[i], a->lens[i]) == 0);
}

/* Whether this kernel takes such a frame. */
static bool send_whole(int sender, uint32_t len) {
    struct iovec pieces[] = {{&sent.how, sizeof sent.how}, {sent.frame, len}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    return sendmsg(sender, &message, 0) == (ssize_t)(sizeof sent.how + len);
}

static void cut_alike(struct carrick_port *port, const struct shape *shape) {
    uint32_t len = write_frame(shape), wanted = (shape->payload + shape->size - 1) / shape->size;
    int sender = socket_at("kernel0", true), receiver = socket_at("ours0", false);
    make_by_hand(len);
    CHECK(by_hand.count == wanted);
    CHECK(run("ethtool -K kernel0 tx off"));
    bool taken = send_whole(sender, len);
    if (taken) {
        receive_by_kernel(receiver, wanted);
        check_same(&by_kernel, &by_hand);
        receive_by_port(port, wanted, CARRICK_PORT_BATCH); /* the kernel has cut it: nothing is left to do */
        check_same(&by_port, &by_hand);
    } else {
        SKIP("this kernel does not cut such frames");
    }
    CHECK(run("ethtool -K kernel0 tx on tso on"));
    if (taken) {
        CHECK(send_whole(sender, len));
        receive_by_port(port, wanted, 7);
        check_same(&by_port, &by_hand);
        CHECK(carrick_port_deadline(port) == UINT64_MAX);
    }
    close(sender);
    close(receiver);
}

/* The kernel cuts what the port sends, where the device does not. */
static void cut_when_sent(struct carrick_port *port, const struct shape *shape) {
    uint32_t len = write_frame(shape), wanted = (shape->payload + shape->size - 1) / shape->size;
    struct virtio_net_hdr how;
    CHECK(carrick_segments_describe(sent.frame, len, (uint16_t)shape->size, &how));
    CHECK(memcmp(&how, &sent.how, sizeof how) == 0);
    int receiver = socket_at("kernel0", false);
    make_by_hand(len);
    struct carrick_frame frame;
    CHECK(carrick_port_reserve(port, 0, &frame, 1) == 1 && frame.len >= len);
    memcpy(frame.data, sent.frame, len);
    frame.len = len;
    frame.segment = (uint16_t)shape->size;
    carrick_port_commit(port, 0, &frame, 1);
    if (port->tx_refused == 0) {
        receive_by_kernel(receiver, wanted);
        check_same(&by_kernel, &by_hand);
    } else {
        SKIP("this kernel does not cut such frames");
        CHECK(port->joins == 0);
    }
    close(receiver);
}

/* What is for others leaves nothing behind that is taken for the next frame. */
static void other_hosts_frames_are_left_out(struct carrick_port *port) {
    int sender = socket_at("kernel0", true);
    struct shape others = {.payload = 9000, .size = 1000, .to = 6}, ours = {.payload = 5000, .size = 1400, .to = 2};
    uint64_t refused = port->rx_refused;
    CHECK(send_whole(sender, write_frame(&others)));
    uint32_t len = write_frame(&ours);
    CHECK(send_whole(sender, len));
    make_by_hand(len);
    receive_by_port(port, 4, CARRICK_PORT_BATCH);
    check_same(&by_port, &by_hand);
    CHECK(port->rx_refused == refused);
    close(sender);
}

/* The socket tells an error before a frame that waits: the next frames are themselves all the same. */
static void a_device_that_was_down_exchanges_no_frames(struct carrick_port *port) {
    int sender = socket_at("kernel0", true);
    struct shape first = {.payload = 9000, .size = 1400, .to = 2}, second = {.payload = 7000, .size = 1000, .to = 2};
    CHECK(run("ip link set ours0 down && ip link set ours0 up"));
    uint32_t len = 0;
    for (int tries = 0; tries < 2; tries++) {
        const struct shape *shape = tries ? &second : &first;
        len = write_frame(shape);
        CHECK(send_whole(sender, len));
        make_by_hand(len);
        receive_by_port(port, by_hand.count, CARRICK_PORT_BATCH);
        check_same(&by_port, &by_hand);
    }
    close(sender);
}

/* Who waits to send waits for the socket that sends. */
static void a_full_port_says_when_it_can_send(struct carrick_port *port) {
    if (!run("tc qdisc add dev ours0 root tbf rate 8mbit burst 100kb latency 60s")) {
        SKIP("a slow device needs iproute2 and the queueing discipline tbf");
        return;
    }
    struct shape shape = {.payload = 60000, .size = 1400, .to = 2};
    uint32_t len = write_frame(&shape);
    for (int sends = 0; !port->ops->busy(port); sends++) {
        struct carrick_frame frame;
        CHECK(sends < 1000 && carrick_port_reserve(port, 0, &frame, 1) == 1);
        memcpy(frame.data, sent.frame, len);
        frame.len = len;
        frame.segment = (uint16_t)shape.size;
        carrick_port_commit(port, 0, &frame, 1);
    }
    struct pollfd receiver = {.fd = port->fd, .events = POLLOUT}, sender = {.fd = port->out_fd, .events = POLLOUT};
    CHECK(poll(&receiver, 1, 0) == 1 && poll(&sender, 1, 0) == 0);
    CHECK(run("tc qdisc del dev ours0 root"));
    struct carrick_frame none[1];
    CHECK(poll(&sender, 1, 5000) == 1);
    (void)carrick_port_reserve(port, 0, none, 1);
    CHECK(!port->ops->busy(port));
}

/* The sender's end has a larger MTU. */
static void packets_that_are_too_long_are_refused(struct carrick_port *port) {
    int sender = socket_at("kernel0", true);
    struct shape shape = {.payload = 9000, .size = 3000, .to = 2};
    uint64_t refused = port->rx_refused;
    CHECK(send_whole(sender, write_frame(&shape)));
    receive_by_port(port, 1, CARRICK_PORT_BATCH);
    CHECK(by_port.count == 0 && port->rx_refused == refused + 1 && port->refused_len == sent.how.hdr_len + shape.size);
    close(sender);
}

static void what_is_not_whole_is_refused(void) {
    struct carrick_segments all;
    struct shape shape = {.payload = 3000, .size = 1000, .to = 2};
    uint32_t len = write_frame(&shape), headers = sent.how.hdr_len;
    for (uint32_t cut = 0; cut <= headers; cut++)
        CHECK(!carrick_segments_begin(&all, sent.frame, cut, &sent.how));
    struct virtio_net_hdr how = sent.how;
    how.gso_size = 0;
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &how));
    how.gso_size = 7; /* nobody's: a frame would be thousands of packets */
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &how));
    how = sent.how;
    how.flags = 0;
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &how));
    how = sent.how;
    how.csum_start = 20; /* within the network header */
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &how));
    how.csum_start = 0xffff;
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &how));
    how = sent.how;
    how.gso_type = VIRTIO_NET_HDR_GSO_TCPV6; /* it is one of IPv4 */
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &how));
    sent.frame[14 + 9] = IPPROTO_UDP;
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &sent.how));
    sent.frame[14 + 9] = IPPROTO_TCP;
    sent.frame[sent.how.csum_start + 12] = 0x40; /* a header of 16 bytes */
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &sent.how));
    sent.frame[sent.how.csum_start + 12] = 0xf0;
    CHECK(carrick_segments_begin(&all, sent.frame, len, &sent.how) && all.headers == headers + 28);
}

/* The header that the engine changes is not the one behind that of the frame. */
static void tunnels_and_extension_headers_are_refused(void) {
    struct carrick_segments all;
    struct shape shape = {.six = true, .payload = 3000, .size = 1000, .to = 2};
    uint32_t len = write_frame(&shape);
    CHECK(carrick_segments_begin(&all, sent.frame, len, &sent.how));
    sent.how.csum_start += 40;
    sent.frame[14 + 40 + 40 + 12] = 0x50;
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &sent.how));
    sent.frame[14 + 6] = IPPROTO_IPV6;
    CHECK(!carrick_segments_begin(&all, sent.frame, len, &sent.how));
}

int main(void) {
    what_is_not_whole_is_refused();
    tunnels_and_extension_headers_are_refused();
    if (!make_wire()) {
        SKIP("a network namespace needs root, iproute2 and ethtool");
        return 0;
    }
    static const struct shape shapes[] = {
        {.payload = 60001, .size = 1448, .flags = 0x10, .to = 2},
        {.payload = 5000, .size = 1400, .flags = 0x99, .to = 2}, /* CWR, ACK, PSH and FIN */
        {.payload = 1200, .size = 401, .flags = 0x18, .to = 2},  /* shorter than a place of the ring */
        {.payload = 60000, .size = 500, .flags = 0x10, .to = 2}, /* more packets than a batch has */
        {.six = true, .payload = 30001, .size = 1428, .flags = 0x99, .to = 2},
        {.udp = true, .payload = 20000, .size = 1200, .to = 2},
        {.udp = true, .six = true, .payload = 7001, .size = 1200, .to = 2},
    };
    struct carrick_ip6_address nobody = {0, 0};
    struct carrick_port_taken taken = {.address = nobody, .protocol = IPPROTO_TCP};
    struct carrick_port *port = carrick_packet_open("ours0", &taken, &error);
    CHECK(port && port->joins == CARRICK_SEGMENTS_MOST - CARRICK_ETHER_HEADER);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        cut_alike(port, &shapes[i]);
        cut_when_sent(port, &shapes[i]);
    }
    other_hosts_frames_are_left_out(port);
    packets_that_are_too_long_are_refused(port);
    a_device_that_was_down_exchanges_no_frames(port);
    a_full_port_says_when_it_can_send(port);
    struct carrick_fault_config none = {0};
    struct carrick_port *faulty = carrick_fault_wrap(port, &none, &error);
    struct carrick_port *captured = faulty ? carrick_pcap_wrap(faulty, "/dev/null", 0, &error) : NULL;
    CHECK(captured && faulty->joins == 0 && captured->joins == 0);
    carrick_port_close(captured);
    puts("segments: ok");
    return 0;
}
