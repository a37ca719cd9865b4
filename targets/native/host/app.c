/* SPDX-License-Identifier: MIT */
/* The requests of the shapes `stream`, `multistream`, `message` and `rpc`. */
#include <string.h>

#include "carrick/records.h"
#include "host/records.h"
#include "host/stack.h"

#define PORT_LO    49152u /* RFC 6335: dynamic ports */
#define PORT_COUNT 16384u
#define PORT_TRIES 64u

uint16_t carrick_stack_next_port(struct carrick_stack *stack) {
    return (uint16_t)(PORT_LO + stack->next_port++ % PORT_COUNT);
}

int carrick_stack_begin(struct carrick_stack *stack, enum carrick_call_kind kind, carrick_done_fn done, void *user,
                        struct carrick_slot **slot) {
    if (stack->requests.calls[kind].number < 0)
        return CARRICK_BAD_ARG;
    *slot = carrick_requests_begin(&stack->requests, kind);
    if (!*slot)
        return CARRICK_AGAIN;
    if (!stack->awake)
        carrick_host_tick(&stack->host);
    stack->last = (uint32_t)(*slot - stack->requests.slots);
    (*slot)->request.owner = stack->owner;
    (*slot)->done = done;
    (*slot)->user = user;
    return 0;
}

/* As many bytes as the program takes at once: of a stream, fewer may be sent or received than there are. */
static uint32_t taken_at_once(const struct carrick_stack *stack, const struct carrick_slot *slot, uint32_t len) {
    const struct carrick_program *program = stack->host.program;
    if (program->request_most == 0 || len <= program->request_most)
        return len;
    bool stream = program->interface_name && strstr(program->interface_name, "stream");
    return stream && (slot->kind == CALL_SEND || slot->kind == CALL_RECV) ? program->request_most : len;
}

int carrick_stack_give(struct carrick_stack *stack, struct carrick_slot *slot, uint64_t handle, const void *data,
                       uint32_t len) {
    slot->request.handle = handle;
    len = taken_at_once(stack, slot, len);
    union {
        const void *given;
        uint8_t *octets;
    } region = {data}; /* the core writes there only for what receives */
    slot->request.data = (struct carrick_addr){region.octets, len, 0};
    carrick_requests_set(&stack->requests, slot, FIELD_LEN, len);
    return carrick_requests_submit(&stack->requests, &stack->host, slot);
}

int carrick_stack_on_handle(struct carrick_stack *stack, enum carrick_call_kind kind, uint64_t handle, const void *data,
                            uint32_t len, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, kind, done, user, &slot);
    if (refused)
        return refused;
    slot->request.writable = kind == CALL_RECV || kind == CALL_RECV_REQUEST || kind == CALL_RECV_RESPONSE;
    return carrick_stack_give(stack, slot, handle, data, len);
}

/* A request to an address that the program cannot reach does not begin. */
static int wrong_version(struct carrick_stack *stack, struct carrick_slot *slot) {
    carrick_requests_end(&stack->requests, slot);
    return CARRICK_BAD_ARG;
}

int carrick_listen(struct carrick_stack *stack, uint16_t port, uint32_t backlog, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_LISTEN, done, user, &slot);
    if (refused)
        return refused;
    (void)carrick_requests_set_address(&stack->requests, slot, FIELD_LOCAL_IP, carrick_stack_address(stack));
    carrick_requests_set(&stack->requests, slot, FIELD_LOCAL_PORT, port);
    carrick_requests_set(&stack->requests, slot, FIELD_BACKLOG, backlog);
    return carrick_requests_submit(&stack->requests, &stack->host, slot);
}

