/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "apps/http_parse.h"

/* A piece of the text that is being read. */
struct piece {
    const char *at;
    uint32_t len;
};

static bool piece_is(struct piece p, const char *word) {
    return strlen(word) == p.len && strncasecmp(p.at, word, p.len) == 0;
}

/* Bytes of the head with its empty line, 0: it is not there yet. */
static uint32_t head_len(const char *text, uint32_t len) {
    for (uint32_t i = 3; i < len; i++)
        if (memcmp(text + i - 3, "\r\n\r\n", 4) == 0)
            return i + 1;
    return 0;
}

/* Cuts off what stands before `mark`; false if it is not there. */
static bool cut(struct piece *rest, char mark, struct piece *out) {
    const char *found = rest->len ? memchr(rest->at, mark, rest->len) : NULL;
    if (!found)
        return false;
    *out = (struct piece){rest->at, (uint32_t)(found - rest->at)};
    rest->at = found + 1;
    rest->len -= out->len + 1;
    return true;
}

/* The next line without its end. The head ends with an empty one, so there always is one. */
static bool next_line(struct piece *rest, struct piece *line) {
    if (!cut(rest, '\n', line) || line->len == 0 || line->at[line->len - 1] != '\r')
        return false;
    line->len--;
    return true;
}

static struct piece trim(struct piece p) {
    while (p.len && (*p.at == ' ' || *p.at == '\t')) {
        p.at++;
        p.len--;
    }
    while (p.len && (p.at[p.len - 1] == ' ' || p.at[p.len - 1] == '\t'))
        p.len--;
    return p;
}

static bool piece_number(struct piece p, uint64_t *out) {
    *out = 0;
    for (uint32_t i = 0; i < p.len; i++) {
        if (p.at[i] < '0' || p.at[i] > '9' || *out > (UINT64_MAX - 9) / 10)
            return false;
        *out = *out * 10 + (uint64_t)(p.at[i] - '0');
    }
    return p.len > 0;
}

static bool name_is_sound(struct piece name) {
    for (uint32_t i = 0; i < name.len; i++)
        if (name.at[i] <= ' ' || name.at[i] >= 0x7f)
            return false;
    return name.len > 0;
}

static int hex(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX up to the query. False: too long, or a control character, or broken. */
static bool decode(struct piece target, char *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < target.len && target.at[i] != '?' && target.at[i] != '#'; i++) {
        int c = (unsigned char)target.at[i];
        if (c == '%') {
            int high = i + 2 < target.len ? hex(target.at[i + 1]) : -1, low = high < 0 ? -1 : hex(target.at[i + 2]);
            if (low < 0)
                return false;
            c = high << 4 | low;
            i += 2;
        }
        if (c < ' ' || c == 0x7f || n + 1 >= CARRICK_HTTP_PATH)
            return false;
        out[n++] = (char)c;
    }
    out[n] = 0;
    return true;
}

/* Parts that would lead elsewhere, or to files that begin with a dot (ours while they arrive), are refused. */
static bool path_is_sound(const char *path) {
    for (const char *part = path; *part;) {
        size_t len = strcspn(part, "/");
        if (len == 0 || *part == '.')
            return false;
        part += len;
        part += *part == '/';
    }
    return true;
}

/* 0, or the status to answer with. */
static int read_target(struct piece target, char *path) {
    char decoded[CARRICK_HTTP_PATH];
    if (target.len >= CARRICK_HTTP_PATH)
        return -414;
    if (target.len == 0 || *target.at != '/' || !decode(target, decoded))
        return -400;
    size_t skip = strspn(decoded, "/");
    memmove(path, decoded + skip, strlen(decoded + skip) + 1);
    size_t len = strlen(path);
    if (len > 0 && path[len - 1] == '/')
        path[len - 1] = 0;
    return path_is_sound(path) ? 0 : -403;
}

static int read_request_line(struct piece line, struct carrick_http_request *request) {
    static const char *const methods[] = {"GET", "HEAD", "PUT", "POST"};
    struct piece method, target;
    if (!cut(&line, ' ', &method) || !cut(&line, ' ', &target) || !name_is_sound(method))
        return -400;
    if (!piece_is(line, "HTTP/1.1") && !piece_is(line, "HTTP/1.0"))
        return line.len == 8 && strncmp(line.at, "HTTP/", 5) == 0 ? -505 : -400;
    request->keep_alive = line.at[7] == '1';
    for (int m = 0; m < 4; m++) {
        if (method.len == strlen(methods[m]) && memcmp(method.at, methods[m], method.len) == 0) {
            request->method = (enum carrick_http_method)m;
            return read_target(target, request->path);
        }
    }
    return -501;
}

