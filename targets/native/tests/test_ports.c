/* SPDX-License-Identifier: MIT */
/* Ports that need no privilege, and the wrappers. */
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "carrick/base.h"
#include "carrick/ip.h"
#include "carrick/port.h"
#include "tests/check.h"

static struct carrick_port_error error;

/* Sends one frame of `len` bytes that all are `fill`. False: the port is full. */
static bool put(struct carrick_port *port, uint64_t now, uint8_t fill, uint32_t len) {
    struct carrick_frame frame;
    if (carrick_port_reserve(port, now, &frame, 1) == 0)
        return false;
    CHECK(frame.len == carrick_port_frame_max(port) && len <= frame.len);
    memset(frame.data, fill, len);
    frame.len = len;
    carrick_port_commit(port, now, &frame, 1);
    return true;
}

static void memory_keeps_order_and_says_when_it_is_full(void) {
    struct carrick_port *ends[2];
    struct carrick_frame frames[CARRICK_PORT_BATCH];
    CHECK(carrick_loop_open(1500, 8, ends, &error));
    for (uint8_t i = 0; i < 8; i++)
        CHECK(put(ends[0], 0, i, i == 3 ? 0 : 100u + i));
    CHECK(!put(ends[0], 0, 9, 10));
    CHECK(carrick_port_receive(ends[1], 0, frames, CARRICK_PORT_BATCH) == 7); /* the empty one is left out */
    for (uint32_t i = 0; i < 7; i++) {
        uint8_t fill = (uint8_t)(i < 3 ? i : i + 1);
        CHECK(frames[i].len == 100u + fill && frames[i].data[0] == fill && frames[i].data[frames[i].len - 1] == fill);
    }
    CHECK(!put(ends[0], 0, 9, 10)); /* the places are lent until the next receive */
    CHECK(carrick_port_receive(ends[1], 0, frames, CARRICK_PORT_BATCH) == 0);
    CHECK(put(ends[0], 0, 9, 10));
    carrick_port_close(ends[0]);
    CHECK(carrick_port_receive(ends[1], 0, frames, CARRICK_PORT_BATCH) == 0); /* the other end is gone */
    carrick_port_close(ends[1]);
}

static void a_capture_that_cannot_be_written_ends_and_the_port_goes_on(void) {
    struct carrick_port *ends[2];
    struct carrick_frame frames[CARRICK_PORT_BATCH];
    CHECK(carrick_loop_open(1500, 8, ends, &error));
    ends[0] = carrick_pcap_wrap(ends[0], "/dev/full", 0, &error);
    CHECK(ends[0] && put(ends[0], 0, 1, 100));
    CHECK(!carrick_pcap_whole(ends[0]) && !carrick_pcap_whole(ends[0]));
    CHECK(carrick_port_receive(ends[1], 0, frames, CARRICK_PORT_BATCH) == 1);
    CHECK(put(ends[0], 0, 2, 100) && carrick_port_receive(ends[1], 0, frames, CARRICK_PORT_BATCH) == 1);
    carrick_port_close(ends[0]);
    carrick_port_close(ends[1]);
}

static void datagrams_carry_packets(void) {
    char spec[2][64];
    int base = 20000 + getpid() % 20000;
    snprintf(spec[0], sizeof spec[0], "%d:%d", base, base + 1);
    snprintf(spec[1], sizeof spec[1], "127.0.0.1:%d:127.0.0.1:%d", base + 1, base);
    struct carrick_port *a = carrick_udp_open(spec[0], &error), *b = carrick_udp_open(spec[1], &error);
    CHECK(a && b);
    for (uint8_t i = 0; i < 200; i++)
        CHECK(put(a, 0, i, 1500));
    for (uint32_t got = 0, n; got < 200; got += n) {
        struct carrick_frame frames[CARRICK_PORT_BATCH];
        struct pollfd readable = {.fd = b->fd, .events = POLLIN};
        CHECK(poll(&readable, 1, 5000) == 1);
        n = carrick_port_receive(b, 0, frames, CARRICK_PORT_BATCH);
        for (uint32_t i = 0; i < n; i++)
            CHECK(frames[i].len == 1500 && frames[i].data[7] == (uint8_t)(got + i));
    }
    CHECK(!carrick_udp_open(spec[0], &error) && strstr(error.text, "take another"));
    CHECK(!carrick_udp_open("1:2:3", &error) && strstr(error.text, "LOCALPORT:PEERPORT"));
    CHECK(!carrick_udp_open("0:70000", &error));
    carrick_port_close(a);
    carrick_port_close(b);
}

/* Sends `count` frames from a faulty end, one each `gap` ns, and lets the other take what comes; order[] is what came.
 */