int carrick_connect(struct carrick_stack *stack, uint16_t local_port, struct carrick_ip6_address address, uint16_t port,
                    carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_CONNECT, done, user, &slot);
    if (refused)
        return refused;
    if (local_port == 0) {
        slot->tries = PORT_TRIES;
        local_port = carrick_stack_next_port(stack);
    }
    (void)carrick_requests_set_address(&stack->requests, slot, FIELD_LOCAL_IP, carrick_stack_address(stack));
    carrick_requests_set(&stack->requests, slot, FIELD_LOCAL_PORT, local_port);
    if (!carrick_requests_set_address(&stack->requests, slot, FIELD_REMOTE_IP, address))
        return wrong_version(stack, slot);
    carrick_requests_set(&stack->requests, slot, FIELD_REMOTE_PORT, port);
    return carrick_requests_submit(&stack->requests, &stack->host, slot);
}

uint32_t carrick_last_request(const struct carrick_stack *stack) {
    return stack->last;
}

uint16_t carrick_connect_port(const struct carrick_stack *stack, uint32_t request) {
    const struct carrick_requests *all = &stack->requests;
    const struct carrick_slot *connect = request < all->count ? &all->slots[request] : NULL;
    bool open = connect && connect->open && connect->kind == CALL_CONNECT;
    return open ? (uint16_t)carrick_requests_get(all, connect, FIELD_LOCAL_PORT) : 0;
}

int carrick_cancel_connect(struct carrick_stack *stack, uint32_t request, carrick_done_fn done, void *user) {
    static const enum carrick_call_field ports[] = {FIELD_LOCAL_PORT, FIELD_REMOTE_PORT};
    struct carrick_requests *all = &stack->requests;
    struct carrick_slot *slot, *connect = request < all->count ? &all->slots[request] : NULL;
    if (!connect || !connect->open || connect->kind != CALL_CONNECT)
        return CARRICK_BAD_ARG;
    int refused = carrick_stack_begin(stack, CALL_CANCEL_CONNECT, done, user, &slot);
    if (refused)
        return refused;
    connect->tries = 0; /* it must not go on with another port */
    carrick_requests_copy_address(all, slot, connect, FIELD_LOCAL_IP);
    carrick_requests_copy_address(all, slot, connect, FIELD_REMOTE_IP);
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++)
        carrick_requests_set(all, slot, ports[i], carrick_requests_get(all, connect, ports[i]));
    carrick_requests_set(all, slot, FIELD_REQUEST, connect->request.token);
    return carrick_requests_submit(all, &stack->host, slot);
}

int carrick_open(struct carrick_stack *stack, uint16_t local_port, struct carrick_ip6_address address, uint16_t port,
                 carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_OPEN, done, user, &slot);
    if (refused)
        return refused;
    (void)carrick_requests_set_address(&stack->requests, slot, FIELD_LOCAL_IP, carrick_stack_address(stack));
    carrick_requests_set(&stack->requests, slot, FIELD_LOCAL_PORT, local_port);
    if (!carrick_requests_set_address(&stack->requests, slot, FIELD_REMOTE_IP, address))
        return wrong_version(stack, slot);
    carrick_requests_set(&stack->requests, slot, FIELD_REMOTE_PORT, port);
    return carrick_requests_submit(&stack->requests, &stack->host, slot);
}

int carrick_request(struct carrick_stack *stack, uint64_t endpoint, struct carrick_ip6_address address, uint16_t port,
                    const void *data, uint32_t len, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_REQUEST, done, user, &slot);
    if (refused)
        return refused;
    if (!carrick_requests_set_address(&stack->requests, slot, FIELD_REMOTE_IP, address))
        return wrong_version(stack, slot);
    carrick_requests_set(&stack->requests, slot, FIELD_REMOTE_PORT, port);
    return carrick_stack_give(stack, slot, endpoint, data, len);
}

int carrick_recv_request(struct carrick_stack *stack, uint64_t rpc, void *data, uint32_t len, carrick_done_fn done,
                         void *user) {
    return carrick_stack_on_handle(stack, CALL_RECV_REQUEST, rpc, data, len, done, user);
}

