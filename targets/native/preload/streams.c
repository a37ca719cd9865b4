/* SPDX-License-Identifier: MIT */
/* Streams of stdio, whose reading does not come by our read(): their end is an error where the connection broke off. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "preload/preload.h"

#ifdef _IO_ERR_SEEN /* glibc lets it be set */

#undef getc
#undef fread_unlocked

static void end_of(FILE *stream) {
    if (!feof_unlocked(stream) || ferror_unlocked(stream) || fileno_unlocked(stream) < 0)
        return;
    if (preload_ended(fileno_unlocked(stream), 0) < 0)
        stream->_flags = (stream->_flags & ~_IO_EOF_SEEN) | _IO_ERR_SEEN;
}

/* The call as it is, and a look at its stream. */
#define READS(type, name, parameters, arguments, stream)                                                               \
    PRELOADED type name parameters;                                                                                    \
    PRELOADED type name parameters {                                                                                   \
        static type(*next) parameters;                                                                                 \
        if (!next)                                                                                                     \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                                                 \
        type got = next arguments;                                                                                     \
        end_of(stream);                                                                                                \
        return got;                                                                                                    \
    }

READS(size_t, fread, (void *restrict to, size_t size, size_t count, FILE *restrict from), (to, size, count, from), from)
READS(size_t, fread_unlocked, (void *restrict to, size_t size, size_t count, FILE *restrict from),
      (to, size, count, from), from)
READS(size_t, __fread_chk, (void *restrict to, size_t room, size_t size, size_t count, FILE *restrict from),
      (to, room, size, count, from), from)
READS(char *, fgets, (char *restrict to, int room, FILE *restrict from), (to, room, from), from)
READS(char *, __fgets_chk, (char *restrict to, size_t size, int room, FILE *restrict from), (to, size, room, from),
      from)
READS(int, fgetc, (FILE * from), (from), from)
READS(int, getc, (FILE * from), (from), from)
READS(ssize_t, getdelim, (char **restrict to, size_t *restrict len, int end, FILE *restrict from), (to, len, end, from),
      from)
READS(ssize_t, __getdelim, (char **restrict to, size_t *restrict len, int end, FILE *restrict from),
      (to, len, end, from), from)
READS(ssize_t, getline, (char **restrict to, size_t *restrict len, FILE *restrict from), (to, len, from), from)

#endif
