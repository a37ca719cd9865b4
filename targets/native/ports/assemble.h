/* SPDX-License-Identifier: MIT */
/* Instructions of programs that a port brings with it. */
#ifndef CARRICK_PORTS_ASSEMBLE_H
#define CARRICK_PORTS_ASSEMBLE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <string.h>

#include "carrick/port.h"

/* The first four bytes of a hardware address, and the other two, as a program reads them. */
static inline uint32_t carrick_mac_head(const uint8_t *mac) {
    uint32_t head;
    memcpy(&head, mac, sizeof head);
    return head;
}

static inline uint16_t carrick_mac_tail(const uint8_t *mac) {
    uint16_t tail;
    memcpy(&tail, mac + 4, sizeof tail);
    return tail;
}

/* What the assembler would make of it; the offsets of jumps count from the next instruction. */
#define LOAD(size, to, from, at)                                                                                       \
    { .code = BPF_LDX | BPF_MEM | (size), .dst_reg = (to), .src_reg = (from), .off = (at) }
#define MOVE(to, from)                                                                                                 \
    { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) }
#define SET(to, number)                                                                                                \
    { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (number) }
#define ADD(to, number)                                                                                                \
    { .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (to), .imm = (number) }
#define AND(to, number)                                                                                                \
    { .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = (to), .imm = (number) }
#define IF_ABOVE(a, b, skip)                                                                                           \
    { .code = BPF_JMP | BPF_JGT | BPF_X, .dst_reg = (a), .src_reg = (b), .off = (skip) }
#define IF(test, a, number, skip)                                                                                      \
    { .code = BPF_JMP32 | (test) | BPF_K, .dst_reg = (a), .imm = (int32_t)(number), .off = (skip) }
/* Goes on if an IPv6 address, so many bytes behind R2, is this one; else `n`, `n - 2`, `n - 4` or `n - 6`
 * instructions further. */
#define IF_NOT_AT(at, address, n)                                                                                      \
    LOAD(BPF_W, BPF_REG_4, BPF_REG_2, (at)), IF(BPF_JNE, BPF_REG_4, htonl((uint32_t)((address).high >> 32)), n),       \
        LOAD(BPF_W, BPF_REG_4, BPF_REG_2, (at) + 4), IF(BPF_JNE, BPF_REG_4, htonl((uint32_t)(address).high), (n)-2),   \
        LOAD(BPF_W, BPF_REG_4, BPF_REG_2, (at) + 8),                                                                   \
        IF(BPF_JNE, BPF_REG_4, htonl((uint32_t)((address).low >> 32)), (n)-4),                                         \
        LOAD(BPF_W, BPF_REG_4, BPF_REG_2, (at) + 12), IF(BPF_JNE, BPF_REG_4, htonl((uint32_t)(address).low), (n)-6)
#define IF_NOT_TO(address, n) IF_NOT_AT(IP6_TO, address, n)
/* Of a frame at R2, of which what is before R5 is there: goes on if its receiver is this one or a group, and it has no
 * tag of a VLAN; else to the n-th instruction from here. Afterwards R2 and R5 are behind a tag with a priority alone,
 * and R4 is the type. */
#define IF_NOT_FOR(mac, n)                                                                                             \
    LOAD(BPF_W, BPF_REG_4, BPF_REG_2, 0), IF(BPF_JNE, BPF_REG_4, carrick_mac_head(mac), 2),                            \
        LOAD(BPF_H, BPF_REG_4, BPF_REG_2, 4), IF(BPF_JEQ, BPF_REG_4, carrick_mac_tail(mac), 3),                        \
        LOAD(BPF_B, BPF_REG_4, BPF_REG_2, 0), AND(BPF_REG_4, 1), IF(BPF_JEQ, BPF_REG_4, 0, (n)-7),                     \
        LOAD(BPF_H, BPF_REG_4, BPF_REG_2, ETHER_TYPE), IF(BPF_JEQ, BPF_REG_4, htons(ETH_P_8021Q), 1),                  \
        IF(BPF_JNE, BPF_REG_4, htons(ETH_P_8021AD), 6), LOAD(BPF_H, BPF_REG_4, BPF_REG_2, ETHER_TYPE + 2),             \
        AND(BPF_REG_4, htons(VLAN_ID)), IF(BPF_JNE, BPF_REG_4, 0, (n)-13), ADD(BPF_REG_2, CARRICK_VLAN_TAG),           \
        ADD(BPF_REG_5, CARRICK_VLAN_TAG), IF_ABOVE(BPF_REG_5, BPF_REG_3, (n)-16),                                      \
        LOAD(BPF_H, BPF_REG_4, BPF_REG_2, ETHER_TYPE)
#define IF_NOT_FOR_LEN 17
#define CALL(function)                                                                                                 \
    { .code = BPF_JMP | BPF_CALL, .imm = (function) }
#define EXIT                                                                                                           \
    { .code = BPF_JMP | BPF_EXIT }

/* Where frames say what they are, and whom they are for: RFC 791 §3.1 and RFC 826, each after the header of Ethernet.
 */
#define ETHER_TYPE  12
#define VLAN_ID     0x0fff
#define IP_PROTOCOL 23
#define IP_TO       30
#define ARP_TO      38
#define IP6_NEXT    20 /* RFC 8200 §3 */
#define IP6_TO      38
#define IP6_END     54
#define ND_TYPE     54 /* RFC 4861 §4.4, without extension headers */
#define ND_TARGET   62
#define ND_END      78

#define ND_ADVERTISEMENT 136

#endif
