/* SPDX-License-Identifier: MIT */
/*
 * A function on messages in the network, in a process of its own: what it and `--app offload:socket=PATH` exchange.
 * The process connects to PATH, a Unix socket of the type SOCK_SEQPACKET. Each record is a head and the bytes of a
 * message: the host sends messages, and the process one answer for each, in any order.
 *
 *     struct carrick_offload_head head;
 *     uint8_t message[CARRICK_OFFLOAD_LONGEST];
 *     int fd = carrick_offload_connect("/run/offload.sock");
 *     while (carrick_offload_take(fd, &head, message, sizeof message) > 0)
 *         carrick_offload_put(fd, head.message, message, head.len);
 *
 * A message passes unchanged if its answer is invalid, if it has none in time (the setting `within`), or if the process
 * ends. This header needs nothing but the C library.
 */
#ifndef CARRICK_OFFLOAD_H
#define CARRICK_OFFLOAD_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

/* Bytes of a message, at most, in either direction: a record has to fit the buffer of a socket. */
#define CARRICK_OFFLOAD_LONGEST 196608u

enum carrick_offload_kind {
    CARRICK_OFFLOAD_MESSAGE = 1, /* from the host: a message */
    CARRICK_OFFLOAD_PUT,         /* to the host: the message that takes its place, of 1 to LONGEST bytes */
    CARRICK_OFFLOAD_CONSUME,     /* to the host: nothing does; its sender takes it for delivered. No bytes */
};

/* The first 16 bytes of a record, in the byte order of the machine. */
struct carrick_offload_head {
    uint64_t message; /* names it, as long as it has no answer */
    uint32_t kind;
    uint32_t len; /* of the bytes that follow */
};

/* Connects to a host. Returns a descriptor, or -1 with errno. The host serves one process at a time; others wait. */
static inline int carrick_offload_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Waits for the next message, and puts its first `size` bytes into `data`. Returns 1; 0: the host has ended; -1: errno
 * says why not. */
static inline int carrick_offload_take(int fd, struct carrick_offload_head *head, void *data, size_t size) {
    struct iovec parts[2] = {{head, sizeof *head}, {data, size}};
    struct msghdr record = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t got = recvmsg(fd, &record, 0);
    if (got > 0 && (size_t)got < sizeof *head)
        errno = EPROTO;
    return got <= 0 ? (int)got : (size_t)got < sizeof *head ? -1 : 1;
}

/* Sends an answer. 0: it is sent; -1: errno says why not. */
static inline int carrick_offload_answer(int fd, const struct carrick_offload_head *head, const void *data) {
    union {
        const void *given;
        void *octets; /* sendmsg only reads them */
    } body = {data};
    struct carrick_offload_head copy = *head;
    struct iovec parts[2] = {{&copy, sizeof copy}, {body.octets, head->len}};
    struct msghdr record = {.msg_iov = parts, .msg_iovlen = 2};
    return sendmsg(fd, &record, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* A message takes the place of the one with this number. */
static inline int carrick_offload_put(int fd, uint64_t message, const void *data, uint32_t len) {
    const struct carrick_offload_head head = {message, CARRICK_OFFLOAD_PUT, len};
    return carrick_offload_answer(fd, &head, data);
}

/* The message with this number ends here. */
static inline int carrick_offload_consume(int fd, uint64_t message) {
    const struct carrick_offload_head head = {message, CARRICK_OFFLOAD_CONSUME, 0};
    return carrick_offload_answer(fd, &head, NULL);
}

#endif
