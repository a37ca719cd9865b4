/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "carrick/base.h"
#include "carrick/reserve.h"

/* Of none there is a byte, so that it is not taken for a failure. */
static size_t reserve_bytes(size_t count, size_t bytes_each) {
    return count == 0 || bytes_each == 0 ? 1 : count * bytes_each;
}

void *carrick_reserve(size_t count, size_t bytes_each) {
    if (bytes_each != 0 && count > SIZE_MAX / bytes_each)
        return NULL;
    void *memory = mmap(NULL, reserve_bytes(count, bytes_each), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void carrick_unreserve(void *memory, size_t count, size_t bytes_each) {
    if (!memory)
        return;
    CARRICK_PERMIT(memory, reserve_bytes(count, bytes_each));
    (void)munmap(memory, reserve_bytes(count, bytes_each));
}
