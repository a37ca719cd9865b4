/* SPDX-License-Identifier: MIT */
/*
 * A static HTTP/1.1 file server: GET (also of one range), HEAD, and PUT or POST of a file with a length. One request at
 * a time on a connection, and one open request to the stack.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/apps.h"
#include "apps/descriptors.h"
#include "apps/http_files.h"
#include "apps/http_parse.h"
#include "apps/server.h"
#include "carrick/reserve.h"

#define HTTP_PORT   80u
#define HTTP_IN     65536u /* at least CARRICK_HTTP_HEAD */
#define HTTP_OUT    131072u
#define HTTP_LINGER 1048576u /* bytes that are read and thrown away after an answer that ends a connection */

struct http;

enum http_state { HTTP_READING, HTTP_UPLOADING, HTTP_ANSWERING, HTTP_LINGERING };

struct http_connection {
    struct http *http;
    uint64_t handle;
    enum http_state state;
    struct carrick_http_request request;
    int file; /* being sent; -1: none */
    uint64_t file_at, file_left;
    struct carrick_upload upload;
    uint64_t body_left;
    uint64_t lingered;
    bool interim; /* what is being sent is not the answer yet, but leave to send the body */
    uint32_t in_len, out_len, out_sent;
    char in[HTTP_IN];
    char out[HTTP_OUT];
};

struct http {
    struct carrick_server server;
    int root;
    struct http_connection *connections; /* those that were never used are zero */
    uint32_t places;                     /* as many as the program can have connections */
};

static void http_go_on(struct http_connection *c);
static void http_send(struct http_connection *c);

static uint32_t http_place(const struct http_connection *c) {
    return (uint32_t)(c - c->http->connections);
}

static void http_enter(struct http_connection *c, enum http_state state) {
    c->state = state;
    carrick_server_phase(&c->http->server, http_place(c), state == HTTP_ANSWERING);
}

/* `status`: why. The peer's end has been received if it is that. */
static void http_close(struct http_connection *c, enum carrick_status status) {
    if (c->file >= 0)
        close(c->file);
    c->file = -1;
    carrick_upload_abandon(&c->upload);
    carrick_server_close(&c->http->server, http_place(c), status == CARRICK_END_OF_STREAM);
}

