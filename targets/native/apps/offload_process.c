/* SPDX-License-Identifier: MIT */
/* The socket by which a process answers messages: one at a time is connected, and others wait until it ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "apps/offload.h"
#include "carrick/socket_file.h"

#define AT_ONCE 64 /* answers, before packets have their turn */

static bool watch(const struct offload *all, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(all->process.epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* While a message waits for space in the socket, that is waited for. */
static void watch_space(const struct offload *all, bool wanted) {
    struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.fd = all->process.fd};
    (void)epoll_ctl(all->process.epoll, EPOLL_CTL_MOD, all->process.fd, &event);
}

/* The messages that the process has, or that wait for it, pass unchanged. */
static void process_gone(struct offload *all, const char *sentence) {
    struct offload_process *process = &all->process;
    fprintf(stderr, "offload: %s Messages pass unchanged until a process connects.\n", sentence);
    close(process->fd);
    process->fd = -1;
    for (uint32_t n = 0; n < all->settings.workers; n++)
        if (all->workers[n].waits == OFFLOAD_SOCKET || all->workers[n].waits == OFFLOAD_PROCESS)
            offload_pass(&all->workers[n]);
    if (!watch(all, process->listener, EPOLLIN))
        fprintf(stderr, "offload: no other process can connect.\n");
}

/* The next one waits in the listener's queue as long as this one is there. */
static void process_arrived(struct offload *all) {
    struct offload_process *process = &all->process;
    process->fd = accept4(process->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (process->fd < 0)
        return;
    (void)epoll_ctl(process->epoll, EPOLL_CTL_DEL, process->listener, NULL);
    if (watch(all, process->fd, EPOLLIN)) {
        fprintf(stderr, "offload: a process has connected\n");
        return;
    }
    close(process->fd);
    process->fd = -1;
}

bool offload_process_give(struct offload_worker *worker) {
    const struct offload *all = worker->all;
    struct carrick_offload_head head = {worker->number, CARRICK_OFFLOAD_MESSAGE, worker->len};
    struct iovec parts[2] = {{&head, sizeof head}, {worker->taken, worker->len}};
    struct msghdr record = {.msg_iov = parts, .msg_iovlen = 2};
    if (sendmsg(all->process.fd, &record, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return true;
    /* Whatever else went wrong, the end of the socket is about to be read. */
    watch_space(all, true);
    return false;
}

/* There is space again: for whoever waits. */
static void give_waiting(struct offload *all) {
    watch_space(all, false);
    for (uint32_t n = 0; n < all->settings.workers; n++) {
        struct offload_worker *worker = &all->workers[n];
        if (worker->waits != OFFLOAD_SOCKET)
            continue;
        if (!offload_process_give(worker))
            return;
        worker->waits = OFFLOAD_PROCESS;
    }
}

/* The answer in `all->record`, of `got` bytes without its head. */
static void answer(struct offload *all, const struct carrick_offload_head *head, size_t got, bool cut) {
    struct offload_worker *worker = &all->workers[head->message % OFFLOAD_WORKERS];
    if (worker->waits != OFFLOAD_PROCESS || worker->number != head->message) {
        offload_note(all, OFFLOAD_NEEDLESS,
                     "the process answered a message that it does not have: a second answer, or a late one.");
        return;
    }
    bool whole = !cut && head->len == got && got <= all->settings.longest;
    if (whole && head->kind == CARRICK_OFFLOAD_PUT && got > 0) {
        /* The worker's own buffer, which lasts until the request is completed, becomes the one to read into. */
        uint8_t *data = all->record;
        all->record = worker->answer;
        worker->answer = data;
        offload_put(worker, data, head->len);
    } else if (whole && head->kind == CARRICK_OFFLOAD_CONSUME && got == 0 && carrick_stack_has(all->stack, "consume")) {
        offload_consume(worker);
    } else {
        offload_note(all, OFFLOAD_INVALID,
                     "the process gave an invalid answer: an unknown kind, no bytes, more bytes than longest, or "
                     "another number of bytes than its head says. The message passes unchanged.");
        offload_pass(worker);
    }
}

/* Answers that have arrived. */
static void read_answers(struct offload *all) {
    for (int n = 0; n < AT_ONCE && all->process.fd >= 0; n++) {
        struct carrick_offload_head head = {0};
        struct iovec parts[2] = {{&head, sizeof head}, {all->record, all->settings.longest + 1}};
        struct msghdr record = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t got = recvmsg(all->process.fd, &record, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got <= 0)
            process_gone(all, "the process has ended.");
        else if ((size_t)got < sizeof head)
            process_gone(all, "the process sent a record without a head, and was disconnected.");
        else
            answer(all, &head, (size_t)got - sizeof head, record.msg_flags & MSG_TRUNC);
    }
}

void offload_set_timer(const struct offload *all) {
    uint64_t first = CARRICK_NEVER;
    for (uint32_t n = 0; n < all->settings.workers; n++)
        first = all->workers[n].deadline < first ? all->workers[n].deadline : first;
    /* 0 would disarm it. */
    uint64_t at = first == CARRICK_NEVER ? 0 : first + carrick_stack_epoch(all->stack);
    struct itimerspec when = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    (void)timerfd_settime(all->process.timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void ready(void *user) {
    struct offload *all = user;
    struct epoll_event events[3];
    int n = epoll_wait(all->process.epoll, events, 3, 0);
    for (int i = 0; i < n; i++) {
        uint64_t times;
        if (events[i].data.fd == all->process.timer) {
            if (read(all->process.timer, &times, sizeof times) == sizeof times)
                offload_due(all);
        } else if (events[i].data.fd == all->process.listener) {
            process_arrived(all);
        } else if (all->process.fd >= 0) {
            if (events[i].events & EPOLLOUT)
                give_waiting(all);
            read_answers(all);
        }
    }
}

/* The messages are others': only the user of this process may serve, unless an administrator allows another. */
static bool listen_at(struct offload *all, struct carrick_port_error *error) {
    struct offload_process *process = &all->process;
    const char *path = all->settings.path;
    process->listener = carrick_socket_file_open(path, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0600, error);
    process->bound = process->listener >= 0;
    if (!process->bound)
        return false;
    if (listen(process->listener, 8) == 0 && watch(all, process->listener, EPOLLIN))
        return true;
    snprintf(error->text, sizeof error->text, "offload: cannot serve %.80s: %s.", path, strerror(errno));
    return false;
}

bool offload_process_open(struct offload *all, struct carrick_port_error *error) {
    struct offload_process *process = &all->process;
    process->epoll = epoll_create1(EPOLL_CLOEXEC);
    process->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (process->epoll < 0 || process->timer < 0 || !watch(all, process->timer, EPOLLIN) ||
        !carrick_stack_watch(all->stack, process->epoll, ready, all)) {
        snprintf(error->text, sizeof error->text, "offload: the system gives no timer: %s.", strerror(errno));
        return false;
    }
    return !all->settings.path[0] || listen_at(all, error);
}

void offload_process_close(struct offload *all) {
    struct offload_process *process = &all->process;
    const int fds[] = {process->fd, process->listener, process->timer, process->epoll};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (process->bound)
        unlink(all->settings.path);
}
