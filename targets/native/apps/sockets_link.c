/* SPDX-License-Identifier: MIT */
/* Connections of the relay: bytes from a program's socket to the stack, and back. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/sockets.h"

struct relay_link *relay_link_begin(struct relay *relay, uint32_t uid, int *error) {
    *error = relay_take(relay, RELAY_CONNECTIONS, uid, 1);
    if (*error)
        return NULL;
    uint32_t place = relay->free_links[--relay->free_count];
    struct relay_link *link = &relay->links[place];
    uint8_t *buffers = relay->buffers + (size_t)place * 2 * RELAY_OCTETS;
    relay->used = place < relay->used ? relay->used : place + 1;
    *link = (struct relay_link){.relay = relay,
                                .id = relay_id(place),
                                .uid = uid,
                                .fd = -1,
                                .asker = RELAY_NOBODY,
                                .closer = RELAY_NOBODY,
                                .used = true,
                                .up = buffers,
                                .down = buffers + RELAY_OCTETS};
    return link;
}

struct relay_link *relay_link_find(struct relay *relay, uint64_t id) {
    uint32_t place = relay_place(id);
    return place < relay->places && relay->links[place].used && relay->links[place].id == id ? &relay->links[place]
                                                                                             : NULL;
}

int relay_link_open(struct relay_link *link) {
    struct carrick_socket_name name = {
        .kind = CARRICK_SOCKET_CONNECTION, .id = link->id, .six = link->six, .only6 = link->only6};
    if (link->packets) {
        name.packets = true;
        name.remote_port = (uint16_t)relay_longest(link->relay);
    }
    int program = relay_pair(link->packets ? SOCK_SEQPACKET : SOCK_STREAM, &name, &link->fd);
    if (program < 0)
        return -1;
    link->cookie = carrick_socket_cookie(program);
    if (link->options.on & CARRICK_OPTION_RECEIVE) {
        int size = (int)link->options.receive; /* as its program sees it */
        (void)setsockopt(program, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        relay_link_apply(link, CARRICK_OPTION_RECEIVE);
    }
    if (relay_watch(link->relay, link->fd, RELAY_LINK, (uint32_t)(link - link->relay->links)))
        return program;
    close(program);
    return -1;
}

/* The stack, for what is asked on the connection. */
static struct carrick_stack *link_stack(const struct relay_link *link) {
    carrick_stack_act_for(link->relay->stack, link->owner);
    return link->relay->stack;
}

/* An open request has ended, or the link has: it may be the last thing that held the place. */
void relay_link_release(struct relay_link *link) {
    if (link->ending && link->requests == 0 && link->used && !link->parting) {
        link->used = false;
        relay_unhold(link);
        relay_bound_joined(link);
        if (link->space)
            relay_flow_end(link);
        relay_answer(link->relay, link->closer, &(struct carrick_answer){.error = 0});
        relay_give(link->relay, RELAY_CONNECTIONS, link->uid, 1);
        link->relay->free_links[link->relay->free_count++] = (uint32_t)(link - link->relay->links);
        relay_accept(link->relay);
    }
    relay_resume(link->relay);
}

/* Closes our end: of a program in the namespace the kernel resets it. */
static void link_cut(struct relay_link *link) {
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
}

/* Closes it behind what was written. */
static void link_shut(struct relay_link *link) {
    static const struct linger behind = {0};
    if (link->space && link->fd >= 0)
        (void)setsockopt(link->fd, SOL_SOCKET, SO_LINGER, &behind, sizeof behind);
    link_cut(link);
}

/* Whether the program's end, which closed first, is reset and leaves no TIME-WAIT, which would keep the port from the
 * next one that listens. Linux has none if more data comes from the far host (RFC 2525 2.17), of which this end does
 * not hear any more. The stack has a TIME-WAIT of its own. */
static bool link_leaves_port(const struct relay_link *link) {
    return link->accepted && link->hung_up && !link->down_ended;
}

static void link_ended(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* it is over in any case */
    struct relay_link *link = user;
    link->requests--;
    relay_link_release(link);
}

