/* SPDX-License-Identifier: MIT */
/*
 * The memory of open requests: an addr_t is good until the request that it belongs to is complete, and what is read and
 * put at one stays within what the request brought. Open addressing by the lower half of the token, with deletion by
 * backward shift; at most half full. Hosts number their requests there: those that follow each other are at the same
 * place, and none is away from where its token says. Then nothing shifts, however many are open beside each other. And
 * what is complete before its call is over was never in the table.
 */
#ifndef CARRICK_MEMORY_H
#define CARRICK_MEMORY_H

#include "carrick/base.h"

struct carrick_open {
    uint64_t token; /* 0: empty, with a len of 0 */
    uint8_t *ptr;
    uint64_t len;
    bool writable;
};

struct carrick_memory {
    struct carrick_open *open; /* mask + 1, a power of two, at least twice as many as requests can be open */
    uint32_t mask;
    uint32_t away;             /* how many are not where their tokens say */
    struct carrick_open taken; /* what a call brings, while it is handled */
};

static inline uint32_t carrick_memory_home(const struct carrick_memory *m, uint64_t token) {
    return (uint32_t)token & m->mask;
}

/* Where the token is in the table, or the empty place where it would be. */
static inline struct carrick_open *carrick_memory_place(const struct carrick_memory *m, uint64_t token) {
    uint32_t at = carrick_memory_home(m, token);
    while (m->open[at].token != token && m->open[at].token)
        at = (at + 1) & m->mask;
    return &m->open[at];
}

/* What the request brought; its token is 0 if it is complete. */
static inline const struct carrick_open *carrick_memory_find(const struct carrick_memory *m, uint64_t token) {
    return m->taken.token == token ? &m->taken : carrick_memory_place(m, token);
}

/* A request comes. Once it was handled, carrick_memory_keep. */
static inline void carrick_memory_take(struct carrick_memory *m, struct carrick_addr addr, bool writable) {
    if (addr.ptr && addr.len)
        m->taken = (struct carrick_open){addr.token, addr.ptr, addr.len, writable};
}

/* The request that came was handled, and is open if it is not complete; `count` says how many are open: of more than
 * fit, none is noted. */
static inline void carrick_memory_keep(struct carrick_memory *m, uint32_t count) {
    uint64_t token = m->taken.token;
    if (!token)
        return;
    struct carrick_open *open = carrick_memory_place(m, token);
    if (count <= m->mask / 2 + 1) {
        if (open != &m->open[carrick_memory_home(m, token)] && !open->token)
            m->away++;
        uint8_t *ptr = m->taken.ptr;
        uint64_t len = m->taken.len;
        /* Word by word: one load of 16 bytes waits for the two stores that have just written them. */
        __asm__("" : "+r"(ptr), "+r"(len));
        *open = (struct carrick_open){token, ptr, len, m->taken.writable};
    }
    m->taken.token = 0;
    m->taken.len = 0;
}

/* The place that is empty once the entry at `hole` has gone, and those that were kept from their homes moved up. */
CARRICK_APART uint32_t carrick_memory_shift(struct carrick_memory *m, uint32_t hole) {
    m->away -= carrick_memory_home(m, m->open[hole].token) != hole;
    for (uint32_t at = (hole + 1) & m->mask; m->open[at].token; at = (at + 1) & m->mask) {
        uint32_t home = carrick_memory_home(m, m->open[at].token);
        /* An entry may fill the hole if its home is not between the hole and itself. */
        if (((at - home) & m->mask) >= ((at - hole) & m->mask)) {
            m->open[hole] = m->open[at];
            m->away -= home == hole;
            hole = at;
        }
    }
    return hole;
}

/* A request is complete. */
static inline void carrick_memory_forget(struct carrick_memory *m, uint64_t token) {
    struct carrick_open *open = &m->taken;
    if (open->token != token) {
        open = carrick_memory_place(m, token);
        if (open->token && m->away)
            open = &m->open[carrick_memory_shift(m, (uint32_t)(open - m->open))];
    }
    open->token = 0;
    open->len = 0;
}

/* How many bytes from `ptr` on are its memory: 0 before it, behind it, and in what is empty. */
static inline uint64_t carrick_open_left(const struct carrick_open *open, const uint8_t *ptr) {
    uint64_t before = (uintptr_t)ptr - (uintptr_t)open->ptr;
    return before <= open->len ? open->len - before : 0;
}

/* How many bytes from `ptr` on are memory of the open request; 0 if it is complete. */
static inline uint64_t carrick_memory_left(const struct carrick_memory *m, uint64_t token, const uint8_t *ptr) {
    return carrick_open_left(carrick_memory_find(m, token), ptr);
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
    const struct carrick_open *open = carrick_memory_find(m, to.token);
    len = carrick_min64(len, carrick_open_left(open, to.ptr));
    if (!len || !open->writable)
        return 0;
    memmove(to.ptr, from.ptr, len);
    return len;
}

#endif
