/* SPDX-License-Identifier: MIT */
/* Reads the heads of HTTP/1.1 messages (RFC 9112). Pure: text in, numbers out. */
#ifndef CARRICK_APPS_HTTP_PARSE_H
#define CARRICK_APPS_HTTP_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#define CARRICK_HTTP_HEAD 8192u /* most bytes of a head */
#define CARRICK_HTTP_PATH 1024u /* most bytes of a path, with its end */

enum carrick_http_method { HTTP_GET, HTTP_HEAD, HTTP_PUT, HTTP_POST };

struct carrick_http_request {
    enum carrick_http_method method;
    char path[CARRICK_HTTP_PATH]; /* decoded, without query, relative: no leading slash, no empty, `.` or `..` part; "":
                                     the root */
    bool has_length;
    uint64_t length; /* of the body */
    bool keep_alive, expects_continue;
    bool has_range, is_suffix;        /* one range of bytes was asked for: [first, last], or the last `last` of them */
    uint64_t range_first, range_last; /* last UINT64_MAX: to the end */
    uint32_t range_fields; /* how many fields spoke of ranges; only a request with one is taken at its word */
};

struct carrick_http_response {
    int status; /* 100..599 */
    bool has_length, chunked;
    uint64_t length;
};

/* Bytes of the head, 0: more are needed, negative: the status to answer with. */
int carrick_http_parse_request(const char *text, uint32_t len, struct carrick_http_request *request);

/* The status of an answer from a file of `octets`: 200 whole, 206 the `*len` bytes from `*first` on, 416 none of them.
 */
int carrick_http_part(const struct carrick_http_request *request, uint64_t octets, uint64_t *first, uint64_t *len);

/* Bytes of the head, 0: more are needed, -1: it is none. */
int carrick_http_parse_response(const char *text, uint32_t len, struct carrick_http_response *response);

#endif
