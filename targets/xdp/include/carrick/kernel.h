/* SPDX-License-Identifier: MIT */
/* What the kernel offers to its programs: include/uapi/linux/bpf.h, in so far as generated programs use it. */
#ifndef CARRICK_XDP_KERNEL_H
#define CARRICK_XDP_KERNEL_H

#include "carrick/bounds.h"

#define CARRICK_SECTION(name) __attribute__((section(name), used))
/* A map's definition: the loader reads these from the types (BTF). */
#define CARRICK_UINT(name, value) int(*name)[value]
#define CARRICK_TYPE(name, value) value *name

enum carrick_map {
    CARRICK_MAP_HASH = 1,
    CARRICK_MAP_ARRAY = 2,
    CARRICK_MAP_PROG_ARRAY = 3,
    CARRICK_MAP_PERCPU_ARRAY = 6,
    CARRICK_MAP_LRU_HASH = 9,
    CARRICK_MAP_DEVMAP = 14,
    CARRICK_MAP_XSKMAP = 17,
    CARRICK_MAP_QUEUE = 22,
    CARRICK_MAP_STACK = 23,
    CARRICK_MAP_RINGBUF = 27,
};

#define CARRICK_MMAPABLE 1024u /* BPF_F_MMAPABLE */

enum carrick_verdict { CARRICK_XDP_ABORTED, CARRICK_XDP_DROP, CARRICK_XDP_PASS, CARRICK_XDP_TX };

/* The verifier knows the context by this name. */
struct xdp_md {
    uint32_t data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

static void *(*const bpf_map_lookup_elem)(void *map, const void *key)CARRICK_UNUSED = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
                                         uint64_t flags) CARRICK_UNUSED = (void *)2;
static long (*const bpf_map_delete_elem)(void *map, const void *key) CARRICK_UNUSED = (void *)3;
static uint64_t (*const bpf_ktime_get_ns)(void) CARRICK_UNUSED = (void *)5;
static long (*const bpf_tail_call)(struct xdp_md *ctx, void *programs, uint32_t index) CARRICK_UNUSED = (void *)12;
static long (*const bpf_redirect)(uint32_t device, uint64_t flags) CARRICK_UNUSED = (void *)23;
static int64_t (*const bpf_csum_diff)(const void *from, uint32_t from_size, const void *to, uint32_t to_size,
                                      uint32_t seed) CARRICK_UNUSED = (void *)28;
static long (*const bpf_xdp_adjust_head)(struct xdp_md *ctx, int delta) CARRICK_UNUSED = (void *)44;
static long (*const bpf_redirect_map)(void *map, uint64_t key, uint64_t flags) CARRICK_UNUSED = (void *)51;
static uint32_t (*const bpf_get_smp_processor_id)(void) CARRICK_UNUSED = (void *)8;
static long (*const bpf_xdp_adjust_tail)(struct xdp_md *ctx, int delta) CARRICK_UNUSED = (void *)65;
static long (*const bpf_map_push_elem)(void *map, const void *value, uint64_t flags) CARRICK_UNUSED = (void *)87;
static long (*const bpf_map_pop_elem)(void *map, void *value) CARRICK_UNUSED = (void *)88;
static long (*const bpf_probe_read_kernel)(void *to, uint32_t size, const void *from) CARRICK_UNUSED = (void *)113;
static long (*const bpf_ringbuf_output)(void *ring, const void *data, uint64_t size,
                                        uint64_t flags) CARRICK_UNUSED = (void *)130;
static long (*const bpf_dynptr_from_mem)(void *memory, uint32_t size, uint64_t flags,
                                         void *pointer) CARRICK_UNUSED = (void *)197;
static long (*const bpf_dynptr_write)(const void *pointer, uint32_t offset, const void *from, uint32_t len,
                                      uint64_t flags) CARRICK_UNUSED = (void *)202;
static uint64_t (*const bpf_xdp_get_buff_len)(struct xdp_md *ctx) CARRICK_UNUSED = (void *)188;
static long (*const bpf_xdp_load_bytes)(struct xdp_md *ctx, uint32_t offset, void *to,
                                        uint32_t len) CARRICK_UNUSED = (void *)189;
static long (*const bpf_xdp_store_bytes)(struct xdp_md *ctx, uint32_t offset, void *from,
                                         uint32_t len) CARRICK_UNUSED = (void *)190;

#define CARRICK_BPF_NOEXIST  1u
#define CARRICK_TO_OTHERS    24u /* BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS */
#define CARRICK_NO_WAKEUP    1u  /* BPF_RB_NO_WAKEUP */
#define CARRICK_FORCE_WAKEUP 2u  /* BPF_RB_FORCE_WAKEUP */

/* Whoever holds an instance has its word at 1. A program waits so many times for it that others are first. */
#define CARRICK_TURNS 256u

#endif
