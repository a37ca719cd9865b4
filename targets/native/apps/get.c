/* SPDX-License-Identifier: MIT */
/* Downloads one file over HTTP/1.1. */
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
#define GET_PATIENCE  1       /* seconds for the server to end the connection, as it was asked to */
#define GET_LINGER_NS 2000000000u

struct get {
    struct carrick_stack *stack;
    uint64_t handle;
    uint32_t address;
    uint16_t port;
    int file, timer;
    bool in_body, ending;
    struct carrick_http_response response;
    uint64_t received;
    uint32_t held, sent, request_len;
    int code;
    char request[CARRICK_HTTP_PATH + 256];
    char buffer[GET_BUFFER];
};

static void get_ended(void *user, enum carrick_status status, uint64_t value) {
    (void)status, (void)value; /* it is over in any case */
    struct get *get = user;
    carrick_stack_linger(get->stack, GET_LINGER_NS, get->code); /* the peer is to learn of the end */
}

static void get_end(struct get *get, int code) {
    get->code = code;
    get->ending = true;
    if (close(get->file) != 0 && code == CARRICK_EXIT_OK) {
        fprintf(stderr, "the file could not be written\n");
        get->code = CARRICK_EXIT_FAILED;
    }
    get->file = -1;
    if (carrick_close(get->stack, get->handle, get_ended, get) != 0)
        get_ended(get, CARRICK_OK, 0);
}

static void get_fail(struct get *get, const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    get_end(get, CARRICK_EXIT_FAILED);
}

static void get_receive(struct get *get);

static bool get_write(struct get *get, const char *data, uint32_t len) {
    get->received += len;
    while (len > 0) {
        ssize_t put = write(get->file, data, len);
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
    struct get *get = user;
    if (get->ending)
        return;
    if (status != CARRICK_OK || carrick_recv(get->stack, get->handle, get->buffer, GET_BUFFER, get_drain, get) != 0)
        get_end(get, CARRICK_EXIT_OK);
}

static void get_patience_over(void *user) {
    struct get *get = user;
    carrick_stack_watch(get->stack, get->timer, NULL, NULL);
    if (!get->ending)
        get_end(get, CARRICK_EXIT_OK);
}

static void get_await_end(struct get *get) {
    const struct itimerspec patience = {.it_value = {.tv_sec = GET_PATIENCE}};
    if (timerfd_settime(get->timer, 0, &patience, NULL) == 0 &&
        carrick_stack_watch(get->stack, get->timer, get_patience_over, get))
        get_drain(get, CARRICK_OK, 0);
    else
        get_end(get, CARRICK_EXIT_OK);
}

/* Octets of the body. */
static void get_body(struct get *get, const char *data, uint32_t len) {
    if (get->response.has_length && len > get->response.length - get->received)
        len = (uint32_t)(get->response.length - get->received);
    if (!get_write(get, data, len))
        get_fail(get, "cannot write the file", "is the disk full?");
    else if (get->response.has_length && get->received == get->response.length)
        get_await_end(get);
    else
        get_receive(get);
}

static void get_head(struct get *get) {
    char why[64];
    int head = carrick_http_parse_response(get->buffer, get->held, &get->response);
    if (head == 0) {
        get_receive(get);
    } else if (head < 0 || get->response.chunked) {
        get_fail(get, "cannot understand the answer", head < 0 ? "it is not HTTP/1.1" : "it has no length");
    } else if (get->response.status != 200) {
        snprintf(why, sizeof why, "status %d", get->response.status);
        get_fail(get, "the server refused", why);
    } else {
        get->in_body = true;
        get_body(get, get->buffer + head, get->held - (uint32_t)head);
    }
}

static void get_received(void *user, enum carrick_status status, uint64_t octets) {
    struct get *get = user;
    if (status == CARRICK_END_OF_STREAM && get->in_body && !get->response.has_length) {
        get_end(get, CARRICK_EXIT_OK);
    } else if (status != CARRICK_OK) {
        get_fail(get, "the download broke off", carrick_status_text(status));
    } else if (get->in_body) {
        get_body(get, get->buffer, (uint32_t)octets);
    } else {
        get->held += (uint32_t)octets;
        get_head(get);
    }
}

static void get_receive(struct get *get) {
    uint32_t from = get->in_body ? 0 : get->held;
    if (carrick_recv(get->stack, get->handle, get->buffer + from, GET_BUFFER - from, get_received, get) != 0)
        get_fail(get, "cannot receive", "the program has no `recv`");
}

static void get_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct get *get = user;
    get->sent += (uint32_t)octets;
    if (status != CARRICK_OK)
        get_fail(get, "cannot send the request", carrick_status_text(status));
    else if (get->sent == get->request_len)
        get_receive(get);
    else if (carrick_send(get->stack, get->handle, get->request + get->sent, get->request_len - get->sent, get_sent,
                          get) != 0)
        get_fail(get, "cannot send", "the program has no `send`");
}

