/* SPDX-License-Identifier: MIT */
/* Descriptors, descriptions, and waiting for them. */
#define _GNU_SOURCE
#include "tests/os/kernel.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct os_file *all;
static uint64_t cookies;

int os_fail(int error) {
    errno = error;
    return -1;
}

struct os_file *os_file_make(enum os_kind kind) {
    struct os_file *file = calloc(1, sizeof *file);
    if (!file)
        abort();
    file->all = all;
    all = file;
    file->kind = kind;
    file->refs = 1;
    file->uid = os_uid();
    file->cookie = ++cookies;
    return file;
}

void os_files_end(void) {
    while (all) {
        struct os_file *file = all;
        all = file->all;
        while (file->first) {
            struct os_message *message = file->first;
            file->first = message->next;
            free(message);
        }
        while (file->items) {
            struct os_item *item = file->items;
            file->items = item->next;
            free(item);
        }
        free(file);
    }
    cookies = 0;
}

uint64_t os_files_next(void) {
    uint64_t next = OS_NEVER;
    for (const struct os_file *file = all; file; file = file->all)
        if (file->kind == OS_EVENT && file->refs && file->at > os_now() && file->at < next)
            next = file->at;
    return next;
}

static void item_remove(struct os_item *item) {
    struct os_item **at = &item->set->items;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    at = &item->file->watchers;
    while (*at != item)
        at = &(*at)->next_of;
    *at = item->next_of;
    free(item);
}

void os_unwatch(struct os_file *file) {
    while (file->watchers)
        item_remove(file->watchers);
    while (file->items)
        item_remove(file->items);
}

void os_file_release(struct os_file *file) {
    if (--file->refs)
        return;
    os_unwatch(file);
    if (file->kind <= OS_DATAGRAMS)
        os_socket_release(file);
}

struct os_file *os_file(int fd) {
    struct os_file *file = fd >= 0 && fd < (int)OS_FILES ? os_table(os_self())[fd] : NULL;
    if (!file)
        errno = EBADF;
    return file;
}

int os_install(struct os_file *file, bool cloexec) {
    struct os_file **table = os_table(os_self());
    for (int fd = 0; fd < (int)OS_FILES; fd++) {
        if (table[fd])
            continue;
        table[fd] = file;
        *os_cloexec(fd) = cloexec;
        return fd;
    }
    os_file_release(file);
    return os_fail(EMFILE);
}

void os_close_all(struct os_process *process) {
    struct os_file **table = os_table(process);
    for (uint32_t fd = 0; fd < OS_FILES; fd++) {
        struct os_file *file = table[fd];
        table[fd] = NULL;
        if (file)
            os_file_release(file);
    }
}

int os_close(int fd) {
    os_enter("close", fd);
    struct os_file *file = os_file(fd);
    if (!file)
        return -1;
    os_table(os_self())[fd] = NULL;
    os_file_release(file);
    return 0;
}

int os_dup3(int from, int to, int flags) {
    os_enter("dup3", from);
    struct os_file *file = os_file(from);
    if (!file || to < 0 || to >= (int)OS_FILES || from == to)
        return file ? os_fail(EBADF) : -1;
    struct os_file *before = os_table(os_self())[to];
    file->refs++;
    os_table(os_self())[to] = file;
    *os_cloexec(to) = (flags & O_CLOEXEC) != 0;
    if (before)
        os_file_release(before);
    return to;
}

int os_dup(int from) {
    os_enter("dup", from);
    struct os_file *file = os_file(from);
    if (!file || os_no_files())
        return file ? os_fail(EMFILE) : -1;
    file->refs++;
    return os_install(file, false);
}

