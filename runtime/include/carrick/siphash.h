/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 (Aumasson, Bernstein). */
#ifndef CARRICK_SIPHASH_H
#define CARRICK_SIPHASH_H

#include "carrick/bounds.h"

struct carrick_key {
    uint64_t k0, k1;
};

#define CARRICK_ROTATE(v, n) ((v) << (n) | (v) >> (64 - (n)))
#define CARRICK_SIP_ROUND(a, b, c, d)                                                                                  \
    do {                                                                                                               \
        a += b;                                                                                                        \
        b = CARRICK_ROTATE(b, 13) ^ a;                                                                                 \
        a = CARRICK_ROTATE(a, 32);                                                                                     \
        c += d;                                                                                                        \
        d = CARRICK_ROTATE(d, 16) ^ c;                                                                                 \
        a += d;                                                                                                        \
        d = CARRICK_ROTATE(d, 21) ^ a;                                                                                 \
        c += b;                                                                                                        \
        b = CARRICK_ROTATE(b, 17) ^ c;                                                                                 \
        c = CARRICK_ROTATE(c, 32);                                                                                     \
    } while (0)

/* SipHash-2-4 of `count` words, each as 8 bytes little-endian; `count` is a constant. */
CARRICK_INLINE uint64_t carrick_siphash(struct carrick_key key, const uint64_t *words, uint32_t count) {
    uint64_t a = key.k0 ^ 0x736f6d6570736575u, b = key.k1 ^ 0x646f72616e646f6du;
    uint64_t c = key.k0 ^ 0x6c7967656e657261u, d = key.k1 ^ 0x7465646279746573u;
    CARRICK_UNROLLED
    for (uint32_t i = 0; i <= count; i++) {
        uint64_t m = i < count ? words[i] : (uint64_t)(count * 8u) << 56;
        d ^= m;
        CARRICK_SIP_ROUND(a, b, c, d);
        CARRICK_SIP_ROUND(a, b, c, d);
        a ^= m;
    }
    c ^= 0xff;
    CARRICK_SIP_ROUND(a, b, c, d);
    CARRICK_SIP_ROUND(a, b, c, d);
    CARRICK_SIP_ROUND(a, b, c, d);
    CARRICK_SIP_ROUND(a, b, c, d);
    return a ^ b ^ c ^ d;
}

#endif
