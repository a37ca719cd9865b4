/* SPDX-License-Identifier: MIT */
/* The application API over a toy program. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "apps/apps.h"
#include "carrick/verbs.h"
#include "host/stack.h"
#include "tests/check.h"
#include "tests/toy.h"

#define SERVER 0x0a000001u
#define CLIENT 0x0a000002u

static struct carrick_port_error error;

struct result {
    int count;
    enum carrick_status status;
    uint64_t value;
};

static void note(void *user, enum carrick_status status, uint64_t value) {
    struct result *result = user;
    result->count++;
    result->status = status;
    result->value = value;
}

static struct carrick_stack *open_stack(struct carrick_port *port, uint32_t address, const char *setting) {
    const char *settings[] = {setting, NULL};
    struct carrick_stack_config config = {.program = &toy_program,
                                          .ports = {port},
                                          .address = carrick_address_of_ipv4(address),
                                          .prefix = 24,
                                          .settings = settings,
                                          .requests = 16};
    return carrick_stack_open(&config, &error);
}

static void open_pair(struct carrick_stack *stacks[2], const char *client_setting) {
    struct carrick_port *ends[2];
    CHECK(carrick_loop_open(1500, 4, ends, &error));
    stacks[0] = open_stack(ends[0], SERVER, NULL);
    stacks[1] = open_stack(ends[1], CLIENT, client_setting);
    CHECK(stacks[0] && stacks[1]);
}

static void close_pair(struct carrick_stack *stacks[2]) {
    carrick_stack_close(stacks[0]);
    carrick_stack_close(stacks[1]);
}

static void turn_until(struct carrick_stack *stacks[2], const struct result *result, int count) {
    for (int turns = 0; result->count < count; turns++) {
        CHECK(turns < 100000);
        (void)carrick_stack_turn(stacks[0]);
        (void)carrick_stack_turn(stacks[1]);
    }
    CHECK(result->count == count && result->status == CARRICK_OK);
}

static void an_echo_server_echoes(void) {
    struct carrick_stack *stacks[2];
    struct result connected = {0}, sent = {0}, received = {0};
    uint8_t out[1000], in[1000];
    open_pair(stacks, NULL);
    void *echo = carrick_echo_application.start(stacks[0], "7", &error);
    CHECK(echo && carrick_connect(stacks[1], 0, carrick_address_of_ipv4(SERVER), 7, note, &connected) == 0);
    CHECK(connected.count == 0); /* never from within the request */
    turn_until(stacks, &connected, 1);
    CHECK(connected.value >= 49152 && connected.value <= 65535);
    for (int i = 1; i <= 100; i++) {
        memset(out, i, sizeof out);
        CHECK(carrick_send(stacks[1], connected.value, out, sizeof out, note, &sent) == 0);
        CHECK(carrick_recv(stacks[1], connected.value, in, sizeof in, note, &received) == 0);
        turn_until(stacks, &received, i);
        CHECK(received.value == sizeof in && memcmp(in, out, sizeof in) == 0);
    }
    CHECK(sent.count == 100 && sent.value == 1000);
    carrick_echo_application.finish(echo);
    CHECK(carrick_stack_counter(stacks[1], "tx_packets") == 100 && carrick_stack_counter(stacks[1], "nonsense") == 0);
    close_pair(stacks);
}

static void a_stream_takes_no_more_at_once_than_its_program(void) {
    struct carrick_program program = toy_program;
    program.request_most = 300;
    struct carrick_port *ends[2];
    CHECK(carrick_loop_open(1500, 4, ends, &error));
    struct carrick_stack_config config = {
        .program = &program, .ports = {ends[0]}, .address = carrick_address_of_ipv4(CLIENT), .prefix = 24};
    struct carrick_stack *stacks[2] = {carrick_stack_open(&config, &error), open_stack(ends[1], SERVER, NULL)};
    CHECK(stacks[0] && stacks[1]);
    struct result connected = {0}, sent = {0};
    uint8_t out[1000] = {1};
    CHECK(carrick_connect(stacks[0], 1, carrick_address_of_ipv4(SERVER), 7, note, &connected) == 0);
    turn_until(stacks, &connected, 1);
    CHECK(carrick_send(stacks[0], connected.value, out, sizeof out, note, &sent) == 0);
    turn_until(stacks, &sent, 1);
    CHECK(sent.value == 300);
    close_pair(stacks);
}

