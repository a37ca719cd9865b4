/* SPDX-License-Identifier: MIT */
/* bpf(2), in so far as a host needs it. */
#include <string.h>

#include "kernel.h"
#include "ports/bpf.h"

static uint64_t address(const void *of) {
    return (uint64_t)(uintptr_t)of;
}

int kernel_bpf_get(const char *path) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.pathname = address(path);
    return carrick_bpf(BPF_OBJ_GET, &attr);
}

bool kernel_bpf_info(int fd, struct kernel_map *map) {
    struct bpf_map_info info;
    union bpf_attr attr;
    memset(&info, 0, sizeof info);
    memset(&attr, 0, sizeof attr);
    attr.info.bpf_fd = (uint32_t)fd;
    attr.info.info_len = sizeof info;
    attr.info.info = address(&info);
    if (carrick_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) != 0)
        return false;
    *map = (struct kernel_map){
        .fd = fd, .value = info.value_size, .entries = info.max_entries, .stride = (info.value_size + 7u) & ~7u};
    return true;
}

bool kernel_bpf_lookup(int fd, uint32_t key, void *value) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)fd;
    attr.key = address(&key);
    attr.value = address(value);
    return carrick_bpf(BPF_MAP_LOOKUP_ELEM, &attr) == 0;
}

bool kernel_bpf_delete(int fd, const void *key) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)fd;
    attr.key = address(key);
    return carrick_bpf(BPF_MAP_DELETE_ELEM, &attr) == 0;
}
