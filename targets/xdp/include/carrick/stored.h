/* SPDX-License-Identifier: MIT */
/*
 * The packets that a program in the network stores or copies: what carrick/store.h of the runtime does with them
 * elsewhere, with the same names. Each is in an element of a map. One that is sent waits in a queue, in the order in
 * which it was issued, for the next free frame:
 *
 *     pkt_store -----> list of its key --- pkt_release ---+
 *                             |                           v
 *                             +-- pkt_discard       carrick_leaving -----> a frame that is free
 *                                                         ^
 *     pkt_copy, forward with another header --------------+
 */
#ifndef CARRICK_XDP_STORED_H
#define CARRICK_XDP_STORED_H

#include "carrick/arrived.h"

/* A stored packet. */
struct carrick_held {
    uint32_t len, interface;
    uint32_t next; /* of the packets of its key: slot + 1; 0: none */
    uint32_t reserved;
    uint8_t octets[CARRICK_FRAME_MAX + CARRICK_HEADERS_MAX]; /* the end is for what the verifier takes a header to be */
};

/* The packets of a key: slot + 1 of the oldest and the newest. */
struct carrick_key_packets {
    uint32_t first, last;
};

struct carrick_held_shared {
    uint32_t held;  /* 1: somebody works on the lists of keys */
    uint32_t used;  /* slots that hold a packet */
    uint32_t fresh; /* slots that were ever used */
};

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_UINT(max_entries, 1);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_held);
} carrick_held CARRICK_SECTION(".maps");

struct {
    CARRICK_UINT(type, CARRICK_MAP_ARRAY);
    CARRICK_UINT(max_entries, 1);
    CARRICK_TYPE(key, uint32_t);
    CARRICK_TYPE(value, struct carrick_held_shared);
} carrick_held_shared CARRICK_SECTION(".maps");

struct {
    CARRICK_UINT(type, CARRICK_MAP_HASH);
    CARRICK_UINT(max_entries, 1);
    CARRICK_TYPE(key, uint64_t);
    CARRICK_TYPE(value, struct carrick_key_packets);
} carrick_keys CARRICK_SECTION(".maps");

/* Slots that are free again, and those that wait for a frame, the oldest first: slot + 1. */
struct {
    CARRICK_UINT(type, CARRICK_MAP_STACK);
    CARRICK_UINT(max_entries, 1);
    CARRICK_UINT(value_size, 4);
} carrick_held_free CARRICK_SECTION(".maps");

struct {
    CARRICK_UINT(type, CARRICK_MAP_QUEUE);
    CARRICK_UINT(max_entries, 1);
    CARRICK_UINT(value_size, 4);
} carrick_leaving CARRICK_SECTION(".maps");

CARRICK_INLINE struct carrick_held_shared *carrick_held_shared_here(void) {
    uint32_t only = 0;
    return bpf_map_lookup_elem(&carrick_held_shared, &only);
}

/* The element of slot + 1; NULL: there is none. */
CARRICK_INLINE struct carrick_held *carrick_held_at(uint32_t slot) {
    slot--;
    return bpf_map_lookup_elem(&carrick_held, &slot);
}

/* A slot for a packet, + 1; 0: none is free. */
CARRICK_GLOBAL_FN uint32_t carrick_held_take(uint32_t capacity) {
    struct carrick_held_shared *shared = carrick_held_shared_here();
    uint32_t slot = 0, most = capacity + CARRICK_HELD_MORE;
    CARRICK_GIVEN(shared);
    if (bpf_map_pop_elem(&carrick_held_free, &slot) != 0) {
        if (CARRICK_READ(shared->fresh) >= most)
            return 0;
        slot = __sync_fetch_and_add(&shared->fresh, 1) + 1;
        if (slot > most)
            return 0;
    }
    (void)__sync_fetch_and_add(&shared->used, 1);
    return slot;
}

