/* SPDX-License-Identifier: MIT */
/* Processes, time and memory. */
#define _GNU_SOURCE
#include "tests/os/kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define OS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OS_ASAN 1
#endif
#endif
#ifdef OS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_OCTETS (256u * 1024u)
#define SLICE        2000000u /* nanoseconds that a process runs at most while others could */

struct os_process {
    ucontext_t context;
    void *stack;
    const char *name, *door;
    uint32_t number, uid;
    bool used, ended, waits, pressed, cloexec[OS_FILES];
    os_main_fn run;
    void *argument;
    struct os_file *files[OS_FILES];
    int error; /* its errno, while another runs */
    bool (*ready)(void *);
    void *ready_argument;
    uint64_t deadline, runnable_at, woken_at, began, pressures;
    bool found_ready;
    struct os_memory memory;
};

static struct {
    struct os_process processes[OS_PROCESSES];
    uint32_t count;
    struct os_process *self;
    ucontext_t scheduler;
    const void *scheduler_stack;
    size_t scheduler_size;
    uint64_t now, trace;
    struct carrick_pcg rng;
    struct os_pressure pressure;
    bool verbose;
    void *stacks[OS_PROCESSES]; /* kept from run to run */
} os;

uint64_t os_now(void) {
    return os.now;
}

void os_idle(uint64_t until) {
    os.now = until > os.now ? until : os.now;
}

uint32_t os_random(uint32_t below) {
    return below ? (uint32_t)((uint64_t)carrick_pcg_next(&os.rng) * below >> 32) : 0;
}

bool os_chance(uint32_t of_65536) {
    return of_65536 && os_random(65536) < of_65536;
}

uint64_t os_trace(void) {
    return os.trace;
}

void os_verbose(bool on) {
    os.verbose = on;
}