int relay_abort(struct relay *relay, uint64_t handle, carrick_done_fn done, void *user) {
    return carrick_stack_has(relay->stack, "abort") ? carrick_abort(relay->stack, handle, done, user)
                                                    : carrick_close(relay->stack, handle, done, user);
}

/* Ends the connection at the stack's side; at once, or so that what was sent still arrives. */
static void link_end(struct relay_link *link, bool at_once) {
    if (link->ending)
        return;
    struct carrick_stack *stack = link_stack(link);
    int refused = at_once ? relay_abort(link->relay, link->handle, link_ended, link)
                          : carrick_close(stack, link->handle, link_ended, link);
    if (refused == CARRICK_AGAIN) {
        link->relay->stuck = true;
        return;
    }
    link->ending = true;
    link->requests += refused == 0;
    if (!at_once && !link->draining &&
        link->closer != RELAY_NOBODY) /* the place is kept until the peer has all, which who closed awaits */
        link->requests += carrick_drain(stack, link->handle, link_ended, link) == 0;
    if (!link->parting)
        (at_once || link_leaves_port(link) ? link_cut : link_shut)(link);
    relay_link_release(link);
}

/* Whether the program has not received all that arrived for it before the connection failed. */
static bool link_parts(struct relay_link *link) {
    int waiting = 0;
    while (link->down_written < link->down_held) {
        ssize_t put = send(link->fd, link->down + link->down_written, link->down_held - link->down_written,
                           MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put < 0)
            return errno == EAGAIN;
        link->down_written += (uint32_t)put;
    }
    return ioctl(link->fd, SIOCOUTQ, &waiting) == 0 && waiting > 0;
}

/* The end of one that has failed. The kernel does not tell when the program has all: it is looked for. */
static void link_let_go(struct relay_link *link) {
    link->parting = link->connected && !link->hung_up && !link->deaf && link_parts(link);
    if (link->parting)
        relay_hold(link);
    else
        link_cut(link);
}

/* Its program asks later what the error was. */
static void link_note_end(const struct relay_link *link, int error) {
    struct relay *relay = link->relay;
    relay->ends[relay->next_end % RELAY_ENDS].id = link->id;
    relay->ends[relay->next_end % RELAY_ENDS].cookie = link->cookie;
    /* As Linux: a reset behind the peer's end is for who writes. */
    relay->ends[relay->next_end++ % RELAY_ENDS].error = error == ECONNRESET && link->down_ended ? EPIPE : error;
}

void relay_link_fail(struct relay_link *link, int error) {
    if (link->ending)
        return;
    if (link->space) {
        link_let_go(link);
    } else {
        link_note_end(link, error);
        link_shut(link);
    }
    if (link->there)
        link_end(link, true);
    link->ending = true;
    relay_link_release(link);
}

static void link_pump(struct relay_link *link);

static void link_drained(void *user, enum carrick_status status, uint64_t value) {
    (void)value;
    struct relay_link *link = user;
    link->requests--;
    link->draining = false;
    if (status == CARRICK_RESET || status == CARRICK_TIMED_OUT)
        relay_link_fail(link, relay_error(status));
    relay_link_release(link);
}

/* Nothing is received any more behind the peer's end, which would tell of a reset: what was sent has to. */
static void link_watch(struct relay_link *link) {
    if (!link->down_ended || link->draining || link->ending)
        return;
    link->draining = carrick_drain(link_stack(link), link->handle, link_drained, link) == 0;
    link->requests += link->draining;
}

static void link_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct relay_link *link = user;
    link->requests--;
    link->sending = false;
    if (status == CARRICK_BUSY && link->packets) {
        link->refused = true;
        relay_again(link->relay);
        return;
    }
    link->up_sent += (uint32_t)octets;
    link->sent_at = carrick_stack_now(link->relay->stack);
    if (status != CARRICK_OK)
        relay_link_fail(link, relay_error(status));
    link_watch(link);
    link_pump(link);
    relay_link_release(link);
}

static void link_shut_down(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* the peer's end, or the program's, ends it */
    struct relay_link *link = user;
    link->requests--;
    relay_link_release(link);
}

static bool resets(const struct relay_link *link) {
    return link->broke || link->options.on & CARRICK_OPTION_RESET;
}

