/* SPDX-License-Identifier: MIT */
/*
 * What stream sockets promise (POSIX, RFC 9293), for all connections of a run: the bytes of each direction are a
 * function of who sends them and where, so that a receiver knows each one; who waits although there is something for it
 * waits for a bounded time; a connection breaks off only if there was a reason.
 */
#ifndef CARRICK_TESTS_OS_MODEL_H
#define CARRICK_TESTS_OS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_name {
    uint32_t address;
    uint16_t port;
};

/* One end of a connection. */
struct model_end;

enum model_want { MODEL_NOTHING, MODEL_DATA, MODEL_SPACE };

/* `patience`: nanoseconds that someone may wait for what is there; OS_NEVER where packets are lost. */
void model_begin(uint64_t patience);
/* The end with these names. */
struct model_end *model_end(struct model_name local, struct model_name remote);
/* A number that both ends of a connection agree on. */
uint64_t model_shared(const struct model_end *end);

/* The bytes that come next; they are about to be sent. */
void model_offer(struct model_end *end, uint8_t *octets, uint32_t len);
/* `more`: they may wait for others that follow, but not for ever. */
void model_sent(struct model_end *end, uint32_t len, bool more);
void model_received(struct model_end *end, const uint8_t *octets, uint32_t len);
/* Nothing more will be sent; said before the call that says so. */
void model_finish(struct model_end *end);
/* The last descriptor is about to be closed, or the process to be killed. `reset`: it asked for that. */
void model_close(struct model_end *end, bool reset);
/* It asks for a reset at its close. Where both ends have said all, the relay cannot tell that from now. */
void model_resets(struct model_end *end);
/* The peer has said its last, as a call told. */
void model_over(struct model_end *end);
/* A call told that the connection has broken off. */
void model_broken(struct model_end *end, int error, const char *call);
void model_wants(struct model_end *end, enum model_want want);
/* From now on connections may break off: something is missing that they need. */
void model_excuse(void);
/* The server has it. */
void model_accepted(struct model_end *end);
/* The server waits for a connection, since `since`; OS_NEVER: it does not. */
void model_check_accept(struct model_name listener, uint64_t since);
/* The server's process or listening socket ended: those that nobody accepted break off. */
void model_unlisten(uint16_t port, uint32_t address);
/* Somebody waits for nothing? */
void model_check(void);

#endif
