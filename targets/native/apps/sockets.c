/* SPDX-License-Identifier: MIT */
/* The relay's door: who comes, and what is asked. */
#define _GNU_SOURCE
#include "apps/sockets.h"

#include "apps/descriptors.h"
#include "carrick/reserve.h"
#include "carrick/socket_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 64
#define RELAY_BYTES    ((size_t)2 * RELAY_OCTETS) /* of a link, both ways */

/* What is served in place of a path, by what its argument begins with. */
static const struct {
    const char *prefix, *what;
} SPACES[] = {[SPACE_NAMESPACE] = {"netns=", "network namespace"}, [SPACE_CGROUP] = {"cgroup=", "cgroup"}};

#define SPACE_KINDS (sizeof SPACES / sizeof SPACES[0])

bool relay_watch(struct relay *relay, int fd, enum relay_kind kind, uint32_t place) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.u64 = (uint64_t)kind << 32 | place};
    if (kind == RELAY_DOOR || (kind == RELAY_SPACE && place != SPACE_EVENT_KEEPER))
        event.events = EPOLLIN;
    return epoll_ctl(relay->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ||
           (errno == EEXIST && epoll_ctl(relay->epoll, EPOLL_CTL_MOD, fd, &event) == 0);
}

int relay_error(enum carrick_status status) {
    static const int errors[] = {0,       0,          ECONNREFUSED, ECONNRESET,   ETIMEDOUT, ENOTCONN,
                                 ENOBUFS, EADDRINUSE, EINVAL,       EHOSTUNREACH, EBUSY,     ECONNABORTED};
    return (unsigned)status < sizeof errors / sizeof errors[0] ? errors[status] : EIO;
}

uint64_t relay_id(uint32_t place) {
    uint64_t random = 0;
    (void)getrandom(&random, sizeof random, 0); /* of so few bytes it always gives all */
    return random << RELAY_PLACE_BITS | place;
}

uint32_t relay_uid(const struct relay *relay, uint64_t asker) {
    return relay->askers[asker % RELAY_ASKERS].uid;
}

static void asker_end(struct relay_asker *asker) {
    if (asker->fd >= 0)
        close(asker->fd);
    asker->fd = -1;
}

bool relay_waits(const struct relay *relay, uint64_t asker) {
    const struct relay_asker *place = &relay->askers[asker % RELAY_ASKERS];
    return place->ticket == asker && place->fd >= 0;
}

bool relay_answer_with(struct relay *relay, uint64_t asker, const struct carrick_answer *answer, int fd) {
    return relay_waits(relay, asker) &&
           carrick_socket_pass(relay->askers[asker % RELAY_ASKERS].fd, answer, sizeof *answer, fd, MSG_DONTWAIT);
}

bool relay_answer(struct relay *relay, uint64_t asker, const struct carrick_answer *answer) {
    return relay_answer_with(relay, asker, answer, -1);
}

static void relay_tell_offers(struct relay *relay, uint64_t asker, const struct carrick_ask *ask) {
    struct carrick_answer answer = {.id = relay_speaks(relay, ask) ? relay_offers(relay) : 0,
                                    .remote_port = (uint16_t)relay_longest(relay)};
    relay_answer(relay, asker, &answer);
}

/* What is asked of a socket of a type. */
static void relay_asked_of_type(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    int type = relay_type(ask);
    bool binds = ask->kind == CARRICK_ASK_BIND;
    if (!(relay_offers(relay) & 1u << type))
        relay_answer(relay, asker, &(struct carrick_answer){.error = CARRICK_NOT_THIS_TYPE});
    else if (type == SOCK_DGRAM && binds)
        relay_mailbox_bind(relay, asker, ask);
    else if (type == SOCK_DGRAM)
        relay_mailbox_connect(relay, asker, ask, fd);
    else if (binds)
        relay_bind(relay, asker, ask);
    else
        relay_connect(relay, asker, ask, fd);
}

