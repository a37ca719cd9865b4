/* SPDX-License-Identifier: MIT */
/*
 * Downloads files over HTTP/1.1, all at the same time: each over a connection of its own, or over a stream of its own
 * of one connection, where the program has these.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "apps/apps.h"
#include "apps/http_parse.h"

#define GET_BUFFER    262144u /* at least CARRICK_HTTP_HEAD */
#define GET_FILES     64u
#define GET_PATIENCE  1 /* seconds for the server to end the connection, as it was asked to */
#define GET_SLOW      2 /* seconds without a connection, after which people are told */
#define GET_LINGER_NS 2000000000u

struct get;

/* One file, and what it comes over. */
struct get_file {
    struct get *get;
    uint64_t handle;
    int file;
    bool open, in_body, whole, ended;
    struct carrick_http_response response;
    uint64_t received;
    uint32_t held, sent, request_len;
    char request[CARRICK_HTTP_PATH + 256];
    char buffer[GET_BUFFER];
};

struct get {
    struct carrick_stack *stack;
    struct carrick_ip6_address address;
    uint16_t port;
    bool begun;
    bool streams;        /* of one connection, its handle: */
    uint64_t connection; /* 0: none */
    int timer;
    uint32_t count, moving, open; /* files, those that are not whole, those that have not ended */
    int code;
    struct get_file *files;
};

static void get_left(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* it is over in any case */
    struct get *get = user;
    carrick_stack_linger(get->stack, GET_LINGER_NS, get->code); /* the peer is to learn of the end */
}

static void get_ended(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value;
    struct get *get = ((struct get_file *)user)->get;
    if (--get->open > 0)
        return;
    if (!get->connection || carrick_close(get->stack, get->connection, get_left, get) != 0)
        get_left(get, CARRICK_OK, 0);
}

/* Of a stream that was received to its end, nothing is left to end. */
static int get_close(struct get_file *f, bool in_order) {
    struct carrick_stack *stack = f->get->stack;
    if (!f->open)
        return CARRICK_BAD_ARG;
    if (!f->get->streams)
        return carrick_close(stack, f->handle, get_ended, f);
    return in_order ? carrick_shutdown(stack, f->handle, get_ended, f) : carrick_reset(stack, f->handle, get_ended, f);
}

static void get_patience_over(void *user);

/* One more file is whole, or will not be: the server has a while to end what it still has not. */
static void get_moved(struct get *get) {
    const struct itimerspec patience = {.it_value = {.tv_sec = GET_PATIENCE}};
    if (--get->moving == 0 && (timerfd_settime(get->timer, 0, &patience, NULL) != 0 ||
                               !carrick_stack_watch(get->stack, get->timer, get_patience_over, get)))
        get_patience_over(get);
}

static void get_end(struct get_file *f, int code) {
    bool moved = !f->whole;
    f->ended = f->whole = true;
    if (close(f->file) != 0 && code == CARRICK_EXIT_OK) {
        fprintf(stderr, "the file could not be written\n");
        code = CARRICK_EXIT_FAILED;
    }
    f->file = -1;
    if (code != CARRICK_EXIT_OK)
        f->get->code = code;
    if (get_close(f, code == CARRICK_EXIT_OK) != 0)
        get_ended(f, CARRICK_OK, 0);
    if (moved)
        get_moved(f->get);
}

static void get_fail(struct get_file *f, const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    get_end(f, CARRICK_EXIT_FAILED);
}

static void get_receive(struct get_file *f);

static bool get_write(struct get_file *f, const char *data, uint32_t len) {
    f->received += len;
    while (len > 0) {
        ssize_t put = write(f->file, data, len);
        if (put <= 0)
            return false;
        data += put;
        len -= (uint32_t)put;
    }
    return true;
}

/* The server ends the connection first, so that it and not we must remember it; what else it sends is not wanted. */
static void get_drain(void *user, enum carrick_status status, uint64_t octets) {
    (void)octets;
    struct get_file *f = user;
    if (f->ended)
        return;
    if (status != CARRICK_OK || carrick_recv(f->get->stack, f->handle, f->buffer, GET_BUFFER, get_drain, f) != 0)
        get_end(f, CARRICK_EXIT_OK);
}

static void get_patience_over(void *user) {
    struct get *get = user;
    carrick_stack_watch(get->stack, get->timer, NULL, NULL);
    for (uint32_t i = 0; i < get->count; i++)
        if (!get->files[i].ended)
            get_end(&get->files[i], CARRICK_EXIT_OK);
}

static void get_await_end(struct get_file *f) {
    f->whole = true;
    get_moved(f->get);
    get_drain(f, CARRICK_OK, 0);
}

