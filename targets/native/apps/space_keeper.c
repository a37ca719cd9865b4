/* SPDX-License-Identifier: MIT */
/* The keeper of a space: a process in its namespace, with the rights that the relay has given up. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "apps/space.h"
#include "carrick/ipv6.h"
#include "carrick/sockets.h"
#include "net/netlink.h"

/* Milliseconds. A socket is among those that listen a moment after its state says so. Where the system does not tell
 * that somebody listens, it is looked for. */
#define LOOK_AGAIN 1
#define LOOK_OFTEN 20
#define LOOK_ELSE  1000

#define PORTS  256u
#define ANSWER 32768u
#define BUFFER 131072 /* bytes of a relay's end, each way, of which the kernel makes twice as many */

#define UNSENT 16384 /* of them that may wait for the program: the peer is to wait */

/* Marks, which are also numbers of routes (SPACE_BITS are not theirs). */
#define MARK        0x6360u
#define CGROUP_MARK 0x63610000u
#define CGROUPS     64u

#define PREDECESSOR 2000 /* milliseconds until one that is ending has ended */

#define WHOLE (-1) /* an errno that says nothing: the sentence is whole without it */

/* A namespace or a cgroup: where it is, and which one is there. */
struct spot {
    char path[256];
    struct stat is;
};

struct keeper {
    int relay, diag;
    struct space_place place;
    struct spot spot;
    uint32_t count;
    struct space_report ports[PORTS]; /* where somebody listens */
};

/* The far end of a connection. Returns it, or -1. */
static int far_end(const struct space_order *order, uint32_t mark) {
    bool four = carrick_address_is_ipv4(order->address);
    int on = 1, size = BUFFER, unsent = UNSENT;
    struct linger reset = {.l_onoff = 1}; /* if the relay ends, the program must not take that for the peer's end */
    struct sockaddr_storage at;
    socklen_t len = carrick_socket_address(order->address, order->port, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    bool ready = setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark) == 0 &&
                 setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                 setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) == 0 &&
                 setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
                 setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size) == 0 &&
                 setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent) == 0 &&
                 setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) == 0 &&
                 (four ? setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof on)
                       : setsockopt(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, &on, sizeof on)) == 0 &&
                 bind(fd, (const struct sockaddr *)&at, len) == 0;
    if (ready)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* False: the relay is gone. */
static bool carry_out(const struct keeper *keeper) {
    struct space_order order;
    ssize_t got = recv(keeper->relay, &order, sizeof order, 0);
    if (got != sizeof order)
        return got < 0 && errno == EINTR;
    int fd = far_end(&order, keeper->place.mark | SPACE_CONNECTS);
    struct space_report report = {.kind = SPACE_SOCKET, .id = order.id, .error = fd < 0 ? errno : 0};
    bool told = carrick_socket_pass(keeper->relay, &report, sizeof report, fd, 0);
    if (fd >= 0)
        close(fd);
    return told;
}

static struct space_report *port_of(struct space_report *ports, uint32_t count, uint16_t port) {
    for (uint32_t i = 0; i < count; i++)
        if (ports[i].port == port)
            return &ports[i];
    return NULL;
}

/* Whether a socket listens for the stack's hosts: on all addresses, or on the stack's. */
static bool is_reached(const struct space_place *place, const struct inet_diag_msg *found) {
    uint8_t octets[16];
    memcpy(octets, found->id.idiag_src, sizeof octets);
    struct carrick_ip6_address at =
        found->idiag_family == AF_INET ? carrick_address_of_ipv4(carrick_load32(octets)) : carrick_ip6_load(octets);
    return carrick_ip6_same(at, place->own) || carrick_ip6_same(at, (struct carrick_ip6_address){0}) ||
           carrick_ip6_same(at, carrick_address_of_ipv4(0));
}

/* Whether it is the space's: all of a namespace are, and of other namespaces none is seen. */
static bool is_ours(const struct space_place *place, const struct nlmsghdr *message) {
    uint32_t mark = 0;
    const void *given = netlink_find(message, sizeof(struct inet_diag_msg), INET_DIAG_MARK, sizeof mark);
    if (given)
        memcpy(&mark, given, sizeof mark);
    return place->kind == SPACE_NAMESPACE || (mark & ~SPACE_BITS) == place->mark;
}

