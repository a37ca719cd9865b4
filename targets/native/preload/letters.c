/* SPDX-License-Identifier: MIT */
/*
 * Datagram sockets of ours. Each message over the pair begins with a carrick_letter, which is added and taken off here,
 * in the same call of the kernel: so messages stay whole, and waiting, peeking and cutting off are the kernel's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "carrick/ipv6.h"
#include "preload/preload.h"

/* The stack has no datagram sockets, which stay the kernel's then. */
static atomic_bool none_here;

static ssize_t fail(int error) {
    errno = error;
    return -1;
}

static bool is_flag(int fd, int option) {
    int value = 0, noted = errno;
    socklen_t len = sizeof value;
    bool is = preload_libc.getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 && value;
    errno = noted;
    return is;
}

bool preload_has_peer(int fd) {
    return is_flag(fd, PRELOAD_HAS_PEER);
}

static void set_has_peer(int fd, int value) {
    (void)preload_libc.setsockopt(fd, SOL_SOCKET, PRELOAD_HAS_PEER, &value, sizeof value);
}

bool preload_is_letters(int fd, struct carrick_socket_name *name) {
    int type = 0, noted = errno;
    socklen_t len = sizeof type;
    if (preload_confined) { /* which calls are left is not known: what was seen before counts */
        *name = (struct carrick_socket_name){.kind = CARRICK_SOCKET_LETTERS, .remote_port = UINT16_MAX};
        return preload_marked_letters(fd);
    }
    bool is = preload_libc.getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET &&
              preload_name(fd, name) && name->kind == CARRICK_SOCKET_LETTERS;
    if (is)
        preload_mark(fd, name);
    errno = noted;
    return is;
}

int preload_letters_replace(int fd, int own, bool has_peer) {
    static const int buffer = LETTERS_BUFFER, on = 1;
    bool broadcasts = is_flag(fd, SO_BROADCAST);
    if (preload_replace(fd, own) != 0)
        return errno;
    (void)preload_libc.setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    if (broadcasts)
        (void)preload_libc.setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    if (has_peer)
        set_has_peer(fd, 1);
    return 0;
}

/* Asks for a socket that takes the place of the kernel's. Returns an errno, or one of CARRICK_NOT_OURS. */
static int begin(int fd, struct carrick_ask *ask) {
    struct carrick_answer answer;
    if (none_here)
        return CARRICK_NOT_THIS_TYPE;
    int own, connection = preload_ask(ask, -1, &answer, &own);
    if (connection < 0)
        return errno;
    preload_libc.close(connection);
    none_here |= answer.error == CARRICK_NOT_THIS_TYPE;
    if (answer.error)
        return answer.error;
    return own < 0 ? EMFILE : preload_letters_replace(fd, own, ask->kind == CARRICK_ASK_CONNECT);
}

uint32_t preload_offers(const struct carrick_ask *of) {
    struct carrick_ask ask = *of;
    struct carrick_answer answer;
    ask.kind = CARRICK_ASK_OFFERS;
    int noted = errno, own, connection = preload_ask(&ask, -1, &answer, &own);
    if (connection >= 0)
        preload_libc.close(connection);
    errno = noted;
    return connection < 0 || answer.error ? 0 : (uint32_t)answer.id;
}

/* A socket of the kernel's that has a port there does not become ours any more. If it has got it by itself, its
 * messages go nowhere rather than to another network than those of its neighbours. */
static int stays(int fd, const struct carrick_ask *ask) {
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } own = {0};
    socklen_t len = sizeof own;
    struct carrick_ask local;
    bool chosen = preload_libc.getsockname(fd, &own.any, &len) != 0 || !preload_any_address(&own.any, len, &local) ||
                  !carrick_address_is_any(local.address);
    return !chosen && !none_here && preload_offers(ask) & 1u << SOCK_DGRAM ? ENETUNREACH : CARRICK_NOT_OURS;
}

int preload_letters_connect(int fd, const struct carrick_ask *of) {
    struct carrick_ask ask = *of;
    if (none_here || carrick_address_is_any(ask.address)) /* this host, without a name, is the kernel's loopback */
        return CARRICK_NOT_OURS;
    return preload_is_fresh(fd) ? begin(fd, &ask) : stays(fd, &ask);
}

int preload_letters_begin(int fd, const struct sockaddr *address, socklen_t len) {
    struct carrick_ask ask = {.kind = CARRICK_ASK_SEND};
    if (none_here || preload_confined || !preload_address(address, len, &ask) || carrick_address_is_any(ask.address))
        return CARRICK_NOT_OURS;
    struct carrick_ip6_address to = ask.address;
    uint16_t port = ask.port;
    if (preload_type(fd, &ask) != SOCK_DGRAM)
        return CARRICK_NOT_OURS;
    ask.address = to;
    ask.port = port;
    return preload_is_fresh(fd) ? begin(fd, &ask) : stays(fd, &ask);
}