/* The program has said all. */
static void link_up_end(struct relay_link *link) {
    if (link->hung_up) {
        link_end(link, resets(link));
        return;
    }
    int refused = carrick_shutdown(link_stack(link), link->handle, link_shut_down, link);
    link->relay->stuck |= refused == CARRICK_AGAIN;
    link->up_ended = refused != CARRICK_AGAIN;
    link->requests += refused == 0;
}

/* What the program wrote, behind what still waits here. False: there is nothing now. */
static bool link_read(struct relay_link *link) {
    uint32_t waiting = link->up_held - link->up_sent;
    memmove(link->up, link->up + link->up_sent, waiting);
    struct iovec piece = {link->up + waiting, RELAY_OCTETS - waiting};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    ssize_t got = recvmsg(link->fd, &message, MSG_DONTWAIT);
    link->up_held = waiting;
    link->up_sent = 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        link->readable = errno == EINTR;
        return link->readable;
    }
    if (got < 0) { /* it closed with something unread: reset behind what it wrote (RFC 2525 2.17) */
        link->broke = link->up_over = link->hung_up = true;
        return true;
    }
    link->up_over = got == 0;
    link->told |= link->up_over;                 /* who shuts it down knows that it is there */
    link->more = message.msg_flags & MSG_CTRUNC; /* a descriptor came along, for which there is no space */
    link->overdue = false;
    link->up_sent = link->padding < (uint32_t)got ? link->padding : (uint32_t)got;
    link->padding -= link->up_sent;
    link->up_held = waiting + (uint32_t)got;
    return true;
}

static void link_segment(void *user, enum carrick_status status, uint64_t octets) {
    struct relay_link *link = user;
    link->requests--;
    link->asks = false;
    link->segment = status == CARRICK_OK && octets > 0 && octets < RELAY_OCTETS ? (uint32_t)octets : RELAY_OCTETS;
    link_pump(link);
    relay_link_release(link);
}

static void link_ask_segment(struct relay_link *link) {
    int refused = link->asks ? CARRICK_AGAIN
                             : carrick_info(link_stack(link), link->handle, CARRICK_INFO_SEGMENT, link_segment, link);
    link->relay->stuck |= refused == CARRICK_AGAIN && !link->asks;
    link->requests += refused == 0;
    link->asks |= refused == 0;
    if (refused && refused != CARRICK_AGAIN)
        link->segment = RELAY_OCTETS;
}

/* How many bytes are for the stack now. While more is to follow, whole segments are. */
static uint32_t link_ready(struct relay_link *link) {
    uint32_t waiting = link->up_held - link->up_sent;
    bool more =
        (link->more || link->options.on & CARRICK_OPTION_CORK) && !link->up_over && !link->overdue && !link->packets;
    if (!more || waiting == 0 || waiting == RELAY_OCTETS)
        return waiting;
    if (!link->segment)
        link_ask_segment(link);
    return link->segment ? waiting - waiting % link->segment : 0;
}

static void link_pump_up(struct relay_link *link) {
    while (!link->sending && !link->refused && !link->up_ended && !link->ending) {
        uint32_t ready = link_ready(link), waiting = link->up_held - link->up_sent;
        if (ready == 0 && link->up_over) {
            link_up_end(link);
            return;
        }
        if (ready == 0 && link->readable && link_read(link))
            continue;
        if (link->ending)
            return;
        if (ready < waiting)
            relay_hold(link);
        else
            relay_unhold(link);
        if (ready == 0)
            return;
        int refused = carrick_send(link_stack(link), link->handle, link->up + link->up_sent, ready, link_sent, link);
        link->relay->stuck |= refused == CARRICK_AGAIN;
        link->sending = refused == 0;
        link->requests += refused == 0;
        if (refused)
            return;
    }
}

