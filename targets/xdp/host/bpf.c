/* SPDX-License-Identifier: MIT */
/* bpf(2), in so far as a host needs it. */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel.h"

static int bpf(enum bpf_cmd command, union bpf_attr *attr) {
    return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}

static uint64_t address(const void *of) {
    return (uint64_t)(uintptr_t)of;
}

int kernel_bpf_get(const char *path) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.pathname = address(path);
    return bpf(BPF_OBJ_GET, &attr);
}

bool kernel_bpf_info(int fd, struct kernel_map *map) {
    struct bpf_map_info info;
    union bpf_attr attr;
    memset(&info, 0, sizeof info);
    memset(&attr, 0, sizeof attr);
    attr.info.bpf_fd = (uint32_t)fd;
    attr.info.info_len = sizeof info;
    attr.info.info = address(&info);
    if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) != 0)
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
    return bpf(BPF_MAP_LOOKUP_ELEM, &attr) == 0;
}

bool kernel_bpf_update(int fd, const void *key, const void *value) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)fd;
    attr.key = address(key);
    attr.value = address(value);
    return bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0;
}

bool kernel_bpf_delete(int fd, const void *key) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)fd;
    attr.key = address(key);
    return bpf(BPF_MAP_DELETE_ELEM, &attr) == 0;
}

int kernel_bpf_attach(int program, uint32_t device) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.link_create.prog_fd = (uint32_t)program;
    attr.link_create.target_ifindex = device;
    attr.link_create.attach_type = BPF_XDP;
    attr.link_create.flags = XDP_FLAGS_DRV_MODE;
    return bpf(BPF_LINK_CREATE, &attr);
}
