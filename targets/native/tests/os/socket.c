/* SPDX-License-Identifier: MIT */
/* Unix sockets: what is written, read, passed on and shut. */
#define _GNU_SOURCE
#include "tests/os/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* Linux: a writer is woken once a quarter of its buffer or less is used. */
static void unread_less(struct os_file *sender, uint32_t by) {
    sender->unread -= by;
    if (sender->refs && sender->unread * 4 <= os_buffer(sender))
        os_changed(sender);
}

static void message_end(struct os_file *file) {
    struct os_message *message = file->first;
    file->first = message->next;
    if (!file->first)
        file->last = NULL;
    unread_less(message->sender, message->len - message->at);
    if (message->rights)
        os_file_release(message->rights);
    free(message);
}

/* The other end of what is closed. */
static void peer_hangs_up(struct os_file *peer, bool unread) {
    peer->receive_shut = peer->send_shut = true;
    if (unread)
        peer->error = ECONNRESET;
    os_changed(peer);
}

void os_socket_release(struct os_file *file) {
    bool unread = file->first != NULL;
    while (file->first)
        message_end(file);
    while (file->queued > 0) {
        struct os_file *waiting = file->queue[--file->queued];
        if (waiting->peer && waiting->peer->refs)
            peer_hangs_up(waiting->peer, true);
        os_file_release(waiting);
    }
    if (file->peer && file->peer->refs && file->kind != OS_DATAGRAMS)
        peer_hangs_up(file->peer, unread);
}

static uint32_t last_writer;

uint32_t os_last_writer(void) {
    return last_writer;
}

struct io_wait {
    struct os_file *file;
    size_t len;
};

static bool can_read(void *argument) {
    const struct os_file *file = ((struct io_wait *)argument)->file;
    return file->first || file->receive_shut || file->error;
}

static bool can_write(void *argument) {
    const struct io_wait *wait = argument;
    const struct os_file *file = wait->file;
    return file->unread < os_buffer(file) || file->send_shut || file->error;
}

static enum os_woken io_wait(struct os_file *file, bool (*ready)(void *), int flags) {
    struct io_wait wait = {.file = file};
    bool at_once = file->nonblock || flags & MSG_DONTWAIT;
    return os_wait(ready, &wait, at_once ? 0 : OS_NEVER);
}

static ssize_t socket_error(struct os_file *file) {
    int error = file->error;
    file->error = 0;
    return os_fail(error);
}

static void message_put(struct os_file *from, const uint8_t *octets, uint32_t len, struct os_file *rights) {
    struct os_file *to = from->peer;
    struct os_message *message = malloc(sizeof *message + len);
    if (!message)
        abort();
    *message = (struct os_message){.rights = rights, .sender = from, .uid = os_uid(), .len = len};
    if (len)
        memcpy(message->octets, octets, len);
    if (rights)
        rights->refs++;
    if (to->last)
        to->last->next = message;
    else
        to->first = message;
    to->last = message;
    from->unread += len;
    os_changed(to);
}

static ssize_t write_some(struct os_file *file, const uint8_t *octets, size_t len, struct os_file *rights, int flags) {
    for (;;) {
        if (file->error)
            return socket_error(file);
        if (!file->peer)
            return os_fail(file->send_shut ? EPIPE : ENOTCONN);
        if (file->send_shut || !file->peer->refs || file->peer->receive_shut)
            return os_fail(EPIPE);
        if (os_no_memory())
            return os_fail(ENOBUFS);
        enum os_woken woken = io_wait(file, can_write, flags);
        if (woken != OS_READY)
            return os_fail(woken == OS_INTERRUPTED ? EINTR : EAGAIN);
        if (file->error || file->send_shut || !file->peer->refs)
            continue;
        break;
    }
    uint32_t buffer = os_buffer(file);
    size_t space = buffer > file->unread ? buffer - file->unread : 0;
    if (file->kind == OS_STREAM && len > space)
        len = space;
    if (file->kind == OS_STREAM && len > 1 && os_chance(os_pressure()->shorts))
        len = 1 + os_random((uint32_t)len - 1);
    message_put(file, octets, (uint32_t)len, rights);
    return (ssize_t)len;
}

/* The file's next bytes. `*rights`: what came along. */
static ssize_t read_some(struct os_file *file, uint8_t *octets, size_t len, struct os_file **rights, int flags) {
    if (rights)
        *rights = NULL;
    if (!file->peer && file->kind != OS_DATAGRAMS && !file->first)
        return os_fail(file->kind == OS_STREAM ? EINVAL : ENOTCONN);
    enum os_woken woken = io_wait(file, can_read, flags);
    if (woken != OS_READY)
        return os_fail(woken == OS_INTERRUPTED ? EINTR : EAGAIN);
    if (!file->first)
        return file->error ? socket_error(file) : 0;
    if (file->kind == OS_STREAM && len > 1 && os_chance(os_pressure()->shorts))
        len = 1 + os_random((uint32_t)len - 1);
    size_t got = 0;
    while (got < len && file->first) {
        struct os_message *message = file->first;
        bool marked = message->rights != NULL;
        uint32_t part = message->len - message->at;
        part = part < len - got ? part : (uint32_t)(len - got);
        memcpy(octets + got, message->octets + message->at, part);
        last_writer = message->uid;
        got += part;
        if (flags & MSG_PEEK)
            break;
        message->at += part;
        unread_less(message->sender, part);
        if (rights && !*rights) {
            *rights = message->rights;
            message->rights = NULL;
        }
        if (file->kind != OS_STREAM || message->at == message->len)
            message_end(file);
        if (file->kind != OS_STREAM || marked) /* what came with a descriptor is the last that is read at once */
            break;
    }
    return (ssize_t)got;
}

