/* SPDX-License-Identifier: MIT */
/* What applications do with a connection. */
#define _GNU_SOURCE
#include "tests/os/apps.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "tests/os/answers.h"
#include "tests/os/library.h"

#define AT_ONCE 4096u

enum outcome { GOES_ON, NOTHING_NOW, ENDED, BROKEN };

static enum outcome failed(struct conn *conn, const char *call) {
    int error = errno;
    if (error == EAGAIN || error == EINTR)
        return NOTHING_NOW;
    bool lack = error == ENOBUFS || error == ENOMEM || error == ENETDOWN;
    if (!(lack && world.scarce) && error != ECONNRESET && error != EPIPE && error != ETIMEDOUT &&
        error != ECONNABORTED && error != ENOTCONN)
        os_broken("%s of a connection gives %s", call, strerror(error));
    model_broken(conn->end, error, call);
    return BROKEN;
}

/* Sends up to `len` bytes; `*sent` grows. */
static enum outcome put(struct conn *conn, uint32_t len, int flags, uint32_t *sent) {
    uint8_t octets[AT_ONCE];
    len = len < AT_ONCE ? len : AT_ONCE;
    flags |= os_random(8) ? 0 : MSG_MORE;
    model_offer(conn->end, octets, len);
    if (!(flags & MSG_DONTWAIT))
        model_wants(conn->end, MODEL_SPACE);
    /* The address of a connected stream is not looked at. */
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    ssize_t n = os_random(4) ? app_send(conn->fd, octets, len, flags | MSG_NOSIGNAL)
                             : app_sendto(conn->fd, octets, len, flags | MSG_NOSIGNAL,
                                          os_random(2) ? (const struct sockaddr *)&to : NULL, sizeof to);
    if (!(flags & MSG_DONTWAIT))
        model_wants(conn->end, MODEL_NOTHING);
    if (n < 0)
        return failed(conn, "send");
    if (n == 0 || n > (ssize_t)len)
        os_broken("send of %u octets gives %zd", len, n);
    model_sent(conn->end, (uint32_t)n, flags & MSG_MORE);
    *sent += (uint32_t)n;
    return GOES_ON;
}

static enum outcome get(struct conn *conn, uint32_t len, int flags, uint32_t *got) {
    uint8_t octets[AT_ONCE];
    len = len < AT_ONCE ? len : AT_ONCE;
    if (!(flags & MSG_DONTWAIT))
        model_wants(conn->end, MODEL_DATA);
    ssize_t n = flags || os_random(2) ? app_recv(conn->fd, octets, len, flags) : app_read(conn->fd, octets, len);
    if (!(flags & MSG_DONTWAIT))
        model_wants(conn->end, MODEL_NOTHING);
    if (n < 0)
        return failed(conn, "recv");
    if (n == 0) {
        model_over(conn->end);
        return ENDED;
    }
    model_received(conn->end, octets, (uint32_t)n);
    *got += (uint32_t)n;
    return GOES_ON;
}

/* What a program does whose socket does not wait. */
static void wait_for(struct conn *conn, short events) {
    struct pollfd look = {.fd = conn->fd, .events = events};
    model_wants(conn->end, events == POLLIN ? MODEL_DATA : MODEL_SPACE);
    (void)app_poll(&look, 1, -1);
    model_wants(conn->end, MODEL_NOTHING);
}

static bool get_all(struct conn *conn, uint32_t len) {
    uint32_t got = 0;
    while (got < len) {
        enum outcome outcome = get(conn, len - got, 0, &got);
        if (outcome == ENDED || outcome == BROKEN)
            return false;
        if (outcome == NOTHING_NOW)
            wait_for(conn, POLLIN);
    }
    return true;
}

static bool put_all(struct conn *conn, uint32_t len) {
    uint32_t sent = 0;
    while (sent < len) {
        enum outcome outcome = put(conn, len - sent, 0, &sent);
        if (outcome == BROKEN)
            return false;
        if (outcome == NOTHING_NOW)
            wait_for(conn, POLLOUT);
    }
    return true;
}

/* Requests and answers, with pauses: true when all of them have been. */
static bool requests(struct conn *conn, bool asks, uint64_t shared) {
    uint32_t count = 1 + shared % 4, len = 1 + (uint32_t)(shared >> 8) % 700,
             answer = 1 + (uint32_t)(shared >> 20) % 900;
    for (uint32_t i = 0; i < count; i++) {
        if (asks ? !put_all(conn, len) || !get_all(conn, answer) : !get_all(conn, len) || !put_all(conn, answer))
            return false;
        if (asks && i + 1 < count)
            os_sleep(os_random(3) ? os_random(5000000) : os_random(2000000000));
        if (os_random(64) == 0)
            return false;
    }
    return true;
}

static void finish(struct conn *conn) {
    model_finish(conn->end);
    if (app_shutdown(conn->fd, SHUT_WR) != 0 && errno != ENOTCONN)
        os_broken("shutdown: %s", strerror(errno));
}

/* Both directions at once, as a program does that polls. */
static bool both_ways(struct conn *conn) {
    uint32_t total = os_random(4) ? os_random(3000) : os_random(60000), sent = 0, got = 0;
    bool finished = false, over = false;
    while (!finished || !over) {
        struct pollfd look = {.fd = conn->fd, .events = (short)((over ? 0 : POLLIN) | (sent < total ? POLLOUT : 0))};
        model_wants(conn->end, over ? MODEL_SPACE : MODEL_DATA);
        int n = app_poll(&look, 1, os_random(2) ? -1 : (int)os_random(100));
        model_wants(conn->end, MODEL_NOTHING);
        if (n < 0 && errno != EINTR)
            os_broken("poll: %s", strerror(errno));
        uint32_t part = 1 + os_random(os_random(2) ? 100 : AT_ONCE);
        if (n > 0 && look.revents & POLLOUT && sent < total &&
            put(conn, total - sent < part ? total - sent : part, MSG_DONTWAIT, &sent) == BROKEN)
            return false;
        if (n > 0 && look.revents & (POLLIN | POLLHUP | POLLERR)) {
            enum outcome outcome = get(conn, part, MSG_DONTWAIT, &got);
            if (outcome == BROKEN)
                return false;
            over |= outcome == ENDED;
        }
        if (sent == total && !finished) {
            finish(conn);
            finished = true;
        }
        if (os_random(256) == 0)
            return false; /* it leaves in the middle */
    }
    return true;
}

/* Reads what comes until it ends. False: it broke off. */
static bool drain(struct conn *conn) {
    uint32_t got = 0;
    for (;;) {
        enum outcome outcome = get(conn, AT_ONCE, 0, &got);
        if (outcome == ENDED || outcome == BROKEN)
            return outcome == ENDED;
        if (outcome == NOTHING_NOW)
            wait_for(conn, POLLIN);
    }
}

void session(struct app *app, struct conn *conn) {
    uint64_t shared = model_shared(conn->end);
    bool asks = app->listener < 0 && app->port == 0, whole;
    if (os_random(4) == 0 && !world.scarce)
        answers_connected(conn->fd);
    whole = shared % 3 == 0 ? both_ways(conn) : requests(conn, asks, shared >> 2);
    uint32_t manner = os_random(8);
    if (manner == 0) {
        struct linger linger = {1, 0};
        model_resets(conn->end);
        conn->reset = app_setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) == 0;
    } else if (whole && manner > 2) {
        finish(conn);
        if (drain(conn) && os_random(4) == 0 && !world.scarce)
            answers_ended(conn->fd);
    }
    conn_close(app, conn);
}
