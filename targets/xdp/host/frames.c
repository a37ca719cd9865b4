/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames.h"

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

/* The kernel sends so many frames for a system call (TX_BATCH_SIZE), and each push makes as many calls as all need. */
#define CALLS_A_PUSH (FRAMES / 32 + 1)

static bool ring_open(const struct frames *frames, struct frames_ring *ring, const struct xdp_ring_offset *at,
                      uint64_t page, size_t entry) {
    ring->octets = at->desc + FRAMES * entry;
    ring->memory = mmap(NULL, ring->octets, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, frames->fd, (off_t)page);
    if (ring->memory == MAP_FAILED) {
        ring->memory = NULL;
        return false;
    }
    uint8_t *memory = ring->memory;
    ring->produced = (uint32_t *)(void *)(memory + at->producer);
    ring->consumed = (uint32_t *)(void *)(memory + at->consumer);
    ring->entries = memory + at->desc;
    return true;
}

static bool set_count(const struct frames *frames, int option) {
    const uint32_t count = FRAMES;
    return setsockopt(frames->fd, SOL_XDP, option, &count, sizeof count) == 0;
}

/* The kernel wants a ring of frames to fill of everyone, also of whoever never receives. */
static bool rings_open(struct frames *frames) {
    struct xdp_mmap_offsets at;
    socklen_t octets = sizeof at;
    return set_count(frames, XDP_UMEM_FILL_RING) && set_count(frames, XDP_UMEM_COMPLETION_RING) &&
           set_count(frames, XDP_TX_RING) && getsockopt(frames->fd, SOL_XDP, XDP_MMAP_OFFSETS, &at, &octets) == 0 &&
           octets == sizeof at &&
           ring_open(frames, &frames->sending, &at.tx, XDP_PGOFF_TX_RING, sizeof(struct xdp_desc)) &&
           ring_open(frames, &frames->sent, &at.cr, XDP_UMEM_PGOFF_COMPLETION_RING, sizeof(uint64_t));
}

static bool memory_open(struct frames *frames) {
    size_t octets = (size_t)FRAMES * frames->frame_octets;
    void *memory = mmap(NULL, octets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    frames->memory = memory;
    struct xdp_umem_reg given = {
        .addr = (uint64_t)(uintptr_t)memory, .len = octets, .chunk_size = frames->frame_octets};
    return setsockopt(frames->fd, SOL_XDP, XDP_UMEM_REG, &given, sizeof given) == 0;
}

bool frames_open(struct frames *frames, uint32_t device, uint32_t frame_octets) {
    *frames = (struct frames){.frame_octets = frame_octets <= 2048 ? 2048 : 4096, .free_count = FRAMES};
    for (uint32_t n = 0; n < FRAMES; n++)
        frames->free[n] = n;
    frames->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (frames->fd < 0 || !memory_open(frames) || !rings_open(frames))
        return false;
    struct sockaddr_xdp to = {.sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY, .sxdp_ifindex = device};
    return bind(frames->fd, (const struct sockaddr *)&to, sizeof to) == 0;
}

static void ring_close(struct frames_ring *ring) {
    if (ring->memory)
        munmap(ring->memory, ring->octets);
}

void frames_close(struct frames *frames) {
    ring_close(&frames->sending);
    ring_close(&frames->sent);
    if (frames->fd >= 0)
        close(frames->fd);
    if (frames->memory)
        munmap(frames->memory, (size_t)FRAMES * frames->frame_octets);
}

uint32_t frames_free(struct frames *frames) {
    uint32_t at = *frames->sent.consumed, end = __atomic_load_n(frames->sent.produced, __ATOMIC_ACQUIRE);
    const uint64_t *addresses = frames->sent.entries;
    for (; at != end; at++)
        frames->free[frames->free_count++] = (uint32_t)(addresses[at & (FRAMES - 1)] / frames->frame_octets);
    __atomic_store_n(frames->sent.consumed, at, __ATOMIC_RELEASE);
    return frames->free_count;
}

uint8_t *frames_take(struct frames *frames) {
    if (frames->free_count == 0 && frames_free(frames) == 0)
        return NULL;
    return frames->memory + (size_t)frames->free[frames->free_count - 1] * frames->frame_octets;
}

void frames_put(struct frames *frames, const uint8_t *frame, uint32_t octets) {
    struct xdp_desc *descriptors = frames->sending.entries;
    descriptors[frames->put & (FRAMES - 1)] =
        (struct xdp_desc){.addr = (uint64_t)(frame - frames->memory), .len = octets};
    frames->free_count--;
    frames->put++;
    __atomic_store_n(frames->sending.produced, frames->put, __ATOMIC_RELEASE);
}

bool frames_waiting(const struct frames *frames) {
    return __atomic_load_n(frames->sending.consumed, __ATOMIC_ACQUIRE) != frames->put;
}

bool frames_push(struct frames *frames) {
    for (uint32_t call = 0; call < CALLS_A_PUSH && frames_waiting(frames); call++)
        if (sendto(frames->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && errno != EAGAIN && errno != EINTR)
            break;
    return !frames_waiting(frames);
}
