/* SPDX-License-Identifier: MIT */
/* What a program over IPv6 reads of the network headers of a frame that came: as carrick/ip6.h of the runtime, of bytes
 * that stay in the frame. */
#ifndef CARRICK_XDP_READING_VERSION_H
#define CARRICK_XDP_READING_VERSION_H

/* Whether a node that knows none of the options in these bytes of the frame takes the packet (RFC 8200 §4.2). */
CARRICK_GLOBAL_FN int CARRICK_OWN(skips)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t begin,
                                         uint32_t len) {
    CARRICK_GIVEN(core);
    uint8_t *p = core->in + CARRICK_SEEN;
    uint32_t at = 0;
    while (at < len && CARRICK_GOES_ON) {
        at = CARRICK_FORGOTTEN(at, core->zero);
        if (bpf_xdp_load_bytes(ctx, begin + at, p, 1) != 0)
            return 0;
        if (p[0] == 0) {
            at++;
            continue;
        }
        if (!carrick_ip6_skips_option(p[0]) || len - at < 2 || bpf_xdp_load_bytes(ctx, begin + at, p, 2) != 0 ||
            len - at - 2 < p[1])
            return 0;
        at += 2u + p[1];
    }
    return at >= len;
}

#ifdef CARRICK_SEGMENTS
/* Reads the route of the packet, if the extension header at `at` of the frame is one that the program can read. Its
 * first bytes are at `p`, and all of it is in the frame. */
CARRICK_INLINE bool CARRICK_OWN(read_route)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint8_t kind,
                                            const uint8_t *p, uint32_t at) {
    struct carrick_ip6 *ip = &core->ip;
    uint32_t len = CARRICK_IP6_SEGMENT * carrick_ip6_read_route(kind, p, ip);
    CARRICK_BARRIER_VAR(len);
    if (len == 0 || len > sizeof ip->segments || bpf_xdp_load_bytes(ctx, at + CARRICK_IP6_UNIT, ip->segments, len) != 0)
        return false;
    for (uint32_t i = 0; i < CARRICK_SEGMENTS; i++)
        ip->segments[i] = carrick_ip6_load((const uint8_t *)&ip->segments[i]);
    return true;
}
#endif

/* Steps over an extension header at `at` of the frame, of a packet that has `left` bytes from there on. Its first bytes
 * are behind `CARRICK_SEEN` bytes of `core->in` then. Returns how long it is, or the negative of (counter + 1) that
 * says why the packet is not taken. */
CARRICK_GLOBAL_FN int CARRICK_OWN(step)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint8_t kind, uint32_t at,
                                        uint32_t left) {
    CARRICK_GIVEN(core);
    uint8_t *p = core->in + CARRICK_SEEN;
    if (left < CARRICK_IP6_UNIT || bpf_xdp_load_bytes(ctx, at, p, CARRICK_IP6_UNIT) != 0)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    uint32_t size = carrick_ip6_extension_len(kind, p);
    if (left < size)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    core->ip.protocol = p[0];
#ifdef CARRICK_SEGMENTS
    if (CARRICK_OWN(read_route)(ctx, core, kind, p, at))
        return (int)size;
#endif
    if (carrick_ip6_has_options(kind))
        return CARRICK_OWN(skips)(ctx, core, at + 2, size - 2) ? (int)size : -1 - CARRICK_COUNT_IP_PROTOCOL;
    int refused = carrick_ip6_extension(kind, p);
    return refused ? refused : (int)size;
}

/* Reads the network headers of a packet of which `len` bytes are in the frame, from `begin` on, all headers among them.
 * `total` is the whole packet's, and its fixed header is in `core->in`. Returns where they end in the packet, or the
 * negative of (counter + 1) that says why the packet is not taken. */
CARRICK_GLOBAL_FN int CARRICK_OWN(read_headers)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t begin,
                                                uint32_t len, uint32_t total) {
    CARRICK_GIVEN(core);
    uint32_t at = CARRICK_IP6_HEADER;
    core->ip.protocol = core->in[6];
#ifdef CARRICK_SEGMENTS
    carrick_ip6_no_segments(&core->ip);
#endif
    for (uint32_t n = 0; n <= CARRICK_IP6_EXTENSIONS; n++) {
        uint8_t kind = CARRICK_READ(core->ip.protocol);
        if (!carrick_ip6_extends(kind, at)) {
            carrick_ip6_fields(core->in, at, total, &core->ip);
            return (int)at;
        }
        int size = CARRICK_OWN(step)(ctx, core, kind, begin + at, len - at);
        if (size <= 0)
            return size;
        at += (uint32_t)size;
    }
    return -1 - CARRICK_COUNT_IP_PROTOCOL;
}

/* Whether the program takes packets of this protocol. */
CARRICK_INLINE bool CARRICK_OWN(takes)(uint8_t protocol) {
#ifdef CARRICK_REPORT_PARSER
    if (protocol == CARRICK_NET_ICMP)
        return true;
#endif
    return protocol == CARRICK_PROTOCOL;
}

/* Whether a packet that was refused, for this reason (counter), is the program's: to its address, and of its protocol,
 * or not read so far. The kernel's own stack refuses the same options and routes, and reports them (RFC 8200 §4.2). */
CARRICK_INLINE bool CARRICK_OWN(is_own)(const struct CARRICK_OWN(core) * core, uint32_t why) {
    carrick_net_address to = carrick_net_destination(core->in);
    uint8_t protocol = core->ip.protocol;
    bool is_refused_by_all = why == CARRICK_COUNT_IP_SHORT || why == CARRICK_COUNT_IP_PROTOCOL;
    return carrick_net_same(&to, &core->address) &&
           (carrick_ip6_extends(protocol, CARRICK_IP6_HEADER) || (protocol == CARRICK_PROTOCOL && !is_refused_by_all));
}

/* Reads the network headers behind the Ethernet header, of a packet to this address: how long they are, or the negative
 * of (counter + 1) that says why it is none for this program. */
CARRICK_INLINE int CARRICK_OWN(read)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core,
                                     const carrick_net_address *address) {
    core->room = (uint32_t)bpf_xdp_get_buff_len(ctx);
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_IP6_HEADER) != 0)
        return -1 - CARRICK_COUNT_IP_SHORT;
    core->ip.protocol = core->in[6];
    if (core->in[0] >> 4 != 6)
        return -1 - CARRICK_COUNT_IP_VERSION;
    uint32_t total = carrick_ip6_total(core->in);
    if (total > core->room - CARRICK_ETHERNET)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    int known = CARRICK_OWN(read_headers)(ctx, core, CARRICK_ETHERNET, total, total);
    if (known < 0)
        return known;
    if (!CARRICK_OWN(takes)(core->ip.protocol))
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
    if (!carrick_net_same(&core->ip.dst, address))
        return -1 - CARRICK_COUNT_IP_ADDRESS;
#if defined(CARRICK_SEGMENTS) && !defined(CARRICK_SEGMENTS_ON_PATH)
    if (core->ip.segments_left)
        return -1 - CARRICK_COUNT_IP_PROTOCOL;
#endif
    return CARRICK_OWN(read_payload)(ctx, core, (uint32_t)known);
}

#endif