int preload_letters_join(int fd, const struct carrick_socket_name *name, const struct sockaddr *address,
                         socklen_t len) {
    struct carrick_ask ask = {
        .kind = CARRICK_ASK_CONNECT, .id = name->id, .item = SOCK_DGRAM, .six = name->six, .only6 = name->only6};
    bool leaves = address && len >= sizeof address->sa_family && address->sa_family == AF_UNSPEC;
    if (!leaves && !preload_any_address(address, len, &ask))
        return address && len >= sizeof(struct sockaddr_in) ? EAFNOSUPPORT : EINVAL;
    if (!leaves && (!preload_address(address, len, &ask) || carrick_address_is_any(ask.address)))
        return ENETUNREACH;
    int error = preload_tell(&ask, fd);
    if (!error)
        set_has_peer(fd, !leaves);
    return error < 0 ? ENETUNREACH : error;
}

/* Whether what comes along with a message changes nothing: there is one address that it can be sent from. */
static bool is_harmless(const struct msghdr *message) {
    union {
        const struct msghdr *given;
        struct msghdr *plain;
    } region = {message}; /* it is only read */
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(region.plain, head)) {
        bool of4 = head->cmsg_level == IPPROTO_IP && head->cmsg_type == IP_PKTINFO;
        bool of6 = head->cmsg_level == IPPROTO_IPV6 && head->cmsg_type == IPV6_PKTINFO;
        if (!of4 && !of6)
            return false;
    }
    return true;
}

static bool is_group(struct carrick_ip6_address address) {
    return carrick_address_is_ipv4(address) ? (address.low >> 28 & 15) >= 14 : address.high >> 56 == 0xff;
}

/* Where a message goes. Returns an errno. */
static int address_of(int fd, const struct carrick_socket_name *name, const struct msghdr *message,
                      struct carrick_letter *letter) {
    struct carrick_ask to = {0};
    struct sockaddr *address = message->msg_name;
    if (preload_confined) /* it knows no more than that it has one */
        return address ? EPERM : 0;
    if (!address)
        return preload_has_peer(fd) ? 0 : EDESTADDRREQ;
    if (message->msg_namelen < sizeof(struct sockaddr_in))
        return EINVAL;
    bool known = preload_any_address(address, message->msg_namelen, &to);
    if (!known || (!name->six && address->sa_family == AF_INET6))
        return EAFNOSUPPORT;
    if (to.port == 0)
        return EINVAL;
    if (!preload_address(address, message->msg_namelen, &to) || carrick_address_is_any(to.address) ||
        is_group(to.address) || carrick_ip6_same(to.address, name->remote_address) ||
        carrick_address_is_ipv4(to.address) != carrick_address_is_ipv4(name->remote_address))
        return ENETUNREACH;
    letter->address = to.address;
    letter->port = to.port;
    return 0;
}

/* Behind the letter, the pieces of the message. Returns how many bytes these have, -1: they are too many. */
static ssize_t pieces_of(struct carrick_letter *letter, const struct iovec *given, size_t count, struct iovec *pieces) {
    size_t len = 0;
    if (count > IOV_MAX - 1)
        return -1;
    pieces[0] = (struct iovec){letter, sizeof *letter};
    for (size_t i = 0; i < count; i++) {
        pieces[i + 1] = given[i];
        len += given[i].iov_len;
    }
    return len > SSIZE_MAX / 2 ? -1 : (ssize_t)len;
}

/* Why nothing goes any more: the program has said so, or the stack is gone. */
static int gone(int fd, int error) {
    struct pollfd look = {.fd = fd};
    struct carrick_ask any = {.address = {0}};
    bool ends = preload_libc.poll(&look, 1, 0) == 1 && look.revents & POLLHUP;
    return ends && !preload_offers(&any) ? ENETDOWN : error;
}

/* Of the kernel's datagram socket that stands for one of the type SOCK_SEQPACKET: a pace that nobody asks for. */
#define PACKETS_PACE 0x7061636b

bool preload_stands_for_packets(int fd) {
    int pace = 0;
    socklen_t len = sizeof pace;
    return preload_libc.getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, &len) == 0 && pace == PACKETS_PACE;
}

int preload_make_packets(int domain, int flags) {
    static const int pace = PACKETS_PACE;
    int fd = preload_libc.socket(domain, SOCK_DGRAM | flags, 0);
    if (fd < 0 || preload_libc.setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, sizeof pace) == 0)
        return fd;
    preload_libc.close(fd);
    return -1;
}

