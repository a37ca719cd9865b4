/* SPDX-License-Identifier: MIT */
/*
 * In front of all transports of a device: each gets the packets of its IP protocol, and errors about them, and the
 * kernel's own stack all others. loader/src/dispatch.rs loads it, and says the same of its maps in Rust.
 */
#include "carrick/kernel.h"

/* Where a frame says of which IP protocol it is, behind Ethernet's header (RFC 791 §3.1). */
#define CARRICK_PROTOCOL  23u
#define CARRICK_PROTOCOLS 256u
/* Where IPv4's header begins; and where, in an error of ICMP (RFC 792), the packet that it is about says its protocol.
 */
#define CARRICK_IP              14u
#define CARRICK_ICMP            1u
#define CARRICK_QUOTED_PROTOCOL 17u

/* The protocol of the program that a frame is for: an error is for that of the packet which it quotes. */
static inline __attribute__((always_inline)) uint32_t protocol_of(const uint8_t *frame, const uint8_t *end) {
    uint32_t protocol = frame[CARRICK_PROTOCOL];
    const uint8_t *message = frame + CARRICK_IP + (frame[CARRICK_IP] & 15) * 4;
    if (protocol != CARRICK_ICMP || message + CARRICK_QUOTED_PROTOCOL + 1 > end)
        return protocol;
    bool error = message[0] == 3 || message[0] == 11 || message[0] == 12;
    return error ? message[CARRICK_QUOTED_PROTOCOL] : protocol;
}

/* Who has the packets of a protocol. Behind those of all protocols stands one of the dispatcher's own. */
struct carrick_owner {
    uint32_t lasting; /* 1: it is pinned, and stays when its process ends */
    uint32_t device;  /* of the dispatcher's own: where it is */
    uint64_t net;     /* and in which network namespace */
    char who[48];     /* for people; empty: nobody */
};

/* The programs. */
struct {
    CARRICK_UINT(type, CARRICK_MAP_PROG_ARRAY);
    CARRICK_UINT(key_size, 4);
    CARRICK_UINT(value_size, 4);
    CARRICK_UINT(max_entries, CARRICK_PROTOCOLS);
} carrick_entries CARRICK_SECTION(".maps");

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_owner);
    CARRICK_UINT(max_entries, CARRICK_PROTOCOLS + 1);
} carrick_owners CARRICK_SECTION(".maps");

/* A socket of whoever brought the program. The kernel takes it out when that process ends, however it does. The last
 * place is held by who changes something. */
struct {
    CARRICK_UINT(type, CARRICK_MAP_XSKMAP);
    CARRICK_UINT(key_size, 4);
    CARRICK_UINT(value_size, 4);
    CARRICK_UINT(max_entries, CARRICK_PROTOCOLS + 1);
} carrick_lives CARRICK_SECTION(".maps");

CARRICK_SECTION("xdp") int dispatch(struct xdp_md *ctx) {
    uint64_t at, end;
    __asm__ volatile("%0 = *(u32 *)(%1 + 0)" : "=r"(at) : "r"(ctx));
    __asm__ volatile("%0 = *(u32 *)(%1 + 4)" : "=r"(end) : "r"(ctx));
    const uint8_t *frame = (const uint8_t *)(uintptr_t)at;
    if (frame + CARRICK_PROTOCOL + 1 > (const uint8_t *)(uintptr_t)end || frame[12] != 8 || frame[13] != 0)
        return CARRICK_XDP_PASS;
    uint32_t protocol = protocol_of(frame, (const uint8_t *)(uintptr_t)end);
    const struct carrick_owner *owner = bpf_map_lookup_elem(&carrick_owners, &protocol);
    if (owner && (owner->lasting || bpf_map_lookup_elem(&carrick_lives, &protocol)))
        bpf_tail_call(ctx, &carrick_entries, protocol);
    return CARRICK_XDP_PASS;
}

char carrick_license[] CARRICK_SECTION("license") = "Dual MIT/GPL";