static void a_full_core_makes_requests_wait(void) {
    struct carrick_stack *stacks[2];
    struct result connected = {0}, sent = {0};
    uint8_t out[100] = {1};
    open_pair(stacks, NULL);
    CHECK(carrick_connect(stacks[1], 1, carrick_address_of_ipv4(SERVER), 7, note, &connected) == 0);
    turn_until(stacks, &connected, 1);
    CHECK(connected.value == 1);
    for (int i = 0; i < 16; i++) /* four fit into the core, four more into the wire */
        CHECK(carrick_send(stacks[1], 1, out, sizeof out, note, &sent) == 0);
    CHECK(carrick_send(stacks[1], 1, out, sizeof out, note, &sent) == CARRICK_AGAIN);
    for (int i = 0; i < 10; i++)
        (void)carrick_stack_turn(stacks[1]); /* nobody takes from the wire */
    CHECK(sent.count == 8);
    turn_until(stacks, &sent, 16);
    for (bool worked = true; worked;) {
        worked = carrick_stack_turn(stacks[1]);
        worked |= carrick_stack_turn(stacks[0]);
    }
    CHECK(carrick_stack_counter(stacks[0], "rx_packets") == 16);
    close_pair(stacks);
}

static void a_taken_port_is_passed_over(void) {
    struct carrick_stack *stacks[2];
    struct result chosen = {0}, given = {0};
    open_pair(stacks, "taken=3");
    CHECK(carrick_connect(stacks[1], 0, carrick_address_of_ipv4(SERVER), 7, note, &chosen) == 0);
    turn_until(stacks, &chosen, 1);
    close_pair(stacks);
    open_pair(stacks, "taken=1");
    CHECK(carrick_connect(stacks[1], 99, carrick_address_of_ipv4(SERVER), 7, note, &given) == 0);
    for (int i = 0; i < 10; i++)
        (void)carrick_stack_turn(stacks[1]);
    CHECK(given.count == 1 && given.status == CARRICK_IN_USE);              /* who asks for a port is told */
    CHECK(carrick_shutdown(stacks[1], 1, note, &given) == CARRICK_BAD_ARG); /* the toy has no such call */
    CHECK(carrick_open_stream(stacks[1], 1, note, &given) == CARRICK_BAD_ARG);
    CHECK(carrick_post_read(stacks[1], 1, NULL, 0, 1, 1, note, &given) == CARRICK_BAD_ARG);
    CHECK(carrick_stack_has(stacks[1], "send") && !carrick_stack_has(stacks[1], "shutdown"));
    close_pair(stacks);
}

static bool core_full; /* and takes no request */

/* As a core whose `send` has no addr_t. */
static int call_without_bytes(struct carrick_core *core, uint32_t call, const struct carrick_request *request,
                              uint64_t now) {
    if (strcmp(toy_program.calls[call].name, "send") == 0)
        return core_full ? CARRICK_AGAIN : CARRICK_BAD_ARG;
    return toy_program.call(core, call, request, now);
}

