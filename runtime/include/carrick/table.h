/* SPDX-License-Identifier: MIT */
/*
 * The index of a context table: open addressing with linear probing and deletion by backward shift. It maps the hash of
 * an id to a slot; generated code compares the ids, specialised to their type. At most half full.
 */
#ifndef CARRICK_TABLE_H
#define CARRICK_TABLE_H

#include "carrick/base.h"

struct carrick_entry {
    uint32_t slot; /* 0: empty, else the slot + 1 */
    uint32_t hash;
};

struct carrick_table {
    struct carrick_entry *entries; /* mask + 1, a power of two, at least twice the slots */
    uint32_t mask;
};

static inline void carrick_table_insert(struct carrick_table *t, uint32_t hash, uint32_t slot) {
    uint32_t at = hash & t->mask;
    while (t->entries[at].slot)
        at = (at + 1) & t->mask;
    t->entries[at] = (struct carrick_entry){slot + 1, hash};
}

static inline void carrick_table_remove(struct carrick_table *t, uint32_t hash, uint32_t slot) {
    uint32_t hole = hash & t->mask;
    while (t->entries[hole].slot != slot + 1)
        hole = (hole + 1) & t->mask;
    for (uint32_t at = (hole + 1) & t->mask; t->entries[at].slot; at = (at + 1) & t->mask) {
        uint32_t home = t->entries[at].hash & t->mask;
        /* An entry may fill the hole if its home is not between the hole and itself. */
        if (((at - home) & t->mask) >= ((at - hole) & t->mask)) {
            t->entries[hole] = t->entries[at];
            hole = at;
        }
    }
    t->entries[hole].slot = 0;
}

#endif
