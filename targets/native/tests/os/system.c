/* SPDX-License-Identifier: MIT */
/* What else is called of the system: the clock, randomness, files' names, what is printed. */
#define _GNU_SOURCE
#include "tests/os/kernel.h"

#include <dlfcn.h>
#include <errno.h>
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

/* All folders are root's, and hosts are, too; no path is taken. */
char *os_realpath(const char *path, char *real) {
    os_enter("realpath", 0);
    return strcpy(real, path);
}

int os_stat(const char *path, struct stat *is) {
    os_enter("stat", 0);
    (void)path;
    *is = (struct stat){.st_mode = S_IFDIR | 0755};
    return 0;
}

int os_lstat(const char *path, struct stat *is) {
    os_enter("lstat", 0);
    (void)path, (void)is;
    errno = ENOENT;
    return -1;
}

uid_t os_geteuid(void) {
    return 0;
}

/* Applications here ignore signals. */
int os_raise(int signal) {
    os_enter("raise", signal);
    return 0;
}

gid_t os_getegid(void) {
    return 0;
}

/* There is no other user. */
static int os_become(uint32_t number) {
    if (number != 0)
        errno = EINVAL;
    return number == 0 ? 0 : -1;
}

int os_seteuid(uid_t user) {
    return os_become(user);
}

int os_setegid(gid_t group) {
    return os_become(group);
}

/* There are no network devices. */
int os_ioctl(int fd, unsigned long request, ...) {
    (void)fd, (void)request;
    errno = ENOTTY;
    return -1;
}

mode_t os_umask(mode_t mask) {
    os_enter("umask", mask);
    return 022;
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
