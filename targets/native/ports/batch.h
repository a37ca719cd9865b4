/* SPDX-License-Identifier: MIT */
/* Batches of frames over a socket: one system call for up to CARRICK_PORT_BATCH of them. */
#ifndef CARRICK_PORTS_BATCH_H
#define CARRICK_PORTS_BATCH_H

#include "ports/queue.h"

/* Sends what waits until the socket refuses. Returns why a frame was dropped (errno), 0 if none was. The caller's file
 * must define _GNU_SOURCE first. */
int carrick_batch_flush(int socket, struct carrick_queue *queue, struct carrick_port *counts);

/* Receives into the queue's places (of which there are CARRICK_PORT_BATCH). Frames longer than `max` are refused. */
uint32_t carrick_batch_receive(int socket, struct carrick_queue *queue, struct carrick_port *counts, uint32_t max,
                               struct carrick_frame *frames, uint32_t count);

#endif