static void relay_asked(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd) {
    switch (ask->kind) {
    case CARRICK_ASK_BIND:
    case CARRICK_ASK_CONNECT:
        relay_asked_of_type(relay, asker, ask, fd);
        break;
    case CARRICK_ASK_LISTEN:
        relay_listen(relay, asker, ask, fd);
        break;
    case CARRICK_ASK_WHY:
        relay_why(relay, asker, ask, fd);
        break;
    case CARRICK_ASK_SET:
        relay_set(relay, asker, ask, fd);
        break;
    case CARRICK_ASK_GET:
        relay_get(relay, asker, ask, fd);
        break;
    case CARRICK_ASK_LINGER:
        relay_linger(relay, asker, ask->id, fd);
        break;
    case CARRICK_ASK_CLOSED:
        relay_closed(relay, asker, ask->id);
        break;
    case CARRICK_ASK_CONNECTED:
        relay_connect_again(relay, asker, ask, fd);
        break;
    case CARRICK_ASK_SEND:
        if (relay_offers(relay) & 1u << SOCK_DGRAM)
            relay_mailbox_send(relay, asker, ask);
        else
            relay_answer(relay, asker, &(struct carrick_answer){.error = CARRICK_NOT_THIS_TYPE});
        break;
    case CARRICK_ASK_OFFERS:
        relay_tell_offers(relay, asker, ask);
        break;
    default:
        relay_answer(relay, asker, &(struct carrick_answer){.error = EPROTO});
    }
    if (fd >= 0)
        close(fd);
}

static void asker_event(struct relay *relay, struct relay_asker *asker, uint32_t events) {
    while (asker->fd >= 0) {
        struct carrick_ask ask;
        int fd;
        ssize_t got = carrick_socket_take(recvmsg, asker->fd, &ask, sizeof ask, &fd, MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN && !(events & EPOLLHUP))
            return;
        bool other = got >= (ssize_t)sizeof ask.version && ask.version != CARRICK_SOCKETS_VERSION;
        if (got == sizeof ask && !other) {
            relay_asked(relay, asker->ticket, &ask, fd);
            continue;
        }
        if (other) /* a library of another build */
            relay_answer(relay, asker->ticket, &(struct carrick_answer){.error = EPROTO});
        if (fd >= 0)
            close(fd);
        asker_end(asker);
    }
}

static uint32_t askers_of(const struct relay *relay, uint32_t uid) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < RELAY_ASKERS; i++)
        count += relay->askers[i].fd >= 0 && relay->askers[i].uid == uid;
    return count;
}

/* A place for one more of this user's. Where there is none, who has more than the others has one less, the oldest, so
 * that nobody who holds all of them shuts others out. NULL: that would be the user itself. */
static struct relay_asker *asker_place(struct relay *relay, uint32_t uid) {
    struct relay_asker *chosen = NULL;
    uint32_t most = askers_of(relay, uid);
    for (uint32_t i = 0; i < RELAY_ASKERS; i++) {
        struct relay_asker *asker = &relay->askers[i];
        if (asker->fd < 0)
            return asker;
        uint32_t count = askers_of(relay, asker->uid);
        if (count > most || (chosen && asker->uid == chosen->uid && asker->ticket < chosen->ticket)) {
            chosen = asker;
            most = count;
        }
    }
    if (chosen)
        asker_end(chosen);
    return chosen;
}

