/* SPDX-License-Identifier: MIT */
/* The packets of a space: which are SYNs, and that the kernel takes what ends an attempt to connect. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/space.h"
#include "carrick/ipv6.h"
#include "tests/check.h"

#define IPV4    20u
#define SEGMENT 20u

static const struct space_flow flow = {.program = {0, CARRICK_MAPPED << 32 | 0x0a4d0301},
                                       .far = {0, CARRICK_MAPPED << 32 | 0xc0000207},
                                       .program_port = 40000,
                                       .far_port = 80};
static const struct space_flow flow6 = {
    .program = {UINT64_C(0xfd00007700000000), 1}, .far = {UINT64_C(0xfd00007800000000), 2}, 40000, 80};

/* A SYN as the kernel sends it, without what nobody reads. */
static size_t syn_of(const struct space_flow *of, uint8_t packet[SPACE_PACKET]) {
    bool four = carrick_address_is_ipv4(of->program);
    size_t header = four ? IPV4 : CARRICK_IP6_HEADER;
    memset(packet, 0, SPACE_PACKET);
    packet[0] = four ? 0x45 : 0x60;
    packet[four ? 9 : 6] = IPPROTO_TCP;
    if (four) {
        carrick_store32(packet + 12, (uint32_t)of->program.low);
        carrick_store32(packet + 16, (uint32_t)of->far.low);
    } else {
        carrick_ip6_store(packet + 8, of->program);
        carrick_ip6_store(packet + 24, of->far);
    }
    carrick_store16(packet + header, of->program_port);
    carrick_store16(packet + header + 2, of->far_port);
    carrick_store32(packet + header + 4, 0x12345678);
    packet[header + 12] = 0x50;
    packet[header + 13] = 0x02;
    return header + SEGMENT;
}

static void a_syn_is_read_and_nothing_else(const struct space_flow *of) {
    uint8_t packet[SPACE_PACKET];
    struct space_syn syn;
    size_t len = syn_of(of, packet);
    CHECK(space_read_syn(packet, len, &syn));
    CHECK(carrick_ip6_same(syn.flow.program, of->program) && carrick_ip6_same(syn.flow.far, of->far));
    CHECK(syn.flow.program_port == 40000 && syn.flow.far_port == 80 && syn.seq == 0x12345678);
    for (size_t shorter = 0; shorter < len; shorter++)
        CHECK(!space_read_syn(packet, shorter, &syn));
    packet[len - SEGMENT + 13] = 0x12; /* of the far end */
    CHECK(!space_read_syn(packet, len, &syn));
    packet[len - SEGMENT + 13] = 0x02;
    packet[0] ^= 0xf0;
    CHECK(!space_read_syn(packet, len, &syn));
    for (unsigned first = 0x40; first < 0x45; first++) { /* a header that is too short */
        packet[0] = (uint8_t)first;
        CHECK(!space_read_syn(packet, len, &syn));
    }
}

static void every_refusal_fits(const struct space_flow *of) {
    const struct space_syn syn = {.flow = *of, .seq = 0xffffffff};
    uint8_t packet[SPACE_PACKET];
    CHECK(space_refusal(&syn, ETIMEDOUT, packet) == 0);
    const int errors[] = {ECONNREFUSED, ECONNRESET, EHOSTUNREACH, ENETUNREACH, EACCES, EIO};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        size_t len = space_refusal(&syn, errors[i], packet);
        CHECK(len >= IPV4 + SEGMENT && len <= SPACE_PACKET);
    }
}

static uint16_t port_of(int fd) {
    struct sockaddr_in6 name = {0}; /* the port is at the same place in both families */
    socklen_t len = sizeof name;
    CHECK(getsockname(fd, (struct sockaddr *)&name, &len) == 0);
    return ntohs(name.sin6_port);
}