/* Bytes of the body. */
static void get_body(struct get_file *f, const char *data, uint32_t len) {
    if (f->response.has_length && len > f->response.length - f->received)
        len = (uint32_t)(f->response.length - f->received);
    if (!get_write(f, data, len))
        get_fail(f, "cannot write the file", "is the disk full?");
    else if (f->response.has_length && f->received == f->response.length)
        get_await_end(f);
    else
        get_receive(f);
}

static void get_head(struct get_file *f) {
    char why[64];
    int head = carrick_http_parse_response(f->buffer, f->held, &f->response);
    if (head == 0) {
        get_receive(f);
    } else if (head < 0 || f->response.chunked) {
        get_fail(f, "cannot understand the answer", head < 0 ? "it is not HTTP/1.1" : "it has no length");
    } else if (f->response.status != 200) {
        snprintf(why, sizeof why, "status %d", f->response.status);
        get_fail(f, "the server refused", why);
    } else {
        f->in_body = true;
        get_body(f, f->buffer + head, f->held - (uint32_t)head);
    }
}

static void get_received(void *user, enum carrick_status status, uint64_t octets) {
    struct get_file *f = user;
    if (status == CARRICK_END_OF_STREAM && f->in_body && !f->response.has_length) {
        get_end(f, CARRICK_EXIT_OK);
    } else if (status != CARRICK_OK) {
        get_fail(f, "the download broke off", carrick_status_text(status));
    } else if (f->in_body) {
        get_body(f, f->buffer, (uint32_t)octets);
    } else {
        f->held += (uint32_t)octets;
        get_head(f);
    }
}

static void get_receive(struct get_file *f) {
    uint32_t from = f->in_body ? 0 : f->held;
    if (carrick_recv(f->get->stack, f->handle, f->buffer + from, GET_BUFFER - from, get_received, f) != 0)
        get_fail(f, "cannot receive", "the program has no `recv`");
}

static void get_shut(void *user, enum carrick_status status, uint64_t value) {
    (void)user, (void)status, (void)value; /* a request that did not arrive is not answered either */
}

static void get_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct get_file *f = user;
    struct get *get = f->get;
    f->sent += (uint32_t)octets;
    if (status != CARRICK_OK) {
        get_fail(f, "cannot send the request", carrick_status_text(status));
    } else if (f->sent < f->request_len) {
        if (carrick_send(get->stack, f->handle, f->request + f->sent, f->request_len - f->sent, get_sent, f) != 0)
            get_fail(f, "cannot send", "the program has no `send`");
    } else {
        /* A stream has one request: the server need not wait for another. */
        if (get->streams)
            (void)carrick_shutdown(get->stack, f->handle, get_shut, f);
        get_receive(f);
    }
}

static void get_opened(void *user, enum carrick_status status, uint64_t handle) {
    struct get_file *f = user;
    f->handle = handle;
    f->open = status == CARRICK_OK;
    if (f->open)
        get_sent(f, CARRICK_OK, 0);
    else
        get_fail(f, f->get->streams ? "cannot open a stream" : "cannot connect", carrick_status_text(status));
}

/* The connection that carries the streams. */
static void get_connected(void *user, enum carrick_status status, uint64_t handle) {
    struct get *get = user;
    if (status != CARRICK_OK) {
        fprintf(stderr, "cannot connect: %s\n", carrick_status_text(status));
        carrick_stack_stop(get->stack, CARRICK_EXIT_FAILED);
        return;
    }
    get->connection = handle;
    for (uint32_t i = 0; i < get->count; i++)
        if (carrick_open_stream(get->stack, handle, get_opened, &get->files[i]) != 0)
            get_fail(&get->files[i], "cannot open a stream", "too many requests are open");
}

/* The timer's time is over: a peer that is not there is given up only after long. */
static void get_slow(void *user) {
    struct get *get = user;
    carrick_stack_watch(get->stack, get->timer, NULL, NULL);
    bool connected = get->connection != 0;
    for (uint32_t i = 0; i < get->count; i++)
        connected |= get->files[i].open || get->files[i].ended;
    char address[CARRICK_ADDRESS_TEXT];
    carrick_show_address(get->address, address);
    if (!connected)
        fprintf(stderr, "no answer from %s for %d s; still trying\n", address, GET_SLOW);
}

/* False: the program cannot be a client. */
static bool get_begin(struct get *get) {
    const struct itimerspec slow = {.it_value = {.tv_sec = GET_SLOW}};
    if (timerfd_settime(get->timer, 0, &slow, NULL) == 0)
        (void)carrick_stack_watch(get->stack, get->timer, get_slow, get);
    get->moving = get->open = get->count;
    if (get->streams)
        return carrick_connect(get->stack, 0, get->address, get->port, get_connected, get) == 0;
    for (uint32_t i = 0; i < get->count; i++)
        if (carrick_connect(get->stack, 0, get->address, get->port, get_opened, &get->files[i]) != 0)
            return false;
    return true;
}

