/* SPDX-License-Identifier: MIT */
/*
 * The relay between unmodified programs' sockets and a stack (carrick/sockets.h). Places for connections, listening
 * sockets and askers are made when it starts; each has a descriptor in one epoll set, whose descriptor the stack
 * watches.
 */
#ifndef CARRICK_APPS_SOCKETS_H
#define CARRICK_APPS_SOCKETS_H

#include "apps/apps.h"
#include "apps/space.h"
#include "carrick/sockets.h"

#define RELAY_BOUND      64u
#define RELAY_MAILBOXES  1024u
#define RELAY_AHEAD      8u                       /* messages of a conversation that the program sends at a time */
#define RELAY_PLACE_BITS 24u                      /* of an id; the others are random */
#define RELAY_LINKS      (1u << RELAY_PLACE_BITS) /* at most */
#define RELAY_ASKERS     64u
#define RELAY_OCTETS     65536u              /* read at once, each way */
#define RELAY_LEAST      512u                /* that may be received at once, however small the program's buffer is */
#define RELAY_HOLD       UINT64_C(200000000) /* nanoseconds that less than a segment waits for more, as on Linux */
#define RELAY_NOBODY     0u
#define RELAY_RULES      64u
#define RELAY_USERS      1024u /* who have any of it */
/* What may wait for one who listens at most is this part of the places that are left. */
#define RELAY_BACKLOG_PART 16u
#define RELAY_ENDS         1024u /* of failed connections, which their programs have not asked for yet */

struct relay;
struct relay_mailbox;

/* A connection: bytes go up from the program to the peer, and down to it. */
struct relay_link {
    struct relay *relay;
    uint64_t id, handle;
    int fd;            /* our end, -1: closed, or not there yet */
    uint64_t asker;    /* who waits for the connection, or RELAY_NOBODY */
    uint64_t cookie;   /* of the program's end */
    uint32_t uid;      /* whose it is */
    uint32_t requests; /* open ones; the place is free once there is none */
    uint32_t connect;  /* the one that connects, while `connecting` */
    uint32_t owner;    /* for whom they are */
    uint32_t padding;  /* bytes that are only to keep the socket from being writable until it is connected */
    uint64_t closer;   /* who has closed it and waits until the peer has all, or RELAY_NOBODY */
    struct carrick_socket_options options;
    bool awaited, told; /* connect() waits for it; somebody's has returned that it is connected */
    bool left;          /* the stack knows that the program is gone */
    bool used, connecting, cancelled, connected, six, only6;
    bool readable, writable; /* as far as the descriptor has told */
    bool hung_up;            /* the program has closed its end */
    bool sending, receiving, draining;
    bool up_ended, down_ended; /* nothing more comes from the program; from the peer */
    bool deaf;                 /* the program does not want to hear any more */
    bool up_over;              /* what is here is the last of the program */
    bool broke;                /* and the program has left data unread */
    bool more, overdue;        /* more is to follow (MSG_MORE); it has been waited for long enough */
    bool held;                 /* in the list of those that wait for more, by places; RELAY_LINKS: none */
    uint32_t held_before, held_next;
    uint64_t held_until;
    uint64_t sent_at, received_at; /* when data was, last */
    uint32_t segment;              /* bytes of a whole one, 0: not known yet */
    bool asks;                     /* for that */
    bool ending;
    bool there;                     /* the stack has the connection, with `handle` */
    bool space;                     /* its program is in the namespace */
    bool accepted;                  /* by that program */
    bool looks;                     /* asks whether the peer has reset it */
    bool ordered;                   /* the keeper knows that an end is wanted */
    bool joining;                   /* our end calls the program's */
    bool parting;                   /* it has failed, and the program is to have what arrived before that */
    bool packets;                   /* of messages: each is sent and received whole */
    bool refused;                   /* the program had no space for what is sent: it is tried again */
    struct relay_mailbox *mailbox;  /* the datagram socket of which it is a conversation; NULL: of none */
    uint32_t mailbox_next;          /* in the list of those, by places; RELAY_LINKS: none */
    struct carrick_ip6_address far; /* the other end of a conversation */
    uint16_t far_port;
    uint32_t on_the_way; /* messages that the program sends */
    bool failed;         /* its last request for a message ended with an error */
    struct space_syn syn;
    uint32_t flow_next;        /* in the table of flows, by places; RELAY_LINKS: none */
    struct relay_bound *joins; /* the listening socket for which it joins; NULL: none */
    uint32_t up_held, up_sent, down_held, down_written;
    uint8_t *up, *down; /* RELAY_OCTETS each */
};

