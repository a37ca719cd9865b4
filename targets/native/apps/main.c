/* SPDX-License-Identifier: MIT */
/* The executable of a program: a stack on a port, with an application. Linked with one compiled program. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "apps/confine.h"
#include "apps/options.h"
#include "carrick/socket_file.h"

#define LOOP_MTU   1500u
#define LOOP_DEPTH 1024u

/* What runs: one stack, or two with the memory between them. */
struct run {
    struct carrick_stack *stacks[2];
    const struct carrick_application *applications[2];
    void *states[2];
    uint32_t count;
    bool started; /* with its applications */
    pid_t parent; /* of this process, and what it gets when that one ends */
    int death_signal;
    FILE *records;                /* NULL: nobody looks on */
    struct carrick_port *capture; /* NULL: there is none */
    struct carrick_changes changes;
    struct carrick_devices devices;
};

static int fail(const struct carrick_port_error *error, int code) {
    fprintf(stderr, "%s\n", error->text);
    return code;
}

/* The real time at which the stack's clock is 0, near enough: the stack is opened at once. */
static uint64_t epoch(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The port that an option names, not the memory port. */
static struct carrick_port *open_port(const struct carrick_options *options, const char *port,
                                      struct carrick_port_error *error) {
    const char *rest = strchr(port, ':');
    rest = rest ? rest + 1 : "";
    if (options->here->kind)
        return options->here->open(rest, error);
    if (strncmp(port, "tun:", 4) == 0)
        return carrick_tun_open(rest, error);
    if (strncmp(port, "packet:", 7) == 0) {
        const struct carrick_port_taken taken = {options->address, options->program->protocol};
        return carrick_packet_open(rest, options->middlebox ? NULL : &taken, error);
    }
    if (strncmp(port, "xdp:", 4) == 0)
        return carrick_xdp_open(rest, options->address, error);
    if (strncmp(port, "unix:", 5) == 0)
        return carrick_unix_open(rest, error);
    return carrick_udp_open(rest, error);
}

/* capture(fault(port)): the capture shows what the stack sent and what reached it. All ports have one capture, and
 * wires with faults of their own. */
static bool wrap(const struct carrick_options *options, struct carrick_port **ports, uint32_t at,
                 struct carrick_port_error *error) {
    struct carrick_fault_config fault = options->fault;
    struct carrick_port *wrapped = ports[at];
    fault.seed += at;
    if (options->faulty)
        wrapped = carrick_fault_wrap(ports[at], &fault, error);
    if (wrapped) {
        ports[at] = wrapped;
        if (options->pcap && at == 0)
            wrapped = carrick_pcap_wrap(ports[at], options->pcap, epoch(), error);
        else if (options->pcap)
            wrapped = carrick_pcap_join(ports[at], ports[0], error);
    }
    if (wrapped)
        ports[at] = wrapped;
    return wrapped != NULL;
}

/* Opens all ports, or none. */
static bool open_ports(const struct carrick_options *options, struct carrick_port *ports[CARRICK_INTERFACES],
                       struct carrick_port_error *error) {
    bool open = !options->loop || carrick_loop_open(LOOP_MTU, LOOP_DEPTH, ports, error);
    for (uint32_t i = 0; open && i < options->port_count; i++) {
        if (!options->loop)
            ports[i] = open_port(options, options->ports[i], error);
        open = ports[i] && wrap(options, ports, i, error);
    }
    for (uint32_t i = 0; !open && i < CARRICK_INTERFACES; i++) {
        carrick_port_close(ports[i]);
        ports[i] = NULL;
    }
    return open;
}

static bool open_records(struct run *run, const struct carrick_options *options, struct carrick_port_error *error) {
    if (!options->records)
        return true;
    run->records = fopen(options->records, "wbe");
    if (!run->records)
        snprintf(error->text, sizeof error->text, "Cannot write %.80s: %s.", options->records, strerror(errno));
    return run->records != NULL;
}

static bool open_stacks(struct run *run, const struct carrick_options *options, struct carrick_port_error *error) {
    struct carrick_port *ports[CARRICK_INTERFACES] = {0};
    uint32_t stacks = options->middlebox ? 1 : options->app_count;
    bool open = true;
    if (!open_records(run, options, error) || !open_ports(options, ports, error))
        return false;
    for (uint32_t i = 0; i < stacks; i++) {
        struct carrick_stack_config config = {.program = options->program,
                                              .ports = {ports[i]},
                                              .address = i == 0 ? options->address : options->peer,
                                              .prefix = options->prefix,
                                              .gateway = options->gateway,
                                              .requests = options->requests,
                                              .settings = options->settings,
                                              .spin = options->spin,
                                              .records = run->records,
                                              .number = i};
        for (uint32_t port = 1; port < options->port_count; port++)
            config.ports[port] = ports[port];
        if (options->seeded)
            config.seed = options->seed + i;
        else if (getrandom(&config.seed, sizeof config.seed, 0) != sizeof config.seed)
            config.seed = epoch();
        if (open)
            run->stacks[run->count] = carrick_stack_open(&config, error);
        else
            carrick_port_close(ports[i]);
        open = open && run->stacks[run->count++];
    }
    run->capture = open && options->pcap ? ports[0] : NULL;
    return open;
}

/* No address is another node's. Without Ethernet, and over IPv4, nobody is asked. */
static bool claim_addresses(const struct run *run, struct carrick_port_error *error) {
    for (uint32_t i = 0; i < run->count; i++) {
        uint8_t owner[6];
        char address[CARRICK_ADDRESS_TEXT];
        enum carrick_claim claim = carrick_stack_claim(run->stacks[i], owner);
        if (claim == CARRICK_CLAIM_OURS)
            continue;
        carrick_show_address(carrick_stack_address(run->stacks[i]), address);
        if (claim == CARRICK_CLAIM_FAILED)
            snprintf(error->text, sizeof error->text, "Cannot find out whether another node has %s.", address);
        else
            snprintf(error->text, sizeof error->text,
                     "The address %s belongs to another node, with the hardware address "
                     "%02x:%02x:%02x:%02x:%02x:%02x: choose another one for --addr.",
                     address, owner[0], owner[1], owner[2], owner[3], owner[4], owner[5]);
        return false;
    }
    return true;
}

static bool start_applications(struct run *run, const struct carrick_options *options,
                               struct carrick_port_error *error) {
    for (uint32_t i = 0; i < options->app_count; i++) {
        const char *argument = strchr(options->apps[i], ':');
        run->applications[i] = options->applications[i];
        run->states[i] = run->applications[i]->start(run->stacks[i], argument ? argument + 1 : "", error);
        if (!run->states[i])
            return false;
    }
    return run->started = true;
}

/* The process that started this one may name a descriptor: a socket. It gets a byte once the applications have begun,
 * attaches the program to its device, and shuts its side down. Answers to packets that were sent before that would be
 * lost, so the applications' first requests wait for it. It gets another byte once they are made: clients that it calls
 * then find who listens. */
static void tell_ready(const struct run *run) {
    const char *text = getenv("CARRICK_READY");
    int fd = text ? atoi(text) : -1;
    if (fd <= STDERR_FILENO)
        return;
    (void)!send(fd, "1", 1, MSG_NOSIGNAL);
    char byte;
    while (read(fd, &byte, 1) < 0 && errno == EINTR)
        ;
    for (uint32_t s = 0; s < run->count; s++)
        (void)carrick_stack_turn(run->stacks[s]);
    (void)!send(fd, "1", 1, MSG_NOSIGNAL);
    close(fd);
}

struct end {
    struct carrick_stack *stack;
    int fd, code;
};

static void end_asked(void *user) {
    const struct end *end = user;
    struct signalfd_siginfo info;
    if (read(end->fd, &info, sizeof info) == sizeof info)
        carrick_stack_stop(end->stack, end->code);
}

/* All is open by now: nothing that is needed from here on takes a privilege. */
static bool confine(const struct run *run, const struct carrick_options *options, struct carrick_port_error *error) {
    bool local = false;
    for (uint32_t i = 0; i < options->port_count; i++)
        local |= strncmp(options->ports[i], "unix:", 5) == 0;
    struct carrick_confinement needs = {.removes = local,
                                        .connects = local,
                                        .kernel = options->here->kind != NULL,
                                        .has_user = options->has_user,
                                        .user = options->user,
                                        .parent = run->parent,
                                        .death_signal = run->death_signal};
    for (uint32_t i = 0; i < options->app_count; i++) {
        needs.files |= options->applications[i]->files;
        needs.removes |= options->applications[i]->removes;
        needs.connects |= options->applications[i]->connects;
    }
    return carrick_confine(&needs, error);
}

/* There is no application that would say it. */
static void say_between(const struct carrick_options *options) {
    bool middlebox = options->middlebox && !options->here->middlebox;
    for (uint32_t i = 0; middlebox && i < options->port_count; i++)
        printf("%s %s", i == 0 ? "running between" : " and", options->ports[i]);
    if (middlebox)
        puts("");
    fflush(stdout);
}

/* Runs until an application, or a signal, ends it. */
static int run_until_end(struct run *run, const struct carrick_options *options, struct carrick_port_error *error) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    struct end end = {run->stacks[0], signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), CARRICK_EXIT_OK};
    for (uint32_t i = 0; i < options->app_count; i++)
        if (run->applications[i]->ends)
            end.code = CARRICK_EXIT_FAILED;
    if (end.fd < 0 || !carrick_stack_watch(run->stacks[0], end.fd, end_asked, &end))
        return CARRICK_EXIT_FAILED;
    if (options->changes >= 0 && !carrick_changes_open(&run->changes, run->stacks, run->count, options->changes, error))
        return fail(error, CARRICK_EXIT_USAGE);
    if (!carrick_devices_watch(&run->devices, run->stacks, run->count, CARRICK_EXIT_MISSING, error))
        return fail(error, CARRICK_EXIT_FAILED);
    /* Timers to the microsecond: the kernel's slack of 50 us is for those who save power. */
    (void)prctl(PR_SET_TIMERSLACK, 1);
    if (!confine(run, options, error))
        return fail(error, CARRICK_EXIT_MISSING);
    say_between(options);
    tell_ready(run);
    int code = carrick_stack_run(run->stacks, run->count);
    close(end.fd);
    if (run->devices.fd >= 0)
        close(run->devices.fd);
    return code;
}

