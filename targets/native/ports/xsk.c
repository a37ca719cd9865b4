/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ports/xsk.h"

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

/* What the kernel leaves free in front of a received frame. */
#define XSK_HEADROOM 256u
/* The kernel sends so many frames for a system call (TX_BATCH_SIZE), and each push makes as many calls as all need. */
#define FRAMES_A_CALL 32u
/* The kernel wants a ring of frames to fill of everyone, also of whoever never receives. */
#define FILL_AT_LEAST 64u

uint32_t carrick_xsk_room(uint32_t frame_octets) {
    return frame_octets - XSK_HEADROOM;
}

static bool ring_open(const struct carrick_xsk *xsk, struct carrick_xsk_ring *ring, const struct xdp_ring_offset *at,
                      uint64_t page, uint32_t count, size_t entry) {
    size_t octets = at->desc + count * entry;
    uint8_t *memory = mmap(NULL, octets, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, xsk->fd, (off_t)page);
    if (memory == MAP_FAILED)
        return false;
    *ring = (struct carrick_xsk_ring){.produced = (uint32_t *)(void *)(memory + at->producer),
                                      .consumed = (uint32_t *)(void *)(memory + at->consumer),
                                      .flags = (const uint32_t *)(const void *)(memory + at->flags),
                                      .entries = memory + at->desc,
                                      .mask = count - 1,
                                      .memory = memory,
                                      .octets = octets};
    return true;
}

static bool set_count(const struct carrick_xsk *xsk, int option, uint32_t count) {
    return count == 0 || setsockopt(xsk->fd, SOL_XDP, option, &count, sizeof count) == 0;
}

static bool rings_open(struct carrick_xsk *xsk, const struct carrick_xsk_config *config) {
    struct xdp_mmap_offsets at;
    socklen_t octets = sizeof at;
    uint32_t in = config->receiving, out = config->sending, fill = in ? in : FILL_AT_LEAST;
    return set_count(xsk, XDP_UMEM_FILL_RING, fill) && set_count(xsk, XDP_UMEM_COMPLETION_RING, out) &&
           set_count(xsk, XDP_RX_RING, in) && set_count(xsk, XDP_TX_RING, out) &&
           getsockopt(xsk->fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &octets) == 0 && octets == sizeof at &&
           ring_open(xsk, &xsk->fill, &at.fr, XDP_UMEM_PGOFF_FILL_RING, fill, sizeof(uint64_t)) &&
           ring_open(xsk, &xsk->sent, &at.cr, XDP_UMEM_PGOFF_COMPLETION_RING, out, sizeof(uint64_t)) &&
           ring_open(xsk, &xsk->sending, &at.tx, XDP_PGOFF_TX_RING, out, sizeof(struct xdp_desc)) &&
           (in == 0 || ring_open(xsk, &xsk->arrived, &at.rx, XDP_PGOFF_RX_RING, in, sizeof(struct xdp_desc)));
}

