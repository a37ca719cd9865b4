/* SPDX-License-Identifier: MIT */
/* The readers of HTTP heads: a table of what is right and wrong, and broken variants of it. */
#include <string.h>

#include "apps/apps.h"
#include "apps/http_parse.h"
#include "carrick/rand.h"
#include "tests/check.h"

#define ROOT "GET / HTTP/1.1\r\n"

static const struct {
    const char *text;
    int result; /* 1: a whole head, 0: more is needed, negative: a status */
    const char *path;
    bool keep_alive;
    uint64_t length;
} requests[] = {
    {"GET / HTTP/1.1\r\n\r\n", 1, "", true, 0},
    {"GET /a/b%20c?q=1 HTTP/1.1\r\nHost: x\r\n\r\n", 1, "a/b c", true, 0},
    {"GET /a/ HTTP/1.0\r\n\r\n", 1, "a", false, 0},
    {"HEAD //a HTTP/1.1\r\nConnection: close\r\n\r\n", 1, "a", false, 0},
    {"PUT /a HTTP/1.1\r\ncontent-LENGTH:  12 \r\n\r\n", 1, "a", true, 12},
    {"POST /a HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 99999999999999999999\r\n\r\n", -400, "", false, 0},
    {"PUT /a HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 1, "a", true, 5},
    {"PUT /a HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", -400, "", false, 0},
    {"PUT /a HTTP/1.1\r\nContent-Length: -5\r\n\r\n", -400, "", false, 0},
    {"PUT /a HTTP/1.1\r\nContent-Length: \r\n\r\n", -400, "", false, 0},
    {"PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", -501, "", false, 0},
    {"PUT /a HTTP/1.1\r\nExpect: a miracle\r\n\r\n", -417, "", false, 0},
    {"GET /../etc/passwd HTTP/1.1\r\n\r\n", -403, "", false, 0},
    {"GET /a/..%2f..%2fetc/passwd HTTP/1.1\r\n\r\n", -403, "", false, 0},
    {"GET /%2e%2e/etc HTTP/1.1\r\n\r\n", -403, "", false, 0},
    {"GET /a/./b HTTP/1.1\r\n\r\n", -403, "", false, 0},
    {"GET /a//b HTTP/1.1\r\n\r\n", -403, "", false, 0},
    {"GET /.upload-1-1 HTTP/1.1\r\n\r\n", -403, "", false, 0},
    {"GET /a%00b HTTP/1.1\r\n\r\n", -400, "", false, 0},
    {"GET /a% HTTP/1.1\r\n\r\n", -400, "", false, 0},
    {"GET /a%4 HTTP/1.1\r\n\r\n", -400, "", false, 0},
    {"GET /a%zz HTTP/1.1\r\n\r\n", -400, "", false, 0},
    {"GET a HTTP/1.1\r\n\r\n", -400, "", false, 0},
    {"GET / HTTP/2.0\r\n\r\n", -505, "", false, 0},
    {"GET / FTP\r\n\r\n", -400, "", false, 0},
    {"BREW / HTTP/1.1\r\n\r\n", -501, "", false, 0},
    {"get / HTTP/1.1\r\n\r\n", -501, "", false, 0},
    {"GET /\r\n\r\n", -400, "", false, 0},
    {"\r\n\r\n", -400, "", false, 0},
    {ROOT "no colon\r\n\r\n", -400, "", false, 0},
    {ROOT ": no name\r\n\r\n", -400, "", false, 0},
    {ROOT "Host : x\r\n\r\n", -400, "", false, 0},
    {ROOT "Host: x\r\n", 0, "", false, 0},
    {"GET / HT", 0, "", false, 0},
    {"", 0, "", false, 0},
};

static void requests_are_read_as_they_should(void) {
    struct carrick_http_request request;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const char *text = requests[i].text;
        int result = carrick_http_parse_request(text, (uint32_t)strlen(text), &request);
        if ((requests[i].result == 1 ? (int)strlen(text) : requests[i].result) != result) {
            fprintf(stderr, "%s gives %d\n", text, result);
            exit(1);
        }
        if (result > 0)
            CHECK(strcmp(request.path, requests[i].path) == 0 && request.keep_alive == requests[i].keep_alive &&
                  request.length == requests[i].length);
    }
}