static void get_connected(void *user, enum carrick_status status, uint64_t handle) {
    struct get *get = user;
    if (status != CARRICK_OK) {
        fprintf(stderr, "cannot connect: %s\n", carrick_status_text(status));
        carrick_stack_stop(get->stack, CARRICK_EXIT_FAILED);
        return;
    }
    get->handle = handle;
    get_sent(get, CARRICK_OK, 0);
}

/* http://IP[:PORT]/PATH:FILE. The file's name is what follows the last colon. */
static bool get_parse(struct get *get, const char *argument, char *file, size_t file_size) {
    static const char scheme[] = "http://";
    const char *host = argument + sizeof scheme - 1, *name = strrchr(argument, ':');
    if (strncmp(argument, scheme, sizeof scheme - 1) != 0 || name < host || strlen(name + 1) >= file_size || !name[1])
        return false;
    strcpy(file, name + 1);
    size_t host_len = strcspn(host, "/"), address_len = strcspn(host, ":/");
    const char *path = host + host_len;
    int path_len = path < name ? (int)(name - path) : 0;
    char port[8] = "80";
    if (path_len == 0 || path_len >= (int)CARRICK_HTTP_PATH || host_len - address_len > 6)
        return false;
    if (address_len < host_len) {
        memcpy(port, host + address_len + 1, host_len - address_len - 1);
        port[host_len - address_len - 1] = 0;
    }
    int len = snprintf(get->request, sizeof get->request,
                       "GET %.*s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: carrick\r\nConnection: close\r\n\r\n", path_len,
                       path, (int)host_len, host);
    get->request_len = (uint32_t)len;
    return len > 0 && (size_t)len < sizeof get->request && carrick_parse_port(port, &get->port) &&
           carrick_parse_address(host, address_len, &get->address);
}

static void get_finish(void *state) {
    struct get *get = state;
    if (get->file >= 0)
        close(get->file);
    if (get->timer >= 0)
        close(get->timer);
    free(get);
}

static void *get_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    char file[512];
    struct get *get = calloc(1, sizeof *get);
    if (!get) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the downloader.");
        return NULL;
    }
    get->stack = stack;
    get->file = -1;
    get->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (get->timer < 0) {
        snprintf(error->text, sizeof error->text,
                 "There is no timer to be had: end some processes, or raise `ulimit -n`.");
    } else if (!get_parse(get, argument, file, sizeof file)) {
        snprintf(error->text, sizeof error->text, "`%.100s` is no download: write get:http://IP[:PORT]/PATH:FILE.",
                 argument);
    } else if ((get->file = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) < 0) {
        snprintf(error->text, sizeof error->text, "The file `%.150s` cannot be written: choose another path.", file);
    } else if (carrick_connect(stack, 0, get->address, get->port, get_connected, get) != 0) {
        snprintf(error->text, sizeof error->text, "The program cannot be a client: its interface has no `connect`.");
    } else {
        return get;
    }
    get_finish(get);
    return NULL;
}

const struct carrick_application carrick_get_application = {"get", "get:http://IP[:PORT]/PATH:FILE", get_start,
                                                            get_finish};