/* Adds one that listens. */
static void add_port(const struct space_place *place, struct space_report *ports, uint32_t *count,
                     const struct nlmsghdr *message) {
    struct inet_diag_msg found;
    if (message->nlmsg_len < NLMSG_LENGTH(sizeof found))
        return;
    memcpy(&found, NLMSG_DATA(message), sizeof found);
    uint16_t port = ntohs(found.id.idiag_sport);
    if (*count == PORTS || !is_reached(place, &found) || !is_ours(place, message) || port_of(ports, *count, port))
        return;
    ports[(*count)++] = (struct space_report){.kind = SPACE_LISTENS,
                                              .port = port,
                                              .uid = found.idiag_uid,
                                              .backlog = found.idiag_wqueue,
                                              .six = found.idiag_family == AF_INET6};
}

/* All who listen, of one family. False: the kernel did not tell. */
static bool look_at(const struct keeper *keeper, uint8_t family, struct space_report *ports, uint32_t *count) {
    static _Alignas(struct nlmsghdr) char answer[ANSWER];
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 body;
    } ask = {.header = {.nlmsg_len = sizeof ask,
                        .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
             .body = {.sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1u << TCP_LISTEN}};
    if (send(keeper->diag, &ask, sizeof ask, 0) < 0)
        return false;
    for (;;) {
        ssize_t got = recv(keeper->diag, answer, sizeof answer, 0);
        if (got < (ssize_t)sizeof(struct nlmsghdr))
            return false;
        size_t left = (size_t)got;
        for (struct nlmsghdr *message = (void *)answer; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
            if (message->nlmsg_type == NLMSG_DONE)
                return true;
            if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY)
                return false;
            add_port(&keeper->place, ports, count, message);
        }
    }
}

static bool tell(const struct keeper *keeper, struct space_report report, enum space_report_kind kind) {
    report.kind = kind;
    return send(keeper->relay, &report, sizeof report, MSG_NOSIGNAL) == sizeof report;
}

/* Tells who began to listen since the last time, and who ended. False: the relay is gone. */
static bool look(struct keeper *keeper) {
    struct space_report now[PORTS];
    uint32_t count = 0;
    bool told = true;
    if (!look_at(keeper, AF_INET, now, &count) || !look_at(keeper, AF_INET6, now, &count))
        return true; /* the next look will */
    for (uint32_t i = 0; i < keeper->count && told; i++)
        if (!port_of(now, count, keeper->ports[i].port))
            told = tell(keeper, keeper->ports[i], SPACE_NO_LONGER);
    for (uint32_t i = 0; i < count && told; i++)
        if (!port_of(keeper->ports, keeper->count, now[i].port))
            told = tell(keeper, now[i], SPACE_LISTENS);
    memcpy(keeper->ports, now, count * sizeof now[0]);
    keeper->count = count;
    return told;
}

/* Whether it is no longer there, or another one is. A path that this process may not follow still leads somewhere. */
static bool is_removed(const struct spot *spot) {
    struct stat now;
    if (stat(spot->path, &now) == 0)
        return now.st_ino != spot->is.st_ino || now.st_dev != spot->is.st_dev;
    return errno == ENOENT || errno == ENOTDIR || errno == ESRCH;
}

/* Programs of its successor would wait for a stack that is not theirs. False: it is removed. */
static bool is_still_there(const struct keeper *keeper) {
    if (!is_removed(&keeper->spot))
        return true;
    fprintf(stderr, "The %s %.200s is gone: the stack ends, and has to be started again.\n",
            keeper->place.kind == SPACE_CGROUP ? "cgroup" : "network namespace", keeper->spot.path);
    (void)tell(keeper, (struct space_report){0}, SPACE_REMOVED);
    return false;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For as long as there is a relay. */
static void keep(struct keeper *keeper, int set, const struct space_listens *listens) {
    struct pollfd told[] = {{.fd = keeper->relay, .events = POLLIN}, {.fd = set, .events = POLLIN}};
    int64_t next = now_ms(), every = set < 0 ? LOOK_OFTEN : LOOK_ELSE;
    bool goes_on = true;
    while (goes_on) {
        int64_t wait = next - now_ms();
        int ready = poll(told, 2, wait > 0 ? (int)wait : 0);
        /* First who listens, then the orders: a program that listens and then asks somebody to call it has to be
         * served. */
        bool ordered = ready > 0 && told[0].revents;
        bool changed = set < 0 ? ordered : (ready > 0 && told[1].revents) || space_listens_changed(listens);
        if (changed)
            space_listens_seen(set, listens);
        if (changed || now_ms() >= next) {
            goes_on = is_still_there(keeper) && look(keeper);
            next = now_ms() + (changed ? LOOK_AGAIN : every);
        }
        if (goes_on && ordered)
            goes_on = carry_out(keeper);
    }
}

/* The namespace becomes this process's. Returns what failed, with errno; NULL: nothing. */
static const char *enter(struct spot *spot, const char *name) {
    struct stat own;
    int len = snprintf(spot->path, sizeof spot->path, "%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
    int fd = len < (int)sizeof spot->path ? open(spot->path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &spot->is) != 0 || stat("/proc/self/ns/net", &own) != 0)
        return "the namespace";
    if (own.st_ino == spot->is.st_ino && own.st_dev == spot->is.st_dev) {
        errno = WHOLE; /* all other programs of the machine would lose their connections */
        return "it is this host's own: make another (`ip netns add NAME`), or write cgroup=PATH for a part of its "
               "programs";
    }
    if (setns(fd, CLONE_NEWNET) == 0)
        return NULL;
    if (errno != EINVAL)
        return "the namespace";
    errno = WHOLE;
    return "it is no network namespace: write a name of `ip netns list`, or a path such as /proc/PID/ns/net";
}

/* What the relay is to have, or why there is nothing. */
struct opened {
    int error;
    char what[160];
};

static bool pass_all(int relay, const struct space *space) {
    const int given[] = {space->tap, space->raw[0], space->raw[1], space->diag, space->gone};
    struct opened opened = {0};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (!carrick_socket_pass(relay, &opened, sizeof opened, given[i], 0))
            return false;
        close(given[i]);
    }
    return true;
}

