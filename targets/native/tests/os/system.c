/* SPDX-License-Identifier: MIT */
/* What else is called of the system: the clock, randomness, files' names, what is printed. */
#define _GNU_SOURCE
#include "tests/os/kernel.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

int os_clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    os_enter("clock_gettime", 0);
    *time = (struct timespec){(time_t)(os_now() / 1000000000u), (long)(os_now() % 1000000000u)};
    return 0;
}

ssize_t os_getrandom(void *octets, size_t len, unsigned flags) {
    (void)flags;
    os_enter("getrandom", (int64_t)len);
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)octets)[i] = (uint8_t)os_random(256);
    return (ssize_t)len;
}

/* Some hosts run before all other processes. */
int os_sched_getscheduler(pid_t pid) {
    os_enter("sched_getscheduler", pid);
    return os_random(4) ? SCHED_OTHER : SCHED_FIFO;
}

int os_unlink(const char *path) {
    os_enter("unlink", 0);
    (void)path;
    return 0;
}

int os_chmod(const char *path, mode_t mode) {
    os_enter("chmod", mode);
    (void)path;
    return 0;
}

int os_getrlimit(int resource, struct rlimit *limit) {
    os_enter("getrlimit", resource);
    *limit = (struct rlimit){OS_FILES, OS_FILES};
    return 0;
}

int os_setrlimit(int resource, const struct rlimit *limit) {
    os_enter("setrlimit", resource);
    (void)limit;
    return 0;
}

/* What hosts print goes to the log of the run. */
int os_fprintf(FILE *out, const char *format, ...) {
    char line[256];
    va_list list;
    va_start(list, format);
    int len = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    (void)out;
    line[strcspn(line, "\n")] = 0;
    os_say("%s", line);
    return len;
}

size_t os_fwrite(const void *data, size_t size, size_t count, FILE *out) {
    (void)out;
    os_say("%.*s", (int)(size * count), (const char *)data);
    return count;
}

int os_fputc(int letter, FILE *out) {
    (void)out;
    return letter;
}

int os_fflush(FILE *out) {
    (void)out;
    return 0;
}