static void link_received(void *user, enum carrick_status status, uint64_t octets) {
    struct relay_link *link = user;
    link->requests--;
    link->receiving = false;
    if (status == CARRICK_OK) {
        link->down_held = (uint32_t)octets;
        link->received_at = carrick_stack_now(link->relay->stack);
        link->down_written = link->deaf ? link->down_held : 0;
    } else if (status == CARRICK_END_OF_STREAM) {
        link->down_ended = true;
        if (link->fd >= 0)
            shutdown(link->fd, SHUT_WR);
    } else {
        relay_link_fail(link, relay_error(status));
    }
    link_pump(link);
    relay_link_release(link);
}

/* What came for the program. False: it has no room now. */
static bool link_write(struct relay_link *link) {
    ssize_t put = send(link->fd, link->down + link->down_written, link->down_held - link->down_written,
                       MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
        link->down_written += (uint32_t)put;
    } else if (errno == EAGAIN) {
        link->writable = false;
    } else if (errno == EPIPE || errno == ECONNRESET) {
        link->deaf = true;
        link->down_written = link->down_held;
    } else if (errno != EINTR) {
        relay_link_fail(link, errno); /* no memory: the program must not take what is missing for the end */
        return false;
    }
    return link->writable;
}

/* How much of what the program has not read may be here. */
static uint32_t link_part(const struct relay_link *link) {
    if (link->packets)
        return RELAY_OCTETS;
    uint32_t part = link->options.on & CARRICK_OPTION_RECEIVE ? link->options.receive / 4 : RELAY_OCTETS;
    return part < RELAY_LEAST ? RELAY_LEAST : part < RELAY_OCTETS ? part : RELAY_OCTETS;
}

static void link_pump_down(struct relay_link *link) {
    while (!link->receiving && !link->down_ended && !link->ending) {
        if (link->down_written < link->down_held) {
            if (!link->writable || !link_write(link))
                return;
            continue;
        }
        int refused = carrick_recv(link_stack(link), link->handle, link->down, link_part(link), link_received, link);
        link->relay->stuck |= refused == CARRICK_AGAIN;
        link->receiving = refused == 0;
        link->requests += refused == 0;
        if (refused)
            return;
    }
}

static void link_set_done(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* a program without the option goes on without it */
    struct relay_link *link = user;
    link->requests--;
    relay_link_release(link);
}

/* The program is gone, but what it wrote is not all taken: the peer may not hold that for ever. */
static void link_leave(struct relay_link *link) {
    int refused = carrick_orphan(link_stack(link), link->handle, link_set_done, link);
    link->relay->stuck |= refused == CARRICK_AGAIN;
    link->left = refused != CARRICK_AGAIN;
    link->requests += refused == 0;
}

static void link_looked(void *user, enum carrick_status status, uint64_t value) {
    (void)value;
    struct relay_link *link = user;
    link->requests--;
    link->looks = false;
    if (status != CARRICK_OK && status != CARRICK_INVALID)
        relay_link_fail(link, relay_error(status));
    link_pump(link);
    relay_link_release(link);
}

/* Whether nothing but a look tells that the peer has reset it: it has said all, and nothing is sent. */
static bool link_is_silent(const struct relay_link *link) {
    return link->space && link->down_ended && !link->up_ended && !link->ending;
}

void relay_link_look(struct relay_link *link) {
    if (!link_is_silent(link) || link->looks)
        return;
    link->looks = carrick_info(link_stack(link), link->handle, CARRICK_INFO_END, link_looked, link) == 0;
    link->requests += link->looks;
}

static void link_pump(struct relay_link *link) {
    if (link->hung_up)
        relay_connect_cancel(link);
    if (!link->connected || link->ending)
        return;
    link_pump_up(link);
    link_pump_down(link);
    if (link->hung_up && link->up_ended && !link->ending)
        link_end(link, resets(link));
    if (link->hung_up && !link->ending && !link->left)
        link_leave(link);
    if (link_is_silent(link))
        relay_hold(link);
}

/* As the stack takes it: 0 is its own time, so that none is the shortest. */
static uint32_t linger_milliseconds(int32_t seconds) {
    return seconds < 0 ? 1 : (uint32_t)seconds * 1000;
}

/* The pair shall hold so much of what the program has not read: half of it in our end's buffer, of which the system
 * makes twice as much and counts its own part, too, and a quarter in ours. */
