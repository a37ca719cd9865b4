/* SPDX-License-Identifier: MIT */
/*
 * A port: where frames come from and go to. Ports of level 3 carry bare IP packets, ports of level 2 (`ethernet`) carry
 * Ethernet frames. A wrapper is a port over another one: fault(pcap(tun)).
 *
 * Everything a port needs is allocated when it is opened. `now` is in nanoseconds of one monotonic clock that never
 * goes back; its zero is the caller's choice.
 */
#ifndef CARRICK_PORT_H
#define CARRICK_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "carrick/address.h"

#define CARRICK_PORT_BATCH   64u /* most frames of one receive or reserve */
#define CARRICK_ETHER_HEADER 14u
#define CARRICK_INTERFACES   8u /* most ports of a stack */
#define CARRICK_VLAN_TAG     4u /* between addresses and type of a frame (IEEE 802.1Q), beside its MTU */

/* Bytes of one frame. */
struct carrick_frame {
    uint8_t *data;
    uint32_t len;
    /* Of one that is sent: the payload of each packet that the port's engine makes of it but the last, in bytes; 0: it
     * is one packet. */
    uint16_t segment;
};

struct carrick_port;

struct carrick_port_ops {
    /* Frames that arrived, at most `count`; returns how many. They belong to the caller until the next receive. */
    uint32_t (*receive)(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count);
    /* Reserves up to `count` frames of the port's full size, to be written in place (`len` is the size). Returns how
     * many: fewer than requested means that the port is full. Also sends frames that are queued for the device. */
    uint32_t (*reserve)(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count);
    /* Sends the first `count` of what was reserved last; `len` is now the frame's length, 0 leaves it out. */
    void (*commit)(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count);
    /* Frames wait until `fd` can be written: call reserve again then. NULL: never. */
    bool (*busy)(const struct carrick_port *port);
    /* When the port wants to be called although its `fd` is silent, UINT64_MAX: never. NULL: never. */
    uint64_t (*deadline)(const struct carrick_port *port);
    /* Asks the device for what it alone counts. NULL: there is nothing such. */
    void (*recount)(struct carrick_port *port);
    /* Gives everything back, also what it wraps. */
    void (*close)(struct carrick_port *port);
};

struct carrick_port {
    const struct carrick_port_ops *ops;
    struct carrick_port *inner; /* of a wrapper */
    const char *kind;           /* "tun", ... */
    int fd;                     /* to be polled; -1: none */
    int out_fd;                 /* becomes writable when a busy port can send, and is not 0; 0: `fd` does */
    uint32_t device;            /* the index of the network device in this network namespace; 0: there is none */
    char device_name[16];       /* when the port was opened */
    uint32_t mtu;               /* bytes of an IP packet */
    /* Bytes of the IP packet that an engine of the port makes several of (RFC 9293 over IPv4 and IPv6), which reserve
     * has room for; 0: it has none. A wrapper has none: it sees each packet. */
    uint32_t joins;
    bool ethernet;
    uint8_t mac[6];
    uint64_t rx, tx; /* frames */
    uint64_t
        rx_refused; /* arrived and were not fit to be handed on: too long, or left by offloads as no frame can be */
    uint32_t refused_len; /* bytes of the last one that was too long */
    bool paired;          /* the device is one of a veth pair: what arrives is as the other end has left it */
    uint64_t tx_refused;  /* the device would not take them */
    uint64_t rx_lost;     /* arrived while the receive queue was full, as of the last recount */
};

/* Bytes of a frame of the port's full size. */
static inline uint32_t carrick_port_frame_max(const struct carrick_port *port) {
    return port->mtu + (port->ethernet ? CARRICK_ETHER_HEADER : 0);
}

/* Bytes of the buffer of a frame, which may have a VLAN tag. */
static inline uint32_t carrick_port_frame_room(const struct carrick_port *port) {
    return carrick_port_frame_max(port) + (port->ethernet ? CARRICK_VLAN_TAG : 0);
}

static inline uint32_t carrick_port_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames,
                                            uint32_t count) {
    return port->ops->receive(port, now, frames, count);
}

static inline uint32_t carrick_port_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames,
                                            uint32_t count) {
    return port->ops->reserve(port, now, frames, count);
}

static inline void carrick_port_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames,
                                       uint32_t count) {
    port->ops->commit(port, now, frames, count);
}

static inline bool carrick_port_busy(const struct carrick_port *port) {
    return port->ops->busy && port->ops->busy(port);
}

static inline uint64_t carrick_port_deadline(const struct carrick_port *port) {
    return port->ops->deadline ? port->ops->deadline(port) : UINT64_MAX;
}

/* What a wrapper of this kind over `inner` has at first: all that the port below has, but for what it does itself. */
static inline struct carrick_port carrick_port_over(struct carrick_port *inner, const struct carrick_port_ops *ops,
                                                    const char *kind) {
    struct carrick_port port = *inner;
    port.ops = ops;
    port.inner = inner;
    port.kind = kind;
    port.joins = 0; /* it sees each packet */
    return port;
}