static void what_follows_a_head_is_left(void) {
    static const char text[] = "PUT /a HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody";
    struct carrick_http_request request;
    CHECK(carrick_http_parse_request(text, sizeof text - 1, &request) == (int)sizeof text - 5);
    CHECK(request.method == HTTP_PUT && request.has_length && request.length == 4 && request.expects_continue);
}

/* Of a file of 1000 bytes, unless it says otherwise. */
static const struct {
    const char *fields;
    int status;
    uint64_t first, len;
} ranges[] = {
    {"", 200, 0, 1000},
    {"Range: bytes=0-0\r\n", 206, 0, 1},
    {"range: BYTES=10-19\r\n", 206, 10, 10},
    {"Range: bytes=10-\r\n", 206, 10, 990},
    {"Range: bytes=990-2000\r\n", 206, 990, 10},
    {"Range: bytes=5-18446744073709551609\r\n", 206, 5, 995},
    {"Range: bytes=-10\r\n", 206, 990, 10},
    {"Range: bytes=-2000\r\n", 206, 0, 1000},
    {"Range: bytes=999-\r\n", 206, 999, 1},
    {"Range: bytes=1000-\r\n", 416, 0, 0},
    {"Range: bytes=-0\r\n", 416, 0, 0},
    {"Range: bytes=20-10\r\n", 200, 0, 1000},
    {"Range: bytes=-\r\n", 200, 0, 1000},
    {"Range: bytes=\r\n", 200, 0, 1000},
    {"Range: bytes=a-9\r\n", 200, 0, 1000},
    {"Range: bytes=1-9x\r\n", 200, 0, 1000},
    {"Range: bytes=0-1,5-6\r\n", 200, 0, 1000},
    {"Range: lines=0-1\r\n", 200, 0, 1000},
    {"Range: bytes=0-1\r\nRange: bytes=5-6\r\n", 200, 0, 1000},
    {"Range: bytes=0-1\r\nIf-Range: \"x\"\r\n", 200, 0, 1000},
};

static void ranges_are_cut_from_the_file(void) {
    struct carrick_http_request request;
    uint64_t first, len;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        char text[256];
        int size = snprintf(text, sizeof text, "GET /a HTTP/1.1\r\n%s\r\n", ranges[i].fields);
        CHECK(carrick_http_parse_request(text, (uint32_t)size, &request) == size);
        int status = carrick_http_part(&request, 1000, &first, &len);
        if (status != ranges[i].status || first != ranges[i].first || len != ranges[i].len) {
            fprintf(stderr, "%s gives %d\n", ranges[i].fields, status);
            exit(1);
        }
        CHECK(carrick_http_part(&request, 0, &first, &len) != 206 && len == 0);
        request.method = HTTP_HEAD;
        CHECK(carrick_http_part(&request, 1000, &first, &len) == 200);
    }
}

static void a_head_has_an_end(void) {
    static char text[CARRICK_HTTP_HEAD + 100];
    struct carrick_http_request request;
    struct carrick_http_response response;
    memset(text, 'a', sizeof text);
    memcpy(text, ROOT, sizeof ROOT - 1);
    CHECK(carrick_http_parse_request(text, CARRICK_HTTP_HEAD - 1, &request) == 0);
    CHECK(carrick_http_parse_request(text, sizeof text, &request) == -431);
    CHECK(carrick_http_parse_response(text, sizeof text, &response) == -1);
    memset(text + 5, 'b', 2000); /* a path that is too long */
    memcpy(text + 2005, " HTTP/1.1\r\n\r\n", 13);
    CHECK(carrick_http_parse_request(text, sizeof text, &request) == -414);
}