/* A program that connects, in the real space, whose SYN is refused by each error in turn. */
static void the_kernel_takes(struct space *space, int family, int error, int expected) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = htonl(0xc0000207)};
    struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
    carrick_ip6_store(to6.sin6_addr.s6_addr, flow6.far);
    const struct sockaddr *at = family == AF_INET ? (const struct sockaddr *)&to : (const struct sockaddr *)&to6;
    uint8_t packet[SPACE_PACKET];
    struct space_syn syn;
    uint32_t uid = 1;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0), told = 0;
    CHECK(connect(fd, at, family == AF_INET ? sizeof to : sizeof to6) < 0 && errno == EINPROGRESS);
    struct pollfd tap = {.fd = space->tap, .events = POLLIN}, program = {.fd = fd, .events = POLLOUT};
    do { /* one of the program before may have come again */
        CHECK(poll(&tap, 1, 5000) == 1);
        ssize_t got = recv(space->tap, packet, sizeof packet, 0);
        CHECK(got > 0 && space_read_syn(packet, (size_t)got, &syn));
    } while (syn.flow.program_port != port_of(fd));
    CHECK(space_whose(space, &syn.flow, &uid) && uid == geteuid());
    CHECK(poll(&program, 1, 0) == 0);
    /* A new address may have no route yet, over IPv6: the SYN comes again then, and is refused again. */
    for (int attempt = 0; attempt < 5; attempt++) {
        space_refuse(space, &syn, error);
        if (poll(&program, 1, 3000) == 1)
            break;
        fprintf(stderr, "family %d: the kernel has not taken \"%s\": once more\n", family, strerror(error));
    }
    CHECK(poll(&program, 1, 0) == 1);
    socklen_t len = sizeof told;
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &told, &len) == 0 && told == expected);
    close(fd);
    struct space_flow gone;
    bool lost = false;
    struct pollfd ends = {.fd = space->gone, .events = POLLIN};
    CHECK(poll(&ends, 1, 5000) == 1 && space_next_gone(space, &gone, &lost) && !lost);
    CHECK(gone.program_port == syn.flow.program_port && carrick_ip6_same(gone.far, syn.flow.far));
}

/* What is no namespace, or not one to serve, is refused. */
static void is_refused(const char *name, const char *said) {
    struct carrick_port_error error = {""};
    struct space space;
    CHECK(!carrick_space_open(&space, SPACE_NAMESPACE, name, flow.program, &error));
    if (!strstr(error.text, said))
        fprintf(stderr, "%s\n", error.text);
    CHECK(strstr(error.text, said));
}

static void attempts_end(struct carrick_ip6_address own, int family) {
    struct carrick_port_error error = {""};
    struct space space;
    char inside[64];
    int outer = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0) {
        SKIP("a network namespace needs root");
        return;
    }
    int inner = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    (void)snprintf(inside, sizeof inside, "/proc/%d/fd/%d", getpid(), inner);
    is_refused(inside, "is this host's own: make another");
    is_refused("/proc/self/ns/net", "is this host's own: make another");
    is_refused("/etc/passwd", "no network namespace: write a name of `ip netns list`");
    is_refused("/proc/self/ns/mnt", "no network namespace: write a name");
    CHECK(setns(outer, CLONE_NEWNET) == 0);
    bool open = carrick_space_open(&space, SPACE_NAMESPACE, inside, own, &error);
    CHECK(setns(inner, CLONE_NEWNET) == 0);
    if (!open) {
        SKIP(error.text);
        CHECK(strstr(error.text, "(sch_ingress") || strstr(error.text, "(inet_diag")); /* the system lacks that */
        return;
    }
    the_kernel_takes(&space, family, ECONNREFUSED, ECONNREFUSED);
    the_kernel_takes(&space, family, EHOSTUNREACH, EHOSTUNREACH);
    the_kernel_takes(&space, family, ENETUNREACH, ENETUNREACH);
    the_kernel_takes(&space, family, EACCES, family == AF_INET ? EHOSTUNREACH : EACCES);
    carrick_space_close(&space);
}

int main(void) {
    a_syn_is_read_and_nothing_else(&flow);
    a_syn_is_read_and_nothing_else(&flow6);
    every_refusal_fits(&flow);
    every_refusal_fits(&flow6);
    attempts_end(flow.program, AF_INET);
    attempts_end(flow6.program, AF_INET6);
    return 0;
}