/* bytes=FIRST-LAST, bytes=FIRST- or bytes=-COUNT (RFC 9110 §14.1.2). Whatever else is asked, the whole file is right.
 */
static void read_range(struct piece value, struct carrick_http_request *request) {
    struct piece unit, first;
    if (++request->range_fields > 1 || !cut(&value, '=', &unit) || !piece_is(unit, "bytes") ||
        !cut(&value, '-', &first))
        return;
    bool has_last = piece_number(value, &request->range_last);
    request->is_suffix = first.len == 0;
    if (!has_last && value.len == 0 && !request->is_suffix)
        request->range_last = UINT64_MAX;
    else if (!has_last)
        return;
    request->has_range = request->is_suffix ||
                         (piece_number(first, &request->range_first) && request->range_first <= request->range_last);
}

int carrick_http_part(const struct carrick_http_request *request, uint64_t octets, uint64_t *first, uint64_t *len) {
    *first = 0;
    *len = octets;
    if (!request->has_range || request->range_fields != 1 || request->method != HTTP_GET)
        return 200;
    uint64_t from = request->range_first, to = request->range_last; /* [from, to] */
    if (request->is_suffix) {
        from = to < octets ? octets - to : 0;
        to = to == 0 ? 0 : UINT64_MAX;
    }
    if (from >= octets || (request->is_suffix && to == 0)) {
        *len = 0;
        return 416;
    }
    *first = from;
    *len = (to < octets ? to + 1 : octets) - from;
    return 206;
}

static int read_request_field(struct piece name, struct piece value, struct carrick_http_request *request) {
    uint64_t length;
    if (piece_is(name, "content-length")) {
        if (!piece_number(value, &length) || (request->has_length && request->length != length))
            return -400;
        request->has_length = true;
        request->length = length;
    } else if (piece_is(name, "transfer-encoding")) {
        return -501; /* we ask for a length instead */
    } else if (piece_is(name, "connection")) {
        if (piece_is(value, "close"))
            request->keep_alive = false;
        else if (piece_is(value, "keep-alive"))
            request->keep_alive = true;
    } else if (piece_is(name, "range")) {
        read_range(value, request);
    } else if (piece_is(name, "if-range")) {
        request->range_fields += 2; /* we name no versions, so that it is none of ours */
    } else if (piece_is(name, "expect")) {
        if (!piece_is(value, "100-continue"))
            return -417;
        request->expects_continue = true;
    }
    return 0;
}

int carrick_http_parse_request(const char *text, uint32_t len, struct carrick_http_request *request) {
    memset(request, 0, sizeof *request);
    uint32_t head = head_len(text, len < CARRICK_HTTP_HEAD ? len : CARRICK_HTTP_HEAD);
    if (head == 0)
        return len >= CARRICK_HTTP_HEAD ? -431 : 0;
    struct piece rest = {text, head}, line, name;
    if (memchr(text, 0, head) || !next_line(&rest, &line))
        return -400;
    int refused = read_request_line(line, request);
    while (refused == 0 && next_line(&rest, &line) && line.len > 0) {
        if (!cut(&line, ':', &name) || !name_is_sound(name))
            return -400;
        refused = read_request_field(name, trim(line), request);
    }
    return refused ? refused : (int)head;
}

int carrick_http_parse_response(const char *text, uint32_t len, struct carrick_http_response *response) {
    *response = (struct carrick_http_response){0};
    uint32_t head = head_len(text, len < CARRICK_HTTP_HEAD ? len : CARRICK_HTTP_HEAD);
    if (head == 0)
        return len >= CARRICK_HTTP_HEAD ? -1 : 0;
    struct piece rest = {text, head}, line, name;
    uint64_t status;
    if (!next_line(&rest, &line) || line.len < 12 || strncmp(line.at, "HTTP/1.", 7) != 0 || line.at[8] != ' ')
        return -1;
    if (!piece_number((struct piece){line.at + 9, 3}, &status) || status < 100 || status > 599)
        return -1;
    response->status = (int)status;
    while (next_line(&rest, &line) && line.len > 0) {
        if (!cut(&line, ':', &name))
            return -1;
        if (piece_is(name, "transfer-encoding"))
            response->chunked = true;
        if (!piece_is(name, "content-length"))
            continue;
        response->has_length = piece_number(trim(line), &response->length);
        if (!response->has_length)
            return -1;
    }
    return (int)head;
}
