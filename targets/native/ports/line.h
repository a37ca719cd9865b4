/* SPDX-License-Identifier: MIT */
/* One direction of a faulty wire: frames under way, each with the moment at which it comes out. */
#ifndef CARRICK_PORTS_LINE_H
#define CARRICK_PORTS_LINE_H

#include "carrick/rand.h"
#include "ports/queue.h"

#define LINE_FRAMES 4096u /* most frames under way */

struct line_entry {
    uint64_t due;
    uint64_t order; /* of frames due at the same time: the smaller first */
    uint32_t slot;
};

struct carrick_line {
    const struct carrick_fault_config *config;
    struct carrick_fault_counts *counts;
    struct carrick_pcg rng;
    struct carrick_queue slots; /* only its memory and lengths are used */
    struct line_entry *heap;
    uint32_t heap_len;
    uint32_t *free_slots;
    uint32_t free_len;
    uint64_t next_order;
    uint64_t last_due; /* of the frames that keep their order */
    bool ethernet;
};

/* False: out of memory. */
bool carrick_line_make(struct carrick_line *line, const struct carrick_fault_config *config,
                       struct carrick_fault_counts *counts, uint64_t stream, const struct carrick_port *port);
void carrick_line_free(struct carrick_line *line);

/* A frame enters: decides its fate. */
void carrick_line_put(struct carrick_line *line, uint64_t now, const uint8_t *data, uint32_t len);

/* The next frame that is due, still in its slot; false if there is none. Give the slot back with carrick_line_release.
 */
bool carrick_line_take(struct carrick_line *line, uint64_t now, struct carrick_frame *frame, uint32_t *slot);
void carrick_line_release(struct carrick_line *line, uint32_t slot);

/* When the first frame is due, UINT64_MAX: the line is empty. */
uint64_t carrick_line_deadline(const struct carrick_line *line);

#endif