CARRICK_GLOBAL_FN int carrick_held_forget(uint32_t slot) {
    struct carrick_held_shared *shared = carrick_held_shared_here();
    CARRICK_GIVEN(shared && slot);
    (void)__sync_fetch_and_add(&shared->used, -1u);
    return (int)bpf_map_push_elem(&carrick_held_free, &slot, 0);
}

/* The packet of a slot waits for the next free frame. */
CARRICK_GLOBAL_FN int carrick_held_leaves(uint32_t slot, uint32_t interface) {
    uint32_t only = 0;
    struct carrick_shared *shared = bpf_map_lookup_elem(&carrick_shared, &only);
    struct carrick_held *h = carrick_held_at(slot);
    CARRICK_GIVEN(shared && h);
    h->interface = interface;
    /* Whoever takes it counts it as gone. */
    (void)__sync_fetch_and_add(&shared->leaving, 1);
    if (bpf_map_push_elem(&carrick_leaving, &slot, 0) == 0)
        return 1;
    (void)__sync_fetch_and_add(&shared->leaving, -(uint64_t)1);
    return carrick_held_forget(slot);
}

/* Copies so many bytes of the frame that came, from `begin` on, to a place of a slot. */
CARRICK_INLINE void carrick_held_copy(struct carrick_held *h, uint32_t at, uint32_t begin, uint32_t len) {
    const struct carrick_arrived *arrived = carrick_arrived_here();
    CARRICK_BARRIER_VAR(at);
    CARRICK_BARRIER_VAR(begin);
    CARRICK_BARRIER_VAR(len);
    if (arrived && at <= CARRICK_HEADERS_MAX && begin < CARRICK_FRAME_MAX && len <= CARRICK_FRAME_MAX)
        carrick_move(h->octets + at, len, arrived->octets + begin);
}

/* The current packet, in a slot; returns it + 1, or 0. */
CARRICK_GLOBAL_FN uint32_t carrick_held_current(struct carrick_store *s) {
    CARRICK_GIVEN(s);
    uint32_t slot = carrick_held_take(s->capacity);
    struct carrick_held *h = carrick_held_at(slot);
    CARRICK_GIVEN(h);
    h->len = s->len;
    carrick_held_copy(h, 0, CARRICK_ETHERNET, s->len);
    return slot;
}

/* Appends the packet of a slot to those of a key. 0: there is no space for the key. */
CARRICK_GLOBAL_FN int carrick_held_store(uint32_t slot, uint64_t key) {
    struct carrick_held_shared *shared = carrick_held_shared_here();
    struct carrick_held *h = carrick_held_at(slot);
    CARRICK_GIVEN(shared && h && carrick_hold(&shared->held));
    h->next = 0;
    struct carrick_key_packets *packets = bpf_map_lookup_elem(&carrick_keys, &key), one = {slot, slot};
    int there = 1;
    if (packets) {
        struct carrick_held *last = carrick_held_at(packets->last);
        if (last)
            last->next = slot;
        packets->last = slot;
    } else {
        there = bpf_map_update_elem(&carrick_keys, &key, &one, 0) == 0;
    }
    carrick_release(&shared->held);
    return there;
}

/* Takes the list of a key; returns slot + 1 of its oldest packet, 0: there is none. */
CARRICK_GLOBAL_FN uint32_t carrick_held_of(uint64_t key) {
    struct carrick_held_shared *shared = carrick_held_shared_here();
    CARRICK_GIVEN(shared && carrick_hold(&shared->held));
    const struct carrick_key_packets *packets = bpf_map_lookup_elem(&carrick_keys, &key);
    uint32_t first = packets ? packets->first : 0;
    if (packets)
        (void)bpf_map_delete_elem(&carrick_keys, &key);
    carrick_release(&shared->held);
    return first;
}