/* At once, or where it had to wait. Either way its place is free again, for as many as come. */
static void a_refused_request_is_not_open(void) {
    struct carrick_program program = toy_program;
    program.call = call_without_bytes;
    struct carrick_port *ends[2];
    CHECK(carrick_loop_open(1500, 4, ends, &error));
    struct carrick_stack_config config = {.program = &program,
                                          .ports = {ends[0]},
                                          .address = carrick_address_of_ipv4(CLIENT),
                                          .prefix = 24,
                                          .requests = 16};
    struct carrick_stack *stacks[2] = {carrick_stack_open(&config, &error), open_stack(ends[1], SERVER, NULL)};
    CHECK(stacks[0] && stacks[1]);
    struct result sent = {0}, connected = {0};
    uint8_t out[100] = {1};
    for (int i = 0; i < 40; i++)
        CHECK(carrick_send(stacks[0], 1, out, sizeof out, note, &sent) == CARRICK_BAD_ARG);
    CHECK(sent.count == 0);
    for (int round = 1; round <= 3; round++) {
        core_full = true;
        for (int i = 0; i < 16; i++)
            CHECK(carrick_send(stacks[0], 1, out, sizeof out, note, &sent) == 0);
        core_full = false;
        (void)carrick_stack_turn(stacks[0]);
        CHECK(sent.count == 16 * round && sent.status == CARRICK_INVALID);
    }
    CHECK(carrick_connect(stacks[0], 1, carrick_address_of_ipv4(SERVER), 7, note, &connected) == 0);
    turn_until(stacks, &connected, 1);
    close_pair(stacks);
}

/* One table for both: what the simulator's --set reads, and what it does not. */
static void a_value_has_the_unit_of_its_kind(void) {
    static const struct {
        const char *unit, *text;
        uint64_t value;
    } right[] = {{"ns", "200ms", 200000000},
                 {"ns", "0", 0},
                 {"ns", "1h", 3600000000000},
                 {"B", "64KiB", 65536},
                 {"B", "1KB", 1000},
                 {"B", "1500", 1500},
                 {"bps", "1Gbps", 1000000000},
                 {"bps", "0", 0},
                 {"bool", "true", 1},
                 {"bool", "0", 0},
                 {"", "0144", 144},
                 {"", "8388608", 8388608},
                 {"", "64KiB", 65536},
                 {"", "10.0.0.4", 0x0a000004}};
    static const char *const wrong[][2] = {{"ns", "5"},       {"ns", "-1s"},      {"ns", "1Gbps"},
                                           {"ns", "1ms "},    {"ns", "ms"},       {"ns", ""},
                                           {"ns", "true"},    {"ns", "9999999h"}, {"ns", "99999999999999999999ns"},
                                           {"B", "5ms"},      {"B", "-1"},        {"B", "+1"},
                                           {"B", "10.0.0.4"}, {"bps", "100"},     {"bps", "1MB"},
                                           {"bool", "2"},     {"bool", "yes"},    {"", "0x1000"},
                                           {"", "5ms"},       {"", "1Mbps"},      {"", "true"},
                                           {"", "-5"},        {"", "10.0.0"}};
    uint64_t value;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        CHECK(carrick_param_parse(right[i].unit, right[i].text, &value) && value == right[i].value);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(!carrick_param_parse(wrong[i][0], wrong[i][1], &value));
}

/* Sets the only parameter. */
static bool set(bool is_signed, const char *unit, const char *setting, uint64_t *value,
                struct carrick_port_error *error) {
    const struct carrick_param_info info = {"x",       0,   is_signed ? (uint64_t)-9 : 0, is_signed ? 9 : UINT64_MAX,
                                            is_signed, unit};
    const struct carrick_program program = {.params = &info, .param_count = 1};
    return carrick_params_apply(&program, (const char *[]){setting, NULL}, value, error);
}

