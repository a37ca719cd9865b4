/* SPDX-License-Identifier: MIT */
/*
 * The key-value store of the applications `kv` and `kvload` over sockets, whoever's they are: the kernel's, or with
 * LD_PRELOAD a stack's.
 *
 *     kv serve PORT      kv load IP PORT CONNECTIONS ATONCE KEYS COUNT
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "apps/kv.h"

#define EVENTS 256

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int stream(void) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        fail("socket");
    return fd;
}

static struct sockaddr_in address(const char *ip, const char *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
    if (inet_pton(AF_INET, ip, &at.sin_addr) != 1 || at.sin_port == 0) {
        fprintf(stderr, "`%s` and `%s` are no address and port.\n", ip, port);
        exit(2);
    }
    return at;
}

static void without_delay(int fd) {
    static const int yes = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0)
        fail("TCP_NODELAY");
}

static void watch(int set, int fd, void *what) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0)
        fail("epoll_ctl");
}

static int waited(int set, struct epoll_event *events) {
    int count = epoll_wait(set, events, EVENTS, -1);
    if (count < 0)
        fail("epoll_wait");
    return count;
}

static bool send_all(int fd, const uint8_t *octets, size_t len) {
    while (len > 0) {
        ssize_t sent = write(fd, octets, len);
        if (sent <= 0)
            return false;
        octets += sent;
        len -= (size_t)sent;
    }
    return true;
}

struct served {
    int fd;
    struct kv_served kv;
};

static bool serve_one(struct kv_store *store, struct served *served) {
    struct kv_served *kv = &served->kv;
    ssize_t got = read(served->fd, kv->in + kv->held, KV_IN - kv->held);
    if (got <= 0)
        return false;
    kv->held += (uint32_t)got;
    kv->out_len = 0;
    kv_serve(store, kv);
    return send_all(served->fd, kv->out, kv->out_len) && !kv->wrong;
}

static void serve(const char *port) {
    static const int yes = 1;
    struct sockaddr_in at = address("0.0.0.0", port);
    struct kv_store *store = kv_store_open(KV_KEYS);
    int listener = stream(), set = epoll_create1(EPOLL_CLOEXEC);
    if (!store || set < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 4096) != 0)
        fail("listen");
    watch(set, listener, NULL);
    fprintf(stderr, "listening on port %s\n", port);
    for (;;) {
        struct epoll_event events[EVENTS];
        for (int i = waited(set, events); i-- > 0;) {
            struct served *served = events[i].data.ptr;
            if (served && !serve_one(store, served)) {
                close(served->fd);
                free(served);
            } else if (!served) {
                served = calloc(1, sizeof *served);
                if (!served || (served->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0)
                    fail("accept");
                without_delay(served->fd);
                watch(set, served->fd, served);
            }
        }
    }
}

struct asker {
    int fd;
    struct kv_asker kv;
};

static void ask(struct kv_asks *asks, struct asker *asker, uint64_t time) {
    kv_ask(asks, &asker->kv, time);
    if (!send_all(asker->fd, asker->kv.out, asker->kv.out_len))
        fail("send");
}

static void hear(struct kv_asks *asks, struct asker *asker, uint64_t time, bool *all) {
    struct kv_asker *kv = &asker->kv;
    ssize_t got = read(asker->fd, kv->in + kv->held, sizeof kv->in - kv->held);
    if (got <= 0)
        fail("receive");
    kv->held += (uint32_t)got;
    if (!kv_hear(asks, kv, time, all)) {
        fprintf(stderr, "another answer came than should\n");
        exit(1);
    }
}

static void load(const struct sockaddr_in *at, uint32_t count, struct kv_asks *asks) {
    struct asker *askers = calloc(count, sizeof *askers);
    int set = epoll_create1(EPOLL_CLOEXEC);
    if (!askers || set < 0 || !kv_asks_open(asks))
        fail("memory");
    for (uint32_t i = 0; i < count; i++) {
        askers[i].fd = stream();
        if (connect(askers[i].fd, (const struct sockaddr *)at, sizeof *at) != 0)
            fail("connect");
        without_delay(askers[i].fd);
        watch(set, askers[i].fd, &askers[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        ask(asks, &askers[i], now());
    while (!kv_asks_over(asks)) {
        struct epoll_event events[EVENTS];
        int ready = waited(set, events);
        uint64_t time = now();
        for (int i = 0; i < ready; i++) {
            bool all;
            hear(asks, events[i].data.ptr, time, &all);
            for (uint32_t j = 0; all && j < count; j++)
                ask(asks, &askers[j], time);
            ask(asks, events[i].data.ptr, time);
        }
    }
    kv_asks_print(asks, now());
}

static uint32_t number(const char *text, uint32_t most) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || value < 1 || value > most) {
        fprintf(stderr, "`%s` is not a number from 1 to %u.\n", text, most);
        exit(2);
    }
    return (uint32_t)value;
}

int main(int argc, char **argv) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    if (argc == 3 && strcmp(argv[1], "serve") == 0) {
        serve(argv[2]);
    } else if (argc == 8 && strcmp(argv[1], "load") == 0) {
        struct sockaddr_in at = address(argv[2], argv[3]);
        uint32_t connections = number(argv[4], 65536);
        struct kv_asks asks = {.at_once = number(argv[5], KV_AT_ONCE),
                               .keys = number(argv[6], KV_KEYS),
                               .count = number(argv[7], KV_COUNT)};
        load(&at, connections, &asks);
        return 0;
    }
    fprintf(stderr, "kv serve PORT, or kv load IP PORT CONNECTIONS ATONCE KEYS COUNT\n");
    return 2;
}