/* What the relay has open is not the keeper's. */
static void close_from(unsigned first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, UINT32_MAX, 0) == 0)
        return;
#endif
    for (long fd = sysconf(_SC_OPEN_MAX); fd >= (long)first; fd--)
        close((int)fd);
}

/* What the keeper needs from here on: a socket's mark, and ports below 1024. */
static bool keep_little(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    uint32_t kept = data[0].permitted & (CAP_TO_MASK(CAP_NET_ADMIN) | CAP_TO_MASK(CAP_NET_BIND_SERVICE));
    memset(data, 0, sizeof data);
    data[0].permitted = data[0].effective = kept;
    return syscall(SYS_capset, &header, data) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* A name of this network namespace that one process has at a time, and loses when it ends. */
struct claimed {
    struct sockaddr_un at;
    socklen_t len;
};

static struct claimed claimed_as(const char *name) {
    struct claimed it = {.at = {.sun_family = AF_UNIX}};
    int letters = snprintf(it.at.sun_path + 1, sizeof it.at.sun_path - 1, "carrick-space-%s", name);
    it.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)letters);
    return it;
}

/* False: errno says why; EADDRINUSE: another process has it. */
static bool claim(const char *name) {
    struct claimed it = claimed_as(name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&it.at, it.len) == 0 && listen(fd, 16) == 0)
        return true; /* and stays open */
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return false;
}

/* The same, and who has it may be ending, and takes back what it has set up. */
static bool claim_behind_another(const char *name) {
    if (claim(name))
        return true;
    if (errno != EADDRINUSE)
        return false;
    struct claimed it = claimed_as(name);
    struct pollfd ends = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), .events = POLLRDHUP};
    if (ends.fd >= 0 && connect(ends.fd, (const struct sockaddr *)&it.at, it.len) == 0)
        (void)poll(&ends, 1, PREDECESSOR);
    if (ends.fd >= 0)
        close(ends.fd);
    return claim(name);
}

/* A namespace is one stack's. */
static const char *place_in_namespace(struct space_place *place, const char *name, struct spot *spot) {
    const char *failed = enter(spot, name);
    if (failed)
        return failed;
    place->mark = MARK;
    return claim_behind_another("namespace") ? NULL : "it";
}

/* So is a cgroup; but a namespace may have several, with a mark each. */
static const char *place_in_cgroup(struct space_place *place, const char *name, int *cgroup, struct spot *spot) {
    char text[40];
    *cgroup = space_cgroup_open(name);
    (void)snprintf(spot->path, sizeof spot->path, "%s", name);
    if (*cgroup < 0 || fstat(*cgroup, &spot->is) != 0)
        return errno == ENOTSUP ? "a folder that is no cgroup of version 2" : "its folder";
    if (faccessat(*cgroup, "cgroup.events", F_OK, 0) != 0 && errno == ENOENT) { /* which all have but the first */
        errno = WHOLE;
        return "it is the root of all cgroups, and all programs of the machine would lose their connections: make one "
               "below it (`mkdir PATH/NAME`)";
    }
    (void)snprintf(text, sizeof text, "cgroup-%llu", (unsigned long long)spot->is.st_ino);
    if (!claim_behind_another(text))
        return "it";
    for (uint32_t i = 0; i < CGROUPS; i++) {
        (void)snprintf(text, sizeof text, "mark-%u", i);
        place->mark = CGROUP_MARK + (SPACE_BITS + 1) * i;
        if (claim(text))
            return NULL;
        if (errno != EADDRINUSE)
            break;
    }
    return "a mark of its own";
}

