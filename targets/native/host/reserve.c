/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "carrick/reserve.h"

void *carrick_reserve(size_t count, size_t bytes_each) {
    if (count == 0 || bytes_each == 0 || count > SIZE_MAX / bytes_each)
        return NULL;
    void *memory =
        mmap(NULL, count * bytes_each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void carrick_unreserve(void *memory, size_t count, size_t bytes_each) {
    if (memory)
        (void)munmap(memory, count * bytes_each);
}
