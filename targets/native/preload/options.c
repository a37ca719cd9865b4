/* SPDX-License-Identifier: MIT */
/* Names and options of sockets. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

#include "preload/preload.h"

#define LINGER_MOST 120 /* s, as the kernel has it */

/* Of a connection that begins: what the stack has chosen. */
static void ends_of(int fd, const struct carrick_socket_name *name, struct carrick_socket_name *ends) {
    struct carrick_ask ask = {.kind = CARRICK_ASK_GET, .id = name->id, .item = CARRICK_ITEM_LOCAL};
    struct carrick_answer answer;
    int own, connection = preload_ask(&ask, fd, &answer, &own);
    *ends = *name;
    if (connection < 0)
        return;
    if (own >= 0)
        preload_libc.close(own);
    preload_libc.close(connection);
    if (answer.error)
        return;
    ends->local_address = answer.local_address;
    ends->local_port = answer.local_port;
}

PRELOADED int getsockname(int fd, struct sockaddr *address, socklen_t *len) {
    struct carrick_socket_name name, ends;
    if (!preload_name(fd, &name))
        return preload_libc.getsockname(fd, address, len);
    if (name.kind == CARRICK_SOCKET_LETTERS && preload_has_peer(fd))
        name.local_address = name.remote_address; /* the stack's: as on Linux, it is known by the peer's */
    if (name.kind == CARRICK_SOCKET_CONNECTION) {
        if (!preload_ends(fd, &ends))
            ends_of(fd, &name, &ends);
        name = ends;
    }
    preload_give(name.six, name.local_address, name.local_port, address, len);
    return 0;
}

static int peer_of(int fd, const struct carrick_socket_name *name, struct sockaddr *address, socklen_t *len) {
    struct carrick_answer ends;
    int error = preload_has_peer(fd) ? preload_letters_ends(fd, name, &ends) : ENOTCONN;
    if (!error && ends.remote_port == 0)
        error = ENOTCONN;
    if (!error)
        preload_give(name->six, ends.remote_address, ends.remote_port, address, len);
    errno = error ? error : errno;
    return error ? -1 : 0;
}

PRELOADED int getpeername(int fd, struct sockaddr *address, socklen_t *len) {
    struct carrick_socket_name name, ends;
    if (!preload_name(fd, &name))
        return preload_libc.getpeername(fd, address, len);
    if (name.kind == CARRICK_SOCKET_LETTERS)
        return peer_of(fd, &name, address, len);
    if (name.kind != CARRICK_SOCKET_CONNECTION || !preload_ends(fd, &ends) || preload_is_over(fd, &name)) {
        errno = ENOTCONN;
        return -1;
    }
    preload_give(ends.six, ends.remote_address, ends.remote_port, address, len);
    return 0;
}

static int fail(int error) {
    errno = error;
    return -1;
}

static int give_octets(const void *from, size_t size, void *to, socklen_t *len) {
    *len = *len < size ? *len : (socklen_t)size;
    memcpy(to, from, *len);
    return 0;
}

static int give(int value, void *to, socklen_t *len) {
    return give_octets(&value, sizeof value, to, len);
}

/* SO_ERROR: what the kernel noted of the pair's end says less than the stack knows. Who reads it clears it. */
static int why(int fd, const struct carrick_socket_name *name, void *to, socklen_t *len) {
    int noted = 0;
    socklen_t noted_len = sizeof noted;
    (void)preload_libc.getsockopt(fd, SOL_SOCKET, SO_ERROR, &noted, &noted_len);
    /* The stack is asked in any case: an error that has just arrived may not have reached the pair. */
    if (name->kind == CARRICK_SOCKET_CONNECTION)
        noted = preload_why(fd, name->id, CARRICK_WHY_TAKE);
    return give(noted, to, len);
}

