/* SPDX-License-Identifier: MIT */
/* The store of packets against plain arrays in which nothing is hashed. */
#include "carrick/store.h"
#include "check.h"

#define CAPACITY 9u
#define BUCKETS  4u /* fewer than packets, so that keys meet */
#define ROOM     32u
#define MOST     (CAPACITY + 1)

struct plain {
    uint64_t key;
    uint32_t interface, len;
    uint8_t octets[ROOM];
};

/* In the order in which they came. */
struct list {
    struct plain items[MOST];
    uint32_t count;
};

static void add(struct list *l, const struct plain *p) {
    CHECK(l->count < MOST);
    l->items[l->count++] = *p;
}

static struct plain take(struct list *l, uint32_t at) {
    struct plain p = l->items[at];
    l->count--;
    for (uint32_t i = at; i < l->count; i++)
        l->items[i] = l->items[i + 1];
    return p;
}

/* All packets of a key go from one list to the other, or nowhere. */
static uint32_t move(struct list *from, struct list *to, uint64_t key, uint32_t interface) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->count;) {
        if (from->items[i].key != key) {
            i++;
            continue;
        }
        struct plain p = take(from, i);
        p.interface = interface;
        count++;
        if (to)
            add(to, &p);
    }
    return count;
}

static struct carrick_held held[MOST];
static uint8_t octets[MOST * ROOM];
static uint32_t first[BUCKETS], last[BUCKETS];
static struct list stored, leaving;

static struct plain look(struct carrick_store *s, struct carrick_pcg *rng, uint8_t *packet) {
    struct plain p = {.interface = check_below(rng, 2), .len = 1 + check_below(rng, ROOM)};
    for (uint32_t i = 0; i < p.len; i++)
        p.octets[i] = packet[i] = (uint8_t)carrick_pcg_next(rng);
    carrick_store_look(s, packet, p.len, p.interface);
    return p;
}

static void one_step(struct carrick_store *s, struct carrick_pcg *rng, uint64_t *counters) {
    uint8_t packet[ROOM], out[ROOM];
    uint64_t key = check_below(rng, 6), full = counters[CARRICK_COUNT_STORE_FULL];
    /* More is kept than released, so that the store is full at times. */
    static const uint32_t choices[] = {0, 1, 1, 1, 1, 2, 3, 4, 4, 4};
    uint32_t what = choices[check_below(rng, 10)], used = stored.count + leaving.count;
    /* As a core does: the next packet is looked at when none waits to leave. */
    if (what < 2 && leaving.count == 0) {
        struct plain p = look(s, rng, packet);
        p.key = key;
        if (what == 0) {
            p.interface = CARRICK_ROUTE;
            if (carrick_store_has_space(s, counters)) {
                carrick_store_send(s, 7, counters);
                struct plain copy = p;
                copy.interface = 7;
                add(&leaving, &copy);
            }
            carrick_store_pass(s, counters);
            add(&leaving, &p);
        } else {
            carrick_store_put(s, key, counters);
            CHECK(counters[CARRICK_COUNT_STORE_FULL] - full == (used >= CAPACITY));
            if (used < CAPACITY)
                add(&stored, &p);
        }
        uint64_t gone = counters[CARRICK_COUNT_PACKET_GONE];
        carrick_store_pass(s, counters);
        if (what == 1)
            CHECK(!carrick_store_decide(s, counters) && counters[CARRICK_COUNT_PACKET_GONE] == gone + 1);
    } else if (what == 2) {
        CHECK(carrick_store_take(s, key, 1) == move(&stored, &leaving, key, 1));
    } else if (what == 3) {
        CHECK(carrick_store_take(s, key, CARRICK_NOWHERE) == move(&stored, NULL, key, 0));
    } else {
        uint32_t len = carrick_store_next(s, out, ROOM, counters);
        CHECK((len > 0) == (leaving.count > 0));
        if (len) {
            struct plain p = take(&leaving, 0);
            CHECK(len == p.len && s->left_by == p.interface && memcmp(out, p.octets, len) == 0);
        }
    }
    CHECK(s->used == stored.count + leaving.count);
}

static void like_arrays(uint64_t seed) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 3);
    uint64_t counters[CARRICK_COUNTERS] = {0};
    memset(first, 0, sizeof(first));
    memset(last, 0, sizeof(last));
    stored.count = leaving.count = 0;
    struct carrick_store s = {.held = held, .octets = octets, .first = first, .last = last};
    s.room = ROOM;
    s.mask = BUCKETS - 1;
    s.capacity = CAPACITY;
    for (int step = 0; step < 5000; step++)
        one_step(&s, &rng, counters);
    CHECK(counters[CARRICK_COUNT_STORE_FULL] > 0 && counters[CARRICK_COUNT_TX_FORWARDED] > 0);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 20; seed++)
        like_arrays(seed);
    return check_passed("store", 20);
}
