/* SPDX-License-Identifier: MIT */
/* The command line: what is ignored, or cannot work, is an error that says what to write. */
#define _GNU_SOURCE
#include <string.h>

#include "apps/options.h"
#include "apps/server.h"
#include "tests/check.h"

#define MOST_WORDS 16

/* Reads the words of a line, as those of a host of one version of the Internet Protocol. */
static enum carrick_options_result read_line(bool six, const char *line, struct carrick_port_error *error) {
    static const struct carrick_program_table here4 = {.program = {.network = CARRICK_NETWORK_IPV4}},
                                              here6 = {.program = {.network = CARRICK_NETWORK_IPV6}};
    char text[256], *words[MOST_WORDS] = {text}, *rest = text;
    struct carrick_options options;
    int count = 0;
    snprintf(text, sizeof text, "host %s", line);
    for (char *word; count < MOST_WORDS && (word = strtok_r(NULL, " ", &rest)) != NULL;)
        words[count++] = word;
    *error->text = 0;
    return carrick_options_read(&options, six ? &here6 : &here4, count, words, error);
}

static void these_run(void) {
    static const char *const lines[] = {
        "--port tun:t --app echo --addr 10.0.0.2/24 --gateway 10.0.0.1",
        "--port tun:t --app echo --gateway 10.0.0.1 --addr 10.0.0.2/24",
        "--port tun:t --app echo --addr 10.0.0.2",
        "--port tun:t --app echo --addr 10.0.0.2 --gateway 192.0.2.1", /* no other host is in the network */
        "--port tun:t --app echo --addr 10.0.0.0/31",                  /* RFC 3021 */
        "--port tun:t --app echo --addr 10.0.0.2/24 --set x=1 --set y=2",
        "--port loop --app echo --app echo --addr 10.0.0.1/24",
        "--port loop --app echo --app echo --addr 10.0.0.1/24 --peer 10.0.0.9",
    };
    static const char *const six[] = {
        "--port tun:t --app echo --addr fd00::2/64 --gateway fd00::1",
        "--port tun:t --app echo --addr fd00::2/64 --gateway fe80::1",
        "--port tun:t --app echo --addr fd00::2/127",
        "--port loop --app echo --app echo --addr fd00::1/64",
    };
    struct carrick_port_error error;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        /* Its program has no parameters. */
        bool sets = strstr(lines[i], "--set") != NULL;
        enum carrick_options_result result = read_line(false, lines[i], &error);
        CHECK(sets ? strstr(error.text, "no parameter `x`") != NULL : result == CARRICK_OPTIONS_RUN);
    }
    for (size_t i = 0; i < sizeof six / sizeof six[0]; i++)
        CHECK(read_line(true, six[i], &error) == CARRICK_OPTIONS_RUN);
}

struct wrong {
    const char *line, *said; /* a part of it */
};

static void are_refused(bool six, const char *before, const struct wrong *wrong, size_t count) {
    struct carrick_port_error error;
    for (size_t i = 0; i < count; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s %s", before, wrong[i].line);
        bool refused = read_line(six, line, &error) == CARRICK_OPTIONS_WRONG;
        if (!refused || !strstr(error.text, wrong[i].said))
            fprintf(stderr, "%s: %s\n", line, error.text);
        CHECK(refused && strstr(error.text, wrong[i].said));
    }
}

static void others_do_not(void) {
    static const struct wrong four[] = {
        {"--addr 10.0.0.2/24 --addr 10.0.0.3/24", "`--addr 10.0.0.3/24` is given after another `--addr`"},
        {"--addr 10.0.0.2/24 --seed 1 --spin --seed 2", "`--seed 2` is given after another"},
        {"--addr 10.0.0.2/24 --seed 18446744073709551616", "write a number"},
        {"--addr 10.0.0.2/0", "`--addr 10.0.0.2` is an address in a network of all addresses (/0): write"},
        {"--addr 10.0.0.0/24", "the address of the network itself: write one host's"},
        {"--addr 10.0.0.255/24", "the broadcast address of its network"},
        {"--addr 255.255.255.255/32", "the broadcast address"},
        {"--addr 224.0.0.1/24", "a multicast address"},
        {"--addr 127.0.0.1/8", "a loopback address"},
        {"--addr 0.0.0.5/8", "this network"},
        {"--addr 10.0.0.2/24 --gateway 10.0.1.1", "`--gateway 10.0.1.1` is outside the network of --addr: write"},
        {"--addr 10.0.0.2/24 --gateway 10.0.0.2", "the stack's own address"},
        {"--addr 10.0.0.2/24 --gateway 10.0.0.255", "the broadcast address"},
        {"--addr 10.0.0.2 --gateway 224.0.0.1", "a multicast address"},
        {"--addr 10.0.0.2/24 --peer 10.0.0.9", "second application of `--port loop`: leave it out"},
        {"--addr 10.0.0.2/24 --fault loss=1%,loss=2%", "given twice"},
    };
    static const struct wrong loop[] = {
        {"--addr 10.0.0.1/24 --peer 10.0.0.1", "the first application's address"},
        {"--addr 10.0.0.1/24 --peer 10.0.1.2", "outside the network"},
        {"--addr 10.0.0.1", "outside the network"},
        {"--addr 10.0.0.254/24", "`--peer 10.0.0.255` is the broadcast address of its network: write"},
    };
    static const struct wrong six[] = {
        {"--addr ff02::1/64", "a multicast address"},
        {"--addr ::1/64", "the loopback address"},
        {"--addr fd00::2/0", "a network of all addresses"},
        {"--addr fd00::/64", "the address of the network's routers"},
        {"--addr fd00::2/64 --gateway fd00:1::1", "outside the network"},
        {"--addr fd00::2/64 --gateway fd00::2", "the stack's own address"},
    };
    are_refused(false, "--port tun:t --app echo", four, sizeof four / sizeof four[0]);
    are_refused(false, "--port loop --app echo --app echo", loop, sizeof loop / sizeof loop[0]);
    are_refused(true, "--port tun:t --app echo", six, sizeof six / sizeof six[0]);
}

static void times_of_servers_have_units(void) {
    static const char *const wrong[] = {"dir,idle=5", "dir,idle=-1s", "dir,idle=", "dir,full=5B", "dir,idle=1s "};
    struct carrick_server_limit limit = {0};
    struct carrick_port_error error;
    char rest[16];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(!carrick_server_argument(wrong[i], rest, sizeof rest, &limit, &error));
        CHECK(strstr(error.text, wrong[i] + 4) && strstr(error.text, "=0s for no limit"));
    }
    CHECK(carrick_server_argument("dir,idle=5s", rest, sizeof rest, &limit, &error));
    CHECK(strcmp(rest, "dir") == 0 && limit.idle == 5000000000u && !limit.when_full);
    CHECK(carrick_server_argument("dir,full=0", rest, sizeof rest, &limit, &error) && limit.idle == 0);
    CHECK(!carrick_server_argument("a long directory", rest, sizeof rest, &limit, &error));
}

int main(void) {
    these_run();
    others_do_not();
    times_of_servers_have_units();
    return 0;
}