void os_say(const char *format, ...) {
    if (!os.verbose)
        return;
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%12.6f %-10s ", (double)os.now / 1e9, os.self ? os.self->name : "-");
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

const struct os_pressure *os_pressure(void) {
    return &os.pressure;
}

uint32_t os_uid(void) {
    return os.self ? os.self->uid : 0;
}

struct os_process *os_self(void) {
    return os.self;
}

struct os_memory *os_memory(void) {
    return &os.self->memory;
}

struct os_file **os_table(struct os_process *process) {
    return process->files;
}

bool *os_cloexec(int fd) {
    return &os.self->cloexec[fd];
}

void os_begin(uint64_t seed, const struct os_pressure *pressure) {
    os.count = 0;
    os.self = NULL;
    os.now = UINT64_C(1000000000000);
    os.trace = 0;
    os.rng = carrick_pcg_make(seed, 7001);
    os.pressure = *pressure;
}

void os_end(void) {
    for (uint32_t i = 0; i < os.count; i++)
        os_kill(&os.processes[i]);
    os_files_end();
    os_names_end();
}

/* To the scheduler. */
static void leave(struct os_process *process, bool for_ever) {
    process->error = errno;
#ifdef OS_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(for_ever ? NULL : &fake, os.scheduler_stack, os.scheduler_size);
#else
    (void)for_ever;
#endif
    swapcontext(&process->context, &os.scheduler);
#ifdef OS_ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
    errno = process->error;
}

static void enter(struct os_process *process) {
    os.self = process;
    process->began = os.now;
#ifdef OS_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, process->stack, STACK_OCTETS);
#endif
    swapcontext(&os.scheduler, &process->context);
#ifdef OS_ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
    os.self = NULL;
}

static void process_begin(void) {
    struct os_process *process = os.self;
#ifdef OS_ASAN
    __sanitizer_finish_switch_fiber(NULL, &os.scheduler_stack, &os.scheduler_size);
#endif
    process->run(process->argument);
    os_kill(process);
    leave(process, true);
}

static void process_prepare(struct os_process *process) {
    getcontext(&process->context);
    process->context.uc_stack.ss_sp = process->stack;
    process->context.uc_stack.ss_size = STACK_OCTETS;
    process->context.uc_link = NULL;
    makecontext(&process->context, process_begin, 0);
}

struct os_process *os_spawn(const char *name, uint32_t uid, os_main_fn run, void *argument) {
    if (os.count == OS_PROCESSES)
        return NULL;
    struct os_process *process = &os.processes[os.count];
    if (!os.stacks[os.count])
        os.stacks[os.count] =
            mmap(NULL, STACK_OCTETS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *process = (struct os_process){.stack = os.stacks[os.count],
                                   .name = name,
                                   .number = os.count++,
                                   .uid = uid,
                                   .used = true,
                                   .run = run,
                                   .argument = argument,
                                   .deadline = OS_NEVER,
                                   .runnable_at = os.now,
                                   .woken_at = os.now};
    os_memory_begin(&process->memory);
#ifdef OS_ASAN
    __asan_unpoison_memory_region(process->stack, STACK_OCTETS); /* of one that was killed */
#endif
    process_prepare(process);
    return process;
}

struct os_process *os_fork(const char *name, os_main_fn run, void *argument) {
    struct os_process *child = os_spawn(name, os.self->uid, run, argument);
    if (!child)
        return NULL;
    child->door = os.self->door;
    for (uint32_t fd = 0; fd < OS_FILES; fd++) {
        child->files[fd] = os.self->files[fd];
        child->cloexec[fd] = os.self->cloexec[fd];
        if (child->files[fd])
            child->files[fd]->refs++;
    }
    return child;
}

void os_kill(struct os_process *process) {
    if (process->ended)
        return;
    process->ended = true;
    os_close_all(process);
    os_memory_end(&process->memory);
}

bool os_lives(const struct os_process *process) {
    return process && !process->ended;
}

void os_set_door(struct os_process *process, const char *path) {
    process->door = path;
}

char *os_getenv(const char *name) {
    union {
        const char *given;
        char *text;
    } door = {os.self && strcmp(name, "CARRICK_SOCKETS") == 0 ? os.self->door : NULL};
    return door.text;
}

void os_press(struct os_process *process) {
    process->pressed = true;
}

uint64_t os_pressed(const struct os_process *process) {
    return process->pressures;
}

uint64_t os_woken_at(const struct os_process *process) {
    return process->woken_at;
}

uint32_t os_open_files(const struct os_process *process) {
    uint32_t count = 0;
    for (uint32_t fd = 0; fd < OS_FILES; fd++)
        count += process->files[fd] != NULL;
    return count;
}

uint32_t os_open_memory(const struct os_process *process) {
    return process->memory.count;
}

static bool pressed(uint32_t chance) {
    if (!os.self || !os.self->pressed || !os_chance(chance))
        return false;
    os.self->pressures++;
    return true;
}

bool os_no_memory(void) {
    return pressed(os.pressure.no_memory);
}

bool os_no_files(void) {
    return pressed(os.pressure.no_files);
}

void os_enter(const char *call, int64_t detail) {
    os.now += 100 + os_random(900);
    os.trace = carrick_mix(os.trace, os.now ^ (uint64_t)detail);
    os.trace = carrick_mix(os.trace, (uint64_t)(unsigned char)call[0] << 32 | os.self->number);
    os_say("%s(%lld)", call, (long long)detail);
    if (os_chance(os.pressure.preemptions) || os.now > os.self->began + SLICE) {
        os.self->runnable_at = os.now;
        os.self->waits = false;
        leave(os.self, false);
    }
}

enum os_woken os_wait(bool (*ready)(void *), void *argument, uint64_t deadline) {
    struct os_process *self = os.self;
    if (ready && ready(argument))
        return OS_READY;
    if (deadline <= os.now)
        return OS_TIMEOUT;
    bool interrupted = os_chance(os.pressure.interrupts);
    if (interrupted && deadline > os.now + 1000000)
        deadline = os.now + os_random(1000000);
    /* What it was woken for may be gone when it runs. */
    do {
        self->waits = true;
        self->ready = ready;
        self->ready_argument = argument;
        self->deadline = deadline;
        self->found_ready = false;
        leave(self, false);
        self->waits = false;
        self->woken_at = os.now;
        if (ready && ready(argument))
            return OS_READY;
    } while (os.now < deadline);
    if (interrupted)
        self->pressures++;
    return interrupted ? OS_INTERRUPTED : OS_TIMEOUT;
}

void os_sleep(uint64_t nanoseconds) {
    os_enter("sleep", (int64_t)nanoseconds);
    uint64_t until = os.now + nanoseconds;
    while (os.now < until)
        (void)os_wait(NULL, NULL, until);
}

/* A wake-up that was due takes the time that the machine gives it. */
static uint64_t lateness(void) {
    uint64_t late = os_random(20000);
    return os_chance(os.pressure.late) ? late + os_random((uint32_t)(os.pressure.late_most ? os.pressure.late_most : 1))
                                       : late;
}

/* From when on it can run. */
static uint64_t runnable_at(struct os_process *process) {
    if (!process->waits)
        return process->runnable_at;
    if (process->found_ready)
        return process->runnable_at;
    if ((process->ready && process->ready(process->ready_argument)) || process->deadline <= os.now) {
        process->found_ready = true;
        process->runnable_at = os.now + lateness();
        return process->runnable_at;
    }
    return process->deadline;
}

bool os_step(void) {
    struct os_process *choice = NULL;
    uint64_t next = os_files_next();
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < os.count; i++) {
        struct os_process *process = &os.processes[i];
        if (process->ended)
            continue;
        uint64_t at = runnable_at(process);
        next = at < next ? at : next;
        bool runs = at <= os.now && (!process->waits || process->found_ready);
        if (runs && os_random(++candidates) == 0)
            choice = process;
    }
    if (choice) {
        enter(choice);
        return true;
    }
    if (next == OS_NEVER)
        return false;
    os.now = next > os.now ? next : os.now;
    return true;
}
