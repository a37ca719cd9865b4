/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * An echo server and its client by io_uring, without a library: connections, bytes and ends go through the ring.
 *
 *     ring probe | serve ADDRESS:PORT | ask ADDRESS:PORT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE  3000000u
#define PIECE 65536u
#define TRIES 100

static struct {
    int fd;
    unsigned *sq_tail, *sq_array, *cq_head, *cq_tail;
    unsigned sq_mask, cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
} ring;

static void check(int good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static char *mapped(size_t size, off_t at) {
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, at);
    check(memory != MAP_FAILED, "mmap");
    return memory;
}

static int begin(void) {
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    ring.fd = (int)syscall(SYS_io_uring_setup, 4, &p);
    if (ring.fd < 0)
        return 0;
    char *sq = mapped(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    char *cq = mapped(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    ring.sqes = (void *)mapped(p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    ring.sq_tail = (void *)(sq + p.sq_off.tail);
    ring.sq_mask = *(unsigned *)(void *)(sq + p.sq_off.ring_mask);
    ring.sq_array = (void *)(sq + p.sq_off.array);
    ring.cq_head = (void *)(cq + p.cq_off.head);
    ring.cq_tail = (void *)(cq + p.cq_off.tail);
    ring.cq_mask = *(unsigned *)(void *)(cq + p.cq_off.ring_mask);
    ring.cqes = (void *)(cq + p.cq_off.cqes);
    return 1;
}

/* Carries one operation out. Returns what its call would, or a negative errno. */
static int done(uint8_t operation, int fd, const void *memory, uint32_t len, uint64_t offset) {
    unsigned tail = *ring.sq_tail, at = tail & ring.sq_mask;
    memset(&ring.sqes[at], 0, sizeof ring.sqes[at]);
    ring.sqes[at].opcode = operation;
    ring.sqes[at].fd = fd;
    ring.sqes[at].addr = (uintptr_t)memory;
    ring.sqes[at].len = len;
    ring.sqes[at].off = offset;
    ring.sq_array[at] = at;
    __atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
    check(syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) >= 0, "io_uring_enter");
    unsigned head = *ring.cq_head;
    check(__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE) != head, "a completion");
    int result = ring.cqes[head & ring.cq_mask].res;
    __atomic_store_n(ring.cq_head, head + 1, __ATOMIC_RELEASE);
    return result;
}

static uint32_t send_all(int fd, const char *data, uint32_t len) {
    uint32_t sent = 0;
    while (sent < len) {
        int put = done(IORING_OP_SEND, fd, data + sent, len - sent, 0);
        check(put > 0, "send");
        sent += (uint32_t)put;
    }
    return sent;
}

static void serve(const struct sockaddr_in *at) {
    static char data[PIECE];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (const struct sockaddr *)at, sizeof *at) == 0 && listen(listener, 8) == 0, "listen");
    puts("serving");
    fflush(stdout);
    for (;;) {
        int fd = done(IORING_OP_ACCEPT, listener, NULL, 0, 0), got;
        check(fd >= 0, "accept");
        while ((got = done(IORING_OP_RECV, fd, data, PIECE, 0)) > 0)
            send_all(fd, data, (uint32_t)got);
        done(IORING_OP_CLOSE, fd, NULL, 0, 0);
    }
}

/* A server may be served a moment after it listens. */
static int connected(const struct sockaddr_in *to) {
    for (int i = 0; i < TRIES; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0), result = done(IORING_OP_CONNECT, fd, to, 0, sizeof *to);
        if (result == 0)
            return fd;
        errno = -result;
        check(result == -ECONNREFUSED, "connect");
        close(fd);
        usleep(10000);
    }
    check(0, "connect");
    return -1;
}

static void ask(const struct sockaddr_in *to) {
    static char sent[PIECE], got[PIECE];
    int fd = connected(to);
    uint32_t asked = 0;
    while (asked < SIZE) {
        uint32_t len = SIZE - asked < PIECE ? SIZE - asked : PIECE, have = 0;
        for (uint32_t i = 0; i < len; i++)
            sent[i] = (char)((asked + i) % 251);
        send_all(fd, sent, len);
        while (have < len) {
            int piece = done(IORING_OP_RECV, fd, got + have, len - have, 0);
            check(piece > 0, "recv");
            have += (uint32_t)piece;
        }
        check(memcmp(sent, got, len) == 0, "the same bytes");
        asked += len;
    }
    printf("%u the same\n", asked);
}

int main(int argc, char **argv) {
    int there = begin();
    if (argc < 3)
        return there ? 0 : 1;
    char *port = strchr(argv[2], ':');
    check(there && port, "a ring, ADDRESS:PORT");
    *port = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port + 1))};
    check(inet_pton(AF_INET, argv[2], &at.sin_addr) == 1, "an address");
    if (strcmp(argv[1], "serve") == 0)
        serve(&at);
    ask(&at);
    return 0;
}