/* A message of a conversation that the program sends; it lies in the link's `up`. */
struct relay_message {
    struct relay_link *link;
    uint32_t at, len; /* 0: it is none */
    bool refused;     /* the program had no space for it */
};

/* A datagram socket. Its conversations, one with each far end, are links. */
struct relay_mailbox {
    struct relay *relay;
    uint64_t id, listener;
    uint64_t serial; /* a later one has more */
    uint64_t cookie; /* of the program's end */
    int fd;          /* our end, -1: closed */
    int program;     /* the program's end, until it is passed on; -1 */
    uint64_t asker;  /* who waits for it to be bound or connected, or RELAY_NOBODY */
    uint32_t uid, requests;
    struct carrick_ip6_address address; /* as it was bound */
    uint16_t port;
    struct carrick_ip6_address peer_address;
    uint16_t peer_port; /* 0: it has no peer */
    uint32_t first;     /* of its conversations, by places; RELAY_LINKS: none */
    uint32_t count;     /* of them */
    bool used, six, only6;
    bool
        shares; /* others that say so, too, may have its port; the latest of them hears hosts that none of them knows */
    bool listening, turning; /* it takes messages of any host; that begins or ends */
    bool deaf;               /* the program does not let it listen */
    bool accepting;
    bool readable, writable;
    bool over; /* the program has closed its end, and what it wrote is read */
};

/* A socket that was bound, and may listen. */
struct relay_bound {
    struct relay *relay;
    uint64_t id, listener;
    uint64_t cookie; /* of the program's end */
    int fd;          /* accepted connections go there; -1: closed */
    uint64_t asker;  /* who waits for it to listen, or RELAY_NOBODY */
    struct carrick_ip6_address address;
    uint32_t requests;
    struct carrick_socket_options options; /* also of the connections that are accepted */
    uint32_t uid;                          /* whose it is */
    uint32_t backlog;                      /* places to keep for connections that wait; 0: they are not counted */
    uint32_t kept;                         /* those that are kept now: one that is accepted takes its place along */
    uint16_t port;
    bool used, six, only6, packets, listening, accepting;
    bool space;       /* a program in the namespace has it */
    uint32_t joining; /* connections that are on the way to the program */
    int parked;       /* a program's end for which there is no room there now; -1: none */
    struct carrick_answer parked_ends;
};

/* A short connection on which something is asked. Others name it by `ticket`, which no later one has. */
struct relay_asker {
    int fd;          /* -1: free */
    uint32_t uid;    /* who asks */
    uint64_t ticket; /* its place among the askers is what remains of RELAY_ASKERS */
};

/* A question to the program that is open. */
struct relay_question {
    struct relay *relay;
    uint64_t asker;
    uint64_t link;   /* about which it is */
    uint64_t more;   /* is added to the answer */
    uint32_t manner; /* in which it is asked how the link ended */
    uint32_t again;  /* so often before it is answered */
    bool open;
};

/* A user may have these ports. */
struct relay_rule {
    uint32_t uid;
    uint16_t first, last;
};

/* A user may have so many connections. */
struct relay_limit {
    uint32_t uid, most;
};

/* What users have shares of: the program's connections, with those that wait for one who listens; sockets that are
 * bound; datagram sockets. */
enum relay_share { RELAY_CONNECTIONS, RELAY_LISTENERS, RELAY_DATAGRAMS, RELAY_SHARES };

/* What a user has. */
struct relay_user {
    uint32_t uid, held[RELAY_SHARES];
};

/* Why it was refused: the user has its share, there is none left, another's port, another's socket. */
enum relay_refusal { RELAY_REFUSED_SHARE, RELAY_REFUSED_FULL, RELAY_REFUSED_PORT, RELAY_REFUSED_OWNER, RELAY_REFUSALS };

/* A user's connections belong to this owner (carrick_stack_act_for). */
struct relay_owner {
    uint32_t uid, owner;
};

