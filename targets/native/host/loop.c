/* SPDX-License-Identifier: MIT */
/* The event loop of a thread and the life of its stacks. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "host/pause.h"
#include "host/stack.h"

#define LOOP_STACKS       8u
#define STACK_DESCRIPTORS (CARRICK_INTERFACES + STACK_WATCHES)
#define PARAMS_AT_MOST    256u
/* Requests that can be open where nobody says how many: of a connection, both ways and what ends it; and the bounds. */
#define REQUESTS_EACH  4u
#define REQUESTS_LEAST 1024u
#define REQUESTS_MOST  4194304u
#define WARN_EVERY_NS  UINT64_C(1000000000)

/* How many requests can be open, a power of two. */
static uint32_t stack_requests(const struct carrick_stack_config *config, uint32_t capacity) {
    uint32_t requests = REQUESTS_LEAST;
    if (config->requests)
        return config->requests;
    while (requests < REQUESTS_MOST && requests / REQUESTS_EACH < capacity)
        requests *= 2;
    return requests;
}

static uint32_t stack_ports(const struct carrick_stack_config *config) {
    uint32_t count = 0;
    while (count < CARRICK_INTERFACES && config->ports[count])
        count++;
    return count;
}

static bool stack_setup(struct carrick_stack *stack, const struct carrick_stack_config *config,
                        struct carrick_port_error *error) {
    uint64_t params[PARAMS_AT_MOST];
    if (config->program->param_count > PARAMS_AT_MOST || (config->requests & (config->requests - 1)) != 0) {
        snprintf(error->text, sizeof error->text,
                 "The program has too many parameters, or the number of requests is no power of two.");
        return false;
    }
    if (!carrick_params_apply(config->program, config->settings, params, error))
        return false;
    struct carrick_config core = {.seed = config->seed,
                                  .address = (uint32_t)config->address.low,
                                  .address6 = config->address,
                                  .mtu = 1500, /* the port's, once that is known to fit */
                                  .params = params,
                                  .elsewhere = config->ports[0]};
    stack->capacity = config->program->capacity(&core);
    uint32_t requests = core.completions = stack_requests(config, stack->capacity);
    if (!carrick_requests_make(&stack->requests, config->program, requests)) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for %u requests: take fewer.", requests);
        return false;
    }
    stack->rng = carrick_pcg_make(config->seed, 103);
    stack->next_port = carrick_pcg_next(&stack->rng);
    stack->spin = config->spin;
    int policy = sched_getscheduler(0);
    stack->first = policy == SCHED_FIFO || policy == SCHED_RR;
    struct carrick_host_config host = {.program = config->program,
                                       .ports = config->ports,
                                       .port_count = stack_ports(config),
                                       .core = core,
                                       .prefix = config->prefix,
                                       .gateway = config->gateway,
                                       .records = config->records,
                                       .number = config->number};
    return carrick_host_open(&stack->host, &host, error);
}

struct carrick_stack *carrick_stack_open(const struct carrick_stack_config *config, struct carrick_port_error *error) {
    struct carrick_stack *stack = calloc(1, sizeof *stack);
    if (stack && stack_setup(stack, config, error))
        return stack;
    if (!stack)
        snprintf(error->text, sizeof error->text, "There is not enough memory for a stack.");
    else
        carrick_requests_free(&stack->requests);
    free(stack);
    for (uint32_t i = 0; i < CARRICK_INTERFACES; i++)
        carrick_port_close(config->ports[i]);
    return NULL;
}

void carrick_stack_close(struct carrick_stack *stack) {
    if (!stack)
        return;
    carrick_host_close(&stack->host);
    carrick_requests_free(&stack->requests);
    free(stack);
}

void carrick_stack_wake(struct carrick_stack *stack) {
    carrick_host_tick(&stack->host);
    stack->awake = true;
}

bool carrick_stack_turn(struct carrick_stack *stack) {
    struct carrick_host *host = &stack->host;
    carrick_stack_wake(stack);
    bool worked = carrick_host_input(host);
    worked |= carrick_requests_retry(&stack->requests, host);
    worked |= carrick_stack_complete(stack);
    worked |= carrick_host_drain(host) != 0;
    /* A full port without a descriptor to wait for empties when its other end, in this thread, has its turn. */
    worked |= host->port_full && !carrick_port_busy(host->ports[0]);
    if (!worked && host->records)
        fflush(host->records);
    stack->awake = false;
    return worked;
}

