/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/http_files.h"

static int status_of(int why) {
    switch (why) {
    case ENOENT:
    case ENOTDIR:
        return -404;
    case EACCES:
    case EPERM:
    case ELOOP:
    case EISDIR:
    case EROFS:
        return -403;
    case ENOSPC:
    case EDQUOT:
        return -507;
    case EMFILE:
    case ENFILE:
        return -503;
    default:
        return -500;
    }
}

/* Opens the directory of a path's last part, which begins at `*last`. Negative: an HTTP status. */
static int walk(int root, const char *path, const char **last) {
    int at = dup(root);
    for (*last = path; at >= 0;) {
        size_t len = strcspn(*last, "/");
        if ((*last)[len] == 0)
            return at;
        char part[256];
        int next = -1;
        errno = ENOENT;
        if (len < sizeof part) {
            memcpy(part, *last, len);
            part[len] = 0;
            next = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        int why = errno;
        close(at);
        errno = why;
        at = next;
        *last += len + 1;
    }
    return status_of(errno);
}

int carrick_files_open(int root, const char *path, uint64_t *octets) {
    const char *last;
    int directory = walk(root, *path ? path : "index.html", &last);
    if (directory < 0)
        return directory;
    /* Not to block on a pipe that someone put there. */
    int fd = openat(directory, last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int why = errno;
    close(directory);
    if (fd < 0)
        return status_of(why);
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return -403;
    }
    *octets = (uint64_t)info.st_size;
    return fd;
}

int carrick_upload_begin(struct carrick_upload *upload, int root, const char *path, uint32_t number) {
    const char *last;
    *upload = (struct carrick_upload){.directory = -1, .fd = -1};
    int directory = walk(root, path, &last);
    if (directory < 0)
        return directory;
    if (*last == 0 || strlen(last) >= sizeof upload->name) {
        close(directory);
        return -403;
    }
    strcpy(upload->name, last);
    snprintf(upload->temporary, sizeof upload->temporary, ".upload-%ld-%u", (long)getpid(), number);
    upload->directory = directory;
    upload->fd = openat(directory, upload->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (upload->fd >= 0)
        return 0;
    int status = status_of(errno);
    carrick_upload_abandon(upload);
    return status;
}

bool carrick_upload_write(struct carrick_upload *upload, const void *data, uint32_t len) {
    const char *at = data;
    while (len > 0) {
        ssize_t put = write(upload->fd, at, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        len -= (uint32_t)put;
    }
    return true;
}

bool carrick_upload_commit(struct carrick_upload *upload) {
    bool whole = close(upload->fd) == 0;
    upload->fd = -1;
    whole = whole && renameat(upload->directory, upload->temporary, upload->directory, upload->name) == 0;
    if (!whole) {
        carrick_upload_abandon(upload);
        return false;
    }
    close(upload->directory);
    upload->directory = -1;
    return true;
}

void carrick_upload_abandon(struct carrick_upload *upload) {
    if (upload->fd >= 0)
        close(upload->fd);
    if (upload->directory >= 0) {
        unlinkat(upload->directory, upload->temporary, 0);
        close(upload->directory);
    }
    upload->fd = upload->directory = -1;
}