/* The process, which does not return. */
_Noreturn static void keeper_run(int relay, enum space_kind kind, const char *name, struct carrick_ip6_address own) {
    struct space space = {.tap = -1, .raw = {-1, -1}, .diag = -1, .gone = -1};
    static struct keeper keeper;
    keeper.place = (struct space_place){.kind = kind, .own = own};
    struct space_place *place = &keeper.place;
    int cgroup = -1, mine = dup2(relay, STDERR_FILENO + 1);
    close_from((unsigned)mine + 1);
    (void)prctl(PR_SET_NAME, "carrick-space");
    for (int number = 1; number < NSIG; number++)
        (void)signal(number, number == SIGPIPE || number == SIGINT || number == SIGTERM || number == SIGHUP ? SIG_IGN
                                                                                                            : SIG_DFL);
    static struct space_listens listens;
    const char *failed = kind == SPACE_CGROUP ? place_in_cgroup(place, name, &cgroup, &keeper.spot)
                                              : place_in_namespace(place, name, &keeper.spot);
    bool inside = !failed;
    if (!failed)
        failed = space_set_up(&space, place);
    if (!failed && cgroup >= 0 && !space_cgroup_mark(cgroup, place))
        failed = "programs of BPF for it";
    int set = failed ? -1 : space_listens_open(&listens);
    keeper.relay = mine;
    keeper.diag = failed ? -1 : socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (!failed && keeper.diag < 0)
        failed = "a list of its sockets (inet_diag)";
    else if (!failed && !keep_little())
        failed = "to give up other rights";
    if (failed) {
        struct opened opened = {.error = errno};
        (void)snprintf(opened.what, sizeof opened.what, "%s", failed);
        (void)carrick_socket_pass(mine, &opened, sizeof opened, -1, 0);
    } else if (pass_all(mine, &space)) {
        keep(&keeper, set, &listens);
    }
    if (inside)
        space_take_back(place);
    _exit(0);
}

static bool failed_to_open(struct space *space, enum space_kind kind, const char *name, const struct opened *opened,
                           struct carrick_port_error *error) {
    bool group = kind == SPACE_CGROUP;
    const char *mend = opened->error == EPERM || opened->error == EACCES ? " Root may (CAP_SYS_ADMIN, CAP_NET_ADMIN)."
                       : opened->error == ENOENT && group                ? " Make one: `mkdir PATH`, in /sys/fs/cgroup."
                       : opened->error == ENOENT                         ? " Make one: `ip netns add NAME`."
                                                                         : "";
    const char *what = group ? "cgroup" : "network namespace";
    bool taken = opened->error == EADDRINUSE && strcmp(opened->what, "it") == 0;
    if (opened->error == WHOLE)
        snprintf(error->text, sizeof error->text, "Cannot serve the %s `%.50s`: %s.", what, name, opened->what);
    else
        snprintf(error->text, sizeof error->text, "Cannot serve the %s `%.60s`: %.80s: %s.%s", what, name, opened->what,
                 taken ? "another stack serves it" : strerror(opened->error), mend);
    carrick_space_close(space);
    return false;
}

bool carrick_space_open(struct space *space, enum space_kind kind, const char *name, struct carrick_ip6_address own,
                        struct carrick_port_error *error) {
    struct opened opened = {.what = "its keeper"};
    int *const places[] = {&space->tap, &space->raw[0], &space->raw[1], &space->diag, &space->gone};
    int ends[2];
    *space = (struct space){.keeper = -1, .tap = -1, .raw = {-1, -1}, .diag = -1, .gone = -1};
    pid_t keeper = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 ? fork() : -1;
    if (keeper < 0) {
        opened.error = errno;
        return failed_to_open(space, kind, name, &opened, error);
    }
    if (keeper == 0)
        keeper_run(ends[1], kind, name, own);
    space->keeper = ends[0];
    close(ends[1]);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        ssize_t got = carrick_socket_take(recvmsg, space->keeper, &opened, sizeof opened, places[i], 0);
        if (got != sizeof opened || opened.error) {
            opened.error = got == sizeof opened ? opened.error : EPIPE;
            return failed_to_open(space, kind, name, &opened, error);
        }
    }
    return fcntl(space->keeper, F_SETFL, O_NONBLOCK) == 0;
}

void carrick_space_close(struct space *space) {
    const int open[] = {space->keeper, space->tap, space->raw[0], space->raw[1], space->diag, space->gone};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        if (open[i] >= 0)
            close(open[i]);
}
