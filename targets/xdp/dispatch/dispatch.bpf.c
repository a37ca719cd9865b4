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
/* Of a packet of which nobody can say whose it is. */
#define CARRICK_NOBODYS (CARRICK_PLACES + 1)

#define CARRICK_TYPE_IPV4 0x0800u
#define CARRICK_TYPE_IPV6 0x86ddu
/* Tags in front of a packet (IEEE 802.1Q): what a tag begins with, its bytes, the number of its VLAN, and how many are
 * read. */
#define CARRICK_TYPE_TAG         0x8100u
#define CARRICK_TYPE_SERVICE_TAG 0x88a8u
#define CARRICK_TAG              4u
#define CARRICK_VLAN             0x0fffu
#define CARRICK_TAGS             4u
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
/* Extension headers that are read, to see whose a packet is: a program takes packets with fewer. */
#define CARRICK_EXTENSIONS 64u
#define CARRICK_OFFSET     0xfff8u /* of a fragment, in its header */

/* The place of the program that a packet of IPv4 is for, CARRICK_IP bytes behind `frame`: an error is for that of the
 * packet which it quotes. */
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

/* Of a packet of IPv6 with extension headers, or of ICMPv6, which begins at `begin`. What is in a fragment that is not
 * the first no header says: it is for whoever gets its first one. */
CARRICK_INLINE uint32_t place_behind(struct xdp_md *ctx, uint32_t begin, uint8_t next) {
    uint8_t header[CARRICK_QUOTED6_PROTOCOL + 1];
    uint32_t at = CARRICK_IP6_HEADER;
    for (uint32_t n = 0; carrick_ip6_extends(next, at); n++) {
        if (n == CARRICK_EXTENSIONS)
            return CARRICK_NOBODYS;
        if (bpf_xdp_load_bytes(ctx, begin + at, header, 4) != 0)
            return CARRICK_NO_PLACE;
        if (next == CARRICK_IP6_FRAGMENT && (carrick_load16(header + 2) & CARRICK_OFFSET))
            return CARRICK_PROTOCOLS + header[0];
        at += carrick_ip6_extension_len(next, header);
        next = header[0];
    }
    if (next != CARRICK_ICMP6 || bpf_xdp_load_bytes(ctx, begin + at, header, sizeof header) != 0)
        return CARRICK_PROTOCOLS + next;
    bool error = header[0] >= 1 && header[0] <= CARRICK_ICMP6_ERRORS;
    return CARRICK_PROTOCOLS + (error ? header[CARRICK_QUOTED6_PROTOCOL] : next);
}

/* Of a packet of IPv6, which has `tags` bytes of tags in front of it. */
CARRICK_INLINE uint32_t place_of_ipv6(struct xdp_md *ctx, const uint8_t *frame, const uint8_t *end, uint32_t tags) {
    if (frame + CARRICK_IP + CARRICK_IP6_HEADER > end)
        return CARRICK_NO_PLACE;
    uint8_t next = frame[CARRICK_NEXT];
    if (next != CARRICK_ICMP6 && !carrick_ip6_extends(next, CARRICK_IP6_HEADER))
        return CARRICK_PROTOCOLS + next;
    return place_behind(ctx, tags + CARRICK_IP, next);
}

/* How many bytes of tags there are that name no VLAN, but a priority: the kernel's own stack takes them off (IEEE
 * 802.1Q §6.9.1). */
CARRICK_INLINE uint32_t tags_of(const uint8_t *frame, const uint8_t *end) {
    uint32_t tags = 0;
    for (; tags <= CARRICK_TAGS * CARRICK_TAG; tags += CARRICK_TAG) {
        if (frame + tags + CARRICK_IP + CARRICK_TAG > end)
            break;
        uint32_t type = carrick_load16(frame + tags + 12);
        bool tag = type == CARRICK_TYPE_TAG || type == CARRICK_TYPE_SERVICE_TAG;
        if (!tag || (carrick_load16(frame + tags + CARRICK_IP) & CARRICK_VLAN))
            break;
    }
    return tags;
}

CARRICK_INLINE uint32_t place_of(struct xdp_md *ctx, const uint8_t *frame, const uint8_t *end, uint32_t tags) {
    frame += tags;
    if (frame + CARRICK_IP > end)
        return CARRICK_NO_PLACE;
    uint32_t type = carrick_load16(frame + 12);
    if (type == CARRICK_TYPE_IPV4)
        return place_of_ipv4(frame, end);
    return type == CARRICK_TYPE_IPV6 ? place_of_ipv6(ctx, frame, end, tags) : CARRICK_NO_PLACE;
}

/* Takes so many bytes of tags off a frame, since programs know none. */
CARRICK_INLINE bool untag(struct xdp_md *ctx, uint32_t tags) {
    uint8_t addresses[12];
    return bpf_xdp_load_bytes(ctx, 0, addresses, sizeof addresses) == 0 && bpf_xdp_adjust_head(ctx, (int)tags) == 0 &&
           bpf_xdp_store_bytes(ctx, 0, addresses, sizeof addresses) == 0;
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
    uint64_t at, last;
    __asm__ volatile("%0 = *(u32 *)(%1 + 0)" : "=r"(at) : "r"(ctx));
    __asm__ volatile("%0 = *(u32 *)(%1 + 4)" : "=r"(last) : "r"(ctx));
    const uint8_t *frame = (const uint8_t *)(uintptr_t)at, *end = (const uint8_t *)(uintptr_t)last;
    uint32_t tags = tags_of(frame, end);
    if (tags > CARRICK_TAGS * CARRICK_TAG)
        return CARRICK_XDP_DROP;
    uint32_t place = place_of(ctx, frame, end, tags);
    if (place == CARRICK_NOBODYS)
        return CARRICK_XDP_DROP;
    const struct carrick_owner *owner = place == CARRICK_NO_PLACE ? NULL : bpf_map_lookup_elem(&carrick_owners, &place);
    if (!owner || (!owner->lasting && !bpf_map_lookup_elem(&carrick_lives, &place)))
        return CARRICK_XDP_PASS;
    if (tags && !untag(ctx, tags))
        return CARRICK_XDP_DROP;
    bpf_tail_call(ctx, &carrick_entries, place);
    return CARRICK_XDP_PASS;
}

char carrick_license[] CARRICK_SECTION("license") = "Dual MIT/GPL";