static void a_setting_says_what_it_has_to_be(void) {
    struct carrick_port_error error;
    uint64_t value;
    CHECK(set(true, "", "x=-5", &value, &error) && value == UINT64_MAX - 4);
    CHECK(set(true, "ns", "x=-5ns", &value, &error) && value == UINT64_MAX - 4);
    CHECK(!set(true, "ns", "x=-5", &value, &error) && strstr(error.text, "`x=-5`") && strstr(error.text, "200ms"));
    CHECK(!set(true, "", "x=9223372036854775809", &value, &error));
    CHECK(!set(true, "", "x=10", &value, &error) && strstr(error.text, "outside the parameter's range -9..9"));
    CHECK(!set(false, "", "x=-5", &value, &error) && strstr(error.text, "write a number"));
    CHECK(!set(false, "B", "x=5ms", &value, &error) && strstr(error.text, "write a number of bytes"));
    CHECK(!set(false, "bps", "x=5", &value, &error) && strstr(error.text, "write a rate"));
    CHECK(!set(false, "bool", "x=5", &value, &error) && strstr(error.text, "write true or false"));
    CHECK(!set(false, "", "x", &value, &error) && !set(false, "", "x=", &value, &error));
}

static void settings_are_checked(void) {
    static const char *const bad[] = {"taken=1001", "taken=", "taken", "taken=1x", "tick=-1", "nothing=1", "tick=99h"};
    struct carrick_port *ends[2];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(carrick_loop_open(1500, 4, ends, &error));
        CHECK(!open_stack(ends[0], SERVER, bad[i]) && error.text[0]);
        carrick_port_close(ends[1]);
    }
    static const struct {
        const char *unit;
        uint64_t value;
        const char *text;
    } shown[] = {{"ns", 200000000, "200ms"}, {"ns", 0, "0ns"},     {"ns", (uint64_t)-1500, "-1500ns"},
                 {"B", 65536, "64KiB"},      {"B", 1000, "1000B"}, {"bps", 25000000000u, "25Gbps"},
                 {"bool", 1, "true"},        {"", 3000, "3000"}};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        struct carrick_param_info info = {.is_signed = true, .unit = shown[i].unit};
        char text[32];
        carrick_param_show(&info, shown[i].value, text, sizeof text);
        CHECK(strcmp(text, shown[i].text) == 0);
    }
    const char *unmet[] = {"taken=7", "tick=7ns", NULL};
    uint64_t values[2];
    CHECK(!carrick_params_apply(&toy_program, unmet, values, &error) && strstr(error.text, "`taken != tick`"));
    unmet[1] = "tick=8ns";
    CHECK(carrick_params_apply(&toy_program, unmet, values, &error) && values[0] == 7 && values[1] == 8);
    const char *twice[] = {"taken=7", "tick=8ns", "taken=8", NULL};
    CHECK(!carrick_params_apply(&toy_program, twice, values, &error));
    CHECK(strcmp(error.text, "taken=7 and taken=8 set one parameter: leave one of them out.") == 0);
    CHECK(carrick_loop_open(500, 4, ends, &error)); /* a program that refuses its configuration */
    CHECK(!open_stack(ends[0], SERVER, NULL) && strstr(error.text, "refuses"));
    carrick_port_close(ends[1]);
}

static struct {
    struct carrick_stack *stack;
    int fd;
} watched;

static void stop_when_ready(void *user) {
    (void)user;
    carrick_stack_stop(watched.stack, 7);
}

static void timers_and_descriptors_wake(void) {
    struct carrick_stack *stacks[2];
    int ends[2];
    open_pair(stacks, "tick=1ms");
    CHECK(pipe(ends) == 0);
    watched.stack = stacks[1];
    CHECK(carrick_stack_watch(stacks[1], ends[0], stop_when_ready, NULL));
    while (carrick_stack_counter(stacks[1], "ticks") < 3)
        (void)carrick_stack_turn(stacks[1]);
    CHECK(carrick_stack_now(stacks[1]) >= 3000000);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(carrick_stack_run(stacks, 2) == 7);
    close(ends[0]);
    close(ends[1]);
    close_pair(stacks);
}

