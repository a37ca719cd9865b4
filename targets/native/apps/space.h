/* SPDX-License-Identifier: MIT */
/*
 * Programs whose connections are a stack's, though they have the kernel's own sockets and no library
 * (docs/decisions/0017): all of a network namespace, or those of a cgroup. What they send to other hosts goes to the
 * loopback device, where the relay has the other end of each connection, with the far host's address and port.
 *
 * In a namespace, these are all streams. A cgroup's programs share a namespace with others, so their sockets have a
 * mark. One that connects from no address of its own is routed by it, and so gets the stack's, which then leads all
 * packets.
 *
 * A connection of the kernel begins on both ends at once (RFC 9293 section 3.5, simultaneous open): a filter drops the
 * program's SYN, the relay reads it, and answers with a SYN of its own when the far host has answered, or with what the
 * far host said.
 *
 * The process that has the rights for this, the keeper, is apart from the relay, which gives up its own.
 */
#ifndef CARRICK_APPS_SPACE_H
#define CARRICK_APPS_SPACE_H

#include "apps/apps.h"

#define SPACE_LOOPBACK 1u   /* the index of the device, in every namespace */
#define SPACE_PACKET   128u /* as much of a SYN as is read, and the longest answer to one */

enum space_kind {
    SPACE_NAMESPACE, /* all programs of a network namespace */
    SPACE_CGROUP,    /* those of a cgroup (version 2), in the stack's own namespace */
};

/* How what belongs to a space is known. */
struct space_place {
    enum space_kind kind;
    struct carrick_ip6_address own; /* the stack's address */
    uint32_t mark;                  /* of the relay's ends, and of a cgroup's sockets; also the number of its routes */
    bool is_local;                  /* the machine itself has the stack's address, and goes on to have it */
};

/* Beside the mark, of a cgroup's sockets. */
#define SPACE_BOUND    1u /* bound to the stack's address */
#define SPACE_CONNECTS 2u /* routed by the mark, for want of an address; all of a relay's are */
#define SPACE_BITS     (SPACE_BOUND | SPACE_CONNECTS)

/* An address as the kernel takes it. */
struct space_address {
    uint8_t octets[16];
    uint8_t family, len;
};

struct space_address space_address_of(struct carrick_ip6_address address);

/* Both ends of a connection. */
struct space_flow {
    struct carrick_ip6_address program, far;
    uint16_t program_port, far_port;
};

/* A program has begun to connect. */
struct space_syn {
    struct space_flow flow;
    uint32_t seq;
};

/* The relay asks the keeper for a socket that has the far end's address. */
struct space_order {
    uint64_t id;
    struct carrick_ip6_address address;
    uint16_t port;
};

enum space_report_kind {
    SPACE_SOCKET,    /* with a descriptor, unless there is an error */
    SPACE_LISTENS,   /* somebody listens on a port */
    SPACE_NO_LONGER, /* nobody does */
    SPACE_REMOVED,   /* what is served is no more: this is the last report */
};

/* What the keeper tells. */
struct space_report {
    enum space_report_kind kind;
    int error;
    uint64_t id;
    uint32_t uid, backlog;
    uint16_t port;
    bool six;
};

/* The relay's part of it. */
struct space {
    int keeper;   /* a socket: orders, reports */
    int tap;      /* SYNs of programs arrive there */
    int raw[2];   /* takes packets of both versions of the Internet Protocol */
    int diag;     /* answers whose a socket is */
    int gone;     /* tells of sockets that are no more */
    bool removed; /* what is served is no more */
};

/* Starts the keeper of a namespace, which has a name (ip-netns(8)) or a path, or of a cgroup, whose folder this is.
 * `own` is the stack's address. False: `error` says why. */
bool carrick_space_open(struct space *space, enum space_kind kind, const char *name, struct carrick_ip6_address own,
                        struct carrick_port_error *error);
/* The keeper takes back what it has set up, and ends. */
void carrick_space_close(struct space *space);

/* In the keeper: routes, the filter, and the descriptors of the relay. Returns what failed, with errno; NULL: nothing.
 */
const char *space_set_up(struct space *space, struct space_place *place);
void space_take_back(const struct space_place *place);

/* The part of it that leads packets to the loopback device. Learns whose the address is. */
const char *space_route(struct space_place *place);
void space_route_no_longer(const struct space_place *place);

/* A cgroup's folder; -1: it is none. */
int space_cgroup_open(const char *path);
/* From here on sockets that its programs make have the mark, for as long as this process lives. False: errno says why.
 */
bool space_cgroup_mark(int cgroup, const struct space_place *place);

#define SPACE_PROCESSORS 1024

struct perf_event_mmap_page;

/* What a look is worth for. */
struct space_listens {
    uint32_t count;
    struct perf_event_mmap_page *rings[SPACE_PROCESSORS];
};

/* In the keeper: a descriptor that is readable when somebody has begun to listen, or has ended; -1: this system does
 * not tell. */
int space_listens_open(struct space_listens *listens);
/* Whether somebody has, or may have, since it was last seen. */
bool space_listens_changed(const struct space_listens *listens);
/* What it told up to now is known. */
void space_listens_seen(int set, const struct space_listens *listens);

/* Reads a SYN from the beginning of a packet. False: it is none. */
bool space_read_syn(const uint8_t *packet, size_t len, struct space_syn *syn);
/* Writes the packet that ends an attempt to connect with this errno. Returns its length; 0: the attempt goes on until
 * its program's own time is over. */
size_t space_refusal(const struct space_syn *syn, int error, uint8_t packet[SPACE_PACKET]);
/* Sends such a packet. */
void space_refuse(const struct space *space, const struct space_syn *syn, int error);

/* Whose a program's end is. False: it is no more. */
bool space_whose(const struct space *space, const struct space_flow *flow, uint32_t *uid);
/* The next connection whose program's end is no more; it may also be a relay's end. False: there is none now. `*lost`:
 * some were not told. */
bool space_next_gone(const struct space *space, struct space_flow *flow, bool *lost);

#endif