static void link_apply_receive(const struct relay_link *link) {
    int part = (int)(link->options.receive / 4);
    (void)setsockopt(link->fd, SOL_SOCKET, SO_SNDBUF, &part, sizeof part);
}

/* As on Linux, it also sends what waits for more, once. */
static bool link_apply_nodelay(struct relay_link *link, bool on) {
    link->overdue |= on;
    bool taken = carrick_set_nodelay(link_stack(link), link->handle, on, link_set_done, link) == 0;
    if (on)
        link_pump(link);
    return taken;
}

void relay_link_apply(struct relay_link *link, enum carrick_socket_option option) {
    struct carrick_stack *stack = link_stack(link);
    const struct carrick_socket_options *options = &link->options;
    uint32_t value = carrick_socket_options_get(options, option);
    uint64_t handle = link->handle;
    bool taken = false;
    if (option == CARRICK_OPTION_RECEIVE && link->fd >= 0)
        link_apply_receive(link);
    if (!link->connected)
        return;
    if (option == CARRICK_OPTION_CORK)
        link_pump(link);
    else if (option == CARRICK_OPTION_NODELAY)
        taken = link_apply_nodelay(link, value);
    else if (option == CARRICK_OPTION_KEEPALIVE)
        taken = carrick_set_keepalive(stack, handle, value, link_set_done, link) == 0;
    else if (option == CARRICK_OPTION_TOS)
        taken = carrick_set_tos(stack, handle, (uint8_t)value, link_set_done, link) == 0;
    else if (option == CARRICK_OPTION_PATIENCE)
        taken = carrick_set_user_timeout(stack, handle, value, link_set_done, link) == 0;
    else if (option == CARRICK_OPTION_LINGER)
        taken = carrick_set_linger(stack, handle, linger_milliseconds(options->linger), link_set_done, link) == 0;
    link->requests += taken;
}

/* What a connection had before it was connected, or its listening socket. */
static void link_apply_all(struct relay_link *link) {
    for (uint32_t option = 1; option <= CARRICK_OPTIONS; option <<= 1)
        if (link->options.on & option)
            relay_link_apply(link, (enum carrick_socket_option)option);
}

void relay_link_connected(struct relay_link *link, uint64_t handle, struct carrick_answer *ends) {
    struct carrick_ends of = {0};
    (void)carrick_connection_ends(link->relay->stack, handle, &of);
    *ends = (struct carrick_answer){.id = link->id,
                                    .local_address = of.local_address,
                                    .remote_address = of.remote_address,
                                    .local_port = of.local_port,
                                    .remote_port = of.remote_port};
    struct carrick_socket_name name = {.kind = CARRICK_SOCKET_ENDS,
                                       .id = link->id,
                                       .six = link->six,
                                       .only6 = link->only6,
                                       .local_address = of.local_address,
                                       .remote_address = of.remote_address,
                                       .local_port = of.local_port,
                                       .remote_port = of.remote_port};
    struct sockaddr_un address;
    socklen_t len = carrick_socket_name_make(&name, &address);
    /* Without a name it has no addresses to tell, and works all the same. */
    (void)bind(link->fd, (const struct sockaddr *)&address, len);
    link->handle = handle;
    link->there = true;
    relay_link_begins(link);
}

void relay_link_begins(struct relay_link *link) {
    relay_bound_joined(link);
    link->connected = link->readable = link->writable = true;
    link->sent_at = link->received_at = carrick_stack_now(link->relay->stack);
    link_apply_all(link);
    if (link->hung_up)
        link_end(link, true); /* nobody knows that it was connected */
    link_pump(link);
}

void relay_link_event(struct relay_link *link, uint32_t events) {
    if (!link->used || link->fd < 0)
        return;
    if (link->space && !link->connected) {
        relay_flow_event(link, events);
        return;
    }
    link->readable |= (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;
    link->writable |= (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    link->hung_up |= (events & EPOLLHUP) != 0;
    relay_link_resume(link);
}

void relay_link_resume(struct relay_link *link) {
    link->refused = false;
    if (!link->parting) {
        link_pump(link);
        return;
    }
    link_let_go(link);
    relay_link_release(link);
}