/* What the program tells of a connection (enum carrick_info). */
enum {
    STATE,
    SEGMENT,
    ROUND_TRIP,
    VARIATION,
    TIMEOUT,
    WINDOW,
    THRESHOLD,
    IN_FLIGHT,
    RETRIES,
    LINGER,
    PROBES,
    RECOVERY,
    OPTIONS,
    ACK_DELAY,
    LOST,
    SENT_AGAIN,
    ARRIVED,
    SILENCE,
    OFFERED,
    SEGMENT_MOST,
    ITEMS
};
enum { SENT, RECEIVED, TIMES };
enum { STATE_CLOSED = 0, STATE_WAITS = 9 }; /* of the program's numbers: it is over for its peer, too */

static uint32_t microseconds(uint64_t nanoseconds) {
    return (uint32_t)(nanoseconds / 1000);
}

static uint32_t milliseconds(uint64_t nanoseconds) {
    return (uint32_t)(nanoseconds / 1000000);
}

bool preload_is_over(int fd, const struct carrick_socket_name *name) {
    struct pollfd look = {.fd = fd};
    uint64_t state = 0;
    if (preload_libc.poll(&look, 1, 0) != 1 || !(look.revents & POLLHUP))
        return false;
    int noted = errno, error = preload_get(fd, name->id, CARRICK_ITEM_INFO + STATE, &state);
    errno = noted;
    return error || state == STATE_CLOSED || state == STATE_WAITS;
}

static struct tcp_info info_of(const uint64_t *told, const uint64_t *times, uint32_t headers) {
    static const uint8_t states[] = {7, 2, 3, 1, 4, 5, 8, 11, 9, 6}; /* as the system numbers them */
    uint32_t segment = told[SEGMENT] ? (uint32_t)told[SEGMENT] : 1;
    uint32_t most = (uint32_t)told[SEGMENT_MOST];
    /* Timestamps are in each packet, and take so many bytes of it. */
    uint32_t stamps = told[OPTIONS] & TCPI_OPT_TIMESTAMPS ? 12 : 0;
    return (struct tcp_info){
        .tcpi_state = told[STATE] < sizeof states ? states[told[STATE]] : 0,
        .tcpi_ca_state = (uint8_t)told[RECOVERY],
        .tcpi_retransmits = (uint8_t)told[RETRIES],
        .tcpi_probes = (uint8_t)told[PROBES],
        .tcpi_backoff = (uint8_t)told[RETRIES],
        .tcpi_options = (uint8_t)told[OPTIONS],
        .tcpi_snd_wscale = told[OPTIONS] >> 8 & 15,
        .tcpi_rcv_wscale = told[OPTIONS] >> 16 & 15,
        .tcpi_rto = microseconds(told[TIMEOUT]),
        .tcpi_ato = microseconds(told[ACK_DELAY]),
        .tcpi_snd_mss = segment,
        .tcpi_rcv_mss = most - stamps,
        .tcpi_unacked = ((uint32_t)told[IN_FLIGHT] + segment - 1) / segment,
        .tcpi_sacked = ((uint32_t)told[ARRIVED] + segment - 1) / segment,
        .tcpi_lost = ((uint32_t)told[LOST] + segment - 1) / segment,
        .tcpi_retrans = ((uint32_t)told[SENT_AGAIN] + segment - 1) / segment,
        .tcpi_last_data_sent = milliseconds(times[SENT]),
        .tcpi_last_data_recv = milliseconds(times[RECEIVED]),
        .tcpi_last_ack_recv = milliseconds(told[SILENCE]),
        .tcpi_pmtu = segment + stamps + headers,
        .tcpi_rcv_ssthresh = (uint32_t)told[OFFERED],
        .tcpi_rtt = microseconds(told[ROUND_TRIP]),
        .tcpi_rttvar = microseconds(told[VARIATION]),
        .tcpi_snd_ssthresh = (uint32_t)told[THRESHOLD] / segment,
        .tcpi_snd_cwnd = (uint32_t)told[WINDOW] / segment,
        .tcpi_advmss = most - stamps,
    };
}

