/* SPDX-License-Identifier: MIT */
/* Fragments of packets for us, until they are whole. */
#ifndef CARRICK_NET_FRAGMENTS_H
#define CARRICK_NET_FRAGMENTS_H

#include "net/net.h"

#define NET_DATAGRAMS 32u /* under way at most; each can have 64 KiB */

/* False: out of memory. */
bool net_fragments_open(struct carrick_net *net);
void net_fragments_close(struct carrick_net *net);

/* Whether a packet is whole. A fragment is not, until all others have arrived: `received` is then the whole packet, in
 * memory that is the caller's until net_fragments_release. */
bool net_is_whole(struct carrick_net *net, uint64_t now, struct net_received *received);

/* Takes back the memory of all whole packets. */
void net_fragments_release(struct carrick_net *net);

/* Gives up what has waited for too long. */
void net_fragments_advance(struct carrick_net *net, uint64_t now);
/* When to; UINT64_MAX: never. */
uint64_t net_fragments_deadline(const struct carrick_net *net);

#endif
