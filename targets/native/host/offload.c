/* SPDX-License-Identifier: MIT */
/* The requests of the shape `offload`. */
#include "host/stack.h"

int carrick_open_offload(struct carrick_stack *stack, uint32_t buffer, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_OPEN, done, user, &slot);
    if (refused)
        return refused;
    carrick_requests_set(&stack->requests, slot, FIELD_BUFFER, buffer);
    return carrick_requests_submit(&stack->requests, &stack->host, slot);
}

int carrick_take(struct carrick_stack *stack, uint64_t opened, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_TAKE, opened, NULL, 0, done, user);
}

int carrick_put(struct carrick_stack *stack, uint64_t message, const void *data, uint32_t len, carrick_done_fn done,
                void *user) {
    return carrick_stack_on_handle(stack, CALL_PUT, message, data, len, done, user);
}

int carrick_consume(struct carrick_stack *stack, uint64_t message, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_CONSUME, message, NULL, 0, done, user);
}