static void responses_are_read_as_they_should(void) {
    static const char good[] = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 67108864\r\n\r\n";
    static const char *const bad[] = {"HTTP/1.1 999 x\r\n\r\n", "HTTP/2 200\r\n\r\n", "SMTP/1.1 200 OK\r\n\r\n",
                                      "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                                      "HTTP/1.1 200 OK\r\nbroken\r\n\r\n"};
    struct carrick_http_response response;
    CHECK(carrick_http_parse_response(good, sizeof good - 1, &response) == (int)sizeof good - 1);
    CHECK(response.status == 200 && response.has_length && response.length == 67108864 && !response.chunked);
    CHECK(carrick_http_parse_response(good, sizeof good - 2, &response) == 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(carrick_http_parse_response(bad[i], (uint32_t)strlen(bad[i]), &response) == -1);
}

/* Whatever comes, a path that is accepted stays below the root. */
static void broken_heads_harm_nobody(void) {
    struct carrick_pcg rng = carrick_pcg_make(1, 1);
    struct carrick_http_request request;
    struct carrick_http_response response;
    for (int round = 0; round < 200000; round++) {
        char *text = malloc(512); /* of its own, so that the sanitizer sees one byte too many */
        uint32_t len = (uint32_t)snprintf(
            text, 512, "%s", requests[carrick_pcg_next(&rng) % (sizeof requests / sizeof requests[0])].text);
        for (uint32_t n = carrick_pcg_next(&rng) % 4; n > 0 && len > 0; n--)
            text[carrick_pcg_next(&rng) % len] = "\r\n /.%:2eG\0a\xff"[carrick_pcg_next(&rng) % 13];
        uint32_t cut = len ? carrick_pcg_next(&rng) % (len + 1) : 0;
        text = realloc(text, cut ? cut : 1);
        CHECK(text);
        int result = carrick_http_parse_request(text, cut, &request);
        CHECK(result <= (int)cut &&
              (result <= 0 || (request.path[0] != '/' && request.path[0] != '.' && !strstr(request.path, "/."))));
        (void)carrick_http_parse_response(text, cut, &response);
        free(text);
    }
}

static void addresses_are_read_strictly(void) {
    static const char *const bad[] = {"",       "1",      "1.2.3",    "1.2.3.4.",   "1.2.3.256",
                                      ".1.2.3", "1..2.3", "1.2.3.4x", "00001.2.3.4"};
    uint32_t address;
    uint16_t port;
    CHECK(carrick_parse_ipv4("10.0.0.255", 10, &address) && address == 0x0a0000ffu);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!carrick_parse_ipv4(bad[i], strlen(bad[i]), &address));
    CHECK(carrick_parse_port("65535", &port) && port == 65535);
    CHECK(!carrick_parse_port("0", &port) && !carrick_parse_port("65536", &port) && !carrick_parse_port("", &port) &&
          !carrick_parse_port("-1", &port));
}

/* Addresses of either version, as arguments and as text. */
static void addresses_of_both_versions_are_read(void) {
    static const char *const bad[] = {"fd00::1::2", "[fd00::1", "fd00::1]", "::ffff:10.0.0.1", "[]", "", "10.0.0"};
    const struct carrick_ip6_address six = {UINT64_C(0xfd00) << 48, 0x1f};
    struct carrick_ip6_address address;
    char text[CARRICK_ADDRESS_TEXT], words_text[64], *words[3];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!carrick_parse_address(bad[i], strlen(bad[i]), &address));
    CHECK(carrick_parse_address("[fd00::1f]", 10, &address) && address.high == six.high && address.low == six.low);
    CHECK(carrick_parse_address("fd00::1f/64", 8, &address) && address.high == six.high && address.low == six.low);
    carrick_show_address(address, text);
    CHECK(strcmp(text, "fd00::1f") == 0);
    CHECK(carrick_parse_address("10.0.0.9", 8, &address) && carrick_address_is_ipv4(address));
    carrick_show_address(address, text);
    CHECK(strcmp(text, "10.0.0.9") == 0);
    CHECK(carrick_parse_words("[fd00::1f]:80:2", words_text, sizeof words_text, words, 3));
    CHECK(strcmp(words[0], "[fd00::1f]") == 0 && strcmp(words[1], "80") == 0 && strcmp(words[2], "2") == 0);
}

int main(void) {
    addresses_of_both_versions_are_read();
    requests_are_read_as_they_should();
    what_follows_a_head_is_left();
    ranges_are_cut_from_the_file();
    a_head_has_an_end();
    responses_are_read_as_they_should();
    broken_heads_harm_nobody();
    addresses_are_read_strictly();
    puts("http: ok");
    return 0;
}