/* One of PATH:FILE, of `len` letters. The file's name is what follows the last colon. */
static bool get_parse_file(struct get_file *f, const char *text, size_t len, const char *host, size_t host_len,
                           char *name, size_t name_size) {
    const char *colon = memrchr(text, ':', len);
    size_t path_len = colon ? (size_t)(colon - text) : 0, name_len = len - path_len - 1;
    if (path_len == 0 || path_len >= CARRICK_HTTP_PATH || name_len == 0 || name_len >= name_size)
        return false;
    memcpy(name, colon + 1, name_len);
    name[name_len] = 0;
    int request = snprintf(f->request, sizeof f->request,
                           "GET %.*s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: carrick\r\nConnection: close\r\n\r\n",
                           (int)path_len, text, (int)host_len, host);
    f->request_len = (uint32_t)request;
    return request > 0 && (size_t)request < sizeof f->request;
}

/* IP[:PORT], of `len` letters. */
static bool get_parse_host(struct get *get, const char *host, size_t len) {
    size_t bracketed = host[0] == '[' ? strcspn(host, "]") : 0;
    size_t address_len = bracketed + strcspn(host + bracketed, ":/");
    char port[8] = "80";
    if (address_len > len || len - address_len > 6)
        return false;
    if (address_len < len) {
        memcpy(port, host + address_len + 1, len - address_len - 1);
        port[len - address_len - 1] = 0;
    }
    return carrick_parse_port(port, &get->port) && carrick_parse_address(host, address_len, &get->address);
}

/* Where the next of several PATH:FILE begins, or the end. */
static const char *get_next_file(const char *text) {
    const char *comma = strstr(text, ",/");
    return comma ? comma + 1 : text + strlen(text);
}

/* http://IP[:PORT]/PATH:FILE[,/PATH:FILE...]. False: `error` says why not. */
static bool get_parse(struct get *get, const char *argument, struct carrick_port_error *error) {
    static const char scheme[] = "http://";
    const char *host = argument + sizeof scheme - 1, *next;
    bool known = strncmp(argument, scheme, sizeof scheme - 1) == 0;
    size_t host_len = known ? strcspn(host, "/") : 0;
    known = known && host[host_len] && get_parse_host(get, host, host_len);
    for (const char *at = host + host_len; known && *at; at = next) {
        char name[512];
        next = get_next_file(at);
        size_t len = (size_t)(next - at) - (*next != 0);
        struct get_file *f = &get->files[get->count];
        known = get->count < GET_FILES && get_parse_file(f, at, len, host, host_len, name, sizeof name);
        if (!known)
            break;
        f->get = get;
        f->file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        get->count++;
        if (f->file < 0) {
            snprintf(error->text, sizeof error->text, "The file `%.150s` cannot be written: choose another path.",
                     name);
            return false;
        }
    }
    if (!known)
        snprintf(error->text, sizeof error->text,
                 "`%.100s` is no download: write get:http://IP[:PORT]/PATH:FILE, and ,/PATH:FILE for up to %u more.",
                 argument, GET_FILES - 1);
    return known;
}

static void get_finish(void *state) {
    struct get *get = state;
    for (uint32_t i = 0; i < get->count; i++) {
        const struct get_file *f = &get->files[i];
        if (f->file < 0)
            continue;
        close(f->file);
        if (get->begun && !f->whole)
            fprintf(stderr, "the download of %.*s was stopped after %" PRIu64 " bytes\n",
                    (int)strcspn(f->request + 4, " "), f->request + 4, f->received);
    }
    if (get->timer >= 0)
        close(get->timer);
    free(get->files);
    free(get);
}

static void *get_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    struct get *get = calloc(1, sizeof *get);
    if (get)
        get->files = calloc(GET_FILES, sizeof *get->files);
    if (!get || !get->files) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the downloader.");
        free(get);
        return NULL;
    }
    get->stack = stack;
    get->streams = carrick_stack_has(stack, "open_stream");
    get->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (get->timer < 0) {
        snprintf(error->text, sizeof error->text,
                 "There is no timer to be had: end some processes, or raise `ulimit -n`.");
    } else if (get_parse(get, argument, error)) {
        get->begun = get_begin(get);
        if (get->begun)
            return get;
        snprintf(error->text, sizeof error->text, "%s",
                 carrick_stack_speaks_to(stack, get->address)
                     ? "The program cannot be a client: its interface has no `connect`."
                     : "The server's address is of another version of the Internet Protocol than the stack's.");
    }
    get_finish(get);
    return NULL;
}

const struct carrick_application carrick_get_application = {.name = "get",
                                                            .usage = "get:http://IP[:PORT]/PATH:FILE[,/PATH:FILE...]",
                                                            .start = get_start,
                                                            .finish = get_finish,
                                                            .ends = true};