static uint32_t through_faults(const char *faults, uint32_t count, uint64_t gap, uint16_t *order, uint32_t room,
                               struct carrick_fault_counts *counts) {
    struct carrick_fault_config config;
    struct carrick_port *ends[2];
    struct carrick_frame frames[CARRICK_PORT_BATCH];
    CHECK(carrick_fault_parse(faults, &config, &error));
    CHECK(carrick_loop_open(1500, 1024, ends, &error));
    ends[0] = carrick_fault_wrap(ends[0], &config, &error);
    CHECK(ends[0]);
    uint32_t got = 0;
    for (uint64_t step = 0; step < count + 10000u; step++) {
        if (step < count) {
            CHECK(carrick_port_reserve(ends[0], step * gap, frames, 1) == 1);
            memset(frames[0].data, 0, 64);
            carrick_store16(frames[0].data, (uint16_t)step);
            frames[0].len = 64;
            carrick_port_commit(ends[0], step * gap, frames, 1);
        } else {
            (void)carrick_port_reserve(ends[0], step * gap, frames, 1);
        }
        uint32_t n = carrick_port_receive(ends[1], step * gap, frames, CARRICK_PORT_BATCH);
        for (uint32_t i = 0; i < n && got < room; i++)
            order[got++] = carrick_load16(frames[i].data);
    }
    *counts = carrick_fault_counts(ends[0]);
    CHECK(carrick_port_deadline(ends[0]) == UINT64_MAX);
    carrick_port_close(ends[0]);
    carrick_port_close(ends[1]);
    return got;
}

static void faults_are_as_many_as_asked_for(void) {
    static uint16_t order[2][20000];
    struct carrick_fault_counts counts[2];
    uint32_t got[2];
    for (int i = 0; i < 2; i++)
        got[i] = through_faults("loss=10%,dup=0.05,reorder=2%,seed=42", 10000, 20000, order[i], 20000, &counts[i]);
    CHECK(got[0] == got[1] && memcmp(order[0], order[1], got[0] * sizeof order[0][0]) == 0); /* a seed repeats it */
    CHECK(memcmp(&counts[0], &counts[1], sizeof counts[0]) == 0);
    CHECK(got[0] == 10000 - counts[0].lost + counts[0].duplicated && counts[0].corrupted == 0 &&
          counts[0].overflowed == 0);
    CHECK(counts[0].lost > 900 && counts[0].lost < 1100);
    CHECK(counts[0].duplicated > 350 && counts[0].duplicated < 550);
    uint32_t overtaken = 0;
    for (uint32_t i = 1; i < got[0]; i++)
        overtaken += order[0][i] < order[0][i - 1];
    CHECK(overtaken > 100 && overtaken <= counts[0].reordered);
    CHECK(through_faults("loss=100%", 100, 1000, order[0], 20000, &counts[0]) == 0 && counts[0].lost == 100);
    CHECK(through_faults("jitter=1ms,seed=1", 1000, 20000, order[0], 20000, &counts[0]) == 1000);
    for (uint16_t i = 0; i < 1000; i++)
        CHECK(order[0][i] == i);
}

static void a_delay_is_exact_and_corruption_is_one_bit(void) {
    struct carrick_fault_config config = {.delay_ns = 5000, .corrupt = 1};
    struct carrick_port *ends[2];
    struct carrick_frame frame;
    CHECK(carrick_loop_open(1500, 8, ends, &error));
    struct carrick_port *bad = carrick_fault_wrap(ends[0], &config, &error);
    CHECK(put(ends[1], 100, 0, 40));
    CHECK(carrick_port_receive(bad, 100, &frame, 1) == 0 && carrick_port_deadline(bad) == 5100);
    CHECK(carrick_port_receive(bad, 5099, &frame, 1) == 0);
    CHECK(carrick_port_receive(bad, 5100, &frame, 1) == 1 && frame.len == 40);
    int bits = 0;
    for (uint32_t i = 0; i < 40; i++)
        bits += __builtin_popcount(frame.data[i]);
    CHECK(bits == 1 && carrick_fault_counts(bad).corrupted == 1);
    carrick_port_close(bad);
    carrick_port_close(ends[1]);
}

static void a_mark_is_for_who_can_be_marked(void) {
    struct carrick_fault_config config;
    struct carrick_port *ends[2];
    struct carrick_frame frame;
    CHECK(carrick_fault_parse("mark=100%", &config, &error) && config.mark >= 1);
    CHECK(carrick_loop_open(1500, 8, ends, &error));
    struct carrick_port *bad = carrick_fault_wrap(ends[0], &config, &error);
    for (uint8_t field = 0; field < 4; field++) {
        struct carrick_ip ip = {.src = 1, .dst = 2, .protocol = 6, .ttl = 64, .tos = field};
        CHECK(carrick_port_reserve(ends[1], 0, &frame, 1) == 1);
        carrick_ip_build(frame.data, &ip, 20, 7);
        frame.len = 40;
        carrick_port_commit(ends[1], 0, &frame, 1);
        CHECK(carrick_port_receive(bad, 0, &frame, 1) == 1 && frame.data[1] == (field == 0 ? 0 : 3));
        CHECK(carrick_sum_fold(carrick_sum(frame.data, CARRICK_IP_HEADER)) == 0);
    }
    CHECK(carrick_fault_counts(bad).marked == 2);
    carrick_port_close(bad);
    carrick_port_close(ends[1]);
}

