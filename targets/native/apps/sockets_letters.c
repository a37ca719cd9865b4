/* SPDX-License-Identifier: MIT */
/* Messages of datagram sockets: from the program to the stack, and back. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "apps/sockets.h"
#include "carrick/ipv6.h"

#define AGAIN_AFTER 1000000 /* nanoseconds until the program is asked again whether it has space */

static struct carrick_stack *stack_of(const struct relay_link *link) {
    carrick_stack_act_for(link->relay->stack, link->owner);
    return link->relay->stack;
}

void relay_again(struct relay *relay) {
    static const struct itimerspec when = {.it_value = {0, AGAIN_AFTER}};
    if (!relay->again_set)
        relay->again_set = timerfd_settime(relay->again, 0, &when, NULL) == 0;
}

void relay_again_event(struct relay *relay) {
    uint64_t times;
    if (read(relay->again, &times, sizeof times) != sizeof times)
        return;
    relay->again_set = false;
    for (uint32_t i = 0; i < relay->used; i++)
        if (relay->links[i].used && relay->links[i].refused && relay->links[i].mailbox)
            relay_letters_again(&relay->links[i]);
        else if (relay->links[i].used && relay->links[i].refused)
            relay_link_resume(&relay->links[i]);
    for (uint32_t i = 0; i < relay->mailboxes_used; i++)
        relay_mailbox_resume(&relay->mailboxes[i]);
}

