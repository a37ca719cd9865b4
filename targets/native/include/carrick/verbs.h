/* SPDX-License-Identifier: MIT */
/*
 * What an application sees of a compiled program with an interface of the shape `verbs`: memory that a peer may name,
 * queue pairs, and what is posted to them. Stacks and requests are those of carrick/app.h: what is posted is completed
 * by a call of its `done`, from carrick_stack_run or carrick_stack_turn, which is how completions are polled.
 *
 *     carrick_register(stack, &region, gone, user);
 *     carrick_open_pair(stack, &pair, opened, user);
 *     carrick_post_recv(stack, handle, buffer, sizeof buffer, received, user);
 *     carrick_post_write(stack, handle, data, len, key, addr, NULL, written, user);
 *
 * What is posted completes in the order of posting, receives apart from the others. A queue pair on which something
 * failed completes all that follows with CARRICK_ABORTED: carrick_close it.
 */
#ifndef CARRICK_VERBS_H
#define CARRICK_VERBS_H

#include "carrick/app.h"

/* A queue pair, as both ends know it: each gives the numbers of the other the other way round. */
struct carrick_pair {
    uint32_t local_qp, remote_qp; /* 24 bits */
    uint32_t address;             /* the peer's, host order */
    uint32_t send_psn, recv_psn;  /* the first packet's number, of each direction; 24 bits */
};

/* Memory that peers may name. */
struct carrick_region {
    void *data; /* is the stack's until it is taken back */
    uint32_t len;
    uint32_t key;  /* chosen by the application; unique in the stack */
    uint64_t addr; /* how peers call the first byte */
    bool may_read, may_write;
};

/* Value: the queue pair's handle. carrick_close ends it. */
int carrick_open_pair(struct carrick_stack *stack, const struct carrick_pair *pair, carrick_done_fn done, void *user);
/* Value: the bytes. Completes when the memory is taken back, or at once with an error: CARRICK_IN_USE,
 * CARRICK_INVALID, CARRICK_NO_ROOM. It is registered before what is posted next. */
int carrick_register(struct carrick_stack *stack, const struct carrick_region *region, carrick_done_fn done,
                     void *user);
/* The memory with this key is the application's again once this has completed. */
int carrick_deregister(struct carrick_stack *stack, uint32_t key, carrick_done_fn done, void *user);

/* Posts a buffer for the next message. Value: see carrick_received_octets. */
int carrick_post_recv(struct carrick_stack *stack, uint64_t pair, void *data, uint32_t len, carrick_done_fn done,
                      void *user);
/* A message. Here and below `imm` is the immediate, which a receive of the peer's completes with; NULL: none.
 * Value: `len`, here and below. */
int carrick_post_send(struct carrick_stack *stack, uint64_t pair, const void *data, uint32_t len, const uint32_t *imm,
                      carrick_done_fn done, void *user);
/* Writes bytes to the peer's memory. CARRICK_REFUSED: there is none, or it may not be written there. */
int carrick_post_write(struct carrick_stack *stack, uint64_t pair, const void *data, uint32_t len, uint32_t key,
                       uint64_t addr, const uint32_t *imm, carrick_done_fn done, void *user);
/* Reads bytes from the peer's memory. */
int carrick_post_read(struct carrick_stack *stack, uint64_t pair, void *data, uint32_t len, uint32_t key, uint64_t addr,
                      carrick_done_fn done, void *user);

/* Returns the bytes that arrived, from the value of a completed receive. */
static inline uint32_t carrick_received_octets(uint64_t value) {
    return (uint32_t)value & 0x7fffffffu;
}

/* Of the same value: whether there is an immediate, and which. */
static inline bool carrick_received_imm(uint64_t value, uint32_t *imm) {
    *imm = (uint32_t)(value >> 32);
    return (value & 0x80000000u) != 0;
}

#endif
