/* SPDX-License-Identifier: MIT */
/* Applications that connect, and those that listen. */
#define _GNU_SOURCE
#include "tests/os/apps.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "tests/os/answers.h"
#include "tests/os/library.h"

struct world world;

uint32_t node_address(uint32_t node) {
    return node < 2 ? 0x0a000001u + node : 0x0a000063u;
}

const char *node_door(uint32_t node) {
    return node ? "/door1" : "/door0";
}

struct app *app_begin(const char *name, uint32_t node, uint32_t uid, os_main_fn run) {
    if (world.app_count == APPS)
        return NULL;
    struct app *app = &world.apps[world.app_count];
    *app = (struct app){.node = node, .uid = uid, .accepting_since = OS_NEVER, .listener = -1};
    app->process = os_spawn(name, uid, run, app);
    if (!app->process)
        return NULL;
    os_set_door(app->process, node_door(node));
    world.app_count++;
    return app;
}

struct app *app_fork(struct app *parent, const char *name, os_main_fn run) {
    if (world.app_count == APPS)
        return NULL;
    struct app *app = &world.apps[world.app_count];
    *app = *parent;
    app->accepting_since = OS_NEVER;
    app->process = os_fork(name, run, app);
    if (!app->process)
        return NULL;
    for (uint32_t i = 0; i < APP_CONNS; i++)
        if (app->conns[i])
            app->conns[i]->refs++;
    world.app_count++;
    return app;
}

static uint32_t app_limit(const struct app *app) {
    for (uint32_t i = 0; i < 2; i++)
        if (world.limits[app->node][i].uid == app->uid && world.limits[app->node][i].most)
            return world.limits[app->node][i].most;
    return UINT32_MAX;
}

static uint32_t app_share(const struct app *app) {
    uint32_t share = 0;
    for (uint32_t i = 0; i < world.app_count; i++) {
        const struct app *other = &world.apps[i];
        if (other->node != app->node || other->uid != app->uid || !os_lives(other->process))
            continue;
        share += other->connecting;
        for (uint32_t c = 0; c < APP_CONNS; c++)
            share += other->conns[c] != NULL;
    }
    return share;
}

/* Each listening socket of a user keeps a part of what the user may have. */
static bool listens_elsewhere(const struct app *app) {
    for (uint32_t i = 0; i < world.app_count; i++) {
        const struct app *other = &world.apps[i];
        if (other != app && other->node == app->node && other->uid == app->uid && other->listener >= 0)
            return true;
    }
    return false;
}

bool app_may_accept(const struct app *app) {
    uint32_t share = app_share(app), limit = app_limit(app);
    return limit == UINT32_MAX || (!listens_elsewhere(app) && share < limit);
}

static struct listener *listener_of(const struct app *app) {
    return &world.listeners[app->node][app->port - PORT_FIRST];
}

static void listener_may(const struct app *app, bool may) {
    struct listener *listener = listener_of(app);
    if (listener->may != may)
        listener->changed_at = os_now();
    listener->may = may;
    listener->since = OS_NEVER;
    if (!may)
        model_unlisten(app->port, node_address(app->node));
}

static void conn_release(struct app *app, uint32_t place) {
    struct conn *conn = app->conns[place];
    app->conns[place] = NULL;
    if (--conn->refs == 0)
        model_close(conn->end, conn->reset);
}

void app_gone(struct app *app) {
    for (uint32_t i = 0; i < APP_CONNS; i++)
        if (app->conns[i])
            conn_release(app, i);
    if (app->listener >= 0)
        listener_may(app, false);
    app->listener = -1;
    app->accepting_since = OS_NEVER;
}

static struct conn conns[1024];
static uint32_t conn_count;

struct conn *conn_make(struct app *app, int fd, struct model_name local, struct model_name remote) {
    struct conn *conn = &conns[conn_count++ % 1024];
    *conn = (struct conn){.fd = fd, .refs = 1, .end = model_end(local, remote)};
    for (uint32_t i = 0; i < APP_CONNS; i++)
        if (!app->conns[i]) {
            app->conns[i] = conn;
            return conn;
        }
    os_broken("an application has more connections than places");
}

