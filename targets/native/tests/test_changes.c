/* SPDX-License-Identifier: MIT */
/* Who may change contexts of a running stack, and messages that ask for no change. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "carrick/app.h"
#include "carrick/records.h"
#include "tests/check.h"
#include "tests/toy.h"

#define ADDRESS 0x0a000001u
#define NOBODY  65534u

static struct carrick_port_error error;
static struct carrick_port *ends[2];
static struct carrick_stack *stack;

static void open_one(void) {
    CHECK(carrick_loop_open(1500, 4, ends, &error));
    struct carrick_stack_config config = {
        .program = &toy_program, .ports = {ends[0]}, .address = carrick_address_of_ipv4(ADDRESS), .prefix = 24};
    stack = carrick_stack_open(&config, &error);
    CHECK(stack);
}

static void close_both(const int *fds) {
    close(fds[0]);
    close(fds[1]);
}

static void only_root_changes_contexts(void) {
    struct carrick_changes changes;
    int of_nobody[2], pipes[2];
    CHECK(pipe(pipes) == 0);
    CHECK(!carrick_changes_open(&changes, &stack, 1, pipes[0], &error));
    CHECK(strstr(error.text, "is not one of a pair of sockets"));
    close_both(pipes);
    if (geteuid() != 0) {
        printf("skipped: sockets of two users take root\n");
        return;
    }
    CHECK(seteuid(NOBODY) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, of_nobody) == 0);
    CHECK(seteuid(0) == 0);
    CHECK(!carrick_changes_open(&changes, &stack, 1, of_nobody[0], &error));
    CHECK(strstr(error.text, "User 65534 must not change contexts"));
    close_both(of_nobody);
}

static void stop_when_changed(void *user) {
    (void)user;
    if (carrick_stack_counter(stack, "changed") == 21)
        carrick_stack_stop(stack, 7);
}

static void messages_that_ask_for_no_change_are_ignored(void) {
    struct carrick_changes changes;
    int asks[2], always[2];
    if (geteuid() != 0)
        return;
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, asks) == 0 && pipe(always) == 0);
    CHECK(carrick_changes_open(&changes, &stack, 1, asks[0], &error));
    CHECK(carrick_stack_watch(stack, always[0], stop_when_changed, NULL) && write(always[1], "1", 1) == 1);
    struct carrick_change longer[2] = {{0, 1, 1}, {0, 1, 1}}, other = {1, 1, 1}, right = {0, 3, 7};
    CHECK(send(asks[1], "abc", 3, 0) == 3);
    CHECK(send(asks[1], longer, sizeof longer, 0) == sizeof longer);
    CHECK(send(asks[1], &other, sizeof other, 0) == sizeof other);
    CHECK(send(asks[1], &right, sizeof right, 0) == sizeof right);
    CHECK(carrick_stack_run(&stack, 1) == 7);
    CHECK(carrick_stack_counter(stack, "changed") == 21);
    close_both(asks);
    close_both(always);
}

int main(void) {
    open_one();
    only_root_changes_contexts();
    messages_that_ask_for_no_change_are_ignored();
    carrick_stack_close(stack);
    carrick_port_close(ends[1]);
    return 0;
}
