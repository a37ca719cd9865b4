/* SPDX-License-Identifier: MIT */
/* What each call answers in each state of a socket (POSIX, and Linux where POSIX leaves it open). */
#define _GNU_SOURCE
#include "tests/os/answers.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "tests/os/library.h"
#include "tests/os/os.h"

static void expect(const char *call, int64_t result, int wanted_error) {
    int error = errno;
    if (wanted_error ? result >= 0 || error != wanted_error : result < 0)
        os_broken("%s gives %s, and not %s", call, result < 0 ? strerror(error) : "success",
                  wanted_error ? strerror(wanted_error) : "success");
}

static struct sockaddr_in somewhere(void) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0a000001u + os_random(2))};
}

static int option(int fd, int level, int name) {
    int value = -1;
    socklen_t len = sizeof value;
    expect("getsockopt", app_getsockopt(fd, level, name, &value, &len), 0);
    return value;
}

/* Its stack is rid of it, and of the options that it had. */
static bool is_over(int fd) {
    struct pollfd look = {.fd = fd};
    return app_poll(&look, 1, 0) == 1 && look.revents & POLLHUP;
}

static void of_options(int fd) {
    int on = (int)os_random(2), size = 512 << os_random(7);
    expect("setsockopt of SO_RCVBUF", app_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size), 0);
    if (option(fd, SOL_SOCKET, SO_RCVBUF) != 2 * size)
        os_broken("SO_RCVBUF is not twice what was set");
    expect("setsockopt of TCP_KEEPIDLE", app_setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &on, sizeof on), ENOPROTOOPT);
    if (option(fd, SOL_SOCKET, SO_TYPE) != SOCK_STREAM || option(fd, SOL_SOCKET, SO_DOMAIN) != AF_INET ||
        option(fd, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP)
        os_broken("a socket is not of the kind that it was made of");
    expect("setsockopt of TCP_NODELAY", app_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
    if ((option(fd, IPPROTO_TCP, TCP_NODELAY) != 0) != on && !is_over(fd))
        os_broken("TCP_NODELAY is not what was set");
    expect("setsockopt of SO_KEEPALIVE", app_setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on), 0);
    if ((option(fd, SOL_SOCKET, SO_KEEPALIVE) != 0) != on && !is_over(fd))
        os_broken("SO_KEEPALIVE is not what was set");
}

/* At most so long for the peer's end of a connection as the hosts have it. */
static const int ends[] = {-1, 1};

void answers_fresh(int fd, struct chosen *chosen) {
    int one = 1;
    *chosen = (struct chosen){.receive = os_random(4) ? 0 : 512 << os_random(7), .linger = ends[os_random(2)]};
    expect("setsockopt of TCP_KEEPIDLE", app_setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &one, sizeof one), ENOPROTOOPT);
    if (chosen->receive)
        expect("setsockopt of SO_RCVBUF",
               app_setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &chosen->receive, sizeof chosen->receive), 0);
    expect("setsockopt of TCP_LINGER2",
           app_setsockopt(fd, IPPROTO_TCP, TCP_LINGER2, &chosen->linger, sizeof chosen->linger), 0);
}

void answers_chosen(int fd, const struct chosen *chosen) {
    if (chosen->receive && option(fd, SOL_SOCKET, SO_RCVBUF) != 2 * chosen->receive)
        os_broken("SO_RCVBUF is not twice what was set before the connection");
    if (chosen->linger && option(fd, IPPROTO_TCP, TCP_LINGER2) != chosen->linger && !is_over(fd))
        os_broken("TCP_LINGER2 is not what was set before the connection");
}

void answers_connected(int fd) {
    struct sockaddr_in to = somewhere();
    switch (os_random(6)) {
    case 0:
        /* The first one after connect() in the background says that this has ended, as on Linux. */
        if (app_connect(fd, (const struct sockaddr *)&to, sizeof to) != 0 && errno != EISCONN && !is_over(fd))
            os_broken("connect of a connected socket: %s", strerror(errno));
        if (!is_over(fd))
            expect("connect of a connected socket", app_connect(fd, (const struct sockaddr *)&to, sizeof to), EISCONN);
        break;
    case 1:
        expect("accept of a connected socket", app_accept4(fd, NULL, NULL, 0), EINVAL);
        break;
    case 2:
        expect("bind of a connected socket", app_bind(fd, (const struct sockaddr *)&to, sizeof to), EINVAL);
        break;
    case 3:
        if (option(fd, SOL_SOCKET, SO_ACCEPTCONN) != 0)
            os_broken("a connected socket listens");
        break;
    case 4:
        of_options(fd);
        break;
    default: {
        int second = app_dup(fd);
        if (second >= 0)
            app_close(second);
    }
    }
}

void answers_listening(int fd) {
    struct sockaddr_in to = somewhere();
    socklen_t len = sizeof to;
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    char octet;
    switch (os_random(5)) {
    case 0:
        expect("recv of a listening socket", app_recv(fd, &octet, 1, 0), ENOTCONN);
        break;
    case 1:
        if (app_poll(&look, 1, 0) > 0)
            os_broken("a listening socket is writable");
        break;
    case 2:
        expect("getpeername of a listening socket", app_getpeername(fd, (struct sockaddr *)&to, &len), ENOTCONN);
        break;
    case 3:
        expect("bind of a listening socket", app_bind(fd, (const struct sockaddr *)&to, sizeof to), EINVAL);
        break;
    default:
        if (option(fd, SOL_SOCKET, SO_ACCEPTCONN) != 1)
            os_broken("a listening socket does not say so");
    }
}

void answers_ended(int fd) {
    char octet = 0;
    ssize_t put = app_send(fd, &octet, 1, MSG_NOSIGNAL);
    if (put >= 0 || (errno != EPIPE && errno != ECONNRESET))
        os_broken("send behind shutdown: %s", put < 0 ? strerror(errno) : "success");
    /* A peer that closed before it had read all may have reset the connection since. */
    ssize_t got = app_recv(fd, &octet, 1, 0);
    if (got > 0 || (got < 0 && errno != ECONNRESET))
        os_broken("recv behind the end of a stream: %s", got < 0 ? strerror(errno) : "bytes");
}