/* All of the kernel's structure: what is behind glibc's is not known here, and 0, but for a minimum that is not. */
#define INFO_BYTES     248
#define INFO_MIN_RTT   148
#define STATE_CLOSE    7
#define STATE_SYN_SENT 2
#define STATE_LISTEN   10
static int give_info(const struct tcp_info *info, void *to, socklen_t *len) {
    uint8_t all[INFO_BYTES] = {0};
    uint32_t unknown = UINT32_MAX;
    memcpy(all, info, offsetof(struct tcp_info, tcpi_reordering));
    memcpy(all + INFO_MIN_RTT, &unknown, sizeof unknown);
    return give_octets(all, sizeof all, to, len);
}

static int tell_info(int fd, uint64_t id, void *to, socklen_t *len) {
    uint64_t told[ITEMS], times[TIMES];
    int error = preload_get_all(fd, id, CARRICK_ITEM_INFO, ITEMS, told);
    error = error ? error : preload_get_all(fd, id, CARRICK_ITEM_SENT, TIMES, times);
    if (error == EINVAL || error == ENOTCONN) /* it is over, or not there yet */
        return give_info(&(struct tcp_info){.tcpi_state = error == EINVAL ? STATE_CLOSE : STATE_SYN_SENT}, to, len);
    if (error)
        return fail(error);
    /* The headers of network and transport, without options. */
    struct carrick_socket_name ends;
    bool over6 = preload_ends(fd, &ends) && !carrick_address_is_ipv4(ends.remote_address);
    struct tcp_info info = info_of(told, times, over6 ? 60 : 40);
    return give_info(&info, to, len);
}

/* In seconds: what was set, else what the program has. Returns an errno. */
static int get_linger(int fd, uint64_t id, uint64_t *told) {
    int error = preload_get(fd, id, CARRICK_OPTION_LINGER, told);
    if (error != ENOPROTOOPT)
        return error;
    error = preload_get(fd, id, CARRICK_ITEM_INFO + LINGER, told);
    *told /= 1000000000;
    return error;
}

static int get_transport(int fd, const struct carrick_socket_name *name, int level, int option, void *value,
                         socklen_t *len) {
    uint64_t told;
    uint32_t known = preload_option(level, option);
    int error = ENOPROTOOPT;
    if (level == IPPROTO_TCP && option == TCP_INFO)
        return name->kind == CARRICK_SOCKET_CONNECTION
                   ? tell_info(fd, name->id, value, len)
                   : give_info(&(struct tcp_info){.tcpi_state = preload_listens(fd) ? STATE_LISTEN : STATE_CLOSE},
                               value, len);
    if (level == IPPROTO_IPV6 && option == IPV6_V6ONLY)
        return name->six ? give(name->only6, value, len) : fail(ENOPROTOOPT);
    if (level == IPPROTO_TCP && option == TCP_MAXSEG)
        error = preload_get(fd, name->id, CARRICK_ITEM_INFO + SEGMENT, &told);
    else if (known == CARRICK_OPTION_LINGER)
        error = get_linger(fd, name->id, &told);
    else if (known)
        error = preload_get(fd, name->id, known, &told);
    return error ? fail(error) : give((int)told, value, len);
}

/* Of a datagram socket. */
static int get_of_letters(int fd, const struct carrick_socket_name *name, int level, int option, void *value,
                          socklen_t *len) {
    if (level == IPPROTO_IPV6 && option == IPV6_V6ONLY && name->six)
        return give(name->only6, value, len);
    if (level != SOL_SOCKET)
        return fail(level == IPPROTO_TCP ? EOPNOTSUPP : ENOPROTOOPT);
    switch (option) {
    case SO_ERROR:
        return give(preload_letters_error(fd), value, len);
    case SO_TYPE:
        return give(SOCK_DGRAM, value, len);
    case SO_DOMAIN:
        return give(name->six ? AF_INET6 : AF_INET, value, len);
    case SO_PROTOCOL:
        return give(IPPROTO_UDP, value, len);
    case PRELOAD_HAS_PEER:
        return fail(ENOPROTOOPT);
    default:
        return preload_libc.getsockopt(fd, level, option, value, len);
    }
}

