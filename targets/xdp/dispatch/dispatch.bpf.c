/* SPDX-License-Identifier: MIT */
/*
 * In front of all transports of a device: each gets the packets of its version of IP and its protocol, and errors about
 * them, and the kernel's own stack all others. loader/src/dispatch.rs loads it, and says the same of its maps in Rust.
 */
#include "carrick/kernel.h"
#include "carrick/ipv6.h"

/* A program has a place: over IPv4 that of its protocol, over IPv6 as many places behind it. */
#define CARRICK_PROTOCOLS 256u
#define CARRICK_PLACES    512u
#define CARRICK_NO_PLACE  CARRICK_PLACES

#define CARRICK_TYPE_IPV4 0x0800u
#define CARRICK_TYPE_IPV6 0x86ddu
/* Where a frame says of which IP protocol it is, behind Ethernet's header (RFC 791 §3.1, RFC 8200 §3). */
#define CARRICK_PROTOCOL 23u
#define CARRICK_NEXT     20u
/* Where the network header begins; and where, in an error of ICMP (RFC 792, RFC 4443), the packet that it is about says
 * its protocol. */
#define CARRICK_IP               14u
#define CARRICK_ICMP             1u
#define CARRICK_ICMP6            58u
#define CARRICK_ICMP6_ERRORS     4u /* types 1 to 4 */
#define CARRICK_QUOTED_PROTOCOL  17u
#define CARRICK_QUOTED6_PROTOCOL 14u

/* The place of the program that a frame of IPv4 is for: an error is for that of the packet which it quotes. */
CARRICK_INLINE uint32_t place_of_ipv4(const uint8_t *frame, const uint8_t *end) {
    if (frame + CARRICK_PROTOCOL + 1 > end)
        return CARRICK_NO_PLACE;
    uint32_t protocol = frame[CARRICK_PROTOCOL];
    const uint8_t *message = frame + CARRICK_IP + (frame[CARRICK_IP] & 15) * 4;
    if (protocol != CARRICK_ICMP || message + CARRICK_QUOTED_PROTOCOL + 1 > end)
        return protocol;
    bool error = message[0] == 3 || message[0] == 11 || message[0] == 12;
    return error ? message[CARRICK_QUOTED_PROTOCOL] : protocol;
}

/* Of a packet of IPv6 with extension headers, or of ICMPv6. */
CARRICK_INLINE uint32_t place_behind(struct xdp_md *ctx, uint8_t next) {
    uint8_t header[CARRICK_QUOTED6_PROTOCOL + 1];
    uint32_t at = CARRICK_IP6_HEADER;
    for (uint32_t n = 0; n < CARRICK_IP6_EXTENSIONS && carrick_ip6_extends(next, at); n++) {
        if (bpf_xdp_load_bytes(ctx, CARRICK_IP + at, header, 2) != 0)
            return CARRICK_NO_PLACE;
        at += carrick_ip6_extension_len(next, header);
        next = header[0];
    }
    if (next != CARRICK_ICMP6 || bpf_xdp_load_bytes(ctx, CARRICK_IP + at, header, sizeof header) != 0)
        return CARRICK_PROTOCOLS + next;
    bool error = header[0] >= 1 && header[0] <= CARRICK_ICMP6_ERRORS;
    return CARRICK_PROTOCOLS + (error ? header[CARRICK_QUOTED6_PROTOCOL] : next);
}

CARRICK_INLINE uint32_t place_of_ipv6(struct xdp_md *ctx, const uint8_t *frame, const uint8_t *end) {
    if (frame + CARRICK_IP + CARRICK_IP6_HEADER > end)
        return CARRICK_NO_PLACE;
    uint8_t next = frame[CARRICK_NEXT];
    if (next != CARRICK_ICMP6 && !carrick_ip6_extends(next, CARRICK_IP6_HEADER))
        return CARRICK_PROTOCOLS + next;
    return place_behind(ctx, next);
}

CARRICK_INLINE uint32_t place_of(struct xdp_md *ctx, const uint8_t *frame, const uint8_t *end) {
    if (frame + CARRICK_IP > end)
        return CARRICK_NO_PLACE;
    uint32_t type = (uint32_t)frame[12] << 8 | frame[13];
    if (type == CARRICK_TYPE_IPV4)
        return place_of_ipv4(frame, end);
    return type == CARRICK_TYPE_IPV6 ? place_of_ipv6(ctx, frame, end) : CARRICK_NO_PLACE;
}

/* Who has a place. Behind all places is one of the dispatcher's own. */
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
    CARRICK_UINT(max_entries, CARRICK_PLACES);
} carrick_entries CARRICK_SECTION(".maps");

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_owner);
    CARRICK_UINT(max_entries, CARRICK_PLACES + 1);
} carrick_owners CARRICK_SECTION(".maps");

/* A socket of whoever brought the program. The kernel takes it out when that process ends, however it does. The last
 * place is held by who changes something. */
struct {
    CARRICK_UINT(type, CARRICK_MAP_XSKMAP);
    CARRICK_UINT(key_size, 4);
    CARRICK_UINT(value_size, 4);
    CARRICK_UINT(max_entries, CARRICK_PLACES + 1);
} carrick_lives CARRICK_SECTION(".maps");

CARRICK_SECTION("xdp") int dispatch(struct xdp_md *ctx) {
    uint64_t at, end;
    __asm__ volatile("%0 = *(u32 *)(%1 + 0)" : "=r"(at) : "r"(ctx));
    __asm__ volatile("%0 = *(u32 *)(%1 + 4)" : "=r"(end) : "r"(ctx));
    uint32_t place = place_of(ctx, (const uint8_t *)(uintptr_t)at, (const uint8_t *)(uintptr_t)end);
    const struct carrick_owner *owner = place == CARRICK_NO_PLACE ? NULL : bpf_map_lookup_elem(&carrick_owners, &place);
    if (owner && (owner->lasting || bpf_map_lookup_elem(&carrick_lives, &place)))
        bpf_tail_call(ctx, &carrick_entries, place);
    return CARRICK_XDP_PASS;
}

char carrick_license[] CARRICK_SECTION("license") = "Dual MIT/GPL";
