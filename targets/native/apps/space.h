/* SPDX-License-Identifier: MIT */
/*
 * A network namespace whose connections are a stack's (docs/decisions/0017). Programs in it have the kernel's own
 * sockets and need no library. What they send to other hosts goes to the loopback device of the namespace, where the
 * relay has the other end of each connection, with the far host's address and port.
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

#define SPACE_MARK   0x6361u /* of the packets of the relay's ends, which the filter lets pass */
#define SPACE_TABLE  0x6361u /* of routes */
#define SPACE_PACKET 128u    /* as much of a SYN as is read, and the longest answer to one */

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
    int keeper; /* a socket: orders, reports */
    int tap;    /* SYNs of programs arrive there */
    int raw[2]; /* takes packets of both versions of the Internet Protocol */
    int diag;   /* answers whose a socket is */
    int gone;   /* tells of sockets that are no more */
};

/* Starts the keeper of the namespace, a name (ip-netns(8)) or a path. `own` is the stack's address. False: `error` says
 * why. */
bool carrick_space_open(struct space *space, const char *name, struct carrick_ip6_address own,
                        struct carrick_port_error *error);
/* The keeper takes back what it has set up, and ends. */
void carrick_space_close(struct space *space);

/* In the keeper: routes, the filter, and the descriptors of the relay. Returns what failed, with errno; NULL: nothing.
 */
const char *space_set_up(struct space *space, struct carrick_ip6_address own);
void space_take_back(struct carrick_ip6_address own);

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
