/* SPDX-License-Identifier: MIT */
/*
 * When somebody begins to listen, or no longer does: the kernel's tracepoint of socket states, on each processor. It is
 * of all namespaces, so it only tells that a look is worth it. sock_diag(7) tells of sockets that end, and of no
 * others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apps/space.h"

#define TRACING   "/sys/kernel/tracing"
#define TRACED    TRACING "/events/sock/inet_sock_set_state/id"
#define LISTENING "oldstate == 10 || newstate == 10" /* TCP_LISTEN */

/* The number of the tracepoint; 0: there is none. The file system may be mounted nowhere: then it is for this process
 * alone. */
static uint64_t number_of_tracepoint(void) {
    char text[24] = "";
    int fd = open(TRACED, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("tracefs", TRACING, "tracefs", 0, NULL) == 0)
        fd = open(TRACED, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    return got > 0 ? strtoull(text, NULL, 10) : 0;
}

/* -1: the system refused. */
static int traced_on(int processor, uint64_t number, struct perf_event_mmap_page **page) {
    struct perf_event_attr traced = {.type = PERF_TYPE_TRACEPOINT,
                                     .size = sizeof traced,
                                     .config = number,
                                     .sample_period = 1,
                                     .wakeup_events = 1,
                                     .disabled = 1};
    long size = sysconf(_SC_PAGESIZE);
    int fd = (int)syscall(SYS_perf_event_open, &traced, -1, processor, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -1;
    void *ring = ioctl(fd, PERF_EVENT_IOC_SET_FILTER, LISTENING) == 0
                     ? mmap(NULL, (size_t)size * 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                     : MAP_FAILED;
    if (ring == MAP_FAILED || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0) {
        close(fd);
        return -1;
    }
    *page = ring;
    return fd;
}

int space_listens_open(struct space_listens *listens) {
    uint64_t number = number_of_tracepoint();
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    int set = number ? epoll_create1(EPOLL_CLOEXEC) : -1;
    *listens = (struct space_listens){0};
    for (int i = 0; i < processors && i < SPACE_PROCESSORS && set >= 0; i++) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLET};
        struct perf_event_mmap_page *page = NULL;
        int fd = traced_on(i, number, &page);
        if (fd < 0 && errno == ENODEV) /* the processor is off */
            continue;
        if (fd < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0) {
            close(set);
            return -1;
        }
        listens->rings[listens->count++] = page;
    }
    return set;
}

bool space_listens_changed(const struct space_listens *listens) {
    for (uint32_t i = 0; i < listens->count; i++) {
        const struct perf_event_mmap_page *page = listens->rings[i];
        if (__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) != page->data_tail)
            return true;
    }
    return false;
}

void space_listens_seen(int set, const struct space_listens *listens) {
    struct epoll_event events[16];
    while (epoll_wait(set, events, 16, 0) == 16)
        ;
    for (uint32_t i = 0; i < listens->count; i++) {
        struct perf_event_mmap_page *page = listens->rings[i];
        __atomic_store_n(&page->data_tail, __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
    }
}