static struct os_file *socket_of(int fd) {
    struct os_file *file = os_file(fd);
    if (file && file->kind > OS_INET) {
        errno = ENOTSOCK;
        return NULL;
    }
    if (file && file->kind == OS_INET) {
        errno = EPIPE;
        return NULL;
    }
    return file;
}

ssize_t os_send(int fd, const void *data, size_t len, int flags) {
    os_enter("send", fd);
    struct os_file *file = socket_of(fd);
    return file ? write_some(file, data, len, NULL, flags) : -1;
}

ssize_t os_sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *to, socklen_t to_len) {
    (void)to_len;
    os_enter("sendto", fd);
    struct os_file *file = socket_of(fd);
    if (file && to && file->kind == OS_STREAM)
        return os_fail(file->peer ? EISCONN : EOPNOTSUPP);
    return file ? write_some(file, data, len, NULL, flags) : -1;
}

ssize_t os_write(int fd, const void *data, size_t len) {
    return os_send(fd, data, len, 0);
}

ssize_t os_writev(int fd, const struct iovec *pieces, int count) {
    return count > 0 ? os_send(fd, pieces[0].iov_base, pieces[0].iov_len, 0) : os_fail(EINVAL);
}

ssize_t os_recv(int fd, void *data, size_t len, int flags) {
    os_enter("recv", fd);
    struct os_file *file = socket_of(fd);
    if (!file)
        return errno == EPIPE ? os_fail(ENOTCONN) : -1;
    struct os_file *rights;
    ssize_t got = read_some(file, data, len, &rights, flags);
    if (rights)
        os_file_release(rights);
    return got;
}

ssize_t os_recvfrom(int fd, void *data, size_t len, int flags, struct sockaddr *from, socklen_t *from_len) {
    if (from && from_len)
        *from_len = 0;
    return os_recv(fd, data, len, flags);
}

ssize_t os_read(int fd, void *data, size_t len) {
    return os_recv(fd, data, len, 0);
}

ssize_t os_readv(int fd, const struct iovec *pieces, int count) {
    return count > 0 ? os_recv(fd, pieces[0].iov_base, pieces[0].iov_len, 0) : os_fail(EINVAL);
}

ssize_t os_sendmsg(int fd, const struct msghdr *message, int flags) {
    os_enter("sendmsg", fd);
    struct os_file *file = socket_of(fd), *rights = NULL;
    if (!file)
        return -1;
    if (message->msg_name && file->kind == OS_STREAM)
        return os_fail(file->peer ? EISCONN : EOPNOTSUPP);
    if (message->msg_control && message->msg_controllen) {
        const struct cmsghdr *head = CMSG_FIRSTHDR(message);
        int passed = -1;
        if (head && head->cmsg_type == SCM_RIGHTS)
            memcpy(&passed, CMSG_DATA(head), sizeof passed);
        rights = os_file(passed);
        if (!rights)
            return -1;
    }
    return write_some(file, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, rights, flags);
}

ssize_t os_recvmsg(int fd, struct msghdr *message, int flags) {
    os_enter("recvmsg", fd);
    struct os_file *file = socket_of(fd), *rights = NULL;
    if (!file)
        return errno == EPIPE ? os_fail(ENOTCONN) : -1;
    ssize_t got = read_some(file, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, &rights, flags);
    bool has_space = message->msg_control && message->msg_controllen >= CMSG_LEN(sizeof(int));
    int fresh = -1;
    if (rights && has_space && !os_no_files())
        fresh = os_install(rights, (flags & MSG_CMSG_CLOEXEC) != 0);
    else if (rights)
        os_file_release(rights);
    message->msg_flags = rights && fresh < 0 ? MSG_CTRUNC : 0;
    if (fresh >= 0) {
        struct cmsghdr *head = message->msg_control;
        *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fresh), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(head), &fresh, sizeof fresh);
        message->msg_controllen = CMSG_LEN(sizeof fresh);
    } else {
        message->msg_controllen = 0;
    }
    return got;
}

int os_shutdown(int fd, int how) {
    os_enter("shutdown", fd);
    struct os_file *file = socket_of(fd);
    if (!file || !file->peer)
        return os_fail(ENOTCONN);
    bool sends = how == SHUT_WR || how == SHUT_RDWR, receives = how == SHUT_RD || how == SHUT_RDWR;
    file->send_shut |= sends;
    file->receive_shut |= receives;
    if (file->peer->refs) {
        file->peer->receive_shut |= sends;
        file->peer->send_shut |= receives;
        os_changed(file->peer);
    }
    os_changed(file);
    return 0;
}
