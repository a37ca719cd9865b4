/* SPDX-License-Identifier: MIT */
/* What the files of the simulated system share. */
#ifndef CARRICK_TESTS_OS_KERNEL_H
#define CARRICK_TESTS_OS_KERNEL_H

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/os/calls.h"
#include "tests/os/os.h"

#define OS_BACKLOG 128u
#define OS_OPTIONS 16u
#define OS_BUFFER  512u /* at least */

enum os_kind { OS_STREAM, OS_PACKETS, OS_DATAGRAMS, OS_INET, OS_EPOLL, OS_EVENT };

struct os_file;

/* What one process wrote and another has not read. */
struct os_message {
    struct os_message *next;
    struct os_file *rights; /* NULL: none */
    struct os_file *sender;
    uint32_t uid; /* of the writer, as SO_PASSCRED would tell */
    uint32_t len, at;
    uint8_t octets[];
};

/* A member of an epoll set. */
struct os_item {
    struct os_item *next;    /* of the set */
    struct os_item *next_of; /* of the file */
    struct os_file *set, *file;
    int fd;
    uint32_t events;
    uint64_t data;
    bool ready;
};

/* An open file description. */
struct os_file {
    struct os_file *all; /* of the run: a description is forgotten at its end */
    enum os_kind kind;
    uint32_t refs; /* 0: closed */
    uint64_t cookie;
    uint32_t uid, peer_uid;
    bool nonblock, listening, connected, receive_shut, send_shut, six;
    int error;
    struct os_file *peer;
    struct os_message *first, *last;
    uint32_t unread; /* bytes that this one sent and nobody has read */
    struct sockaddr_un name;
    socklen_t name_len; /* 0: none */
    struct os_file *queue[OS_BACKLOG];
    uint32_t queued, backlog;
    struct os_item *items;    /* of a set */
    struct os_item *watchers; /* of a file */
    uint64_t at;              /* OS_EVENT: readable from then on */
    struct {
        int level, name, value[2];
    } options[OS_OPTIONS];
    uint32_t option_count;
};

/* What a process has of memory: blocks in a ring. */
struct os_block {
    struct os_block *next, *before;
    size_t mapped; /* 0: of the heap */
    void *start;
};

struct os_memory {
    struct os_block ring;
    uint32_t count;
};

void os_memory_begin(struct os_memory *memory);
void os_memory_end(struct os_memory *memory);
struct os_memory *os_memory(void); /* of the process that runs */

enum os_woken { OS_READY, OS_TIMEOUT, OS_INTERRUPTED };

/* Each call begins with this: time passes, another process may run. */
void os_enter(const char *call, int64_t detail);
/* Waits until `ready` holds, or the deadline. */
enum os_woken os_wait(bool (*ready)(void *), void *argument, uint64_t deadline);
bool os_chance(uint32_t of_65536);
bool os_no_memory(void);
bool os_no_files(void);
const struct os_pressure *os_pressure(void);
uint32_t os_uid(void);

/* The table of the process that runs. */
struct os_file *os_file(int fd);                    /* NULL, with EBADF: no such descriptor */
int os_install(struct os_file *file, bool cloexec); /* takes over the reference; -1 with errno: none is free */
bool *os_cloexec(int fd);
struct os_file *os_file_make(enum os_kind kind);
void os_file_release(struct os_file *file);
void os_close_all(struct os_process *process);
void os_files_end(void);
void os_names_end(void);
/* The next moment at which a description changes by itself. */
uint64_t os_files_next(void);

/* Bytes that the file's peer may have unread (SO_SNDBUF). */
uint32_t os_buffer(const struct os_file *file);
/* What poll says of it. */
uint32_t os_mask(const struct os_file *file);
/* Something has happened to it: edges for those who watch. */
void os_changed(struct os_file *file);
void os_unwatch(struct os_file *file);
void os_socket_release(struct os_file *file);
int os_fail(int error);

struct os_file **os_table(struct os_process *process);

#endif