/* The packets from a slot on leave by an interface, or are forgotten. Returns how many there were. */
CARRICK_GLOBAL_FN uint32_t carrick_held_each(uint32_t slot, uint32_t interface) {
    uint32_t count = 0;
    while (slot && CARRICK_GOES_ON) {
        const struct carrick_held *h = carrick_held_at(slot);
        if (!h)
            break;
        uint32_t next = CARRICK_READ(h->next);
        count = CARRICK_FORGOTTEN(count + 1, h->next);
        if (interface == CARRICK_NOWHERE)
            (void)carrick_held_forget(slot);
        else
            (void)carrick_held_leaves(slot, interface);
        slot = next;
    }
    return count;
}

/* What was written to a slot leaves; 0: there was none. */
CARRICK_INLINE void carrick_store_queue(struct carrick_store *s, uint32_t slot, uint32_t interface,
                                        uint64_t *counters) {
    if (!slot) {
        counters[CARRICK_COUNT_TX_QUEUE_FULL]++;
        return;
    }
    s->queued = true;
    (void)carrick_held_leaves(slot, interface & CARRICK_ROUTE);
}

/* Whether one more packet may be stored next to the current one, which uses a slot once it is forwarded. */
CARRICK_INLINE bool carrick_store_has_space(const struct carrick_store *s, uint64_t *counters) {
    const struct carrick_held_shared *shared = carrick_held_shared_here();
    uint32_t forwarded = s->leaves != CARRICK_LEAVES_NOT;
    if (shared && CARRICK_READ(shared->used) + forwarded < s->capacity)
        return true;
    counters[CARRICK_COUNT_STORE_FULL]++;
    return false;
}

CARRICK_INLINE bool carrick_store_fits(const struct carrick_store *s, uint64_t *counters) {
    if (s->len <= s->room)
        return true;
    counters[CARRICK_COUNT_TX_TOO_LONG]++;
    return false;
}

/* A packet that is forwarded as it is has its own frame, unless others of its event are to be sent before it. */
CARRICK_INLINE void carrick_store_send(struct carrick_store *s, uint32_t interface, uint64_t *counters) {
    if (!carrick_store_fits(s, counters))
        return;
    if (interface & CARRICK_COPIED || s->queued) {
        carrick_store_queue(s, carrick_held_current(s), interface, counters);
        return;
    }
    s->leaves = CARRICK_LEAVES_AS_IT_IS;
    s->left_by = interface;
}

CARRICK_INLINE void carrick_store_put(struct carrick_store *s, uint64_t key, uint64_t *counters) {
    if (!carrick_store_decide(s, counters) || !carrick_store_fits(s, counters) || !carrick_store_has_space(s, counters))
        return;
    uint32_t slot = carrick_held_current(s);
    if (slot && carrick_held_store(slot, key))
        return;
    counters[CARRICK_COUNT_STORE_FULL]++;
    if (slot)
        (void)carrick_held_forget(slot);
}

/* Takes the packets of a key out, the oldest first: they leave by an interface, or are forgotten. Returns how many
 * there were. */
CARRICK_INLINE uint32_t carrick_store_take(struct carrick_store *s, uint64_t key, uint32_t interface) {
    s->queued = s->queued || interface != CARRICK_NOWHERE;
    return carrick_held_each(carrick_held_of(key), interface);
}

/* The packet leaves with the header of so many bytes in `core->out`, and so much of the payload in its frame. */
CARRICK_GLOBAL_FN int CARRICK_OWN(store_with)(struct CARRICK_OWN(core) * core, uint32_t header, uint32_t payload,
                                              uint32_t payload_len, uint32_t interface) {
    CARRICK_GIVEN(core);
    CARRICK_BARRIER_VAR(header);
    uint32_t slot = header <= CARRICK_HEADERS_MAX ? carrick_held_take(core->store.capacity) : 0;
    struct carrick_held *h = carrick_held_at(slot);
    if (slot && h) {
        h->len = header + payload_len;
        carrick_move(h->octets, header, core->out + CARRICK_ETHERNET);
        carrick_held_copy(h, header, payload, payload_len);
    }
    carrick_store_queue(&core->store, slot, interface, core->counters);
    return 0;
}

#endif