static int get_socket(int fd, const struct carrick_socket_name *name, int option, void *value, socklen_t *len) {
    switch (option) {
    case SO_ERROR:
        return why(fd, name, value, len);
    case SO_TYPE:
        return give(name->packets ? SOCK_SEQPACKET : SOCK_STREAM, value, len);
    case SO_DOMAIN:
        return give(name->six ? AF_INET6 : AF_INET, value, len);
    case SO_PROTOCOL:
        return give(name->packets ? 0 : IPPROTO_TCP, value, len);
    case SO_ACCEPTCONN:
        return give(name->kind == CARRICK_SOCKET_BOUND && preload_listens(fd), value, len);
    case SO_KEEPALIVE: /* an accepted connection has it of its listening socket, at the stack */
        return get_transport(fd, name, SOL_SOCKET, option, value, len);
    default:
        return preload_libc.getsockopt(fd, SOL_SOCKET, option, value, len);
    }
}

static bool is_level(int level) {
    return level == SOL_SOCKET || level == IPPROTO_TCP || level == IPPROTO_IP || level == IPPROTO_IPV6;
}

/* Of a socket that is the kernel's: the type of one that stands for another. */
static int get_before(int fd, int level, int option, void *value, socklen_t *len) {
    struct carrick_ask ask;
    bool type = level == SOL_SOCKET && (option == SO_TYPE || option == SO_PROTOCOL);
    if (type && preload_type(fd, &ask) == SOCK_SEQPACKET)
        return give(option == SO_TYPE ? SOCK_SEQPACKET : 0, value, len);
    return preload_libc.getsockopt(fd, level, option, value, len);
}

PRELOADED int getsockopt(int fd, int level, int option, void *restrict value, socklen_t *restrict len) {
    struct carrick_socket_name name;
    if (!value || !len || !is_level(level))
        return preload_libc.getsockopt(fd, level, option, value, len);
    if (!preload_name(fd, &name))
        return get_before(fd, level, option, value, len);
    if (name.kind == CARRICK_SOCKET_LETTERS)
        return get_of_letters(fd, &name, level, option, value, len);
    return level == SOL_SOCKET ? get_socket(fd, &name, option, value, len)
                               : get_transport(fd, &name, level, option, value, len);
}

static int set(int fd, uint64_t id, uint32_t option, uint32_t value) {
    int error =
        preload_tell(&(struct carrick_ask){.kind = CARRICK_ASK_SET, .id = id, .item = option, .value = value}, fd);
    return error ? fail(error) : 0;
}

/* Closing resets at once, or waits for a time until all has arrived, or does neither. */
static int set_linger(int fd, uint64_t id, const void *value, socklen_t len) {
    struct linger linger;
    if (len < sizeof linger)
        return fail(EINVAL);
    memcpy(&linger, value, sizeof linger);
    if (set(fd, id, CARRICK_OPTION_RESET, linger.l_onoff && !linger.l_linger) != 0)
        return -1;
    return preload_libc.setsockopt(fd, SOL_SOCKET, SO_LINGER, value, len);
}

/* How the stack has an option's value. False: it is none. */
static bool value_of(uint32_t option, int wanted, uint32_t *value) {
    *value = wanted != 0;
    if (option == CARRICK_OPTION_TOS)
        *value = (uint32_t)wanted & 0xff;
    else if (option == CARRICK_OPTION_PATIENCE)
        *value = (uint32_t)wanted;
    else if (option == CARRICK_OPTION_LINGER)
        *value = (uint32_t)(wanted < 0 ? -1 : wanted < LINGER_MOST ? wanted : LINGER_MOST);
    return option != CARRICK_OPTION_PATIENCE || wanted >= 0;
}

/* The kernel's bounds of a buffer's size are ours. */
static int set_receive(int fd, uint64_t id, int option, const void *value, socklen_t len) {
    int size = 0;
    socklen_t size_len = sizeof size;
    if (preload_libc.setsockopt(fd, SOL_SOCKET, option, value, len) != 0 ||
        preload_libc.getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &size_len) != 0)
        return -1;
    return set(fd, id, CARRICK_OPTION_RECEIVE, (uint32_t)size / 2); /* the kernel tells twice of it */
}