ssize_t preload_letters_send(int fd, const struct carrick_socket_name *name, const struct msghdr *message, int flags) {
    struct carrick_letter letter = {.id = name->id};
    struct iovec pieces[IOV_MAX];
    if (flags & (MSG_OOB | MSG_MORE) || (message->msg_controllen > 0 && !is_harmless(message)))
        return fail(EOPNOTSUPP);
    ssize_t len = pieces_of(&letter, message->msg_iov, message->msg_iovlen, pieces);
    if (len < 0 || len > name->remote_port || len == 0)
        return fail(EMSGSIZE);
    int error = address_of(fd, name, message, &letter);
    if (!error && !preload_confined && preload_has_peer(fd))
        error = preload_letters_error(fd);
    if (error)
        return fail(error);
    /* Without a letter it is for the peer. */
    struct msghdr whole = {.msg_iov = letter.port ? pieces : pieces + 1,
                           .msg_iovlen = message->msg_iovlen + !!letter.port};
    ssize_t put = preload_libc.sendmsg(fd, &whole, flags | MSG_NOSIGNAL);
    if (put < 0 && (errno == EPIPE || errno == ECONNRESET))
        return fail(gone(fd, EPIPE));
    return put < 0 ? put : len;
}

ssize_t preload_letters_receive(int fd, const struct carrick_socket_name *name, struct msghdr *message, int flags) {
    struct carrick_letter letter = {0};
    struct iovec pieces[IOV_MAX];
    if (flags & (MSG_ERRQUEUE | MSG_OOB)) /* nothing is ever there */
        return fail(EAGAIN);
    if (pieces_of(&letter, message->msg_iov, message->msg_iovlen, pieces) < 0)
        return fail(EMSGSIZE);
    struct msghdr whole = {.msg_iov = pieces, .msg_iovlen = message->msg_iovlen + 1};
    ssize_t got = preload_libc.recvmsg(fd, &whole, flags & ~MSG_WAITALL);
    if (got < 0)
        return errno == ECONNRESET ? fail(gone(fd, ENETDOWN)) : got;
    if (got < (ssize_t)sizeof letter) {
        bool waits = !(flags & MSG_DONTWAIT) && !(preload_libc.fcntl(fd, F_GETFL, NULL) & O_NONBLOCK);
        int error = got == 0 ? gone(fd, waits ? 0 : EAGAIN) : EIO; /* 0: it was shut down */
        return error ? fail(error) : 0;
    }
    if (letter.error) {
        if (flags & MSG_PEEK)
            (void)preload_libc.recv(fd, &letter, sizeof letter, MSG_DONTWAIT);
        return fail(letter.error);
    }
    if (message->msg_name)
        preload_give(name->six, letter.address, letter.port, message->msg_name, &message->msg_namelen);
    message->msg_controllen = 0;
    message->msg_flags = whole.msg_flags & MSG_TRUNC;
    return got - (ssize_t)sizeof letter;
}

int preload_letters_waiting(int fd) {
    struct carrick_letter letter;
    int noted = errno;
    ssize_t got = preload_libc.recv(fd, &letter, sizeof letter, MSG_PEEK | MSG_DONTWAIT);
    errno = noted;
    return got == sizeof letter ? letter.error : 0;
}

int preload_letters_error(int fd) {
    struct carrick_letter letter;
    int error = preload_letters_waiting(fd);
    if (error)
        (void)preload_libc.recv(fd, &letter, sizeof letter, MSG_DONTWAIT);
    return error;
}

int preload_letters_ends(int fd, const struct carrick_socket_name *name, struct carrick_answer *ends) {
    struct carrick_ask ask = {.kind = CARRICK_ASK_GET, .id = name->id, .item = CARRICK_ITEM_PEER};
    int own, connection = preload_ask(&ask, fd, ends, &own);
    if (connection < 0)
        return errno;
    if (own >= 0)
        preload_libc.close(own);
    preload_libc.close(connection);
    return ends->error;
}

int preload_letters_shutdown(int fd, int how) {
    int done = preload_libc.shutdown(fd, how);
    return done != 0 || preload_has_peer(fd) ? done : (int)fail(ENOTCONN); /* as on Linux, it is done all the same */
}

#define INHERITED 256 /* descriptors that are looked at */

/* A program that another one has executed may write to one of ours before it reads from it. */
__attribute__((constructor(103))) static void mark_inherited(void) {
    struct carrick_socket_name name;
    for (int fd = 0; fd < INHERITED && *preload_door(); fd++)
        if (preload_name(fd, &name))
            preload_mark(fd, &name);
}
