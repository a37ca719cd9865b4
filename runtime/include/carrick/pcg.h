/* SPDX-License-Identifier: MIT */
/* A step of PCG32 (O'Neill, XSH-RR 64/32), wherever its state is. */
#ifndef CARRICK_PCG_H
#define CARRICK_PCG_H

#include "carrick/bounds.h"

CARRICK_INLINE uint64_t carrick_pcg_step(uint64_t state, uint64_t increment) {
    return state * 6364136223846793005u + increment;
}

/* What a state gives. */
CARRICK_INLINE uint32_t carrick_pcg_output(uint64_t state) {
    uint32_t shifted = (uint32_t)(((state >> 18) ^ state) >> 27), turn = (uint32_t)(state >> 59);
    return (shifted >> turn) | (shifted << ((32u - turn) & 31u));
}

#endif
