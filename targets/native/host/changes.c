/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>

#include "carrick/records.h"
#include "host/stack.h"

/* Requests that are read in one callback: after so many, packets have their turn. */
#define CHANGES_AT_ONCE 16

/* Between two events: the core runs nothing else now. */
static void change_one(const struct carrick_changes *changes, const struct carrick_change *asked) {
    struct carrick_stack *stack = changes->stacks[asked->host];
    struct carrick_slot *slot;
    if (carrick_stack_begin(stack, CALL_CHANGE_CONTEXT, NULL, NULL, &slot) != 0) {
        fprintf(stderr, "The stack has too many open requests for a change: it is not made.\n");
        return;
    }
    carrick_requests_set(&stack->requests, slot, FIELD_ITEM, asked->item);
    carrick_requests_set(&stack->requests, slot, FIELD_BY, changes->by);
    if (carrick_stack_give(stack, slot, asked->handle, NULL, 0) != 0)
        fprintf(stderr, "The program refuses a change: it is not made.\n");
}

static void changes_ready(void *user) {
    const struct carrick_changes *changes = user;
    for (int n = 0; n < CHANGES_AT_ONCE; n++) {
        struct carrick_change asked;
        ssize_t len = recv(changes->fd, &asked, sizeof asked, MSG_DONTWAIT | MSG_TRUNC);
        if (len < 0)
            return;
        if (len != sizeof asked)
            fprintf(stderr, "A request for a change has %zd bytes, not %zu: it is ignored.\n", len, sizeof asked);
        else if (asked.host >= changes->count)
            fprintf(stderr, "A request for a change is for stack %u, of %u: it is ignored.\n", asked.host,
                    changes->count);
        else
            change_one(changes, &asked);
    }
}

bool carrick_changes_open(struct carrick_changes *changes, struct carrick_stack *const *stacks, uint32_t count, int fd,
                          struct carrick_port_error *error) {
    struct ucred peer;
    socklen_t len = sizeof peer;
    *changes = (struct carrick_changes){.stacks = stacks, .count = count, .fd = fd};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || peer.pid == 0)
        snprintf(error->text, sizeof error->text, "The descriptor %d of --changes is not one of a pair of sockets.",
                 fd);
    else if (peer.uid != 0)
        snprintf(error->text, sizeof error->text, "User %u must not change contexts of a running stack: only root.",
                 peer.uid);
    else if (!carrick_stack_has(stacks[0], "change_context"))
        snprintf(error->text, sizeof error->text,
                 "The program was not built for changes: `carrick trace --set --run` does that.");
    else {
        changes->by = (uint32_t)peer.pid;
        return carrick_stack_watch(stacks[0], fd, changes_ready, changes);
    }
    return false;
}
