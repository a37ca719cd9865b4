/* SPDX-License-Identifier: MIT */
/* Programs that know nothing of Carrick: they call the library's functions at random, and compare the answers with the
 * model. */
#ifndef CARRICK_TESTS_OS_APPS_H
#define CARRICK_TESTS_OS_APPS_H

#include "tests/os/model.h"
#include "tests/os/os.h"

#define APPS      48u
#define APP_CONNS 6u

/* A connection that one or more processes have. */
struct conn {
    int fd; /* the same in all of them */
    uint32_t refs;
    struct model_end *end;
    bool reset;
};

struct app {
    struct os_process *process;
    struct conn *conns[APP_CONNS];
    uint32_t node, uid, sessions;
    bool connecting;
    uint16_t port; /* of a server */
    uint64_t until;
    uint64_t accepting_since; /* a server has waited for a connection, and may have one; OS_NEVER: it does not */
    int listener;
};

/* A user may have so many connections; 0: as many as there are. */
struct limit {
    uint32_t uid, most;
};

/* A server's socket, as clients may expect it. */
struct listener {
    bool may;            /* somebody calls listen, or has called it */
    bool generous;       /* its backlog is never full here */
    uint64_t changed_at; /* when `may` changed */
    uint64_t since;      /* when listen succeeded; OS_NEVER: it has not, or is over */
};

enum { PORT_FIRST = 80, PORTS = 3, PORT_NOBODY = 7 };

struct world {
    bool calm;   /* nothing is lost and nothing is missing: answers are due in time */
    bool scarce; /* hosts miss memory and descriptors */
    uint64_t patience;
    struct limit limits[2][2]; /* of users of a stack */
    struct listener listeners[2][PORTS];
    uint32_t app_count;
    struct app apps[APPS];
};
extern struct world world;

/* The address of a stack; of 2: nobody's. */
uint32_t node_address(uint32_t node);
const char *node_door(uint32_t node);

/* An application that begins with nothing, or as a child of the one that runs. NULL: there are too many. */
struct app *app_begin(const char *name, uint32_t node, uint32_t uid, os_main_fn run);
struct app *app_fork(struct app *parent, const char *name, os_main_fn run);
/* Whether its user may have one more connection, as far as an application can know. */
bool app_may_accept(const struct app *app);
/* Before its process ends, however it does. */
void app_gone(struct app *app);

struct conn *conn_make(struct app *app, int fd, struct model_name local, struct model_name remote);
void conn_close(struct app *app, struct conn *conn);
/* Exchanges bytes in one of many manners. */
void session(struct app *app, struct conn *conn);

void server_main(void *argument);
void client_main(void *argument);
void rogue_main(void *argument);
void service_main(void *argument);

#endif
