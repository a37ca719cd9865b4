/* SPDX-License-Identifier: MIT */
/*
 * After chroot() the door's path is gone. So its folder is kept open before, and the door is reached from there: by a
 * short process of the kernel's that has this one's memory and descriptors, but a working directory of its own. It is
 * the same user as its caller.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/preload.h"

#define STACK_BYTES 16384u
#define FIRST       200 /* above those that programs count on */

/* A program that closes what it does not know may have another file there by now. */
static struct {
    _Atomic int fd;
    dev_t device;
    ino_t inode;
} folder = {.fd = -1};

struct work {
    int fd, error;
    const struct sockaddr_un *door;
};

static int reach_inside(void *argument) {
    struct work *work = argument;
    bool done = fchdir(folder.fd) == 0 &&
                preload_libc.connect(work->fd, (const struct sockaddr *)work->door, sizeof *work->door) == 0;
    work->error = done ? 0 : errno;
    return 0;
}

/* Programs such as HAProxy may not have another process (RLIMIT_NPROC): the caller goes to the folder and back. Its
 * other threads are there, too, for that long. */
static void reach_here(struct work *work) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (here < 0)
        return;
    (void)pthread_mutex_lock(&one_at_a_time);
    (void)reach_inside(work);
    int error = fchdir(here) == 0 ? 0 : errno;
    (void)pthread_mutex_unlock(&one_at_a_time);
    (void)preload_libc.close(here);
    work->error = work->error ? work->error : error;
}

/* The parent waits until the child has ended, so both may use this stack, and errno. */
static int reach_from_folder(int fd, const struct sockaddr_un *door) {
    _Alignas(64) char stack[STACK_BYTES];
    struct stat is;
    const char *slash = strrchr(door->sun_path, '/');
    struct sockaddr_un within = {.sun_family = AF_UNIX};
    strcpy(within.sun_path, slash ? slash + 1 : door->sun_path);
    struct work work = {.fd = fd, .error = ENETDOWN, .door = &within};
    bool kept = fstat(folder.fd, &is) == 0 && is.st_dev == folder.device && is.st_ino == folder.inode;
    sigset_t all, before; /* none of the program's handlers shall run in the child */
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = kept ? clone(reach_inside, stack + sizeof stack, CLONE_VM | CLONE_FILES | CLONE_VFORK, &work) : -1;
    if (child > 0)
        (void)waitpid(child, NULL, __WALL);
    else if (kept)
        reach_here(&work);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = work.error;
    return work.error ? -1 : 0;
}

/* False: there is no door, or no descriptor. */
static bool keep_folder(void) {
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    struct stat is;
    const char *door = preload_door(), *slash = strrchr(door, '/');
    size_t len = slash ? (size_t)(slash - door) : 0;
    if (!*door || len >= sizeof path)
        return false;
    memcpy(path, door, len);
    strcpy(path + len, slash ? "/" : ".");
    int opened = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = fcntl(opened, F_DUPFD_CLOEXEC, FIRST);
    if (fd >= 0)
        (void)preload_libc.close(opened);
    folder.fd = fd >= 0 ? fd : opened;
    if (folder.fd < 0 || fstat(folder.fd, &is) != 0)
        return false;
    folder.device = is.st_dev;
    folder.inode = is.st_ino;
    return true;
}

PRELOADED int chroot(const char *path) {
    int (*next)(const char *path);
    *(void **)&next = dlsym(RTLD_NEXT, "chroot");
    int noted = errno;
    bool kept = folder.fd >= 0 || keep_folder();
    errno = noted;
    int done = next(path);
    if (done == 0 && kept)
        preload_reach = reach_from_folder;
    return done;
}
