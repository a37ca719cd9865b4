/* SPDX-License-Identifier: MIT */
/*
 * What the bridge of a program over IPv6 learns from neighbour discovery (RFC 4861), as natively (net/discovery.c
 * there). carrick/bridge4.h has the same names for IPv4.
 */
#ifndef CARRICK_XDP_BRIDGE_VERSION_H
#define CARRICK_XDP_BRIDGE_VERSION_H

#include "carrick/discovery.h"
#include "carrick/quoted6.h"

/* Bytes of a message from which the bridge learns, at most: those of Linux and of routers are shorter. */
#define CARRICK_DISCOVERY_SEEN (CARRICK_SEEN - CARRICK_IP6_HEADER)

/* The packet in `core->in` is a whole message of `len` bytes: copies the hardware address in an option of this kind to
 * `core->out`. 0: there is none, or the options are malformed (RFC 4861 §4.6). Where it is stands in memory, so that
 * the verifier does not follow each choice of options. */
CARRICK_GLOBAL_FN int CARRICK_OWN(discovery_option)(struct CARRICK_OWN(core) * core, uint32_t len, uint8_t kind) {
    CARRICK_GIVEN(core && len <= CARRICK_DISCOVERY_SEEN);
    uint32_t end = CARRICK_IP6_HEADER + len;
    core->told = false;
    core->at = CARRICK_IP6_HEADER + CARRICK_DISCOVERY_MESSAGE;
    for (uint32_t n = 0; n < CARRICK_SEEN / CARRICK_DISCOVERY_UNIT && CARRICK_READ(core->at) < end; n++) {
        uint32_t at = CARRICK_READ(core->at);
        const uint8_t *option = core->in + carrick_at(at, CARRICK_SEEN);
        uint32_t size = option[1] * CARRICK_DISCOVERY_UNIT;
        if (size == 0 || size > end - at)
            return 0;
        if (option[0] == kind && size == CARRICK_DISCOVERY_UNIT) {
            core->told = true;
            memcpy(core->out, option + 2, 6);
        }
        core->at = at + size;
    }
    return CARRICK_READ(core->told);
}

/* What the sender of a message of `len` bytes says of itself. The message's first bytes are in `core->in`. */
CARRICK_GLOBAL_FN int CARRICK_OWN(learn_discovery)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t len) {
    CARRICK_GIVEN(core);
    uint8_t *p = core->in;
    bool solicits = p[CARRICK_IP6_HEADER] == CARRICK_SOLICITATION;
    if (!solicits && p[CARRICK_IP6_HEADER] != CARRICK_ADVERTISEMENT)
        return 0;
    CARRICK_BARRIER_VAR(len);
    if (len < CARRICK_DISCOVERY_MESSAGE || len > CARRICK_DISCOVERY_SEEN ||
        bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, p, CARRICK_IP6_HEADER + len) != 0)
        return 0;
    carrick_net_address from = carrick_net_source(p), to = carrick_net_destination(p);
    uint64_t sum = carrick_sum_pseudo6(from, to, CARRICK_ICMP6, len);
    if (carrick_sum_fold(sum + carrick_sum_piece(p + CARRICK_IP6_HEADER, len)) != 0 ||
        !CARRICK_OWN(discovery_option)(core, len, solicits ? CARRICK_SOURCE_OPTION : CARRICK_TARGET_OPTION))
        return 0;
    if (!solicits)
        from = carrick_ip6_load(p + CARRICK_IP6_HEADER + 8);
    CARRICK_OWN(announced)(core, &from, core->out);
    return 1;
}

/* Whether hosts look for each other's hardware addresses by a frame of this type; the bridge learns from it. */
CARRICK_INLINE bool CARRICK_OWN(resolves)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t type) {
    const uint8_t *p = core->in;
    if (type != CARRICK_NET_TYPE ||
        bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_IP6_HEADER + CARRICK_ICMP6_HEADER) != 0 ||
        !carrick_is_discovery(p))
        return false;
    (void)CARRICK_OWN(learn_discovery)(ctx, core, carrick_load16(p + 4));
    return true;
}

#endif