/* An error of a port's descriptor wakes until someone has taken note of it. False: the device is gone for good. */
static bool loop_note_error(const struct carrick_port *port) {
    int why = 0;
    socklen_t len = sizeof why;
    if (port->out_fd != 0)
        (void)getsockopt(port->out_fd, SOL_SOCKET, SO_ERROR, &why, &len);
    if (getsockopt(port->fd, SOL_SOCKET, SO_ERROR, &why, &len) == 0)
        return true; /* of a socket: what is lost meanwhile is the program's to repair */
    fprintf(stderr, "The device of the port %s is gone.\n", port->kind);
    return false;
}

/* Calls what watches a descriptor. The wait before it may have been long. */
static void loop_call(struct carrick_stack *stack, nfds_t watch) {
    if (!stack->watches[watch].ready)
        return; /* another callback has ended it */
    carrick_stack_wake(stack);
    stack->watches[watch].ready(stack->watches[watch].user);
    stack->awake = false;
}

/* Descriptors to wait for, and the place of each among the ports and watches of all stacks. There are no empty entries:
 * poll() refuses a list that is longer than the limit of open files (RLIMIT_NOFILE), whatever stands in it. */
struct loop_list {
    nfds_t count;
    struct pollfd fds[LOOP_STACKS * (STACK_DESCRIPTORS + CARRICK_INTERFACES)];
    uint32_t places[LOOP_STACKS * (STACK_DESCRIPTORS + CARRICK_INTERFACES)];
};

static void loop_add(struct loop_list *list, int fd, int events, uint32_t place) {
    if (fd < 0)
        return;
    list->places[list->count] = place;
    list->fds[list->count++] = (struct pollfd){.fd = fd, .events = (short)events};
}

/* What a stack waits for: its ports, and what is watched. */
static void loop_descriptors(const struct carrick_stack *stack, uint32_t place, struct loop_list *list) {
    const struct carrick_host *host = &stack->host;
    int held = host->pending_first != host->pending_end ? 0 : POLLIN;
    for (uint32_t i = 0; i < host->port_count; i++) {
        const struct carrick_port *port = host->ports[i];
        bool busy = carrick_port_busy(port), apart = port->out_fd != 0;
        loop_add(list, port->fd, held | (busy && !apart ? POLLOUT : 0), place + i);
        if (busy && apart)
            loop_add(list, port->out_fd, POLLOUT, place + i);
    }
    for (uint32_t w = 0; w < STACK_WATCHES; w++)
        if (stack->watches[w].ready)
            loop_add(list, stack->watches[w].fd, POLLIN, place + CARRICK_INTERFACES + w);
}

/* Waits for the descriptors of all stacks, or the first deadline. False: waiting failed. */
static bool loop_wait(struct carrick_stack *const *stacks, uint32_t count, uint64_t timeout) {
    struct loop_list list;
    list.count = 0;
    for (uint32_t s = 0; s < count; s++)
        loop_descriptors(stacks[s], s * STACK_DESCRIPTORS, &list);
    struct timespec t = {.tv_sec = (time_t)(timeout / 1000000000u), .tv_nsec = (long)(timeout % 1000000000u)};
    int ready = ppoll(list.fds, list.count, timeout == UINT64_MAX ? NULL : &t, NULL);
    if (ready < 0 && errno != EINTR) {
        fprintf(stderr, "The stack cannot wait for its descriptors: %s.\n", strerror(errno));
        return false;
    }
    for (nfds_t i = 0; ready > 0 && i < list.count; i++) {
        struct carrick_stack *stack = stacks[list.places[i] / STACK_DESCRIPTORS];
        uint32_t at = list.places[i] % STACK_DESCRIPTORS;
        if (at >= CARRICK_INTERFACES && list.fds[i].revents)
            loop_call(stack, at - CARRICK_INTERFACES);
        else if ((list.fds[i].revents & (POLLERR | POLLNVAL)) && !loop_note_error(stack->host.ports[at]))
            return false;
    }
    return true;
}

/* What run waits for at most: the first deadline of all, and nothing while there is work. */
static uint64_t loop_timeout(struct carrick_stack *const *stacks, uint32_t count) {
    uint64_t first = UINT64_MAX;
    for (uint32_t s = 0; s < count; s++) {
        uint64_t idle = carrick_host_idle(&stacks[s]->host);
        first = idle < first ? idle : first;
        uint64_t until = stacks[s]->linger_until, now = stacks[s]->host.now;
        if (stacks[s]->stopped && first > until - now)
            first = until - now; /* not past: it would not be waiting */
    }
    return first;
}

static bool loop_ended(const struct carrick_stack *stack) {
    return stack->stopped && (stack->host.now >= stack->linger_until || carrick_host_done(&stack->host));
}