static bool memory_open(struct carrick_xsk *xsk, const struct carrick_xsk_config *config) {
    xsk->octets = (size_t)(config->receiving + config->sending) * config->frame_octets;
    void *memory = mmap(NULL, xsk->octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    xsk->memory = memory;
    xsk->free = calloc(config->sending, sizeof *xsk->free);
    struct xdp_umem_reg given = {
        .addr = (uint64_t)(uintptr_t)memory, .len = xsk->octets, .chunk_size = config->frame_octets};
    return xsk->free && setsockopt(xsk->fd, SOL_XDP, XDP_UMEM_REG, &given, sizeof given) == 0;
}

/* Frames to receive come first, and all are the kernel's; those to send, behind them, are nobody's. */
static void frames_lay_out(struct carrick_xsk *xsk, const struct carrick_xsk_config *config) {
    uint64_t *addresses = xsk->fill.entries;
    for (uint32_t n = 0; n < config->receiving; n++)
        addresses[n] = (uint64_t)n * config->frame_octets;
    __atomic_store_n(xsk->fill.produced, config->receiving, __ATOMIC_RELEASE);
    for (uint32_t n = 0; n < config->sending; n++)
        xsk->free[n] = config->receiving + n;
    xsk->free_count = config->sending;
}

/* The kernel gives back a queue some time after the socket that had it is closed. */
static bool queue_take(const struct carrick_xsk *xsk, const struct carrick_xsk_config *config) {
    enum { TIMES = 1000 };
    const struct timespec a_moment = {.tv_nsec = 1000000};
    const struct sockaddr_xdp to = {.sxdp_family = AF_XDP,
                                    .sxdp_flags = config->flags,
                                    .sxdp_ifindex = config->device,
                                    .sxdp_queue_id = config->queue};
    for (int times = 1; bind(xsk->fd, (const struct sockaddr *)&to, sizeof to) != 0; times++) {
        if (errno != EBUSY || times == TIMES)
            return false;
        (void)nanosleep(&a_moment, NULL);
    }
    return true;
}

bool carrick_xsk_open(struct carrick_xsk *xsk, const struct carrick_xsk_config *config) {
    *xsk = (struct carrick_xsk){.frame_octets = config->frame_octets};
    xsk->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (xsk->fd < 0 || !memory_open(xsk, config) || !rings_open(xsk, config))
        return false;
    frames_lay_out(xsk, config);
    return queue_take(xsk, config);
}

static void ring_close(struct carrick_xsk_ring *ring) {
    if (ring->memory)
        munmap(ring->memory, ring->octets);
}

/* The rings go before the socket, since they hold it: the next one could not have the queue. */
void carrick_xsk_close(struct carrick_xsk *xsk) {
    ring_close(&xsk->fill);
    ring_close(&xsk->arrived);
    ring_close(&xsk->sending);
    ring_close(&xsk->sent);
    if (xsk->fd >= 0)
        close(xsk->fd);
    if (xsk->memory)
        munmap(xsk->memory, xsk->octets);
    free(xsk->free);
}

static bool ring_asks(const struct carrick_xsk_ring *ring) {
    return __atomic_load_n(ring->flags, __ATOMIC_RELAXED) & XDP_RING_NEED_WAKEUP;
}

/* What was lent is the kernel's again: as many frames as there are have room in the ring. */
static void give_back(struct carrick_xsk *xsk) {
    uint32_t at = *xsk->arrived.consumed, to = *xsk->fill.produced;
    const struct xdp_desc *descriptors = xsk->arrived.entries;
    uint64_t *addresses = xsk->fill.entries;
    if (xsk->lent == 0)
        return;
    for (uint32_t n = 0; n < xsk->lent; n++)
        addresses[to++ & xsk->fill.mask] =
            descriptors[at++ & xsk->arrived.mask].addr & ~(uint64_t)(xsk->frame_octets - 1);
    xsk->lent = 0;
    __atomic_store_n(xsk->arrived.consumed, at, __ATOMIC_RELEASE);
    __atomic_store_n(xsk->fill.produced, to, __ATOMIC_RELEASE);
    if (ring_asks(&xsk->fill))
        (void)recvfrom(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

uint32_t carrick_xsk_receive(struct carrick_xsk *xsk, struct carrick_frame *frames, uint32_t count) {
    give_back(xsk);
    uint32_t at = *xsk->arrived.consumed, end = __atomic_load_n(xsk->arrived.produced, __ATOMIC_ACQUIRE);
    const struct xdp_desc *descriptors = xsk->arrived.entries;
    if (count > end - at)
        count = end - at;
    for (uint32_t n = 0; n < count; n++) {
        const struct xdp_desc *came = &descriptors[(at + n) & xsk->arrived.mask];
        frames[n] = (struct carrick_frame){.data = xsk->memory + came->addr, .len = came->len};
    }
    xsk->lent = count;
    return count;
}

uint32_t carrick_xsk_free(struct carrick_xsk *xsk) {
    uint32_t at = *xsk->sent.consumed, end = __atomic_load_n(xsk->sent.produced, __ATOMIC_ACQUIRE);
    const uint64_t *addresses = xsk->sent.entries;
    for (; at != end; at++)
        xsk->free[xsk->free_count++] = (uint32_t)(addresses[at & xsk->sent.mask] / xsk->frame_octets);
    __atomic_store_n(xsk->sent.consumed, at, __ATOMIC_RELEASE);
    return xsk->free_count;
}

uint32_t carrick_xsk_reserve(struct carrick_xsk *xsk, struct carrick_frame *frames, uint32_t count) {
    uint32_t room = xsk->free_count < count ? carrick_xsk_free(xsk) : xsk->free_count;
    if (count > room)
        count = room;
    for (uint32_t n = 0; n < count; n++) {
        uint8_t *data = xsk->memory + (size_t)xsk->free[xsk->free_count - 1 - n] * xsk->frame_octets;
        frames[n] = (struct carrick_frame){.data = data, .len = xsk->frame_octets};
    }
    return count;
}

uint32_t carrick_xsk_commit(struct carrick_xsk *xsk, const struct carrick_frame *frames, uint32_t count) {
    struct xdp_desc *descriptors = xsk->sending.entries;
    uint32_t before = xsk->put;
    xsk->free_count -= count;
    for (uint32_t n = 0; n < count; n++) {
        uint64_t address = (uint64_t)(frames[n].data - xsk->memory);
        if (frames[n].len == 0)
            xsk->free[xsk->free_count++] = (uint32_t)(address / xsk->frame_octets);
        else
            descriptors[xsk->put++ & xsk->sending.mask] = (struct xdp_desc){.addr = address, .len = frames[n].len};
    }
    __atomic_store_n(xsk->sending.produced, xsk->put, __ATOMIC_RELEASE);
    return xsk->put - before;
}

bool carrick_xsk_waiting(const struct carrick_xsk *xsk) {
    return __atomic_load_n(xsk->sending.consumed, __ATOMIC_ACQUIRE) != xsk->put;
}

bool carrick_xsk_push(struct carrick_xsk *xsk) {
    for (uint32_t calls = xsk->sending.mask / FRAMES_A_CALL + 1; calls > 0 && carrick_xsk_waiting(xsk); calls--)
        if (sendto(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && errno != EAGAIN && errno != EINTR)
            break;
    return !carrick_xsk_waiting(xsk);
}
