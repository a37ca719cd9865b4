/* SPDX-License-Identifier: MIT */
/* The ports of a device against the kernel: both ends of a veth pair in a network namespace without a name, which goes
 * with this process. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "apps/apps.h"
#include "carrick/ip.h"
#include "tests/check.h"
#include "tests/toy.h"

#define US "10.77.3.1"

static struct carrick_port_error error;

static bool make_wire(void) {
    return geteuid() == 0 && unshare(CLONE_NEWNET) == 0 &&
           system("exec 2>/dev/null; ip link add ours0 type veth peer name kernel0 && ip link set ours0 up && "
                  "ip addr add 10.77.3.2/24 dev kernel0 && ip link set kernel0 up") == 0;
}

/* Turns the stack until the kernel's socket has something to read; returns its length. */
static uint32_t turn_until_readable(struct carrick_stack *stack, int fd, uint8_t *buffer, size_t size) {
    for (int turns = 0; turns < 5000; turns++) {
        (void)carrick_stack_turn(stack);
        struct pollfd readable = {.fd = fd, .events = POLLIN};
        if (poll(&readable, 1, 1) != 1)
            continue;
        ssize_t got = recv(fd, buffer, size, 0);
        CHECK(got > 0);
        return (uint32_t)got;
    }
    return 0;
}

static int raw_socket(int protocol) {
    struct sockaddr_in us = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_RAW, protocol);
    inet_pton(AF_INET, US, &us.sin_addr);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&us, sizeof us) == 0);
    return fd;
}

static void the_kernel_finds_us_and_gets_its_echo(struct carrick_stack *stack) {
    uint8_t ping[64] = {8}, buffer[256];
    int fd = raw_socket(IPPROTO_ICMP);
    carrick_store16(ping + 4, 0x1234);
    carrick_store_sum(ping + 2, carrick_sum(ping, sizeof ping));
    CHECK(send(fd, ping, sizeof ping, 0) == sizeof ping);
    CHECK(turn_until_readable(stack, fd, buffer, sizeof buffer) == 84);
    CHECK(buffer[20] == 0 && carrick_load16(buffer + 24) == 0x1234);
    close(fd);
}

static void packets_go_both_ways(struct carrick_stack *stack) {
    uint8_t out[900], buffer[1600];
    int fd = raw_socket(TOY_PROTOCOL);
    for (int i = 1; i <= 500; i++) {
        memset(out, i, sizeof out);
        CHECK(send(fd, out, sizeof out, 0) == sizeof out);
        CHECK(turn_until_readable(stack, fd, buffer, sizeof buffer) == 920);
        CHECK(memcmp(buffer + 20, out, sizeof out) == 0);
    }
    close(fd);
}

/* Packets that the kernel's own stack has seen (RFC 4293, ipSystemStatsInReceives). */
static unsigned long kernel_received(void) {
    unsigned long received = 0;
    FILE *counters = fopen("/proc/net/snmp", "r");
    CHECK(counters);
    while (counters && fscanf(counters, "Ip: %*u %*u %lu", &received) != 1 && fscanf(counters, "%*[^\n] ") == 0)
        ;
    fclose(counters);
    return received;
}

static bool kernel_has_tcx(void) {
    struct utsname kernel;
    int major = 0, minor = 0;
    return uname(&kernel) == 0 && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 6));
}

static void a_port_stands_against_the_kernel(struct carrick_port *port) {
    if (!port)
        fprintf(stderr, "%s\n", error.text);
    CHECK(port && port->ethernet && port->mtu == 1500);
    struct carrick_stack_config config = {.program = &toy_program, .ports = {port}, .prefix = 24};
    CHECK(carrick_parse_address(US, sizeof US - 1, &config.address));
    struct carrick_stack *stack = carrick_stack_open(&config, &error);
    CHECK(stack);
    void *echo = carrick_echo_application.start(stack, "", &error);
    CHECK(echo);
    the_kernel_finds_us_and_gets_its_echo(stack);
    unsigned long before = kernel_received();
    packets_go_both_ways(stack);
    if (kernel_has_tcx())
        CHECK(kernel_received() - before == 500); /* answers alone, not what is ours */
    else
        SKIP("keeping packets from the kernel's stack needs Linux 6.6");
    CHECK(carrick_stack_counter(stack, "rx_packets") == 500 && carrick_stack_counter(stack, "dropped") == 0);
    carrick_echo_application.finish(echo);
    carrick_stack_close(stack);
}

/* The largest frame with a tag, which the kernel takes out of it for those who receive it. */
static void a_vlan_tag_stays_in_its_frame(void) {
    struct carrick_port *port = carrick_packet_open("ours0", NULL, &error);
    int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_8021Q));
    struct sockaddr_ll at = {
        .sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex("kernel0"), .sll_protocol = htons(ETH_P_ALL)};
    CHECK(port && fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
    uint8_t sent[1518];
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (uint8_t)i;
    sent[0] = sent[6] = 2; /* to another host */
    carrick_store16(sent + 12, ETH_P_8021Q);
    carrick_store16(sent + 14, 0x6005);
    carrick_store16(sent + 16, ETH_P_IP);
    CHECK(send(fd, sent, sizeof sent, 0) == sizeof sent);
    struct carrick_frame frame = {.data = NULL, .len = 0}, room;
    for (int tries = 0; frame.len != sizeof sent && tries < 5000; tries++) {
        struct pollfd readable = {.fd = port->fd, .events = POLLIN};
        (void)poll(&readable, 1, 1);
        (void)carrick_port_receive(port, 0, &frame, 1);
    }
    CHECK(frame.len == sizeof sent && memcmp(frame.data, sent, sizeof sent) == 0);
    CHECK(carrick_port_reserve(port, 0, &room, 1) == 1);
    memcpy(room.data, sent, sizeof sent);
    room.len = sizeof sent;
    carrick_port_commit(port, 0, &room, 1);
    CHECK(port->tx == 1 && port->tx_refused == 0);
    carrick_port_close(port);
    close(fd);
}

/* Twice, since whoever ends leaves the device as it was. */
static void the_same_by_af_xdp(void) {
    struct carrick_ip6_address address;
    CHECK(carrick_parse_address(US, sizeof US - 1, &address));
    for (int times = 0; times < 2; times++) {
        struct carrick_port *port = carrick_xdp_open("ours0", address, &error);
        if (!port && strstr(error.text, "This kernel has no")) {
            SKIP(error.text);
            return;
        }
        a_port_stands_against_the_kernel(port);
    }
    struct carrick_port *port = carrick_xdp_open("ours0", address, &error);
    CHECK(port && !carrick_xdp_open("ours0", address, &error) && strstr(error.text, "has an XDP program"));
    carrick_port_close(port);
}

int main(void) {
    if (!make_wire()) {
        SKIP("a network namespace needs root and iproute2");
        return 0;
    }
    struct carrick_port_taken taken = {.protocol = TOY_PROTOCOL};
    CHECK(carrick_parse_address(US, sizeof US - 1, &taken.address));
    a_port_stands_against_the_kernel(carrick_packet_open("ours0", &taken, &error));
    a_vlan_tag_stays_in_its_frame();
    the_same_by_af_xdp();
    struct carrick_port *tun = carrick_tun_open("tun7", &error);
    if (tun) {
        CHECK(!tun->ethernet && tun->mtu == 1500);
        carrick_port_close(tun);
    } else {
        SKIP(error.text);
    }
    puts("wire: ok");
    return 0;
}
