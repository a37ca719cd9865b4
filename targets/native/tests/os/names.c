/* SPDX-License-Identifier: MIT */
/* Unix sockets: how they are made, named and connected; their options. */
#define _GNU_SOURCE
#include "tests/os/kernel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#ifndef SO_BUF_LOCK /* Linux 5.14 */
#define SO_BUF_LOCK 72
#endif

/* The sockets that have a name; few at a time. */
#define NAMES 1024u
static struct os_file *named[NAMES];
static uint32_t name_count;

static struct os_file *find(const struct sockaddr_un *name, socklen_t len) {
    struct os_file *found = NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < name_count; i++) {
        struct os_file *file = named[i];
        if (!file->refs)
            continue;
        named[kept++] = file;
        bool same = name->sun_path[0] ? strcmp(file->name.sun_path, name->sun_path) == 0
                                      : file->name_len == len && memcmp(&file->name, name, len) == 0;
        if (same)
            found = file;
    }
    name_count = kept;
    return found;
}

void os_names_end(void) {
    name_count = 0;
}

static enum os_kind kind_of(int type) {
    return (type & 0xf) == SOCK_STREAM ? OS_STREAM : (type & 0xf) == SOCK_SEQPACKET ? OS_PACKETS : OS_DATAGRAMS;
}

static struct os_file *make(enum os_kind kind, int type) {
    struct os_file *file = os_file_make(kind);
    file->nonblock = (type & SOCK_NONBLOCK) != 0;
    return file;
}

int os_socket(int domain, int type, int protocol) {
    os_enter("socket", domain);
    (void)protocol;
    if (os_no_files())
        return os_fail(EMFILE);
    struct os_file *file = make(domain == AF_UNIX ? kind_of(type) : OS_INET, type);
    file->six = domain == AF_INET6;
    return os_install(file, (type & SOCK_CLOEXEC) != 0);
}

static void join(struct os_file *a, struct os_file *b) {
    a->peer = b;
    b->peer = a;
    a->connected = b->connected = true;
}

int os_socketpair(int domain, int type, int protocol, int ends[2]) {
    os_enter("socketpair", domain);
    (void)protocol;
    if (os_no_files())
        return os_fail(ENFILE);
    struct os_file *a = make(kind_of(type), type), *b = make(kind_of(type), type);
    join(a, b);
    a->peer_uid = b->peer_uid = os_uid();
    ends[0] = os_install(a, (type & SOCK_CLOEXEC) != 0);
    ends[1] = ends[0] < 0 ? -1 : os_install(b, (type & SOCK_CLOEXEC) != 0);
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    if (ends[0] < 0) {
        os_file_release(b);
    } else {
        os_table(os_self())[ends[0]] = NULL;
        os_file_release(a);
    }
    return os_fail(EMFILE);
}

int os_bind(int fd, const struct sockaddr *address, socklen_t len) {
    os_enter("bind", fd);
    struct os_file *file = os_file(fd);
    if (!file || file->kind > OS_INET)
        return file ? os_fail(ENOTSOCK) : -1;
    if (file->kind == OS_INET)
        return 0;
    if (file->name_len || len > sizeof file->name)
        return os_fail(EINVAL);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(&name, address, len);
    if (os_no_memory())
        return os_fail(ENOMEM);
    if (find(&name, len) || name_count == NAMES)
        return os_fail(EADDRINUSE);
    file->name = name;
    file->name_len = len;
    named[name_count++] = file;
    return 0;
}

int os_listen(int fd, int backlog) {
    os_enter("listen", fd);
    struct os_file *file = os_file(fd);
    if (!file || file->kind > OS_INET || file->connected)
        return file ? os_fail(EOPNOTSUPP) : -1;
    if (file->kind != OS_INET && !file->name_len)
        return os_fail(EINVAL);
    file->listening = true;
    file->uid = os_uid();
    file->backlog = backlog < 0 ? 0 : (uint32_t)backlog < OS_BACKLOG - 1 ? (uint32_t)backlog : OS_BACKLOG - 1;
    return 0;
}