/* Whether a socket may become one of ours, and then has not what the kernel has. */
static bool loses(int fd) {
    struct carrick_ask ask = {.address = {0}};
    if (!preload_is_fresh(fd))
        return false;
    int type = preload_type(fd, &ask);
    ask.address = (struct carrick_ip6_address){0};
    return type != SOCK_DGRAM || preload_offers(&ask) & 1u << SOCK_DGRAM;
}

/* Of a socket that is the kernel's: what it would lose as one of ours is refused. */
static int set_before(int fd, int level, int option, const void *value, socklen_t len) {
    bool known = level == SOL_SOCKET
                     ? option != SO_ZEROCOPY
                     : preload_option(level, option) || (level == IPPROTO_IPV6 && option == IPV6_V6ONLY);
    bool lost = !known && loses(fd);
    if (level == IPPROTO_TCP && option == TCP_LINGER2)
        preload_sets_linger2();
    return lost ? fail(ENOPROTOOPT) : preload_libc.setsockopt(fd, level, option, value, len);
}

/* Of a datagram socket: what the kernel does for the pair. */
static int set_of_letters(int fd, const struct carrick_socket_name *name, int level, int option, const void *value,
                          socklen_t len) {
    int size = 0;
    if (level == IPPROTO_IPV6 && option == IPV6_V6ONLY)
        return fail(name->six ? EINVAL : ENOPROTOOPT); /* it is bound already */
    if (level != SOL_SOCKET || option == SO_ZEROCOPY || option == PRELOAD_HAS_PEER)
        return fail(ENOPROTOOPT);
    if ((option == SO_SNDBUF || option == SO_SNDBUFFORCE) && len >= sizeof size) {
        memcpy(&size, value, sizeof size);
        size = size < LETTERS_BUFFER ? LETTERS_BUFFER : size;
        return preload_libc.setsockopt(fd, level, option, &size, sizeof size);
    }
    return preload_libc.setsockopt(fd, level, option, value, len);
}

/* A Unix socket says otherwise that it has no options of a level. */
static int of_level(int fd, int done) {
    struct carrick_socket_name name;
    if (done != 0 && errno == EOPNOTSUPP && preload_name(fd, &name))
        errno = ENOPROTOOPT;
    return done;
}

PRELOADED int setsockopt(int fd, int level, int option, const void *value, socklen_t len) {
    struct carrick_socket_name name;
    if (level == SOL_SOCKET && option == SO_LINGER)
        preload_lingers();
    if (!value || !is_level(level))
        return of_level(fd, preload_libc.setsockopt(fd, level, option, value, len));
    if (!preload_name(fd, &name))
        return set_before(fd, level, option, value, len);
    if (name.kind == CARRICK_SOCKET_LETTERS)
        return set_of_letters(fd, &name, level, option, value, len);
    if (level == SOL_SOCKET && option == SO_LINGER)
        return set_linger(fd, name.id, value, len);
    if (level == IPPROTO_IPV6 && option == IPV6_V6ONLY)
        return fail(name.six ? EINVAL : ENOPROTOOPT); /* it is bound already */
    uint32_t known = preload_option(level, option), told;
    int wanted = 0;
    if (len < sizeof wanted && !(level == IPPROTO_IP && len > 0)) /* IP alone has options of one byte */
        return fail(EINVAL);
    if (known == CARRICK_OPTION_RECEIVE)
        return set_receive(fd, name.id, option, value, len);
    memcpy(&wanted, value, len < sizeof wanted ? len : sizeof wanted);
    if (!value_of(known, wanted, &told))
        return fail(EINVAL);
    if (known && set(fd, name.id, known, told) != 0)
        return -1;
    if (level == SOL_SOCKET && option != SO_ZEROCOPY)
        return preload_libc.setsockopt(fd, level, option, value, len);
    return known ? 0 : fail(ENOPROTOOPT);
}