static inline void carrick_port_close(struct carrick_port *port) {
    if (port)
        port->ops->close(port);
}

/* Why a port could not be opened: one sentence, with what to do. */
struct carrick_port_error {
    char text[256];
};

/* Two ends of a wire of memory: what one commits, the other receives. One thread, no system call. `mtu` 68..65535;
 * `depth` frames in each direction, a power of two. Both ends must be closed. */
bool carrick_loop_open(uint32_t mtu, uint32_t depth, struct carrick_port *ends[2], struct carrick_port_error *error);

/* A TUN device (level 3), made if it does not exist. Its address and state are the administrator's. */
struct carrick_port *carrick_tun_open(const char *device, struct carrick_port_error *error);

/* The packets that are the stack's: of an IP protocol, to its address. */
struct carrick_port_taken {
    struct carrick_ip6_address address;
    uint8_t protocol;
};

/* A packet socket on a network device (level 2), with a receive ring in shared memory. What the device's offloads left
 * undone is finished here: checksums, and frames that hold several packets, which are made of them. What is `taken`
 * does not reach the kernel's own stack as well, if the process may load programs (CAP_BPF, CAP_NET_ADMIN) and the
 * kernel is Linux 6.6 or later; all else does. NULL: frames for other hosts are received as well, and nothing is kept
 * from the kernel. */
struct carrick_port *carrick_packet_open(const char *device, const struct carrick_port_taken *taken,
                                         struct carrick_port_error *error);

/* A socket of AF_XDP on a network device (level 2) that has one queue, in memory shared with the kernel, and a program
 * at the device that hands over what is for `address`, in frames for the device's own hardware address or a group: its
 * packets, and ARP or neighbour discovery; all 0:
 * everything, also frames for other hosts. All else goes on to the kernel's own stack. The program goes with the port,
 * also where the process is killed. Checksums that the sender's offload left undone stay so, since no field marks
 * them: `ethtool -K DEV tx off` at the other end of a pair of devices. */
struct carrick_port *carrick_xdp_open(const char *device, struct carrick_ip6_address address,
                                      struct carrick_port_error *error);

/* Packets inside UDP datagrams between two processes, no privilege needed. `spec`: LOCALPORT:PEERPORT on 127.0.0.1, or
 * LOCALIP:PORT:PEERIP:PORT. */
struct carrick_port *carrick_udp_open(const char *spec, struct carrick_port_error *error);

/* Frames as messages between two processes of one machine, through Unix sockets: nothing is lost, no privilege is
 * needed, and a frame is whatever the program makes. `spec`: LOCALPATH:PEERPATH; the peer may come later. */
struct carrick_port *carrick_unix_open(const char *spec, struct carrick_port_error *error);

/* What a wire does to frames, each frame on its own, in both directions. */
struct carrick_fault_config {
    double loss, reorder, duplicate, corrupt; /* probabilities, 0..1 */
    double mark;                              /* of a frame that can be: ECN, RFC 3168 */
    uint64_t delay_ns;                        /* of every frame */
    uint64_t jitter_ns;                       /* added uniformly, 0..jitter; order is kept unless it is reordered */
    uint64_t seed;
};

/* Reads "loss=1%,reorder=2%,dup=1%,corrupt=0.1%,mark=5%,delay=10ms,jitter=1ms,seed=7". Sets all of `config`: a
 * fault that the text does not name does not happen. False: `error` reports what is wrong with the text. */
bool carrick_fault_parse(const char *text, struct carrick_fault_config *config, struct carrick_port_error *error);

struct carrick_fault_counts {
    uint64_t lost, reordered, duplicated, corrupted, marked;
    uint64_t overflowed; /* more were under way than the wire holds */
};

/* A port with faults over `inner`, which it owns. */
struct carrick_port *carrick_fault_wrap(struct carrick_port *inner, const struct carrick_fault_config *config,
                                        struct carrick_port_error *error);

/* What happened so far. `port` must be one that carrick_fault_wrap made. */
struct carrick_fault_counts carrick_fault_counts(const struct carrick_port *port);

/* A port that writes what passes, in both directions, to a pcapng file with nanoseconds. `epoch_ns` is the real time at
 * which `now` was 0. Owns `inner`. The file is whole after close, of all ports that write to it. If it cannot be
 * written any more, that is told on standard error once, and the capture ends there. */
struct carrick_port *carrick_pcap_wrap(struct carrick_port *inner, const char *path, uint64_t epoch_ns,
                                       struct carrick_port_error *error);

/* The same, to the file of `first`, which carrick_pcap_wrap made: as one more interface of the capture. */
struct carrick_port *carrick_pcap_join(struct carrick_port *inner, struct carrick_port *first,
                                       struct carrick_port_error *error);

/* Whether all that has passed is in the file by now. `port` must be one of those above. */
bool carrick_pcap_whole(struct carrick_port *port);

#endif
