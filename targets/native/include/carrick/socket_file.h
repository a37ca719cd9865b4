/* SPDX-License-Identifier: MIT */
/*
 * Unix sockets that have a path. All files of sockets are made here, so that all of them keep the same promises:
 *
 * - What is at the path and is no socket stays there: a file, a folder, a symbolic link, also one to a socket.
 * - A socket at which a process receives stays. One that a process has left behind is replaced.
 * - The folder, and each one above it, belongs to root, to this process's user or to the user that it becomes, and no
 *   other user can write to it. Where that user owns a part of the path, the file is made with that user's rights.
 *   So nobody else can put something else at the path, before or after. A folder that others can write to is taken
 *   if it is sticky, as /tmp is: others can take the path there before this process does, but not from it.
 * - The file has its permissions from the first moment.
 */
#ifndef CARRICK_SOCKET_FILE_H
#define CARRICK_SOCKET_FILE_H

#include <sys/types.h>

#include "carrick/port.h"

/* The user that this process becomes later (0: it stays who it is). */
void carrick_socket_file_next_user(uid_t user);

/* Makes a socket of a type (SOCK_SEQPACKET | SOCK_CLOEXEC, ...) at a path of at most 107 letters, with permissions such
 * as 0600. Returns its descriptor, or -1: `error` says why, and what to do. */
int carrick_socket_file_open(const char *path, int type, mode_t mode, struct carrick_port_error *error);

#endif