int carrick_respond(struct carrick_stack *stack, uint64_t rpc, const void *data, uint32_t len, carrick_done_fn done,
                    void *user) {
    return carrick_stack_on_handle(stack, CALL_RESPOND, rpc, data, len, done, user);
}

int carrick_recv_response(struct carrick_stack *stack, uint64_t rpc, void *data, uint32_t len, carrick_done_fn done,
                          void *user) {
    return carrick_stack_on_handle(stack, CALL_RECV_RESPONSE, rpc, data, len, done, user);
}

int carrick_cancel(struct carrick_stack *stack, uint64_t rpc, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_CANCEL, rpc, NULL, 0, done, user);
}

int carrick_accept(struct carrick_stack *stack, uint64_t listener, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_ACCEPT, listener, NULL, 0, done, user);
}

int carrick_send(struct carrick_stack *stack, uint64_t connection, const void *data, uint32_t len, carrick_done_fn done,
                 void *user) {
    return carrick_stack_on_handle(stack, CALL_SEND, connection, data, len, done, user);
}

int carrick_recv(struct carrick_stack *stack, uint64_t connection, void *data, uint32_t len, carrick_done_fn done,
                 void *user) {
    return carrick_stack_on_handle(stack, CALL_RECV, connection, data, len, done, user);
}

int carrick_shutdown(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_SHUTDOWN, connection, NULL, 0, done, user);
}

int carrick_open_stream(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_OPEN_STREAM, connection, NULL, 0, done, user);
}

int carrick_accept_stream(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_ACCEPT_STREAM, connection, NULL, 0, done, user);
}

int carrick_reset(struct carrick_stack *stack, uint64_t stream, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_RESET, stream, NULL, 0, done, user);
}

int carrick_unlisten(struct carrick_stack *stack, uint64_t listener, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_UNLISTEN, listener, NULL, 0, done, user);
}

int carrick_close(struct carrick_stack *stack, uint64_t handle, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_CLOSE, handle, NULL, 0, done, user);
}

int carrick_abort(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_ABORT, connection, NULL, 0, done, user);
}

/* A call on a connection with one argument. */
static int with_value(struct carrick_stack *stack, enum carrick_call_kind kind, uint64_t connection,
                      enum carrick_call_field field, uint64_t value, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, kind, done, user, &slot);
    if (refused)
        return refused;
    carrick_requests_set(&stack->requests, slot, field, value);
    return carrick_stack_give(stack, slot, connection, NULL, 0);
}

int carrick_set_nodelay(struct carrick_stack *stack, uint64_t connection, bool on, carrick_done_fn done, void *user) {
    return with_value(stack, CALL_SET_NODELAY, connection, FIELD_ON, on, done, user);
}

int carrick_set_keepalive(struct carrick_stack *stack, uint64_t connection, bool on, carrick_done_fn done, void *user) {
    return with_value(stack, CALL_SET_KEEPALIVE, connection, FIELD_ON, on, done, user);
}

int carrick_set_tos(struct carrick_stack *stack, uint64_t connection, uint8_t tos, carrick_done_fn done, void *user) {
    return with_value(stack, CALL_SET_TOS, connection, FIELD_TOS, tos, done, user);
}

int carrick_set_user_timeout(struct carrick_stack *stack, uint64_t connection, uint32_t milliseconds,
                             carrick_done_fn done, void *user) {
    return with_value(stack, CALL_SET_USER_TIMEOUT, connection, FIELD_MILLISECONDS, milliseconds, done, user);
}

int carrick_set_linger(struct carrick_stack *stack, uint64_t connection, uint32_t milliseconds, carrick_done_fn done,
                       void *user) {
    return with_value(stack, CALL_SET_LINGER, connection, FIELD_MILLISECONDS, milliseconds, done, user);
}

int carrick_orphan(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_ORPHAN, connection, NULL, 0, done, user);
}

int carrick_drain(struct carrick_stack *stack, uint64_t connection, carrick_done_fn done, void *user) {
    return carrick_stack_on_handle(stack, CALL_DRAIN, connection, NULL, 0, done, user);
}

