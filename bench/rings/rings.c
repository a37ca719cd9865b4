/* SPDX-License-Identifier: MIT */
/*
 * The receive rings of packet sockets, TPACKET_V2 against TPACKET_V3: frames a second from a flood, and the time of a
 * round trip of one frame. For docs/decisions/0002-the-packet-ring.md.
 *
 *     rings 2|3 DEVICE DEVICE [FRAMES] [ROUNDS]
 *
 * Two devices that are joined (a veth pair), both in this namespace; frames of 1514 bytes of an experimental type.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#define TYPE     0x88b5 /* for local experiments, IEEE 802 */
#define FRAME    1514u
#define SLOT     2048u
#define SLOTS    1024u
#define BLOCK    65536u
#define BLOCKS   (SLOTS * SLOT / BLOCK)
#define BATCH    64u
#define PATIENCE 500 /* milliseconds without a frame: the flood is over */

struct ring {
    int fd;
    int version;
    uint8_t *map;
    uint32_t at;               /* V2: the next slot; V3: the block */
    uint32_t left;             /* V3: frames of the block that were not read */
    struct tpacket3_hdr *next; /* V3: the first of them */
};

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void must(bool holds, const char *what) {
    if (!holds) {
        perror(what);
        exit(1);
    }
}

static int raw_socket(const char *device, uint16_t type) {
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    must(fd >= 0, "socket");
    struct sockaddr_ll where = {
        .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(device), .sll_protocol = type};
    must(bind(fd, (struct sockaddr *)&where, sizeof where) == 0, device);
    return fd;
}

static struct ring ring_open(const char *device, int version) {
    struct ring ring = {.version = version};
    ring.fd = raw_socket(device, 0);
    int kernel = version == 2 ? TPACKET_V2 : TPACKET_V3, on = 1;
    must(setsockopt(ring.fd, SOL_PACKET, PACKET_VERSION, &kernel, sizeof kernel) == 0, "PACKET_VERSION");
    (void)setsockopt(ring.fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
    /* One millisecond is the least that a block waits to be handed over while it is not full. */
    struct tpacket_req3 want = {.tp_block_size = BLOCK,
                                .tp_block_nr = BLOCKS,
                                .tp_frame_size = SLOT,
                                .tp_frame_nr = SLOTS,
                                .tp_retire_blk_tov = 1};
    socklen_t size = version == 2 ? sizeof(struct tpacket_req) : sizeof want;
    must(setsockopt(ring.fd, SOL_PACKET, PACKET_RX_RING, &want, size) == 0, "PACKET_RX_RING");
    ring.map = mmap(NULL, (size_t)SLOT * SLOTS, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
    must(ring.map != MAP_FAILED, "mmap");
    struct sockaddr_ll where = {
        .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(device), .sll_protocol = htons(TYPE)};
    must(bind(ring.fd, (struct sockaddr *)&where, sizeof where) == 0, device);
    return ring;
}

/* Takes the frames that are there; how many. */
static uint32_t ring_take_2(struct ring *ring) {
    uint32_t n = 0;
    for (;; n++) {
        struct tpacket2_hdr *slot = (struct tpacket2_hdr *)(ring->map + (size_t)(ring->at % SLOTS) * SLOT);
        if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            return n;
        __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        ring->at++;
    }
}

static uint32_t ring_take_3(struct ring *ring) {
    uint32_t n = 0;
    for (;;) {
        struct tpacket_block_desc *block =
            (struct tpacket_block_desc *)(ring->map + (size_t)(ring->at % BLOCKS) * BLOCK);
        if (!(__atomic_load_n(&block->hdr.bh1.block_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            return n;
        n += block->hdr.bh1.num_pkts;
        __atomic_store_n(&block->hdr.bh1.block_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        ring->at++;
    }
}

static uint32_t ring_take(struct ring *ring) {
    return ring->version == 2 ? ring_take_2(ring) : ring_take_3(ring);
}

/* Waits for frames; 0: none came. */
static uint32_t ring_wait(struct ring *ring) {
    for (;;) {
        uint32_t n = ring_take(ring);
        struct pollfd fd = {.fd = ring->fd, .events = POLLIN};
        if (n || poll(&fd, 1, PATIENCE) == 0)
            return n;
    }
}

static void make_frame(uint8_t *frame) {
    memset(frame, 0xff, 12); /* to all */
    frame[12] = TYPE >> 8;
    frame[13] = TYPE & 0xff;
}

struct flood {
    int fd;
    uint64_t frames;
};

static void *flood(void *argument) {
    struct flood *job = argument;
    static uint8_t frame[FRAME];
    make_frame(frame);
    struct iovec piece = {frame, sizeof frame};
    struct mmsghdr messages[BATCH] = {0};
    for (uint32_t i = 0; i < BATCH; i++)
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &piece, .msg_iovlen = 1};
    for (uint64_t sent = 0; sent < job->frames;) {
        int n = sendmmsg(job->fd, messages, BATCH, 0);
        sent += n > 0 ? (uint64_t)n : 0;
    }
    return NULL;
}

struct echo {
    struct ring ring;
    int fd;
    uint32_t rounds;
};

static void *echo(void *argument) {
    struct echo *job = argument;
    uint8_t frame[60] = {0};
    make_frame(frame);
    for (uint32_t i = 0; i < job->rounds && ring_wait(&job->ring); i++)
        must(send(job->fd, frame, sizeof frame, 0) > 0, "send");
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    int version = atoi(argv[1]);
    uint64_t frames = argc > 4 ? strtoull(argv[4], NULL, 10) : 2000000;
    uint32_t rounds = argc > 5 ? (uint32_t)atoi(argv[5]) : 2000;
    struct ring a = ring_open(argv[2], version);
    struct echo job = {.ring = ring_open(argv[3], version), .fd = raw_socket(argv[3], 0), .rounds = rounds};
    int from_a = raw_socket(argv[2], 0);
    pthread_t other;

    must(pthread_create(&other, NULL, echo, &job) == 0, "thread");
    uint8_t frame[60] = {0};
    make_frame(frame);
    uint64_t begin = now_ns();
    for (uint32_t i = 0; i < rounds; i++) {
        must(send(from_a, frame, sizeof frame, 0) > 0, "send");
        must(ring_wait(&a) > 0, "no answer");
    }
    double round = (double)(now_ns() - begin) / rounds;
    pthread_join(other, NULL);

    struct flood load = {.fd = job.fd, .frames = frames};
    begin = now_ns();
    must(pthread_create(&other, NULL, flood, &load) == 0, "thread");
    uint64_t got = 0, last = begin;
    for (uint32_t n; (n = ring_wait(&a)) > 0; got += n)
        last = now_ns();
    pthread_join(other, NULL);
    printf("{\"ring\": \"TPACKET_V%d\", \"round_trip_us\": %.1f, \"frames_per_second\": %.0f, \"lost\": %.3f}\n",
           version, round / 1e3, (double)got * 1e9 / (double)(last - begin), 1.0 - (double)got / (double)frames);
    return 0;
}