static bool has_waiting(void *argument) {
    const struct os_file *file = argument;
    return file->queued > 0;
}

int os_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags) {
    os_enter("accept4", fd);
    struct os_file *file = os_file(fd);
    if (!file || !file->listening)
        return file ? os_fail(EINVAL) : -1;
    enum os_woken woken = os_wait(has_waiting, file, file->nonblock ? 0 : OS_NEVER);
    if (woken != OS_READY)
        return os_fail(woken == OS_INTERRUPTED ? EINTR : EAGAIN);
    if (os_no_files())
        return os_fail(EMFILE);
    struct os_file *accepted = file->queue[0];
    file->queued--;
    memmove(file->queue, file->queue + 1, file->queued * sizeof file->queue[0]);
    accepted->nonblock = (flags & SOCK_NONBLOCK) != 0;
    if (address && len)
        *len = sizeof(sa_family_t);
    return os_install(accepted, (flags & SOCK_CLOEXEC) != 0);
}

static bool has_space(void *argument) {
    const struct os_file *file = argument;
    return !file->refs || file->queued <= file->backlog;
}

int os_connect(int fd, const struct sockaddr *address, socklen_t len) {
    os_enter("connect", fd);
    struct os_file *file = os_file(fd);
    if (!file || file->kind > OS_INET)
        return file ? os_fail(ENOTSOCK) : -1;
    if (file->kind == OS_INET)
        return os_fail(ECONNREFUSED);
    if (file->connected)
        return os_fail(EISCONN);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(&name, address, len < sizeof name ? len : sizeof name);
    struct os_file *listener = find(&name, len);
    if (!listener || !listener->listening || listener->kind != file->kind)
        return os_fail(listener ? ECONNREFUSED : name.sun_path[0] ? ENOENT : ECONNREFUSED);
    if (os_no_memory())
        return os_fail(ENOMEM);
    enum os_woken woken = os_wait(has_space, listener, file->nonblock ? 0 : OS_NEVER);
    if (woken != OS_READY)
        return os_fail(woken == OS_INTERRUPTED ? EINTR : EAGAIN);
    if (!listener->refs)
        return os_fail(ECONNREFUSED);
    struct os_file *other = os_file_make(file->kind);
    join(file, other);
    other->uid = listener->uid;
    other->name = listener->name;
    other->name_len = listener->name_len;
    other->peer_uid = os_uid();
    file->peer_uid = listener->uid;
    listener->queue[listener->queued++] = other;
    os_changed(listener);
    os_changed(file);
    return 0;
}

static int give_name(const struct os_file *of, struct sockaddr *address, socklen_t *len) {
    struct sockaddr_un name = of->name;
    name.sun_family = of->kind == OS_INET ? (of->six ? AF_INET6 : AF_INET) : AF_UNIX;
    socklen_t full = of->name_len ? of->name_len : (socklen_t)sizeof(sa_family_t);
    memcpy(address, &name, *len < full ? *len : full);
    *len = full;
    return 0;
}

int os_getsockname(int fd, struct sockaddr *address, socklen_t *len) {
    os_enter("getsockname", fd);
    const struct os_file *file = os_file(fd);
    if (!file || file->kind > OS_INET)
        return file ? os_fail(ENOTSOCK) : -1;
    return give_name(file, address, len);
}

int os_getpeername(int fd, struct sockaddr *address, socklen_t *len) {
    os_enter("getpeername", fd);
    const struct os_file *file = os_file(fd);
    if (!file || file->kind > OS_INET)
        return file ? os_fail(ENOTSOCK) : -1;
    return file->peer ? give_name(file->peer, address, len) : os_fail(ENOTCONN);
}

