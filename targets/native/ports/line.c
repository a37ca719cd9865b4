/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "carrick/ip.h"
#include "carrick/ipv6.h"
#include "ports/line.h"

/* A frame that is overtaken waits so much longer: at 1 Gbit/s some 8 frames of 1500 bytes pass meanwhile. */
#define REORDER_NS 100000u

static bool line_before(const struct line_entry *a, const struct line_entry *b) {
    return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void heap_push(struct carrick_line *line, struct line_entry entry) {
    uint32_t at = line->heap_len++;
    while (at > 0 && line_before(&entry, &line->heap[(at - 1) / 2])) {
        line->heap[at] = line->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    line->heap[at] = entry;
}

static struct line_entry heap_pop(struct carrick_line *line) {
    struct line_entry top = line->heap[0], moved = line->heap[--line->heap_len];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < line->heap_len && line_before(&line->heap[child + 1], &line->heap[child]))
            child++;
        if (child >= line->heap_len || !line_before(&line->heap[child], &moved))
            break;
        line->heap[at] = line->heap[child];
        at = child;
    }
    line->heap[at] = moved;
    return top;
}

bool carrick_line_make(struct carrick_line *line, const struct carrick_fault_config *config,
                       struct carrick_fault_counts *counts, uint64_t stream, const struct carrick_port *port) {
    *line = (struct carrick_line){
        .config = config, .counts = counts, .rng = carrick_pcg_make(config->seed, stream), .ethernet = port->ethernet};
    bool made = carrick_queue_make(&line->slots, carrick_port_frame_room(port), LINE_FRAMES);
    line->heap = calloc(LINE_FRAMES, sizeof *line->heap);
    line->free_slots = calloc(LINE_FRAMES, sizeof *line->free_slots);
    if (!made || !line->heap || !line->free_slots)
        return false;
    for (uint32_t i = 0; i < LINE_FRAMES; i++)
        line->free_slots[line->free_len++] = i;
    return true;
}

void carrick_line_free(struct carrick_line *line) {
    carrick_queue_free(&line->slots);
    free(line->heap);
    free(line->free_slots);
}

/* True with the given probability; draws nothing for 0, so that faults not asked for change nothing. */
static bool line_chance(struct carrick_line *line, double probability) {
    return probability > 0 && (double)carrick_pcg_next(&line->rng) < probability * 4294967296.0;
}

/* Flips one bit behind the link header (a wire's own checksum would have caught it there). */
static void line_corrupt(struct carrick_line *line, uint8_t *data, uint32_t len) {
    uint32_t from = line->ethernet ? CARRICK_ETHER_HEADER : 0;
    if (len <= from)
        return;
    uint32_t bit = carrick_pcg_next(&line->rng) % ((len - from) * 8);
    data[from + bit / 8] ^= (uint8_t)(1u << (bit % 8));
    line->counts->corrupted++;
}

/* Marks a packet that met congestion, if it can be marked (RFC 3168 section 5). */
static void line_mark(struct carrick_line *line, uint8_t *data, uint32_t len) {
    const uint8_t ce = 3;
    uint32_t from = line->ethernet ? CARRICK_ETHER_HEADER : 0;
    uint8_t *ip = data + from;
    if (len > from + CARRICK_IP6_HEADER && ip[0] >> 4 == 6) {
        /* The field is in the second half of the first byte and the first half of the second one. */
        uint8_t ecn = ip[1] >> 4 & ce;
        ip[1] |= ecn ? ce << 4 : 0;
        line->counts->marked += ecn && ecn != ce;
        return;
    }
    if (len < from + CARRICK_IP_HEADER || ip[0] != 0x45 || (ip[1] & ce) == 0 || (ip[1] & ce) == ce)
        return;
    ip[1] |= ce;
    carrick_store16(ip + 10, 0);
    carrick_store_sum(ip + 10, carrick_sum(ip, CARRICK_IP_HEADER));
    line->counts->marked++;
}

static void line_enter(struct carrick_line *line, uint64_t now, const uint8_t *data, uint32_t len) {
    const struct carrick_fault_config *config = line->config;
    if (line->free_len == 0) {
        line->counts->overflowed++;
        return;
    }
    uint32_t slot = line->free_slots[--line->free_len];
    uint8_t *copy = carrick_queue_at(&line->slots, slot);
    memcpy(copy, data, len);
    *carrick_queue_len(&line->slots, slot) = len;
    if (line_chance(line, config->mark))
        line_mark(line, copy, len);
    if (line_chance(line, config->corrupt))
        line_corrupt(line, copy, len);
    uint64_t due = now + config->delay_ns;
    if (config->jitter_ns)
        due +=
            (((uint64_t)carrick_pcg_next(&line->rng) << 32) | carrick_pcg_next(&line->rng)) % (config->jitter_ns + 1);
    if (due < line->last_due)
        due = line->last_due;
    if (line_chance(line, config->reorder)) {
        due += REORDER_NS + carrick_pcg_next(&line->rng) % REORDER_NS;
        line->counts->reordered++;
    } else {
        line->last_due = due;
    }
    heap_push(line, (struct line_entry){due, line->next_order++, slot});
}

void carrick_line_put(struct carrick_line *line, uint64_t now, const uint8_t *data, uint32_t len) {
    if (len == 0 || len > line->slots.stride)
        return;
    if (line_chance(line, line->config->loss)) {
        line->counts->lost++;
        return;
    }
    line_enter(line, now, data, len);
    if (line_chance(line, line->config->duplicate)) {
        line->counts->duplicated++;
        line_enter(line, now, data, len);
    }
}

bool carrick_line_take(struct carrick_line *line, uint64_t now, struct carrick_frame *frame, uint32_t *slot) {
    if (line->heap_len == 0 || line->heap[0].due > now)
        return false;
    *slot = heap_pop(line).slot;
    *frame = (struct carrick_frame){.data = carrick_queue_at(&line->slots, *slot),
                                    .len = *carrick_queue_len(&line->slots, *slot)};
    return true;
}

void carrick_line_release(struct carrick_line *line, uint32_t slot) {
    line->free_slots[line->free_len++] = slot;
}

uint64_t carrick_line_deadline(const struct carrick_line *line) {
    return line->heap_len ? line->heap[0].due : UINT64_MAX;
}