int carrick_info(struct carrick_stack *stack, uint64_t connection, enum carrick_info item, carrick_done_fn done,
                 void *user) {
    return with_value(stack, CALL_INFO, connection, FIELD_ITEM, item, done, user);
}

int carrick_limit(struct carrick_stack *stack, enum carrick_limit item, carrick_done_fn done, void *user) {
    struct carrick_slot *slot;
    int refused = carrick_stack_begin(stack, CALL_LIMIT, done, user, &slot);
    if (refused)
        return refused;
    carrick_requests_set(&stack->requests, slot, FIELD_ITEM, item);
    return carrick_requests_submit(&stack->requests, &stack->host, slot);
}

/* One more part of an address: the only one of IPv4, the high or the low one of IPv6. */
static void add_part(struct carrick_ip6_address *address, uint64_t part, bool six) {
    *address = six ? (struct carrick_ip6_address){address->low, part} : carrick_address_of_ipv4((uint32_t)part);
}

bool carrick_connection_ends(const struct carrick_stack *stack, uint64_t connection, struct carrick_ends *ends) {
    struct carrick_identity id;
    *ends = (struct carrick_ends){0};
    if (!stack->host.program->identify(stack->host.core, connection, &id))
        return false;
    for (uint32_t i = 0; i < id.count; i++) {
        if (strcmp(id.names[i], "local_ip") == 0)
            add_part(&ends->local_address, id.parts[i], stack->requests.six);
        else if (strcmp(id.names[i], "remote_ip") == 0)
            add_part(&ends->remote_address, id.parts[i], stack->requests.six);
        else if (strcmp(id.names[i], "local_port") == 0)
            ends->local_port = (uint16_t)id.parts[i];
        else if (strcmp(id.names[i], "remote_port") == 0)
            ends->remote_port = (uint16_t)id.parts[i];
    }
    return true;
}

/* The request goes again with the next local port; its token is a new one, since the old one is completed. */
static bool try_next_port(struct carrick_stack *stack, struct carrick_slot *slot,
                          const struct carrick_completion *done) {
    if (done->status != CARRICK_IN_USE || slot->tries == 0)
        return false;
    slot->tries--;
    slot->request.token = (uint64_t)++slot->generation << 32 | (uint32_t)slot->request.token;
    carrick_requests_set(&stack->requests, slot, FIELD_LOCAL_PORT, carrick_stack_next_port(stack));
    slot->next = NO_SLOT;
    if (carrick_requests_submit(&stack->requests, &stack->host, slot) != 0 && slot->done)
        slot->done(slot->user, CARRICK_INVALID, 0);
    return true;
}

bool carrick_stack_complete(struct carrick_stack *stack) {
    /* One turn takes no more than there can be open, so that packets get their turn too. */
    struct carrick_completion done;
    uint32_t n = 0;
    while (n < stack->requests.count && stack->host.program->next_completion(stack->host.core, &done)) {
        n++;
        if (stack->host.records)
            carrick_record_completed(&stack->host, &done);
        struct carrick_slot *slot = carrick_requests_find(&stack->requests, done.token);
        if (!slot || try_next_port(stack, slot, &done))
            continue;
        carrick_done_fn tell = slot->done;
        void *user = slot->user;
        carrick_requests_end(&stack->requests, slot);
        if (tell)
            tell(user, (enum carrick_status)done.status, done.value);
    }
    return n != 0;
}

const char *carrick_status_text(enum carrick_status status) {
    static const char *const texts[] = {"ok",
                                        "end of stream",
                                        "connection refused",
                                        "connection reset",
                                        "timed out",
                                        "connection closed",
                                        "no room left",
                                        "address is in use",
                                        "invalid request",
                                        "unreachable",
                                        "the peer is busy",
                                        "connection aborted"};
    return (unsigned)status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}
