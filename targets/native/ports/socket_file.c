/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "carrick/socket_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The user that this process becomes; that of root: none. */
static uid_t next_user;

void carrick_socket_file_next_user(uid_t user) {
    next_user = user;
}

static bool refuse(struct carrick_port_error *error, const char *path, const char *why) {
    snprintf(error->text, sizeof error->text, "Cannot make the socket %.90s: %.120s.", path, why);
    return false;
}

/* The folder of a path, without symbolic links. */
static bool folder_of(const char *path, char folder[PATH_MAX]) {
    char named[sizeof((struct sockaddr_un *)0)->sun_path];
    strcpy(named, path);
    char *last = strrchr(named, '/');
    if (!last)
        return realpath(".", folder) != NULL;
    last[last == named] = 0; /* what is in the root is `/x` */
    return realpath(named, folder) != NULL;
}

/* Whether a user can replace everything of this process anyway: the owner of `/` is root, but in a user namespace may
 * have no name. */
static bool is_trusted(uid_t user) {
    struct stat root;
    return user == 0 || user == geteuid() || user == next_user || (stat("/", &root) == 0 && root.st_uid == user);
}

/* Whether a user owns a folder or a link on a path. */
static bool owns_part(const char *path, uid_t user) {
    char part[PATH_MAX];
    size_t len = strlen(path);
    for (size_t at = 1; at <= len && at < sizeof part; at++) {
        struct stat is;
        if (path[at] != '/' && path[at] != 0)
            continue;
        memcpy(part, path, at);
        part[at] = 0;
        if (lstat(part, &is) == 0 && is.st_uid == user)
            return true;
    }
    return false;
}

/* Why others can change what is in a folder, which becomes the one above it where that is so. NULL: nobody can. */
static const char *folder_fault(char *folder) {
    char *end = folder + strlen(folder);
    for (;;) {
        struct stat is;
        if (end == folder)
            strcpy(folder, "/");
        if (stat(folder, &is) != 0)
            return strerror(errno);
        if (!is_trusted(is.st_uid))
            return "belongs to another user";
        if (is.st_mode & (S_IWGRP | S_IWOTH) && !(is.st_mode & S_ISVTX))
            return "can be written to by other users";
        if (end == folder)
            return NULL;
        end = strrchr(folder, '/');
        *end = 0;
    }
}

/* `theirs`: the next user can change what is on the way. */
static bool check_folder(const char *path, bool *theirs, struct carrick_port_error *error) {
    char folder[PATH_MAX];
    if (!folder_of(path, folder))
        return refuse(error, path, strerror(errno));
    *theirs = next_user != geteuid() && (owns_part(path, next_user) || owns_part(folder, next_user));
    const char *fault = folder_fault(folder);
    if (fault)
        snprintf(error->text, sizeof error->text,
                 "Cannot make the socket %.60s: the folder %.50s %.40s: choose a folder that only root or you can "
                 "change.",
                 path, folder, fault);
    return !fault;
}

/* Whether a path is free, or a socket that nobody receives at, which is then removed. */
static bool make_way(const char *path, const struct sockaddr_un *address, int type, struct carrick_port_error *error) {
    struct stat is;
    if (lstat(path, &is) != 0)
        return errno == ENOENT || refuse(error, path, strerror(errno));
    if (!S_ISSOCK(is.st_mode))
        return refuse(error, path, "something is there that is no socket: choose another path, or remove it");
    int probe = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
    bool left =
        probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    if (!left)
        return refuse(error, path, "another process uses it: choose another path, or end that process");
    return unlink(path) == 0 || refuse(error, path, strerror(errno));
}

static int make(const struct sockaddr_un *address, int type, mode_t mode, struct carrick_port_error *error) {
    const char *path = address->sun_path;
    if (!make_way(path, address, type, error))
        return -1;
    int fd = socket(AF_UNIX, type, 0);
    /* Of bind() itself: afterwards it could be another file's permissions that change. */
    mode_t before = umask(~mode & 0777);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    int why = errno;
    umask(before);
    if (bound)
        return fd;
    (void)refuse(error, path, strerror(why));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* From now on, files are made with these rights. */
static bool act_as(uid_t user, gid_t group) {
    return geteuid() == 0 ? setegid(group) == 0 && seteuid(user) == 0 : seteuid(user) == 0 && setegid(group) == 0;
}

int carrick_socket_file_open(const char *path, int type, mode_t mode, struct carrick_port_error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    bool theirs;
    if (len == 0 || len >= sizeof address.sun_path) {
        snprintf(error->text, sizeof error->text, "A socket's path has at most %zu letters: `%.80s` is none.",
                 sizeof address.sun_path - 1, path);
        return -1;
    }
    memcpy(address.sun_path, path, len);
    if (!check_folder(path, &theirs, error))
        return -1;
    if (!theirs)
        return make(&address, type, mode, error);
    /* Where that user can put a link, root makes and removes nothing that the user could not. */
    uid_t user = geteuid();
    gid_t group = getegid();
    int fd = -1;
    if (act_as(next_user, next_user))
        fd = make(&address, type, mode, error);
    else
        (void)refuse(error, path, strerror(errno));
    if (act_as(user, group))
        return fd;
    (void)refuse(error, path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