static struct carrick_stack *loop_stopped(struct carrick_stack *const *stacks, uint32_t count) {
    for (uint32_t s = 0; s < count; s++)
        if (loop_ended(stacks[s]))
            return stacks[s];
    return NULL;
}

/* Now and then, because asking the kernel for a counter copies those of all processors. */
static void loop_warn(struct carrick_stack *stack) {
    if (stack->host.now < stack->warn_at)
        return;
    carrick_stack_warn(stack);
    stack->warn_at = stack->host.now + WARN_EVERY_NS;
}

static int loop_end(struct carrick_stack *const *stacks, uint32_t count, int code) {
    for (uint32_t s = 0; s < count; s++)
        carrick_stack_warn(stacks[s]);
    return code;
}

int carrick_stack_run(struct carrick_stack *const *stacks, uint32_t count) {
    /* Whoever has work, or spins, looks at the descriptors that are watched only now and then: each look is a system
     * call. */
    enum { TURNS_BETWEEN_LOOKS = 64 };
    uint32_t turns = 0;
    struct pause pause = {0};
    if (count == 0 || count > LOOP_STACKS)
        return 1;
    bool first = stacks[0]->first;
    for (;;) {
        bool awake = false;
        for (uint32_t s = 0; s < count; s++)
            awake |= carrick_stack_turn(stacks[s]) || stacks[s]->spin;
        const struct carrick_stack *stopped = loop_stopped(stacks, count);
        if (stopped)
            return loop_end(stacks, count, stopped->code);
        if (awake)
            pause_ends(&pause);
        bool sleeps = !awake && (first || pause_sleeps(&pause, stacks[0]->host.now));
        if (!sleeps && ++turns % TURNS_BETWEEN_LOOKS != 0)
            continue;
        for (uint32_t s = 0; s < count; s++)
            loop_warn(stacks[s]);
        if (!loop_wait(stacks, count, sleeps ? loop_timeout(stacks, count) : 0))
            return loop_end(stacks, count, 1);
    }
}

enum carrick_claim carrick_stack_claim(struct carrick_stack *stack, uint8_t owner[6]) {
    struct carrick_net *net = &stack->host.net;
    carrick_stack_wake(stack);
    carrick_net_claim(net, stack->host.now);
    while (net->claiming) {
        bool worked = carrick_stack_turn(stack); /* it may also end the claim, and then nothing is to be waited for */
        if (!worked && net->claiming && !loop_wait(&stack, 1, loop_timeout(&stack, 1)))
            return CARRICK_CLAIM_FAILED;
    }
    stack->awake = false;
    memcpy(owner, net->owner, sizeof net->owner);
    return net->taken ? CARRICK_CLAIM_TAKEN : CARRICK_CLAIM_OURS;
}

void carrick_stack_stop(struct carrick_stack *stack, int code) {
    carrick_stack_linger(stack, 0, code);
}

void carrick_stack_linger(struct carrick_stack *stack, uint64_t most, int code) {
    stack->stopped = true;
    stack->linger_until = stack->host.now + most;
    stack->code = code;
}

bool carrick_stack_watch(struct carrick_stack *stack, int fd, void (*ready)(void *user), void *user) {
    uint32_t place = STACK_WATCHES;
    for (uint32_t w = 0; w < STACK_WATCHES; w++) {
        if (stack->watches[w].ready && stack->watches[w].fd == fd)
            place = w;
        else if (!stack->watches[w].ready && place == STACK_WATCHES)
            place = w;
    }
    if (place == STACK_WATCHES)
        return false;
    stack->watches[place].fd = fd;
    stack->watches[place].ready = ready;
    stack->watches[place].user = user;
    return true;
}

struct carrick_ip6_address carrick_stack_address(const struct carrick_stack *stack) {
    const struct carrick_net_config *config = &stack->host.net.config;
    return config->six ? config->address6 : carrick_address_of_ipv4(config->address);
}

bool carrick_stack_speaks_to(const struct carrick_stack *stack, struct carrick_ip6_address address) {
    return carrick_address_is_ipv4(address) != stack->requests.six;
}

uint32_t carrick_stack_capacity(const struct carrick_stack *stack) {
    return stack->capacity;
}

void carrick_stack_act_for(struct carrick_stack *stack, uint32_t owner) {
    stack->owner = owner;
}

uint32_t carrick_stack_random(struct carrick_stack *stack) {
    return carrick_pcg_next(&stack->rng);
}

uint64_t carrick_stack_now(const struct carrick_stack *stack) {
    return stack->host.now;
}

uint64_t carrick_stack_epoch(const struct carrick_stack *stack) {
    return stack->host.base;
}