static uint32_t option_find(const struct os_file *file, int level, int name) {
    uint32_t i = 0;
    while (i < file->option_count && (file->options[i].level != level || file->options[i].name != name))
        i++;
    return i;
}

static int *option_at(struct os_file *file, int level, int name) {
    uint32_t i = option_find(file, level, name);
    return i < file->option_count ? file->options[i].value : NULL;
}

uint32_t os_buffer(const struct os_file *file) {
    uint32_t i = option_find(file, SOL_SOCKET, SO_SNDBUF);
    return i < file->option_count ? (uint32_t)file->options[i].value[0] : os_pressure()->buffer;
}

static bool is_size(int level, int option) {
    return level == SOL_SOCKET && (option == SO_SNDBUF || option == SO_RCVBUF);
}

static int give(void *value, socklen_t *len, const void *what, size_t size) {
    size = *len < size ? *len : size;
    memcpy(value, what, size);
    *len = (socklen_t)size;
    return 0;
}

static int socket_option(struct os_file *file, int option) {
    static const int types[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM, SOCK_STREAM};
    int error = file->error;
    switch (option) {
    case SO_ERROR:
        file->error = 0;
        return error;
    case SO_TYPE:
        return types[file->kind];
    case SO_DOMAIN:
        return file->kind != OS_INET ? AF_UNIX : file->six ? AF_INET6 : AF_INET;
    case SO_PROTOCOL:
        return file->kind == OS_INET ? IPPROTO_TCP : 0;
    case SO_ACCEPTCONN:
        return file->listening;
    case SO_SNDBUF:
    case SO_RCVBUF:
        return (int)os_pressure()->buffer;
    case SO_BUF_LOCK:
        return (option_at(file, SOL_SOCKET, SO_SNDBUF) ? 1 : 0) | (option_at(file, SOL_SOCKET, SO_RCVBUF) ? 2 : 0);
    default:
        return 0;
    }
}

int os_getsockopt(int fd, int level, int option, void *value, socklen_t *len) {
    os_enter("getsockopt", option);
    struct os_file *file = os_file(fd);
    if (!file || file->kind > OS_INET)
        return file ? os_fail(ENOTSOCK) : -1;
    if (level != SOL_SOCKET && file->kind != OS_INET)
        return os_fail(EOPNOTSUPP);
    if (level == SOL_SOCKET && option == SO_PEERCRED) {
        struct ucred who = {.pid = 1, .uid = file->connected ? file->peer_uid : (uid_t)-1};
        return give(value, len, &who, sizeof who);
    }
    if (level == SOL_SOCKET && option == SO_COOKIE)
        return *len < sizeof file->cookie ? os_fail(EINVAL) : give(value, len, &file->cookie, sizeof file->cookie);
    const int *kept = option_at(file, level, option);
    int is = level == SOL_SOCKET ? socket_option(file, option) : 0;
    int two[2] = {kept ? kept[0] : is, kept ? kept[1] : 0};
    return give(value, len, two, option == SO_LINGER && level == SOL_SOCKET ? sizeof two : sizeof two[0]);
}

int os_setsockopt(int fd, int level, int option, const void *value, socklen_t len) {
    os_enter("setsockopt", option);
    struct os_file *file = os_file(fd);
    if (!file || file->kind > OS_INET)
        return file ? os_fail(ENOTSOCK) : -1;
    if (level != SOL_SOCKET && file->kind != OS_INET)
        return os_fail(EOPNOTSUPP);
    int *kept = option_at(file, level, option);
    if (!kept && file->option_count < OS_OPTIONS) {
        file->options[file->option_count].level = level;
        file->options[file->option_count].name = option;
        kept = file->options[file->option_count++].value;
    }
    if (kept)
        memcpy(kept, value, len < 2 * sizeof *kept ? len : 2 * sizeof *kept);
    if (kept && is_size(level, option))
        kept[0] = kept[0] * 2 < (int)OS_BUFFER ? (int)OS_BUFFER : kept[0] * 2;
    return 0;
}