/* The end of a run of which not all was written that is to be. */
static int check_written(const struct run *run, int code) {
    bool whole = !run->capture || carrick_pcap_whole(run->capture);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "Cannot write to standard output: %s.\n", strerror(errno));
        whole = false;
    }
    return code == CARRICK_EXIT_OK && !whole ? CARRICK_EXIT_FAILED : code;
}

static void close_run(struct run *run, bool print) {
    for (uint32_t i = 0; i < run->count; i++) {
        if (print && run->stacks[i])
            carrick_stack_print_counters(run->stacks[i], stderr);
        carrick_stack_close(run->stacks[i]);
        if (run->states[i])
            run->applications[i]->finish(run->states[i]);
    }
    if (run->records)
        fclose(run->records);
}

int main(int argc, char **argv) {
    struct carrick_options options;
    struct carrick_port_error error = {""};
    struct run run = {.parent = getppid()};
    (void)prctl(PR_GET_PDEATHSIG, &run.death_signal);
    const struct carrick_program_table here = carrick_program_table();
    switch (carrick_options_read(&options, &here, argc, argv, &error)) {
    case CARRICK_OPTIONS_HELP:
        carrick_options_help(&options, argv[0]);
        return CARRICK_EXIT_OK;
    case CARRICK_OPTIONS_WRONG:
        return fail(&error, CARRICK_EXIT_USAGE);
    case CARRICK_OPTIONS_RUN:
        break;
    }
    if (options.has_user)
        carrick_socket_file_next_user(options.user);
    int code;
    if (!open_stacks(&run, &options, &error))
        code = fail(&error, CARRICK_EXIT_MISSING);
    else if (!claim_addresses(&run, &error))
        code = fail(&error, CARRICK_EXIT_FAILED);
    else if (!start_applications(&run, &options, &error))
        code = fail(&error, CARRICK_EXIT_USAGE);
    else
        code = check_written(&run, run_until_end(&run, &options, &error));
    close_run(&run, run.started);
    return code;
}