static void door_event(struct relay *relay) {
    int fd = accept4(relay->door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    uint32_t uid = 0;
    if (fd < 0)
        return;
    struct relay_asker *asker = relay_who(fd, &uid) ? asker_place(relay, uid) : NULL;
    if (!asker) {
        close(fd); /* whoever asks is told by this that there are too many */
        return;
    }
    uint32_t place = (uint32_t)(asker - relay->askers);
    *asker = (struct relay_asker){.fd = fd, .uid = uid, .ticket = ++relay->next_ticket * RELAY_ASKERS + place};
    if (!relay_watch(relay, fd, RELAY_ASKER, place))
        asker_end(asker);
}

void relay_resume(struct relay *relay) {
    if (!relay->stuck)
        return;
    relay->stuck = false;
    relay_accept(relay);
    for (uint32_t i = 0; i < relay->used; i++)
        if (relay->links[i].used && !relay->links[i].mailbox)
            relay_link_resume(&relay->links[i]);
    for (uint32_t i = 0; i < relay->mailboxes_used; i++)
        relay_mailbox_resume(&relay->mailboxes[i]);
}

static void relay_ready(void *user) {
    struct relay *relay = user;
    struct epoll_event events[EVENTS_AT_ONCE];
    if (relay->limits_asked > 0)
        return;
    int n = epoll_wait(relay->epoll, events, EVENTS_AT_ONCE, 0);
    for (int i = 0; i < n; i++) {
        uint32_t place = (uint32_t)events[i].data.u64;
        switch (events[i].data.u64 >> 32) {
        case RELAY_DOOR:
            door_event(relay);
            break;
        case RELAY_ASKER:
            asker_event(relay, &relay->askers[place], events[i].events);
            break;
        case RELAY_SPACE:
            relay_space_event(relay, place);
            break;
        case RELAY_TIMER:
            relay_held_event(relay);
            break;
        case RELAY_AGAIN:
            relay_again_event(relay);
            break;
        case RELAY_MAILBOX:
            relay_mailbox_event(&relay->mailboxes[place], events[i].events);
            break;
        case RELAY_BOUND_SOCKET:
            relay_bound_event(&relay->bound[place], events[i].events);
            break;
        default:
            relay_link_event(&relay->links[place], events[i].events);
        }
    }
    relay_resume(relay);
}

/* Makes the socket at the path, behind which may stand who may have which port. Everybody who can enter the folder may
 * connect. */
static bool door_open(struct relay *relay, const char *argument, struct carrick_port_error *error) {
    size_t len = strcspn(argument, ",");
    size_t kind = 0;
    while (kind < SPACE_KINDS && strncmp(argument, SPACES[kind].prefix, strlen(SPACES[kind].prefix)) != 0)
        kind++;
    relay->has_space = kind < SPACE_KINDS;
    if (len == 0 || len >= sizeof relay->path) {
        snprintf(error->text, sizeof error->text, "`sockets:%.60s`: write a path of at most %zu letters.", argument,
                 sizeof relay->path - 1);
        return false;
    }
    if (argument[len] && !relay_rules(relay, argument + len + 1)) {
        snprintf(error->text, sizeof error->text,
                 "`%.60s`: write who may have which ports as UID:PORT or UID:FIRST-LAST, how many connections as "
                 "UID#NUMBER, and whose rate is which as UID=NUMBER, at most %u of each.",
                 argument + len + 1, RELAY_RULES);
        return false;
    }
    memcpy(relay->path, argument, len);
    if (relay->has_space && relay->mailboxes) {
        snprintf(error->text, sizeof error->text,
                 "`sockets:%.60s`: the program sends messages, whose sockets are served at a path.", argument);
        return false;
    }
    if (relay->has_space) {
        relay->space_kind = (enum space_kind)kind;
        relay->space_name = relay->path + strlen(SPACES[kind].prefix);
        return relay_space_open(relay, error);
    }
    relay->door = carrick_socket_file_open(relay->path, SOCK_SEQPACKET | SOCK_CLOEXEC, 0666, error);
    if (relay->door < 0) {
        relay->path[0] = 0;
        return false;
    }
    if (listen(relay->door, 128) == 0 && relay_watch(relay, relay->door, RELAY_DOOR, 0))
        return true;
    snprintf(error->text, sizeof error->text, "Cannot serve sockets at %.80s: %s.", relay->path, strerror(errno));
    return false;
}

static void sockets_finish(void *state) {
    struct relay *relay = state;
    relay_print_refused(relay, stderr);
    for (uint32_t i = 0; i < relay->used; i++)
        if (relay->links[i].used && relay->links[i].fd >= 0)
            close(relay->links[i].fd);
    for (uint32_t i = 0; i < RELAY_BOUND; i++)
        if (relay->bound[i].used && relay->bound[i].fd >= 0)
            close(relay->bound[i].fd);
    for (uint32_t i = 0; i < relay->mailboxes_used; i++)
        if (relay->mailboxes[i].used && relay->mailboxes[i].fd >= 0)
            close(relay->mailboxes[i].fd);
    for (uint32_t i = 0; i < RELAY_ASKERS; i++)
        asker_end(&relay->askers[i]);
    if (relay->door >= 0)
        close(relay->door);
    if (relay->epoll >= 0)
        close(relay->epoll);
    if (relay->timer >= 0)
        close(relay->timer);
    if (relay->again >= 0)
        close(relay->again);
    if (relay->path[0] && !relay->has_space)
        unlink(relay->path);
    if (relay->has_space)
        carrick_space_close(&relay->space);
    free(relay->flows);
    free(relay->mailboxes);
    free(relay->messages);
    free(relay->free_links);
    carrick_unreserve(relay->buffers, relay->places, RELAY_BYTES);
    free(relay->links);
    free(relay);
}

/* Memory for all connections that there can be; what of it is never used is never touched. */
static struct relay *relay_make(uint32_t places) {
    struct relay *relay = calloc(1, sizeof *relay);
    if (!relay)
        return NULL;
    relay->door = relay->epoll = relay->timer = relay->again = -1;
    relay->held_first = relay->held_last = RELAY_LINKS;
    for (uint32_t i = 0; i < RELAY_ASKERS; i++)
        relay->askers[i].fd = -1;
    relay->places = places;
    relay->left[RELAY_CONNECTIONS] = places;
    relay->left[RELAY_LISTENERS] = RELAY_BOUND;
    relay->left[RELAY_DATAGRAMS] = RELAY_MAILBOXES;
    relay->links = calloc(places, sizeof *relay->links);
    relay->free_links = calloc(places, sizeof *relay->free_links);
    relay->buffers = carrick_reserve(places, RELAY_BYTES);
    if (!relay->links || !relay->free_links || !relay->buffers) {
        sockets_finish(relay);
        return NULL;
    }
    while (relay->free_count < places) {
        relay->free_links[relay->free_count] = places - 1 - relay->free_count;
        relay->free_count++;
    }
    return relay;
}

/* What only programs of messages need. False: there is not enough memory, or no timer. */
static bool relay_make_mailboxes(struct relay *relay) {
    relay->mailboxes = calloc(RELAY_MAILBOXES, sizeof *relay->mailboxes);
    relay->messages = calloc((size_t)relay->places * RELAY_AHEAD, sizeof *relay->messages);
    relay->again = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return relay->mailboxes && relay->messages && relay->again >= 0 && relay_watch(relay, relay->again, RELAY_AGAIN, 0);
}

static void *sockets_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    uint32_t places = carrick_descriptors_for("sockets", "connections", carrick_stack_capacity(stack));
    places = places < RELAY_LINKS ? places : RELAY_LINKS;
    struct relay *relay = relay_make(places ? places : 1);
    if (!relay) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for %u connections.", places);
        return NULL;
    }
    relay->stack = stack;
    relay->epoll = epoll_create1(EPOLL_CLOEXEC);
    relay->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (relay->epoll < 0 || relay->timer < 0 || !relay_watch(relay, relay->timer, RELAY_TIMER, 0))
        snprintf(error->text, sizeof error->text, "The system gives no epoll set or timer: %s.", strerror(errno));
    else if (relay_offers(relay) == 0)
        snprintf(error->text, sizeof error->text,
                 "Sockets need a program with an interface of the shape `stream` or `message`.");
    else if (!(relay_offers(relay) & 1u << SOCK_STREAM) && !relay_make_mailboxes(relay))
        snprintf(error->text, sizeof error->text, "There is not enough memory for datagram sockets, or no timer.");
    else if (door_open(relay, argument, error) && carrick_stack_watch(stack, relay->epoll, relay_ready, relay)) {
        if (relay->has_space)
            fprintf(stderr, "serving sockets of the %s %s\n", SPACES[relay->space_kind].what, relay->space_name);
        else
            fprintf(stderr, "serving sockets at %s\n", relay->path);
        if (relay->mailboxes)
            relay_limits_begin(relay);
        return relay;
    }
    sockets_finish(relay);
    return NULL;
}

const struct carrick_application carrick_sockets_application = {
    .name = "sockets",
    .usage = "sockets:PATH|netns=NAME|cgroup=PATH[,UID:PORT[-PORT]][,UID#CONNECTIONS][,UID=NUMBER]...",
    .start = sockets_start,
    .finish = sockets_finish,
    .removes = true,
    .connects = true};