/* A stack has room to watch more than it does, and poll() takes no list that is longer than the limit. */
static void few_descriptors_are_waited_for(void) {
    struct carrick_stack *stacks[2];
    int ends[2];
    struct rlimit before, few;
    open_pair(stacks, NULL);
    CHECK(pipe(ends) == 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = (struct rlimit){.rlim_cur = 2, .rlim_max = before.rlim_max};
    watched.stack = stacks[1];
    CHECK(carrick_stack_watch(stacks[1], ends[0], stop_when_ready, NULL));
    CHECK(write(ends[1], "x", 1) == 1 && setrlimit(RLIMIT_NOFILE, &few) == 0);
    int code = carrick_stack_run(stacks, 2);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0 && code == 7);
    close(ends[0]);
    close(ends[1]);
    close_pair(stacks);
}

/* As where a process was restored on another machine. */
static void a_clock_that_goes_back_holds_up_nothing(void) {
    struct carrick_stack *stacks[2];
    open_pair(stacks, "tick=1ms");
    (void)carrick_stack_turn(stacks[1]);
    uint64_t before = carrick_stack_now(stacks[1]), ticks = carrick_stack_counter(stacks[1], "ticks");
    stacks[1]->host.base += UINT64_C(3600000000000);
    while (carrick_stack_counter(stacks[1], "ticks") < ticks + 3)
        (void)carrick_stack_turn(stacks[1]);
    uint64_t passed = carrick_stack_now(stacks[1]) - before;
    CHECK(passed > 0 && passed < UINT64_C(3600000000000));
    close_pair(stacks);
}

/* The stack's time by the machine's clock. */
static uint64_t time_of(const struct carrick_stack *stack) {
    struct timespec t;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - carrick_stack_epoch(stack);
}

static void connect_and_stop(void *user) {
    CHECK(carrick_connect(watched.stack, 1, carrick_address_of_ipv4(SERVER), 7, note, user) == 0);
    carrick_stack_linger(watched.stack, 1000000000, 7);
}

/* What a request starts, and what is measured from it, must not begin before the stack slept. */
static void a_request_after_a_sleep_has_the_time_of_its_end(void) {
    struct carrick_stack *stacks[2];
    struct result connected = {0};
    open_pair(stacks, NULL);
    watched.stack = stacks[1];
    watched.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    uint64_t due = time_of(stacks[1]) + 50000000, at = due + carrick_stack_epoch(stacks[1]);
    struct itimerspec once = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    CHECK(watched.fd >= 0 && timerfd_settime(watched.fd, TFD_TIMER_ABSTIME, &once, NULL) == 0);
    CHECK(carrick_stack_watch(stacks[1], watched.fd, connect_and_stop, &connected));
    CHECK(carrick_stack_run(stacks, 2) == 7 && connected.count == 1);
    CHECK(carrick_stack_counter(stacks[1], "called") >= due);
    close(watched.fd);
    close_pair(stacks);
}

static void a_request_between_turns_has_its_own_time(void) {
    struct carrick_stack *stacks[2];
    struct result connected = {0};
    open_pair(stacks, NULL);
    (void)carrick_stack_turn(stacks[1]);
    uint64_t before = time_of(stacks[1]);
    CHECK(carrick_connect(stacks[1], 1, carrick_address_of_ipv4(SERVER), 7, note, &connected) == 0);
    CHECK(carrick_stack_counter(stacks[1], "called") >= before && carrick_stack_now(stacks[1]) >= before);
    close_pair(stacks);
}

int main(void) {
    a_value_has_the_unit_of_its_kind();
    a_setting_says_what_it_has_to_be();
    an_echo_server_echoes();
    a_stream_takes_no_more_at_once_than_its_program();
    a_full_core_makes_requests_wait();
    a_taken_port_is_passed_over();
    a_refused_request_is_not_open();
    settings_are_checked();
    timers_and_descriptors_wake();
    few_descriptors_are_waited_for();
    a_clock_that_goes_back_holds_up_nothing();
    a_request_after_a_sleep_has_the_time_of_its_end();
    a_request_between_turns_has_its_own_time();
    puts("stack: ok");
    return 0;
}