struct relay {
    struct carrick_stack *stack;
    uint32_t places; /* as many connections as the program and the descriptors allow */
    uint32_t used;   /* no place from here on was ever used */
    struct relay_link *links;
    uint8_t *buffers;     /* of the links */
    uint32_t *free_links; /* their places */
    uint32_t free_count;
    struct relay_bound bound[RELAY_BOUND];
    struct relay_mailbox *mailboxes; /* RELAY_MAILBOXES, of a program of messages; else NULL */
    struct relay_message *messages;  /* of the links, RELAY_AHEAD each */
    uint32_t mailboxes_used;         /* none from here on was ever used */
    uint64_t limits[CARRICK_LIMITS]; /* of messages */
    uint32_t limits_asked;           /* those that are not known yet */
    uint16_t next_port;
    uint64_t next_serial;
    struct relay_asker askers[RELAY_ASKERS];
    struct relay_question questions[RELAY_ASKERS]; /* of the askers */
    struct {
        uint64_t id, cookie;
        int error;
    } ends[RELAY_ENDS];
    uint32_t next_end;
    struct relay_rule rules[RELAY_RULES];
    uint32_t rule_count; /* 0: everybody may have every port */
    struct relay_limit user_limits[RELAY_RULES];
    uint32_t user_limit_count;
    struct relay_user users[RELAY_USERS];
    uint32_t user_count, left[RELAY_SHARES];
    uint64_t refused[RELAY_REFUSALS];
    struct relay_owner owners[RELAY_RULES];
    uint32_t owner_count;
    uint64_t next_ticket;
    bool stuck; /* someone could not ask the stack: too many requests were open */
    int epoll, door, timer;
    int again; /* a timer: what the program had no space for is tried again */
    bool again_set;
    bool has_space;
    enum space_kind space_kind;
    const char *space_name; /* behind what says the kind, in `path` */
    struct space space;
    uint32_t *flows, flow_bits;     /* the first of the links with one hash of their flows, by places */
    bool unordered;                 /* some links wait until the keeper takes orders */
    uint32_t held_first, held_last; /* of the links that wait for more, by when; RELAY_LINKS: none */
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

/* What an event of the epoll set is about. */
enum relay_kind {
    RELAY_DOOR,
    RELAY_ASKER,
    RELAY_BOUND_SOCKET,
    RELAY_MAILBOX,
    RELAY_LINK,
    RELAY_TIMER,
    RELAY_AGAIN,
    RELAY_SPACE
};

/* The places of the kind RELAY_SPACE. */
enum space_event { SPACE_EVENT_TAP, SPACE_EVENT_GONE, SPACE_EVENT_KEEPER };

/* Watches the descriptor of a place. False: the system refused. */
bool relay_watch(struct relay *relay, int fd, enum relay_kind kind, uint32_t place);
/* "errno" for how a request ended. */
int relay_error(enum carrick_status status);
/* Whether an asker is still there. */
bool relay_waits(const struct relay *relay, uint64_t asker);
/* Answers an asker. False: it is not there any more. */
bool relay_answer(struct relay *relay, uint64_t asker, const struct carrick_answer *answer);
/* The same, with a descriptor if `fd` is not negative; it stays the caller's. */
bool relay_answer_with(struct relay *relay, uint64_t asker, const struct carrick_answer *answer, int fd);
/* Makes a pair of Unix sockets of this type. Returns the program's end, which has the name, or -1: the system gives
 * none. */
int relay_pair(int type, const struct carrick_socket_name *name, int *ours);
/* Fills the program's end of a pair until poll() does not report it as writable; *bytes: how many that took. */
bool relay_fill(int program, uint32_t *octets);
/* An id with this place, which nobody can guess: names are made of ids, and who had a name first would keep it. */
uint64_t relay_id(uint32_t place);
/* The place in an id. */
static inline uint32_t relay_place(uint64_t id) {
    return (uint32_t)id & (RELAY_LINKS - 1);
}

/* A place for one more of a user's. NULL: `*error` says why there is none. */
struct relay_link *relay_link_begin(struct relay *relay, uint32_t uid, int *error);
struct relay_link *relay_link_find(struct relay *relay, uint64_t id);
/* Makes its pair, by its options. Returns the program's end, which is the caller's, or -1: the system gives none. */
int relay_link_open(struct relay_link *link);
/* `fd`: the program's end of the bound socket that it becomes of. */
void relay_connect(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd);
/* The program calls connect() of a connection; `fd`: its end. */
void relay_connect_again(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd);
/* The program has closed its end before it was connected. */
void relay_connect_cancel(struct relay_link *link);
/* Asks the stack for a connection; `done` gets the link. Returns an errno. */
int relay_connect_begin(struct relay_link *link, uint16_t local_port, struct carrick_ip6_address address, uint16_t port,
                        carrick_done_fn done);
/* It is connected now, and its program's end is: lets bytes flow. */
void relay_link_begins(struct relay_link *link);
/* It is connected now: tells its ends to whoever asks, and lets bytes flow. */
void relay_link_connected(struct relay_link *link, uint64_t handle, struct carrick_answer *ends);
/* A request has ended, or the connection has: frees the place if that was the last thing that held it. */
void relay_link_release(struct relay_link *link);
/* It has failed: the program shall learn why. */
void relay_link_fail(struct relay_link *link, int error);
void relay_link_event(struct relay_link *link, uint32_t events);
/* An option of it has changed. */
void relay_link_apply(struct relay_link *link, enum carrick_socket_option option);
/* Goes on where nothing but a free request was missing. */
void relay_resume(struct relay *relay);
void relay_link_resume(struct relay_link *link);

/* The types of sockets that the program carries: 1 << SOCK_STREAM, ... */
uint32_t relay_offers(const struct relay *relay);
/* The type of which `item` of an ask says it is. */
int relay_type(const struct carrick_ask *ask);
/* Asks the program for its limits, before anything is served. */
void relay_limits_begin(struct relay *relay);
/* The longest message. */
uint32_t relay_longest(const struct relay *relay);
/* A port of the program's range that no socket has, or 0. */
uint16_t relay_free_port(struct relay *relay);
/* Whether a socket has the port, but for datagram sockets that share it, if this one does. */
bool relay_port_in_use(const struct relay *relay, uint16_t port, bool shares);
/* What the program had no space for is tried again soon. */
void relay_again(struct relay *relay);
void relay_again_event(struct relay *relay);
/* Many hosts have it: 224.0.0.0/4 and what is behind, ff00::/8. */
bool relay_is_group(struct carrick_ip6_address address);
/* Ends a connection at the stack's side at once, with a reset if the program has one. Returns what the request said. */
int relay_abort(struct relay *relay, uint64_t handle, carrick_done_fn done, void *user);

/* Datagram sockets. */
void relay_mailbox_bind(struct relay *relay, uint64_t asker, const struct carrick_ask *ask);
/* One that has no port sends: it gets one. */
void relay_mailbox_send(struct relay *relay, uint64_t asker, const struct carrick_ask *ask);
/* `fd`: the program's end, if it was bound. */
void relay_mailbox_connect(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd);
struct relay_mailbox *relay_mailbox_find(struct relay *relay, uint64_t id);
void relay_mailbox_event(struct relay_mailbox *mailbox, uint32_t events);
/* Goes on with what it waits for. */
void relay_mailbox_resume(struct relay_mailbox *mailbox);
/* A conversation that was opened is there, or is not. */
void relay_mailbox_opened(struct relay_link *link, int error);
/* A conversation's place is free. */
void relay_mailbox_leave(struct relay_link *link);
/* A request of its own has ended, or a conversation: frees the place if that was the last thing that held it. */
void relay_mailbox_release(struct relay_mailbox *mailbox);

/* A request of a conversation has ended, or it has: frees the place if that was the last thing that held it. */
void relay_conversation_release(struct relay_link *link);
/* The conversation with a far end, opened if need be. NULL: `*error` is EAGAIN, or says why there is none. */
struct relay_link *relay_conversation(struct relay_mailbox *mailbox, struct carrick_ip6_address address, uint16_t port,
                                      int *error);
/* That of another socket which shares the port; NULL: there is none. */
struct relay_link *relay_conversation_shared(const struct relay_mailbox *mailbox, struct carrick_ip6_address address,
                                             uint16_t port);
/* The same of those that there are. */
struct relay_link *relay_conversation_find(const struct relay_mailbox *mailbox, struct carrick_ip6_address address,
                                           uint16_t port);
/* One that a peer began. */
void relay_conversation_accepted(struct relay_mailbox *mailbox, uint64_t handle);
/* Closes it as soon as nothing of it is on the way. */
void relay_conversation_close(struct relay_link *link);
/* Closes the one that was idle for longest. False: none is. */
bool relay_conversation_evict(struct relay_mailbox *mailbox);
/* Reads what the program wrote, as far as it can be sent. */
void relay_letters_up(struct relay_mailbox *mailbox);
/* Receives for the program, and passes on what is there. */
void relay_letters_down(struct relay_link *link);
/* Sends again what the program had no space for. */
void relay_letters_again(struct relay_link *link);
/* What the program wrote next for this far end cannot be sent. */
void relay_letters_unsent(struct relay_mailbox *mailbox, struct carrick_ip6_address address, uint16_t port, int error);
/* The program shall learn of an error. */
void relay_letters_fail(struct relay_mailbox *mailbox, int error);

/* Serves the programs of a space, whose kind and name the relay has. False: `error` says why not. */
bool relay_space_open(struct relay *relay, struct carrick_port_error *error);
void relay_space_event(struct relay *relay, uint32_t place);
/* Somebody there listens on a port, or nobody does any more. */
void relay_space_listens(struct relay *relay, const struct space_report *report);
void relay_space_listens_no_longer(struct relay *relay, uint16_t port);
/* A connection for one who listens there. */
void relay_flow_accepted(struct relay_link *link, uint64_t handle);
/* Our end of one there, which joins the program's. */
void relay_flow_event(struct relay_link *link, uint32_t events);
/* Its place is free. */
void relay_flow_end(struct relay_link *link);
/* It does not join a program any more: it is connected, or has failed. */
void relay_bound_joined(struct relay_link *link);

/* Asks whether the peer has reset it behind its own end. */
void relay_link_look(struct relay_link *link);

/* It waits for more to send, or no longer. */
void relay_hold(struct relay_link *link);
void relay_unhold(struct relay_link *link);
/* The first of those that wait has waited long enough, or is gone. */
void relay_held_event(struct relay *relay);

/* Whether a user may have so many more: 0, EMFILE: it has its share, ENOBUFS: there are not so many. */
int relay_may_take(struct relay *relay, enum relay_share share, uint32_t uid, uint32_t count);
/* It has them; what is refused is counted. */
int relay_take(struct relay *relay, enum relay_share share, uint32_t uid, uint32_t count);
void relay_give(struct relay *relay, enum relay_share share, uint32_t uid, uint32_t count);
/* How many connections may wait for a user's socket, of which so many are wanted: as many as are to be taken. 0: no
 * matter how many. */
uint32_t relay_backlog(struct relay *relay, uint32_t uid, uint32_t wanted);
/* Prints each count of refusals that is not 0, as the program's counters are printed. */
void relay_print_refused(const struct relay *relay, FILE *out);

/* Reads `UID:PORT`, `UID:FIRST-LAST`, `UID#CONNECTIONS` or `UID=OWNER`, and more of it behind commas. False: it is not
 * that, or too much of it. */
bool relay_rules(struct relay *relay, const char *text);
/* Whether an asker may ask for this port; 0 is one that the relay chooses. */
bool relay_may(const struct relay *relay, uint64_t asker, uint16_t port);
/* The same for a user. */
bool relay_user_may(const struct relay *relay, uint32_t uid, uint16_t port);
/* For whom a user's requests are. */
uint32_t relay_owner(const struct relay *relay, uint32_t uid);
/* Who is at the other end of a socket; false: nobody can tell. */
bool relay_who(int fd, uint32_t *uid);

/* A socket's options as a program wants them, none but those that there are. */
struct carrick_socket_options relay_options(const struct carrick_socket_options *wanted);
/* The error that ended the connection with this id, for a program that shows its end; 0: none is known. */
int relay_end_of(struct relay *relay, uint64_t id, int fd, uint32_t manner);
/* Whether a program shows with `fd` that it has the socket with this cookie; counts those that do not. */
bool relay_shows(struct relay *relay, uint64_t cookie, int fd);
/* What ended a connection, its options, and what the program tells of it; `fd`: the program's end. */
void relay_why(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd);
void relay_set(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd);
void relay_get(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd);
/* An asker is about to close the program's end, or has. */
void relay_linger(struct relay *relay, uint64_t asker, uint64_t id, int fd);
void relay_closed(struct relay *relay, uint64_t asker, uint64_t id);

/* Who an asker is. */
uint32_t relay_uid(const struct relay *relay, uint64_t asker);

/* Whether the stack's version of the Internet Protocol carries what is asked: `ask` has an address of this version, or
 * `::`, which a socket without IPV6_V6ONLY has for both. */
bool relay_speaks(const struct relay *relay, const struct carrick_ask *ask);
/* Whether a bound socket of this asker's user has the port. */
bool relay_has(const struct relay *relay, uint64_t asker, uint16_t port);
/* Whether a socket listens on the port. */
bool relay_listens(const struct relay *relay, uint16_t port);
/* The bound socket with this id; NULL: there is none. */
struct relay_bound *relay_bound_find(struct relay *relay, uint64_t id);
void relay_bind(struct relay *relay, uint64_t asker, const struct carrick_ask *ask);
/* `fd`: the program's end, which only its owners have. */
void relay_listen(struct relay *relay, uint64_t asker, const struct carrick_ask *ask, int fd);
void relay_bound_event(struct relay_bound *bound, uint32_t events);
/* Accepts, wherever there is someone to accept for and room. */
void relay_accept(struct relay *relay);

#endif
