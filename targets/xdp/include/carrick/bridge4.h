/* SPDX-License-Identifier: MIT */
/* What the bridge of a program over IPv4 learns from ARP (RFC 826). carrick/bridge6.h has the same names for IPv6. */
#ifndef CARRICK_XDP_BRIDGE_VERSION_H
#define CARRICK_XDP_BRIDGE_VERSION_H

#define CARRICK_ETHER_ARP 0x0806u
#define CARRICK_ARP       28u /* bytes of ARP for IPv4 over Ethernet */

/* Whether hosts look for each other's hardware addresses by a frame of this type; the bridge learns from it. */
CARRICK_INLINE bool CARRICK_OWN(resolves)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t type) {
    const uint8_t *arp = core->in;
    if (type != CARRICK_ETHER_ARP)
        return false;
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_ARP) != 0 ||
        carrick_load16(arp + 2) != CARRICK_NET_TYPE || arp[4] != 6 || arp[5] != 4)
        return true;
    carrick_net_address sender = carrick_load32(arp + 14);
    CARRICK_OWN(announced)(core, &sender, arp + 8);
    return true;
}

#endif