void conn_close(struct app *app, struct conn *conn) {
    for (uint32_t i = 0; i < APP_CONNS; i++)
        if (app->conns[i] == conn)
            conn_release(app, i);
    if (app_close(conn->fd) != 0)
        os_broken("close: %s", strerror(errno));
}

static struct sockaddr_in in_of(uint32_t address, uint16_t port) {
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};
}

static struct model_name name_of(int fd, int (*get)(int, struct sockaddr *, socklen_t *)) {
    struct sockaddr_in in;
    socklen_t len = sizeof in;
    if (get(fd, (struct sockaddr *)&in, &len) != 0 || len != sizeof in || in.sin_family != AF_INET)
        os_broken("a connection without a name: %s", strerror(errno));
    return (struct model_name){ntohl(in.sin_addr.s_addr), ntohs(in.sin_port)};
}

/* Where a client goes, and since when. */
struct target {
    uint32_t node;
    uint16_t port;
    uint64_t began;
    const struct listener *listener; /* NULL: nobody ever listens there */
};

static struct target target_choose(const struct app *app) {
    struct target to = {.node = 1 - app->node, .port = (uint16_t)(PORT_FIRST + os_random(PORTS)), .began = os_now()};
    uint32_t choice = os_random(16);
    if (choice == 0)
        to.node = 2;
    if (choice == 1)
        to.port = PORT_NOBODY;
    if (choice > 1)
        to.listener = &world.listeners[to.node][to.port - PORT_FIRST];
    return to;
}

/* Whether someone listened all the time; whether nobody did. */
static bool always(const struct target *to) {
    return to->listener && to->listener->may && to->listener->since <= to->began;
}

static bool never(const struct target *to) {
    return !to->listener || (!to->listener->may && to->listener->changed_at < to->began);
}

static void check_refused(const struct target *to, int error) {
    bool lack = error == ENOBUFS || error == EMFILE || error == ENFILE || error == ENOMEM;
    bool may = error == ECONNREFUSED   ? !always(to) && to->node != 2
               : error == ECONNRESET   ? to->node != 2
               : error == ETIMEDOUT    ? to->node == 2 || !world.calm
               : error == EHOSTUNREACH ? to->node == 2 || !world.calm
                                       : lack;
    if (!may && world.calm)
        os_broken("connect to %s gives %s", always(to) ? "one who listens" : "nobody", strerror(error));
}

static struct conn *connected(struct app *app, int fd, const struct target *to) {
    if (never(to))
        os_broken("a connection to nobody");
    struct sockaddr_in in;
    socklen_t len = sizeof in;
    if (app_getpeername(fd, (struct sockaddr *)&in, &len) != 0) {
        uint8_t octet;
        bool was_reset = errno == ENOTCONN && app_read(fd, &octet, 1) < 0 && errno == ECONNRESET;
        if (!world.scarce && !was_reset)
            os_broken("a connection without a peer");
        app_close(fd); /* there was no memory for its name, or its peer has left again */
        return NULL;
    }
    struct model_name remote = name_of(fd, app_getpeername), local = name_of(fd, app_getsockname);
    if (remote.port != to->port || remote.address != node_address(to->node) || local.address != node_address(app->node))
        os_broken("a connection with the names of another");
    return conn_make(app, fd, local, remote);
}