int os_fcntl(int fd, int command, ...) {
    os_enter("fcntl", fd);
    struct os_file *file = os_file(fd);
    va_list list;
    va_start(list, command);
    int argument = command == F_SETFL || command == F_SETFD ? va_arg(list, int) : 0;
    va_end(list);
    if (!file)
        return -1;
    switch (command) {
    case F_GETFL:
        return O_RDWR | (file->nonblock ? O_NONBLOCK : 0);
    case F_SETFL:
        file->nonblock = (argument & O_NONBLOCK) != 0;
        return 0;
    case F_GETFD:
        return *os_cloexec(fd) ? FD_CLOEXEC : 0;
    case F_DUPFD_CLOEXEC:
        if (os_no_files())
            return os_fail(EMFILE);
        file->refs++;
        return os_install(file, true);
    case F_SETFD:
        *os_cloexec(fd) = (argument & FD_CLOEXEC) != 0;
        return 0;
    default:
        return os_fail(EINVAL);
    }
}

struct os_file *os_event_make(int *fd) {
    struct os_file *file = os_file_make(OS_EVENT);
    file->at = OS_NEVER;
    *fd = os_install(file, true);
    return file;
}

void os_event_at(struct os_file *event, uint64_t at) {
    event->at = at;
}

/* Returns the descriptor of a new event, or -1 with errno. */
static int event_open(void) {
    int fd = -1;
    if (os_no_files())
        return os_fail(EMFILE);
    (void)os_event_make(&fd);
    return fd;
}

int os_eventfd(unsigned value, int flags) {
    os_enter("eventfd", value);
    (void)flags;
    return event_open();
}

int os_timerfd_create(int clock, int flags) {
    os_enter("timerfd_create", clock);
    (void)flags;
    return event_open();
}

int os_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *before) {
    os_enter("timerfd_settime", fd);
    (void)flags, (void)before;
    struct os_file *file = os_file(fd);
    if (!file || file->kind != OS_EVENT)
        return file ? os_fail(EINVAL) : -1;
    uint64_t wait = (uint64_t)when->it_value.tv_sec * 1000000000u + (uint64_t)when->it_value.tv_nsec;
    file->at = wait ? os_now() + wait : OS_NEVER;
    os_changed(file);
    return 0;
}

void os_changed(struct os_file *file) {
    for (struct os_item *item = file->watchers; item; item = item->next_of)
        item->ready = true;
}

static uint32_t item_mask(const struct os_item *item) {
    return os_mask(item->file) & (item->events | EPOLLHUP | EPOLLERR) & ~(uint32_t)EPOLLET;
}

static bool set_is_ready(const struct os_file *set) {
    for (const struct os_item *item = set->items; item; item = item->next)
        if ((item->ready || !(item->events & EPOLLET)) && item_mask(item))
            return true;
    return false;
}

/* Of what is no socket. */
static uint32_t other_mask(const struct os_file *file) {
    if (file->kind == OS_EPOLL)
        return set_is_ready(file) ? EPOLLIN : 0;
    if (file->kind == OS_EVENT)
        return file->at <= os_now() ? EPOLLIN : 0;
    return EPOLLOUT | EPOLLHUP; /* a stream over IP that the kernel has not connected */
}

uint32_t os_mask(const struct os_file *file) {
    if (file->kind > OS_DATAGRAMS)
        return other_mask(file);
    if (file->listening)
        return file->queued ? EPOLLIN : 0;
    uint32_t mask = file->error ? EPOLLERR : 0;
    bool over = file->kind != OS_DATAGRAMS && !file->peer;
    mask |= file->first || file->receive_shut ? EPOLLIN : 0;
    mask |= file->receive_shut ? EPOLLRDHUP : 0;
    mask |= (file->receive_shut && file->send_shut) || over ? EPOLLHUP : 0;
    /* Linux calls a socket writable when a quarter of its buffer is used. */
    mask |= file->unread * 4 <= os_buffer(file) ? EPOLLOUT : 0;
    return mask;
}

int os_epoll_create1(int flags) {
    os_enter("epoll_create1", flags);
    return os_no_files() ? os_fail(EMFILE) : os_install(os_file_make(OS_EPOLL), true);
}