static void nonsense_is_no_fault(void) {
    static const char *const bad[][2] = {
        {"loss", "The fault `loss` is none: write loss=1%, reorder=2%"},
        {"speed=1", "The fault `speed` is none: write loss=1%"},
        {"", "The fault `` is none"},
        {"=", "The fault `` is none"},
        {"loss=1%,,dup=1%", "The fault `` is none"},
        {"loss=", "The fault `loss=`: write a share from 0% to 100%"},
        {"loss=101%", "The fault `loss=101%`: write a share"},
        {"loss=-1%", "The fault `loss=-1%`: write a share"},
        {"loss=0x1%", "The fault `loss=0x1%`: write a share"},
        {"loss=nan", "The fault `loss=nan`: write a share"},
        {"dup=1%%", "The fault `dup=1%%`: write a share"},
        {"delay=10", "The fault `delay=10`: write a time up to 100s with its unit (ns, us, ms, s), as in 10ms."},
        {"delay=-1ms", "The fault `delay=-1ms`: write a time"},
        {"delay=101s", "The fault `delay=101s`: write a time up to 100s"},
        {"delay=10m", "The fault `delay=10m`: write a time"},
        {"seed=x", "The fault `seed=x`: write a number"},
        {"seed=-1", "The fault `seed=-1`: write a number"},
        {"loss=1%,loss=2%", "The fault `loss` is given twice"},
        {"dup=1%,duplicate=1%", "The fault `duplicate` is given twice"},
    };
    struct carrick_fault_config config;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!carrick_fault_parse(bad[i][0], &config, &error) &&
              strncmp(error.text, bad[i][1], strlen(bad[i][1])) == 0);
    static const char *const unclear[][2] = {
        {"loss=1", "`1` is not clear as a share: write 1% or 100%."},
        {"seed=3,dup=1.0", "`1.0` is not clear as a share: write 1% or 100%."},
        {"corrupt=2.5", "`2.5` is not clear as a share: write 2.5%."},
    };
    for (size_t i = 0; i < sizeof unclear / sizeof unclear[0]; i++)
        CHECK(!carrick_fault_parse(unclear[i][0], &config, &error) && strcmp(error.text, unclear[i][1]) == 0);
    CHECK(carrick_fault_parse("loss=0,dup=0.5,mark=100%", &config, &error));
    CHECK(carrick_fault_parse("delay=1.5ms,jitter=2us,corrupt=0.1%", &config, &error));
    CHECK(config.delay_ns == 1500000 && config.jitter_ns == 2000 && config.corrupt > 0.00099 &&
          config.corrupt < 0.00101);
}

static void a_capture_can_be_read(void) {
    char path[64], command[256];
    struct carrick_port *ends[2];
    struct carrick_frame frame;
    snprintf(path, sizeof path, "/tmp/carrick-test-%d.pcapng", getpid());
    CHECK(carrick_loop_open(1500, 8, ends, &error));
    ends[0] = carrick_pcap_wrap(ends[0], path, 1700000000000000000u, &error);
    CHECK(ends[0] && put(ends[0], 1, 0x45, 41) && put(ends[1], 0, 0x45, 43));
    CHECK(carrick_port_receive(ends[0], 123456789, &frame, 1) == 1);
    carrick_port_close(ends[0]);
    carrick_port_close(ends[1]);
    FILE *file = fopen(path, "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0 && ftell(file) == 44 + 32 + 2 * (44 + 44));
    fclose(file);
    if (system("command -v tshark >/dev/null 2>&1") == 0) {
        snprintf(command, sizeof command,
                 "tshark -r %s -T fields -e frame.time_epoch -e frame.len -e frame.packet_flags_direction 2>/dev/null "
                 "| tr '\\n\\t' '  '",
                 path);
        FILE *tshark = popen(command, "r");
        char all[256] = "";
        CHECK(tshark && fgets(all, sizeof all, tshark));
        pclose(tshark);
        CHECK(strstr(all, "1700000000.000000001 41 0x00000002 1700000000.123456789 43 0x00000001"));
    } else {
        SKIP("tshark is not installed");
    }
    unlink(path);
    CHECK(carrick_loop_open(1500, 8, ends, &error));
    CHECK(!carrick_pcap_wrap(ends[0], "/nowhere/at/all", 0, &error) && strstr(error.text, "choose another path"));
    carrick_port_close(ends[0]);
    carrick_port_close(ends[1]);
}

int main(void) {
    memory_keeps_order_and_says_when_it_is_full();
    a_capture_that_cannot_be_written_ends_and_the_port_goes_on();
    datagrams_carry_packets();
    faults_are_as_many_as_asked_for();
    a_delay_is_exact_and_corruption_is_one_bit();
    a_mark_is_for_who_can_be_marked();
    nonsense_is_no_fault();
    a_capture_can_be_read();
    CHECK(!carrick_packet_open("no-such-device", NULL, &error) && error.text[0]);
    CHECK(!carrick_tun_open("a-name-that-is-much-too-long", &error) && strstr(error.text, "too long"));
    puts("ports: ok");
    return 0;
}