/* Passes a message on. False: the program has no room now. */
static bool letter_put(struct relay_mailbox *mailbox, struct carrick_letter *letter, uint8_t *data, size_t len) {
    struct iovec pieces[] = {{letter, sizeof *letter}, {data, len}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2};
    letter->id = mailbox->id;
    if (sendmsg(mailbox->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno != EAGAIN)
        return true;
    mailbox->writable = false;
    return false;
}

void relay_letters_fail(struct relay_mailbox *mailbox, int error) {
    struct carrick_letter letter = {.error = error, .address = mailbox->peer_address, .port = mailbox->peer_port};
    if (mailbox->peer_port != 0 && mailbox->fd >= 0)
        (void)letter_put(mailbox, &letter, NULL, 0); /* a program that does not read its messages has enough of them */
}

/* What is here for the program. False: it stays here for now. */
static bool letter_deliver(struct relay_link *link) {
    struct relay_mailbox *mailbox = link->mailbox;
    struct carrick_letter letter = {.address = link->far, .port = link->far_port};
    bool wanted = mailbox->fd >= 0 && !link->hung_up &&
                  (mailbox->peer_port == 0 ||
                   (mailbox->peer_port == link->far_port && carrick_ip6_same(mailbox->peer_address, link->far)));
    if (wanted && (!mailbox->writable || !letter_put(mailbox, &letter, link->down, link->down_held)))
        return false;
    link->down_held = 0;
    return true;
}

static void letter_received(void *user, enum carrick_status status, uint64_t octets) {
    struct relay_link *link = user;
    struct relay_mailbox *mailbox = link->mailbox;
    struct relay *relay = link->relay;
    bool passes = status == CARRICK_REFUSED || status == CARRICK_UNREACHABLE || status == CARRICK_TIMED_OUT;
    link->requests--;
    link->receiving = false;
    if (status == CARRICK_OK) {
        link->down_held = (uint32_t)octets;
        link->received_at = carrick_stack_now(relay->stack);
    } else if (!link->hung_up) {
        if (status != CARRICK_END_OF_STREAM && status != CARRICK_CLOSED)
            relay_letters_fail(mailbox, relay_error(status));
        if (!passes || link->failed) /* it is over, or would fail for ever */
            relay_conversation_close(link);
    }
    link->failed = status != CARRICK_OK;
    relay_letters_down(link);
    relay_conversation_release(link);
    relay_resume(relay);
}

void relay_letters_down(struct relay_link *link) {
    if (link->ending || (link->down_held > 0 && !letter_deliver(link)))
        return;
    if (link->hung_up) {
        relay_conversation_close(link);
        return;
    }
    if (link->receiving || !link->connected)
        return;
    int refused = carrick_recv(stack_of(link), link->handle, link->down, RELAY_OCTETS, letter_received, link);
    link->relay->stuck |= refused == CARRICK_AGAIN;
    link->receiving = refused == 0;
    link->requests += refused == 0;
    if (refused && refused != CARRICK_AGAIN)
        relay_conversation_close(link);
}

static struct relay_message *messages_of(const struct relay_link *link) {
    return link->relay->messages + (size_t)(link - link->relay->links) * RELAY_AHEAD;
}

static void letter_done(struct relay_message *message) {
    struct relay_link *link = message->link;
    message->len = 0;
    link->on_the_way--;
    if (link->on_the_way == 0)
        link->up_held = 0;
}

static void letter_sent(void *user, enum carrick_status status, uint64_t octets);

static void letter_send(struct relay_message *message) {
    struct relay_link *link = message->link;
    int refused =
        carrick_send(stack_of(link), link->handle, link->up + message->at, message->len, letter_sent, message);
    message->refused = refused == CARRICK_AGAIN;
    link->refused |= message->refused;
    link->requests += refused == 0;
    if (message->refused)
        relay_again(link->relay);
    else if (refused)
        letter_done(message);
}

void relay_letters_again(struct relay_link *link) {
    struct relay_message *messages = messages_of(link);
    link->refused = false;
    for (uint32_t i = 0; i < RELAY_AHEAD; i++)
        if (messages[i].len > 0 && messages[i].refused)
            letter_send(&messages[i]);
}

static void letter_sent(void *user, enum carrick_status status, uint64_t octets) {
    (void)octets;
    struct relay_message *message = user;
    struct relay_link *link = message->link;
    struct relay_mailbox *mailbox = link->mailbox;
    struct relay *relay = link->relay;
    link->requests--;
    link->sent_at = carrick_stack_now(relay->stack);
    if (status == CARRICK_BUSY) {
        message->refused = link->refused = true;
        relay_again(relay);
        return;
    }
    letter_done(message);
    if (status != CARRICK_OK && status != CARRICK_CLOSED)
        relay_letters_fail(mailbox, status == CARRICK_INVALID ? EMSGSIZE : relay_error(status));
    if (link->refused)
        relay_letters_again(link);
    if (link->hung_up)
        relay_conversation_close(link);
    relay_conversation_release(link);
    relay_mailbox_resume(mailbox);
    relay_resume(relay);
}

/* The place for one more message of this length; NULL: there is none now. */
static struct relay_message *letter_place(struct relay_link *link, uint32_t len) {
    struct relay_message *messages = messages_of(link);
    if (link->refused || link->up_held + len > RELAY_OCTETS)
        return NULL;
    for (uint32_t i = 0; i < RELAY_AHEAD; i++)
        if (messages[i].len == 0)
            return &messages[i];
    return NULL;
}

/* Takes a message of the program that cannot be sent. */
static void letter_drop(struct relay_mailbox *mailbox, int error) {
    uint8_t octet;
    (void)recv(mailbox->fd, &octet, sizeof octet, MSG_DONTWAIT);
    if (error)
        relay_letters_fail(mailbox, error);
}

/* What a message of the program says of itself. */
struct letter_head {
    struct carrick_ip6_address address;
    uint16_t port;
    uint32_t head, len; /* bytes of its carrick_letter, and behind that */
};

/* Whether there is nothing, and not a message of no bytes. */
static bool letter_ended(struct relay_mailbox *mailbox) {
    struct pollfd look = {.fd = mailbox->fd, .events = POLLRDHUP};
    bool ended = poll(&look, 1, 0) == 1;
    mailbox->over = ended && look.revents & POLLHUP;
    mailbox->readable = !ended;
    return ended;
}

/* False: there is none now. */
static bool letter_look(struct relay_mailbox *mailbox, struct letter_head *head) {
    struct carrick_letter letter = {0};
    ssize_t len = recv(mailbox->fd, &letter, sizeof letter, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
    if (len < 0) { /* a reset says that the program has left something unread, and comes before what it wrote */
        mailbox->readable = errno == ECONNRESET || errno == EINTR;
        return false;
    }
    if (len == 0 && letter_ended(mailbox))
        return false;
    bool addressed = len >= (ssize_t)sizeof letter && letter.id == mailbox->id;
    bool elsewhere = addressed && letter.port != 0;
    *head = (struct letter_head){.address = elsewhere ? letter.address : mailbox->peer_address,
                                 .port = elsewhere ? letter.port : mailbox->peer_port,
                                 .head = addressed ? sizeof letter : 0};
    head->len = (uint32_t)len - head->head;
    return true;
}

/* The conversation for a message: that of another socket, where that has it and shares the port. */
static struct relay_link *letter_link(struct relay_mailbox *mailbox, const struct letter_head *head, int *error) {
    struct relay_link *link = mailbox->shares && !relay_conversation_find(mailbox, head->address, head->port)
                                  ? relay_conversation_shared(mailbox, head->address, head->port)
                                  : NULL;
    return link && link->connected && !link->ending && !link->hung_up
               ? link
               : relay_conversation(mailbox, head->address, head->port, error);
}

static void letter_take(struct relay_mailbox *mailbox, struct relay_link *link, const struct letter_head *head,
                        struct relay_message *message) {
    struct carrick_letter letter;
    struct iovec pieces[] = {{&letter, head->head}, {link->up + link->up_held, head->len}};
    struct msghdr from = {.msg_iov = pieces, .msg_iovlen = 2};
    if (recvmsg(mailbox->fd, &from, MSG_DONTWAIT) < 0)
        return;
    *message = (struct relay_message){.link = link, .at = link->up_held, .len = head->len};
    link->up_held += head->len;
    link->on_the_way++;
    letter_send(message);
}

/* One message. False: there is none, or it has to wait. */
static bool letter_up(struct relay_mailbox *mailbox) {
    struct letter_head head;
    if (!letter_look(mailbox, &head))
        return mailbox->readable;
    if (head.len == 0 || head.port == 0 || head.len > relay_longest(mailbox->relay)) {
        letter_drop(mailbox, 0); /* the library refuses these */
        return true;
    }
    int error = 0;
    struct relay_link *link = letter_link(mailbox, &head, &error);
    struct relay_message *message = link ? letter_place(link, head.len) : NULL;
    if (link && !message && link->mailbox != mailbox)
        relay_again(mailbox->relay); /* its own socket hears of it when there is one */
    if (message)
        letter_take(mailbox, link, &head, message);
    else if (!link && error != EAGAIN)
        letter_drop(mailbox, error);
    return message || (!link && error != EAGAIN);
}

void relay_letters_up(struct relay_mailbox *mailbox) {
    while (mailbox->readable && !mailbox->over && letter_up(mailbox)) {
    }
}

void relay_letters_unsent(struct relay_mailbox *mailbox, struct carrick_ip6_address address, uint16_t port, int error) {
    struct letter_head head;
    if (mailbox->fd >= 0 && mailbox->readable && letter_look(mailbox, &head) && head.port == port &&
        carrick_ip6_same(head.address, address))
        letter_drop(mailbox, error);
}