static const char *reason(int status) {
    static const struct {
        int status;
        const char *text;
    } reasons[] = {{200, "OK"},
                   {201, "Created"},
                   {206, "Partial Content"},
                   {400, "Bad Request"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {411, "Length Required"},
                   {414, "URI Too Long"},
                   {416, "Range Not Satisfiable"},
                   {417, "Expectation Failed"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {501, "Not Implemented"},
                   {505, "HTTP Version Not Supported"},
                   {503, "Service Unavailable"},
                   {507, "Insufficient Storage"}};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "Error";
}

/* Begins an answer with `fields`, whole lines. A body of `octets` follows from the file, if there is one. */
static void http_answer_with(struct http_connection *c, int status, uint64_t octets, const char *fields) {
    http_enter(c, HTTP_ANSWERING);
    c->out_sent = 0;
    const char *server_keeps = c->request.keep_alive ? "" : "Connection: close\r\n";
    c->out_len = (uint32_t)snprintf(c->out, sizeof c->out, "HTTP/1.1 %d %s\r\nContent-Length: %" PRIu64 "\r\n%s%s\r\n",
                                    status, reason(status), octets, fields, server_keeps);
    http_send(c);
}

static void http_answer(struct http_connection *c, int status, uint64_t octets) {
    http_answer_with(c, status, octets, "");
}

/* An answer after which nothing more is understood. */
static void http_refuse(struct http_connection *c, int status) {
    c->request.keep_alive = false;
    carrick_upload_abandon(&c->upload);
    http_answer(c, status, 0);
}

static void http_lingered(void *user, enum carrick_status status, uint64_t octets) {
    struct http_connection *c = user;
    c->lingered += octets;
    if (status != CARRICK_OK || c->lingered > HTTP_LINGER ||
        carrick_recv(c->http->server.stack, c->handle, c->in, HTTP_IN, http_lingered, c) != 0)
        http_close(c, status);
}

static void http_shut(void *user, enum carrick_status status, uint64_t value) {
    (void)value;
    http_lingered(user, status, 0);
}

/* Ends a connection so that the answer arrives even if the peer still sends: closing with bytes unread would reset it.
 */
static void http_end(struct http_connection *c) {
    http_enter(c, HTTP_LINGERING);
    c->lingered = 0;
    if (carrick_shutdown(c->http->server.stack, c->handle, http_shut, c) != 0)
        http_close(c, CARRICK_ABORTED);
}

/* Fills the buffer from the file. False: the file is shorter than it was. */
static bool http_fill(struct http_connection *c) {
    uint32_t want = c->file_left < HTTP_OUT ? (uint32_t)c->file_left : HTTP_OUT;
    ssize_t got = pread(c->file, c->out, want, (off_t)c->file_at);
    if (got <= 0)
        return false;
    c->out_sent = 0;
    c->out_len = (uint32_t)got;
    c->file_at += (uint64_t)got;
    c->file_left -= (uint64_t)got;
    return true;
}

static void http_answered(struct http_connection *c) {
    if (c->file >= 0)
        close(c->file);
    c->file = -1;
    if (!c->request.keep_alive) {
        http_end(c);
        return;
    }
    http_enter(c, HTTP_READING);
    http_go_on(c);
}

static void http_sent(void *user, enum carrick_status status, uint64_t octets) {
    struct http_connection *c = user;
    c->out_sent += (uint32_t)octets;
    carrick_server_moved(&c->http->server, http_place(c), octets);
    if (status != CARRICK_OK)
        http_close(c, status);
    else
        http_send(c);
}

/* Sends what is left of the buffer, then of the file. */
static void http_send(struct http_connection *c) {
    if (c->out_sent == c->out_len && c->interim) {
        c->interim = false;
        http_enter(c, HTTP_UPLOADING);
        http_go_on(c);
        return;
    }
    if (c->out_sent == c->out_len && (c->file < 0 || c->file_left == 0)) {
        http_answered(c);
        return;
    }
    if (c->out_sent == c->out_len && !http_fill(c)) {
        http_close(c, CARRICK_ABORTED);
        return;
    }
    if (carrick_send(c->http->server.stack, c->handle, c->out + c->out_sent, c->out_len - c->out_sent, http_sent, c) !=
        0)
        http_close(c, CARRICK_ABORTED);
}

static void http_download(struct http_connection *c) {
    uint64_t octets = 0;
    int file = carrick_files_open(c->http->root, c->request.path, &octets);
    if (file < 0) {
        http_answer(c, -file, 0);
        return;
    }
    uint64_t first, len;
    char fields[96] = "Accept-Ranges: bytes\r\n";
    int status = carrick_http_part(&c->request, octets, &first, &len);
    if (status == 206)
        snprintf(fields, sizeof fields, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n", first,
                 first + len - 1, octets);
    else if (status == 416)
        snprintf(fields, sizeof fields, "Content-Range: bytes */%" PRIu64 "\r\n", octets);
    c->file = file;
    c->file_at = first;
    c->file_left = c->request.method == HTTP_GET ? len : 0;
    http_answer_with(c, status, len, fields);
}

static void http_begin_upload(struct http_connection *c) {
    if (!c->request.has_length) {
        http_refuse(c, 411);
        return;
    }
    int refused = carrick_upload_begin(&c->upload, c->http->root, c->request.path, http_place(c));
    if (refused) {
        http_refuse(c, -refused);
        return;
    }
    c->body_left = c->request.length;
    http_enter(c, HTTP_UPLOADING);
    if (!c->request.expects_continue || c->in_len != 0) {
        http_go_on(c);
        return;
    }
    c->interim = true;
    c->out_sent = 0;
    c->out_len = (uint32_t)snprintf(c->out, sizeof c->out, "HTTP/1.1 100 Continue\r\n\r\n");
    http_send(c);
}

/* Takes the first `len` bytes out of the buffer. */
static void http_consume(struct http_connection *c, uint32_t len) {
    c->in_len -= len;
    memmove(c->in, c->in + len, c->in_len);
}

/* Whether there was a whole head, and it is being dealt with. */
static bool http_read_head(struct http_connection *c) {
    int head = carrick_http_parse_request(c->in, c->in_len, &c->request);
    if (head == 0)
        return false;
    if (head < 0) {
        http_refuse(c, -head);
        return true;
    }
    http_consume(c, (uint32_t)head);
    if (c->request.method == HTTP_PUT || c->request.method == HTTP_POST)
        http_begin_upload(c);
    else if (c->request.length != 0)
        http_refuse(c, 400); /* a body that nobody asked for */
    else
        http_download(c);
    return true;
}

/* Whether the body is whole, or lost, and that is being answered. */
static bool http_read_body(struct http_connection *c) {
    uint32_t len = c->in_len < c->body_left ? c->in_len : (uint32_t)c->body_left;
    if (!carrick_upload_write(&c->upload, c->in, len)) {
        http_refuse(c, 507);
        return true;
    }
    http_consume(c, len);
    c->body_left -= len;
    if (c->body_left > 0)
        return false;
    bool stored = carrick_upload_commit(&c->upload);
    http_answer(c, stored ? 201 : 500, 0);
    return true;
}

static void http_received(void *user, enum carrick_status status, uint64_t octets) {
    struct http_connection *c = user;
    c->in_len += (uint32_t)octets;
    if (c->state == HTTP_UPLOADING) /* a head, and all of it, has the time only once */
        carrick_server_moved(&c->http->server, http_place(c), octets);
    if (status != CARRICK_OK)
        http_close(c, status);
    else
        http_go_on(c);
}

/* Deals with what was received; asks for more if that is not enough. */
static void http_go_on(struct http_connection *c) {
    if (c->state == HTTP_READING ? http_read_head(c) : http_read_body(c))
        return;
    if (carrick_recv(c->http->server.stack, c->handle, c->in + c->in_len, HTTP_IN - c->in_len, http_received, c) != 0)
        http_close(c, CARRICK_ABORTED);
}

static void http_accepted(void *user, uint32_t place, uint64_t connection) {
    struct http *http = user;
    struct http_connection *c = &http->connections[place];
    c->http = http;
    c->handle = connection;
    http_enter(c, HTTP_READING);
    c->file = -1;
    c->upload.fd = c->upload.directory = -1;
    c->interim = false;
    c->in_len = 0;
    http_go_on(c);
}

static void http_finish(void *state) {
    struct http *http = state;
    for (uint32_t i = 0; http->connections && i < http->places && http->connections[i].http; i++) {
        if (http->connections[i].file >= 0)
            close(http->connections[i].file);
        carrick_upload_abandon(&http->connections[i].upload);
    }
    if (http->root >= 0)
        close(http->root);
    carrick_server_finish(&http->server);
    carrick_unreserve(http->connections, http->places, sizeof *http->connections);
    free(http);
}

static void *http_start(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error) {
    char directory[4096];
    struct carrick_server_limit limit = {.idle = CARRICK_SERVER_IDLE};
    if (!carrick_server_argument(argument, directory, sizeof directory, &limit, error))
        return NULL;
    struct http *http = calloc(1, sizeof *http);
    if (!http) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for the HTTP server.");
        return NULL;
    }
    http->places = carrick_stack_capacity(stack);
    http->connections = carrick_reserve(http->places, sizeof *http->connections);
    (void)carrick_descriptors_for("http", "files at once", http->places);
    http->root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!http->connections)
        snprintf(error->text, sizeof error->text, "There is not enough memory for %u connections.", http->places);
    else if (http->root < 0)
        snprintf(error->text, sizeof error->text, "There is no directory `%.150s` to serve: write http:DIR.",
                 directory);
    else if (carrick_server_start(&http->server, stack, HTTP_PORT, http->places, http_accepted, http, error) &&
             carrick_server_limit(&http->server, limit, error))
        return http;
    http_finish(http);
    return NULL;
}

const struct carrick_application carrick_http_application = {
    .name = "http", .usage = "http:DIR[,idle=60s]", .start = http_start, .finish = http_finish, .files = true};