/* Waits for the outcome, or gives up. */
static struct conn *await(struct app *app, int fd, const struct target *to) {
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    uint64_t until = os_now() + os_random(3) * os_random(400000000);
    for (;;) {
        int n = app_poll(&look, 1, os_now() < until ? (int)((until - os_now()) / 1000000) + 1 : 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 1)
            break;
        if (world.calm && always(to) && to->listener->generous && os_now() > to->began + world.patience)
            os_broken("connect to one who listens takes too long");
        if (os_now() >= until) {
            app_close(fd);
            return NULL;
        }
    }
    int error = -1;
    socklen_t len = sizeof error;
    if (app_getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        os_broken("SO_ERROR: %s", strerror(errno));
    if (error == 0)
        return connected(app, fd, to);
    check_refused(to, error);
    app_close(fd);
    return NULL;
}

/* What was set before holds now. */
static struct conn *as_chosen(struct conn *conn, const struct chosen *chosen) {
    if (conn && !world.scarce)
        answers_chosen(conn->fd, chosen);
    return conn;
}

static struct conn *connect_once(struct app *app) {
    struct target to = target_choose(app);
    bool waits = os_random(2) == 0 && (to.node != 2 || os_random(4) == 0);
    int fd = app_socket(AF_INET, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0), one = 1;
    if (fd < 0)
        return NULL;
    if (os_random(4) == 0)
        (void)app_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct chosen chosen = {0};
    if (os_random(4) == 0)
        answers_fresh(fd, &chosen);
    struct sockaddr_in in = in_of(node_address(to.node), to.port);
    to.began = os_now();
    int put = app_connect(fd, (const struct sockaddr *)&in, sizeof in);
    int error = errno;
    if (put == 0 && waits)
        return as_chosen(connected(app, fd, &to), &chosen);
    if (put == 0)
        os_broken("connect of a socket that does not wait succeeds at once");
    if (waits ? error == EINTR : error == EINPROGRESS) /* it goes on */
        return as_chosen(await(app, fd, &to), &chosen);
    check_refused(&to, error);
    app_close(fd);
    return NULL;
}

void client_main(void *argument) {
    struct app *app = argument;
    for (uint32_t i = 0; i < app->sessions; i++) {
        os_sleep(os_random(4) ? os_random(2000000) : os_random(1500000000));
        app->connecting = true;
        struct conn *conn = connect_once(app);
        app->connecting = false;
        if (conn)
            session(app, conn);
    }
    app_gone(app);
}

static void child_main(void *argument) {
    struct app *app = argument;
    struct conn *conn = NULL;
    for (uint32_t i = 0; i < APP_CONNS; i++)
        conn = app->conns[i] ? app->conns[i] : conn;
    app_close(app->listener);
    app->listener = -1;
    if (conn)
        session(app, conn);
    app_gone(app);
}

static void serve(struct app *app, struct conn *conn) {
    app->accepting_since = OS_NEVER;
    if (os_random(2) == 0 && app_fork(app, "child", child_main)) {
        conn_close(app, conn);
        return;
    }
    session(app, conn);
}

static int server_listen(struct app *app) {
    int fd = app_socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in in = in_of(os_random(2) ? node_address(app->node) : 0, app->port);
    if (fd < 0)
        return -1;
    if (app_bind(fd, (const struct sockaddr *)&in, sizeof in) == 0) {
        static const int backlogs[] = {1, 2, 64, 511};
        uint32_t choice = os_random(4);
        app->listener = fd;
        listener_may(app, true);
        os_say("listen of user %u on port %u for %d", app->uid, app->port, backlogs[choice]);
        if (app_listen(fd, backlogs[choice]) == 0) {
            listener_of(app)->generous = choice > 1 && app_limit(app) == UINT32_MAX;
            listener_of(app)->since = os_now();
            return fd;
        }
        os_say("listen: %s", strerror(errno));
        listener_may(app, false);
        app->listener = -1;
    } else {
        os_say("bind: %s", strerror(errno));
    }
    app_close(fd);
    return -1;
}

void server_main(void *argument) {
    struct app *app = argument;
    int listener = server_listen(app);
    struct pollfd look = {.fd = listener, .events = POLLIN};
    while (listener >= 0 && os_now() < app->until) {
        struct sockaddr_in in;
        socklen_t len = sizeof in;
        if (app->accepting_since == OS_NEVER)
            app->accepting_since = os_now();
        if (os_random(16) == 0)
            answers_listening(listener);
        if (app_poll(&look, 1, 50) <= 0)
            continue;
        int fd = app_accept4(listener, (struct sockaddr *)&in, &len, os_random(2) ? SOCK_CLOEXEC : 0);
        if (fd < 0 && errno != EINTR && errno != EMFILE && errno != ECONNABORTED)
            os_broken("accept: %s", strerror(errno));
        if (fd < 0)
            continue;
        struct model_name local = {node_address(app->node), app->port};
        struct conn *conn =
            conn_make(app, fd, local, (struct model_name){ntohl(in.sin_addr.s_addr), ntohs(in.sin_port)});
        model_accepted(conn->end);
        serve(app, conn);
    }
    app_gone(app);
}