int os_epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
    os_enter("epoll_ctl", fd);
    struct os_file *of = os_file(set), *file = os_file(fd);
    if (!of || !file)
        return -1;
    struct os_item *item = of->items;
    while (item && (item->fd != fd || item->file != file))
        item = item->next;
    if (operation == EPOLL_CTL_ADD ? item != NULL : item == NULL)
        return os_fail(item ? EEXIST : ENOENT);
    if (operation == EPOLL_CTL_DEL) {
        item_remove(item);
        return 0;
    }
    if (!item) {
        if (os_no_memory())
            return os_fail(ENOMEM);
        item = calloc(1, sizeof *item);
        if (!item)
            abort();
        *item = (struct os_item){.set = of, .file = file, .fd = fd, .next = of->items, .next_of = file->watchers};
        of->items = item;
        file->watchers = item;
    }
    item->events = event->events;
    item->data = event->data.u64;
    item->ready = true;
    return 0;
}

int os_epoll_wait(int set, struct epoll_event *events, int most, int timeout) {
    os_enter("epoll_wait", set);
    struct os_file *of = os_file(set);
    if (!of || timeout != 0)
        return of ? os_fail(EINVAL) : -1;
    int n = 0;
    for (struct os_item *item = of->items; item && n < most; item = item->next) {
        uint32_t mask = item->ready || !(item->events & EPOLLET) ? item_mask(item) : 0;
        if (mask || item->file->kind != OS_EVENT) /* whose edge is yet to come */
            item->ready = false;
        if (mask)
            events[n++] = (struct epoll_event){.events = mask, .data.u64 = item->data};
    }
    return n;
}

struct poll_wait {
    struct pollfd *fds;
    nfds_t count;
};

static int poll_look(const struct poll_wait *wait) {
    int n = 0;
    for (nfds_t i = 0; i < wait->count; i++) {
        struct pollfd *look = &wait->fds[i];
        look->revents = 0;
        if (look->fd < 0)
            continue;
        const struct os_file *file = look->fd < (int)OS_FILES ? os_table(os_self())[look->fd] : NULL;
        uint32_t wanted = (uint32_t)(look->events | POLLHUP | POLLERR);
        look->revents = file ? (short)(os_mask(file) & wanted) : POLLNVAL;
        n += look->revents != 0;
    }
    return n;
}

/* The process that waits does not run: its table is found through what it waits with. */
struct poll_files {
    struct os_file *files[64];
    uint32_t events[64];
    nfds_t count;
};

static bool poll_is_ready(void *argument) {
    const struct poll_files *wait = argument;
    for (nfds_t i = 0; i < wait->count; i++)
        if (!wait->files[i] || (os_mask(wait->files[i]) & wait->events[i]) != 0)
            return true;
    return false;
}

static int poll_until(struct pollfd *fds, nfds_t count, uint64_t deadline) {
    struct poll_files wait = {.count = 0};
    for (nfds_t i = 0; i < count && wait.count < 64; i++) {
        if (fds[i].fd < 0)
            continue;
        wait.files[wait.count] = fds[i].fd < (int)OS_FILES ? os_table(os_self())[fds[i].fd] : NULL;
        wait.events[wait.count++] = (uint32_t)(fds[i].events | POLLHUP | POLLERR);
    }
    enum os_woken woken = os_wait(poll_is_ready, &wait, deadline);
    if (woken == OS_INTERRUPTED)
        return os_fail(EINTR);
    return poll_look(&(struct poll_wait){fds, count});
}

int os_poll(struct pollfd *fds, nfds_t count, int timeout) {
    os_enter("poll", count ? fds[0].fd : -1);
    return poll_until(fds, count, timeout < 0 ? OS_NEVER : os_now() + (uint64_t)timeout * 1000000);
}

int os_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const void *mask) {
    (void)mask;
    os_enter("ppoll", count ? fds[0].fd : -1);
    uint64_t wait = timeout ? (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec : 0;
    return poll_until(fds, count, timeout ? os_now() + wait : OS_NEVER);
}
