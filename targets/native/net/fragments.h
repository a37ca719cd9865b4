/* SPDX-License-Identifier: MIT */
/* Fragments of packets for us, until they are whole. */
#ifndef CARRICK_NET_FRAGMENTS_H
#define CARRICK_NET_FRAGMENTS_H

#include "net/net.h"

#define IP_OFFSET     0x1fffu
#define IP_MORE       0x2000u
#define NET_DATAGRAMS 32u /* under way at most; each can have 64 KiB */

/* False: out of memory. */
bool net_fragments_open(struct carrick_net *net);
void net_fragments_close(struct carrick_net *net);

/* Takes a packet that may be a fragment into its datagram. True: what is in `received` then is whole, perhaps in memory
 * that is the caller's until net_fragments_release. */
bool net_reassemble(struct carrick_net *net, uint64_t now, struct net_received *received);

/* Whether a packet is whole, or has become it. */
static inline bool net_is_whole(struct carrick_net *net, uint64_t now, struct net_received *received) {
    const uint8_t *packet = received->packet;
    bool cut = net->config.six
                   ? received->len >= CARRICK_IP6_HEADER && carrick_ip6_extends(packet[6], CARRICK_IP6_HEADER)
                   : received->len >= CARRICK_IP_HEADER && carrick_load16(packet + 6) & (IP_OFFSET | IP_MORE);
    return CARRICK_LIKELY(!cut) || net_reassemble(net, now, received);
}

/* Takes back the memory of all whole packets. */
void net_fragments_release(struct carrick_net *net);

/* Gives up what has waited for too long. */
void net_fragments_advance(struct carrick_net *net, uint64_t now);
/* When to; UINT64_MAX: never. */
uint64_t net_fragments_deadline(const struct carrick_net *net);

#endif
