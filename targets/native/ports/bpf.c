/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ports/bpf.h"

static uint64_t address(const void *of) {
    return (uint64_t)(uintptr_t)of;
}

int carrick_bpf(enum bpf_cmd command, union bpf_attr *attr) {
    return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}

int carrick_bpf_map(enum bpf_map_type type, uint32_t entries) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_type = type;
    attr.key_size = attr.value_size = 4;
    attr.max_entries = entries;
    return carrick_bpf(BPF_MAP_CREATE, &attr);
}

bool carrick_bpf_update(int map, const void *key, const void *value) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)map;
    attr.key = address(key);
    attr.value = address(value);
    return carrick_bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0;
}

int carrick_bpf_load(enum bpf_prog_type type, enum bpf_attach_type where, const struct bpf_insn *instructions,
                     uint32_t count) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_type = type;
    attr.expected_attach_type = where;
    attr.insns = address(instructions);
    attr.insn_cnt = count;
    attr.license = address("Dual MIT/GPL");
    memcpy(attr.prog_name, "carrick_port", sizeof "carrick_port");
    return carrick_bpf(BPF_PROG_LOAD, &attr);
}

int carrick_bpf_attach(int program, uint32_t what, enum bpf_attach_type where, uint32_t flags) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.link_create.prog_fd = (uint32_t)program;
    attr.link_create.target_ifindex = what; /* of one union with `target_fd` */
    attr.link_create.attach_type = where;
    attr.link_create.flags = flags;
    return carrick_bpf(BPF_LINK_CREATE, &attr);
}
