/* SPDX-License-Identifier: MIT */
/* The files of a directory, and nothing outside it: no part of a path is followed if it is a symbolic link. */
#ifndef CARRICK_APPS_HTTP_FILES_H
#define CARRICK_APPS_HTTP_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Opens a regular file for reading. Returns the descriptor, or the negative of an HTTP status. */
int carrick_files_open(int root, const char *path, uint64_t *octets);

/* A file that is being received: it gets its name only when it is whole. */
struct carrick_upload {
    int directory, fd; /* -1: none */
    char temporary[32];
    char name[256];
};

/* 0, or the negative of an HTTP status. `number` tells apart the uploads that are open at the same time. */
int carrick_upload_begin(struct carrick_upload *upload, int root, const char *path, uint32_t number);
/* False: the disk did not take it. */
bool carrick_upload_write(struct carrick_upload *upload, const void *data, uint32_t len);
/* Gives the file its name. False: it has none, and is gone. */
bool carrick_upload_commit(struct carrick_upload *upload);
/* Forgets it. Harmless where there is none. */
void carrick_upload_abandon(struct carrick_upload *upload);

#endif
