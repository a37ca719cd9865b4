/* SPDX-License-Identifier: MIT */
/* bpf(2), in so far as a process needs it that brings a program to a device by itself. */
#ifndef CARRICK_PORTS_BPF_H
#define CARRICK_PORTS_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

int carrick_bpf(enum bpf_cmd command, union bpf_attr *attr);

/* A map of so many elements, with keys and values of 4 bytes: its descriptor, -1: errno says why. */
int carrick_bpf_map(enum bpf_map_type type, uint32_t entries);
bool carrick_bpf_update(int map, const void *key, const void *value);
/* A program for a place; 0 for a type that has one place alone. */
int carrick_bpf_load(enum bpf_prog_type type, enum bpf_attach_type where, const struct bpf_insn *instructions,
                     uint32_t count);
/* A program on a device (its index), or on a cgroup (its descriptor), at a place: the link, which holds it there as
 * long as somebody has it open. */
int carrick_bpf_attach(int program, uint32_t what, enum bpf_attach_type where, uint32_t flags);

#endif
