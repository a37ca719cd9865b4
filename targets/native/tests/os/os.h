/* SPDX-License-Identifier: MIT */
/*
 * A simulated operating system: the calls that a host, the relay and the preloaded library make of the system, in
 * virtual time, in one process and from a seed. The objects of the code under test are compiled unchanged; their
 * symbols are renamed, so that `poll` is os_poll (calls.h). Owns: processes (coroutines), their descriptors and
 * memory, sockets, the clock. What a call does is what Linux does, or what Linux may do under pressure: short counts,
 * interrupted calls, late wake-ups, no memory, no descriptors.
 */
#ifndef CARRICK_TESTS_OS_H
#define CARRICK_TESTS_OS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "carrick/rand.h"

#define OS_NEVER     UINT64_MAX
#define OS_PROCESSES 64u
#define OS_FILES     128u /* descriptors of a process, at most */

/* How often the system is unkind: so many of 65536 calls that can be treated so. */
struct os_pressure {
    uint32_t shorts;      /* reads and writes that transfer less than they could */
    uint32_t interrupts;  /* waits that end with EINTR */
    uint32_t late;        /* wake-ups that are delayed */
    uint64_t late_most;   /* nanoseconds of a delay, at most */
    uint32_t preemptions; /* calls before which another process runs */
    uint32_t no_memory;
    uint32_t no_files;
    uint32_t buffer; /* bytes that a socket's peer may have unread, unless the socket's process says otherwise */
};

struct os_process;
typedef void (*os_main_fn)(void *argument);

/* Begins a run with no processes, and ends it: gives everything back. */
void os_begin(uint64_t seed, const struct os_pressure *pressure);
void os_end(void);

/* A process of this user. It has no descriptors; as a child of the one that runs, it has the parent's. */
struct os_process *os_spawn(const char *name, uint32_t uid, os_main_fn run, void *argument);
struct os_process *os_fork(const char *name, os_main_fn run, void *argument);
/* SIGKILL. */
void os_kill(struct os_process *process);
bool os_lives(const struct os_process *process);
/* What the process finds in its environment as the path of a stack's door. */
void os_set_door(struct os_process *process, const char *path);
/* Errors of no memory and no descriptors are for this process too; at first for none. */
void os_press(struct os_process *process);
/* Calls that ended so because of the pressure. */
uint64_t os_pressed(const struct os_process *process);
uint32_t os_open_files(const struct os_process *process);
uint32_t os_open_memory(const struct os_process *process);
/* When the process last came out of a wait. */
uint64_t os_woken_at(const struct os_process *process);

/* The process that runs; NULL: none does. */
struct os_process *os_self(void);
/* Lets a process run until its next wait or preemption; time passes if all wait. False: all wait for ever. */
bool os_step(void);
uint64_t os_now(void);
/* Time passes while all wait for ever. */
void os_idle(uint64_t until);
uint32_t os_random(uint32_t below);
/* A number over all calls so far: the same for the same run. */
uint64_t os_trace(void);
/* Prints each call to stderr from now on. */
void os_verbose(bool on);
void os_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Called by the system where it finds a promise broken; the driver's. Does not return. */
_Noreturn void os_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A descriptor that can be read from a moment on, at first never. It lives as long as the run. */
struct os_file;
struct os_file *os_event_make(int *fd);
void os_event_at(struct os_file *event, uint64_t at);

/* Who wrote what was read last, of all processes: its user, as SO_PASSCRED tells. */
uint32_t os_last_writer(void);

/* Lets the process that runs sleep. */
void os_sleep(uint64_t nanoseconds);

#endif
