/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>

#include "ports/batch.h"

int carrick_batch_flush(int socket, struct carrick_queue *queue, struct carrick_port *counts) {
    int dropped = 0;
    while (queue->head != queue->tail) {
        struct mmsghdr messages[CARRICK_PORT_BATCH] = {0};
        struct iovec pieces[CARRICK_PORT_BATCH];
        uint32_t place = queue->head, n = 0;
        for (; place != queue->tail && n < CARRICK_PORT_BATCH; place++) {
            if (*carrick_queue_len(queue, place) == 0)
                continue;
            pieces[n] = (struct iovec){carrick_queue_at(queue, place) - queue->before,
                                       *carrick_queue_len(queue, place) + queue->before};
            messages[n].msg_hdr = (struct msghdr){.msg_iov = &pieces[n], .msg_iovlen = 1};
            n++;
        }
        int sent = n == 0 ? 0 : sendmmsg(socket, messages, n, MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            return dropped;
        if (sent < 0) {
            dropped = errno;
            while (*carrick_queue_len(queue, queue->head) == 0)
                queue->head++;
            queue->refused = queue->head;
        }
        uint32_t gone = sent < 0 ? 1 : (uint32_t)sent; /* an error is the first frame's: it is dropped */
        if (sent < 0)
            counts->tx_refused++;
        else
            counts->tx += gone;
        /* Skipped places go with the frames before them; all of them, if none is left. */
        while (queue->head != place && (gone > 0 || *carrick_queue_len(queue, queue->head) == 0)) {
            if (*carrick_queue_len(queue, queue->head) != 0)
                gone--;
            queue->head++;
        }
    }
    queue->head = queue->tail = 0; /* the places that were used last are still in the processor's cache */
    return dropped;
}

uint32_t carrick_batch_receive(int socket, struct carrick_queue *queue, struct carrick_port *counts, uint32_t max,
                               struct carrick_frame *frames, uint32_t count) {
    struct mmsghdr messages[CARRICK_PORT_BATCH] = {0};
    struct iovec pieces[CARRICK_PORT_BATCH];
    if (count > CARRICK_PORT_BATCH)
        count = CARRICK_PORT_BATCH;
    for (uint32_t i = 0; i < count; i++) {
        pieces[i] = (struct iovec){carrick_queue_at(queue, i), queue->stride};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
    }
    int got = recvmmsg(socket, messages, count, MSG_DONTWAIT, NULL);
    uint32_t n = 0;
    for (int i = 0; i < got; i++) {
        if (messages[i].msg_len > max || (messages[i].msg_hdr.msg_flags & MSG_TRUNC)) {
            counts->rx_refused++;
            counts->refused_len = messages[i].msg_len;
        } else {
            frames[n++] =
                (struct carrick_frame){.data = carrick_queue_at(queue, (uint32_t)i), .len = messages[i].msg_len};
        }
    }
    counts->rx += n;
    return n;
}
