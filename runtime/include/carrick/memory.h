/* SPDX-License-Identifier: MIT */
/*
 * The memory of open requests: an addr_t is good until the request that it belongs to is complete, and what is read and
 * put at one stays within what the request brought. Open addressing by the lower half of the token, with deletion by
 * backward shift; at most half full. Hosts number their requests there, so that those that follow each other are at the
 * same place.
 */
#ifndef CARRICK_MEMORY_H
#define CARRICK_MEMORY_H

#include "carrick/base.h"

struct carrick_open {
    uint64_t token; /* 0: empty */
    uint8_t *ptr;
    uint64_t len;
    bool writable;
};

struct carrick_memory {
    struct carrick_open *open; /* mask + 1, a power of two, at least twice as many as requests can be open */
    uint32_t mask;
};

static inline uint32_t carrick_memory_home(const struct carrick_memory *m, uint64_t token) {
    return (uint32_t)token & m->mask;
}

/* Where the token is, or the empty place where it would be. */
static inline struct carrick_open *carrick_memory_find(const struct carrick_memory *m, uint64_t token) {
    uint32_t at = carrick_memory_home(m, token);
    while (m->open[at].token && m->open[at].token != token)
        at = (at + 1) & m->mask;
    return &m->open[at];
}

/* A request is open; `count` says how many are, this one included: of more than fit, none is noted. */
static inline void carrick_memory_note(struct carrick_memory *m, struct carrick_addr addr, bool writable,
                                       uint32_t count) {
    if (addr.ptr && addr.len && addr.token && count <= m->mask / 2 + 1)
        *carrick_memory_find(m, addr.token) = (struct carrick_open){addr.token, addr.ptr, addr.len, writable};
}

/* A request is complete. */
static inline void carrick_memory_forget(struct carrick_memory *m, uint64_t token) {
    struct carrick_open *open = carrick_memory_find(m, token);
    if (!token || !open->token)
        return;
    uint32_t hole = (uint32_t)(open - m->open);
    for (uint32_t at = (hole + 1) & m->mask; m->open[at].token; at = (at + 1) & m->mask) {
        uint32_t home = carrick_memory_home(m, m->open[at].token);
        /* An entry may fill the hole if its home is not between the hole and itself. */
        if (((at - home) & m->mask) >= ((at - hole) & m->mask)) {
            m->open[hole] = m->open[at];
            hole = at;
        }
    }
    m->open[hole].token = 0;
}

/* How many bytes from `ptr` on are memory of the open request; 0 if it is complete. */
static inline uint64_t carrick_memory_left(const struct carrick_memory *m, uint64_t token, const uint8_t *ptr) {
    const struct carrick_open *open = carrick_memory_find(m, token);
    uintptr_t at = (uintptr_t)ptr, from = (uintptr_t)open->ptr;
    if (!token || !open->token || at < from || at - from > open->len)
        return 0;
    return open->len - (uint64_t)(at - from);
}

/* The address; none if it is of a request that is complete. */
static inline struct carrick_addr carrick_memory_there(const struct carrick_memory *m, struct carrick_addr a) {
    if (a.token)
        a.len = carrick_min64(a.len, carrick_memory_left(m, a.token, a.ptr));
    return a.len ? a : (struct carrick_addr){0};
}

/* Puts bytes of a packet or a request into the memory of a request; how many. */
static inline uint64_t carrick_memory_put(const struct carrick_memory *m, struct carrick_addr from, uint64_t len,
                                          struct carrick_addr to) {
    uint64_t source = from.token ? carrick_memory_left(m, from.token, from.ptr) : from.len;
    len = carrick_min64(carrick_min64(len, from.len), carrick_min64(source, to.len));
    len = carrick_min64(len, carrick_memory_left(m, to.token, to.ptr));
    if (!len || !carrick_memory_find(m, to.token)->writable)
        return 0;
    memmove(to.ptr, from.ptr, len);
    return len;
}

#endif
