/* SPDX-License-Identifier: MIT */
/* What a program over IPv4 reads of the network header of a frame that came. */
#ifndef CARRICK_XDP_READING_VERSION_H
#define CARRICK_XDP_READING_VERSION_H

/* Whether a packet that was refused, for this reason (counter), is the program's, by the header in `core->in`: of its
 * protocol, and to its address. */
CARRICK_INLINE bool CARRICK_OWN(is_own)(const struct CARRICK_OWN(core) * core, uint32_t why) {
    return why != CARRICK_COUNT_IP_SHORT && core->in[9] == CARRICK_PROTOCOL &&
           carrick_net_destination(core->in) == core->address;
}

/* Reads the network header behind the Ethernet header, of a packet to this address: how long it is, or the negative of
 * (counter + 1) that says why it is none for this program. */
CARRICK_INLINE int CARRICK_OWN(read)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core,
                                     const carrick_net_address *address) {
    core->room = (uint32_t)bpf_xdp_get_buff_len(ctx);
    uint32_t len = core->room - CARRICK_ETHERNET;
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_IP_HEADER) != 0)
        return -1 - CARRICK_COUNT_IP_SHORT;
    const uint8_t *p = core->in;
    int known = carrick_ip_begin(p, len);
    if (known < 0)
        return known;
    uint32_t header = (uint32_t)known;
    CARRICK_BARRIER_VAR(header);
    if (header < CARRICK_IP_HEADER || header > 60)
        return -1 - CARRICK_COUNT_IP_LENGTH;
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, header) != 0)
        return -1 - CARRICK_COUNT_IP_SHORT;
    uint8_t protocol = CARRICK_PROTOCOL;
#ifdef CARRICK_REPORT_PARSER
    if (p[9] == CARRICK_NET_ICMP)
        protocol = CARRICK_NET_ICMP;
#endif
    uint64_t sum = carrick_sum_piece(p, header);
    known = carrick_ip_read(p, header, sum, *address, protocol, &core->ip);
    if (known < 0)
        return known;
    return CARRICK_OWN(read_payload)(ctx, core, header);
}

#endif
