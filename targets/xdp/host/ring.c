/* SPDX-License-Identifier: MIT */
/* Reports of the program: the ring buffer of Documentation/bpf/ringbuf.rst in the kernel's source, read in place. */
#include <linux/bpf.h>

#include "kernel.h"

static uint32_t header(const struct kernel_ring *ring, uint64_t at) {
    const uint32_t *len = (const uint32_t *)(const void *)(ring->data + (at & (ring->octets - 1)));
    return __atomic_load_n(len, __ATOMIC_ACQUIRE);
}

void kernel_next(const struct kernel_ring *ring) {
    uint64_t at = *ring->consumed;
    uint32_t len = header(ring, at) & ~(uint32_t)BPF_RINGBUF_DISCARD_BIT;
    __atomic_store_n(ring->consumed, at + ((len + BPF_RINGBUF_HDR_SZ + 7u) & ~7u), __ATOMIC_RELEASE);
}

const struct carrick_report *kernel_report(const struct kernel_ring *ring, uint32_t *octets) {
    for (;;) {
        uint64_t at = *ring->consumed;
        if (at == __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE))
            return NULL;
        uint32_t len = header(ring, at);
        if (len & (uint32_t)BPF_RINGBUF_BUSY_BIT)
            return NULL;
        if (!(len & (uint32_t)BPF_RINGBUF_DISCARD_BIT) && len >= offsetof(struct carrick_report, words)) {
            *octets = len;
            const uint8_t *report = ring->data + (at & (ring->octets - 1)) + BPF_RINGBUF_HDR_SZ;
            return (const struct carrick_report *)(const void *)report;
        }
        kernel_next(ring);
    }
}
