/* SPDX-License-Identifier: MIT */
/*
 * The layer between a port and a core: Ethernet framing, the next hop, and for IPv4 ARP (RFC 826) and ICMP echo
 * (RFC 792), for IPv6 neighbour discovery (RFC 4861) and ICMPv6 echo (RFC 4443). One address. Owns the neighbour cache
 * and the few frames that wait for an answer; everything is inside the struct but the buffers of those frames.
 */
#ifndef CARRICK_NET_H
#define CARRICK_NET_H

#include "carrick/neighbour.h"
#include "carrick/port.h"

#define CARRICK_WAITING 64u /* frames that wait for a neighbour's answer */
#define CARRICK_REPLIES 64u /* frames that we owe: ARP, echo */

enum carrick_net_counter {
    CARRICK_NET_SHORT,      /* frames shorter than their headers */
    CARRICK_NET_OTHER_TYPE, /* neither the version of the Internet Protocol nor ARP for IPv4 */
    CARRICK_NET_BAD_ARP,
    CARRICK_NET_BAD_ICMP,     /* malformed, fragmented or with a wrong checksum */
    CARRICK_NET_OTHER_ICMP,   /* not an echo request, nor an error for a program that reads reports */
    CARRICK_NET_NO_ROUTE,     /* to send: not in the prefix, and there is no gateway */
    CARRICK_NET_UNRESOLVED,   /* to send: the neighbour did not answer */
    CARRICK_NET_WAITING_FULL, /* to send: too many wait for neighbours */
    CARRICK_NET_REPLIES_FULL,
    CARRICK_NET_ECHOES,       /* answered */
    CARRICK_NET_ARP_REPLIES,  /* sent */
    CARRICK_NET_ARP_REQUESTS, /* sent */
    CARRICK_NET_BAD_DISCOVERY,
    CARRICK_NET_ADVERTISEMENTS, /* sent */
    CARRICK_NET_SOLICITATIONS,  /* sent */
    CARRICK_NET_OTHER_HOST,     /* frames for the hardware address of another node */
    CARRICK_NET_OTHER_VLAN,     /* frames of a VLAN */
    CARRICK_NET_LINK_GROUP,     /* packets for one node in frames for several (RFC 1122 §3.3.6) */
    CARRICK_NET_BAD_SOURCE,     /* packets of which the source cannot be another node */
    CARRICK_NET_FRAGMENTS,
    CARRICK_NET_REASSEMBLED,       /* packets that all fragments have arrived of */
    CARRICK_NET_REASSEMBLY_FAILED, /* their fragments overlap, cannot be, or did not arrive in time */
    CARRICK_NET_ERRORS,            /* of ICMP, sent: about packets of another protocol, or with an unknown header */
    CARRICK_NET_ERRORS_LIMITED,    /* not sent: there were too many */
    CARRICK_NET_COUNTERS
};

/* In the order of the enum. */
extern const char *const carrick_net_counter_names[CARRICK_NET_COUNTERS];

struct carrick_net_config {
    uint32_t address;                              /* host order, as all addresses here */
    uint32_t prefix;                               /* 0..32, or 0..128 of address6 */
    uint32_t gateway;                              /* 0: none */
    struct carrick_ip6_address address6, gateway6; /* over IPv6, in place of both */
    uint32_t mtu;                                  /* bytes of a packet: at most the port's */
    bool whole;   /* the program makes whole frames: without a layer between it and the port */
    bool six;     /* packets are of IPv6 */
    bool reports; /* the core takes ICMP errors */
    bool ethernet;
    uint8_t mac[6];
    uint8_t protocol; /* the program's; 0: no other one is refused aloud */
};

struct net_fragments;

struct carrick_net {
    struct carrick_net_config config;
    struct carrick_neighbours neighbours;
    uint8_t *memory;
    uint32_t stride;
    struct carrick_frame waiting[CARRICK_WAITING];           /* len 0: free */
    struct carrick_ip6_address waiting_for[CARRICK_WAITING]; /* the next hops */
    struct net_fragments *fragments;
    struct carrick_frame replies[CARRICK_REPLIES];
    uint32_t replies_head, replies_tail;
    uint64_t errors_until; /* their time is taken until then */
    bool claiming; /* the address may be another node's, and is not used before that is known (RFC 4862 §5.4) */
    bool taken;    /* it is another node's: */
    uint8_t owner[6];
    uint64_t claim_until;
    uint64_t counters[CARRICK_NET_COUNTERS];
};

/* False: out of memory. */
bool carrick_net_open(struct carrick_net *net, const struct carrick_net_config *config);
void carrick_net_close(struct carrick_net *net);

/* Asks whether another node has the address, over IPv6 and Ethernet; `claiming` is true until that is known, a second
 * later or when the node has said so. */
void carrick_net_claim(struct carrick_net *net, uint64_t now);

/* Sorts received frames: what is ours is dealt with (what it owes waits for carrick_net_owed), the packets for a core
 * go to packets and lens, arrays of `count` elements. Returns how many those are. */
uint32_t carrick_net_receive(struct carrick_net *net, uint64_t now, const struct carrick_frame *frames, uint32_t count,
                             const uint8_t **packets, uint32_t *lens);

/* Where a packet begins in a reserved frame. */
static inline uint32_t carrick_net_headroom(const struct carrick_net *net) {
    return net->config.ethernet && !net->config.whole ? CARRICK_ETHER_HEADER : 0;
}

/* Makes a frame of a packet of `frame->len` bytes that begins after the headroom: afterwards `len` is the frame's, or 0
 * if the frame cannot go now (it waits inside, or is counted). */
void carrick_net_frame(struct carrick_net *net, uint64_t now, struct carrick_frame *frame);

/* Writes up to `count` frames that are owed or were waiting into reserved ones; returns how many. */
uint32_t carrick_net_owed(struct carrick_net *net, uint64_t now, struct carrick_frame *frames, uint32_t count);

/* When a neighbour must be asked again, or the address is known to be ours; UINT64_MAX: never. */
uint64_t carrick_net_deadline(const struct carrick_net *net);

/* Whether frames wait for a neighbour's answer. */
bool carrick_net_waits(const struct carrick_net *net);

#endif
