/* SPDX-License-Identifier: MIT */
/* The requests of the shape `verbs`. */
#include "carrick/verbs.h"

#include "host/stack.h"

int carrick_open_pair(struct carrick_stack *stack, const struct carrick_pair *pair, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_OPEN, done, user, &slot);
    if (refused)
        return refused;
    carrick_requests_set(&stack->requests, slot, FIELD_LOCAL_QP, pair->local_qp);
    if (!carrick_requests_set_address(&stack->requests, slot, FIELD_REMOTE_IP,
                                      carrick_address_of_ipv4(pair->address))) {
        carrick_requests_end(&stack->requests, slot);
        return CARRICK_BAD_ARG;
    }
    carrick_requests_set(&stack->requests, slot, FIELD_REMOTE_QP, pair->remote_qp);
    carrick_requests_set(&stack->requests, slot, FIELD_SEND_PSN, pair->send_psn);
    carrick_requests_set(&stack->requests, slot, FIELD_RECV_PSN, pair->recv_psn);
    return carrick_requests_submit(&stack->requests, &stack->host, slot);
}

int carrick_register(struct carrick_stack *stack, const struct carrick_region *region, carrick_done_fn done,
                     void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_REGISTER, done, user, &slot);
    if (refused)
        return refused;
    carrick_requests_set(&stack->requests, slot, FIELD_KEY, region->key);
    carrick_requests_set(&stack->requests, slot, FIELD_ADDR, region->addr);
    carrick_requests_set(&stack->requests, slot, FIELD_MAY_READ, region->may_read);
    carrick_requests_set(&stack->requests, slot, FIELD_MAY_WRITE, region->may_write);
    slot->request.writable = region->may_write;
    return carrick_stack_give(stack, slot, 0, region->data, region->len);
}

int carrick_deregister(struct carrick_stack *stack, uint32_t key, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_DEREGISTER, done, user, &slot);
    if (refused)
        return refused;
    carrick_requests_set(&stack->requests, slot, FIELD_KEY, key);
    return carrick_requests_submit(&stack->requests, &stack->host, slot);
}

/* Of the peer's memory. */
static void name(struct carrick_stack *stack, struct carrick_slot *slot, uint32_t key, uint64_t addr) {
    carrick_requests_set(&stack->requests, slot, FIELD_KEY, key);
    carrick_requests_set(&stack->requests, slot, FIELD_ADDR, addr);
}

static void tell(struct carrick_stack *stack, struct carrick_slot *slot, const uint32_t *imm) {
    carrick_requests_set(&stack->requests, slot, FIELD_WITH_IMM, imm != NULL);
    carrick_requests_set(&stack->requests, slot, FIELD_IMM, imm ? *imm : 0);
}

int carrick_post_recv(struct carrick_stack *stack, uint64_t pair, void *data, uint32_t len, carrick_done_fn done,
                      void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_POST_RECV, done, user, &slot);
    if (refused)
        return refused;
    slot->request.writable = true;
    return carrick_stack_give(stack, slot, pair, data, len);
}

int carrick_post_send(struct carrick_stack *stack, uint64_t pair, const void *data, uint32_t len, const uint32_t *imm,
                      carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_POST_SEND, done, user, &slot);
    if (refused)
        return refused;
    tell(stack, slot, imm);
    return carrick_stack_give(stack, slot, pair, data, len);
}

int carrick_post_write(struct carrick_stack *stack, uint64_t pair, const void *data, uint32_t len, uint32_t key,
                       uint64_t addr, const uint32_t *imm, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_POST_WRITE, done, user, &slot);
    if (refused)
        return refused;
    name(stack, slot, key, addr);
    tell(stack, slot, imm);
    return carrick_stack_give(stack, slot, pair, data, len);
}

int carrick_post_read(struct carrick_stack *stack, uint64_t pair, void *data, uint32_t len, uint32_t key, uint64_t addr,
                      carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_POST_READ, done, user, &slot);
    if (refused)
        return refused;
    name(stack, slot, key, addr);
    slot->request.writable = true;
    return carrick_stack_give(stack, slot, pair, data, len);
}
