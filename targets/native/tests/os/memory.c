/* SPDX-License-Identifier: MIT */
/* Memory of processes: it is counted, goes with the process, and may be missing. */
#define _GNU_SOURCE
#include "carrick/base.h"
#include "tests/os/kernel.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HEAD 64u /* bytes before what is given, for the block */

static void block_free(struct os_memory *memory, struct os_block *block) {
    block->next->before = block->before;
    block->before->next = block->next;
    memory->count--;
    if (block->mapped) {
        CARRICK_PERMIT(block->start, block->mapped); /* it may be a core's, of a process that was killed */
        munmap(block->start, block->mapped);
        free(block);
    } else {
        free(block->start);
    }
}

void os_memory_begin(struct os_memory *memory) {
    memory->ring.next = memory->ring.before = &memory->ring;
    memory->count = 0;
}

void os_memory_end(struct os_memory *memory) {
    while (memory->ring.next != &memory->ring)
        block_free(memory, memory->ring.next);
}

static void *block_add(struct os_block *block, void *start, size_t mapped, void *given) {
    struct os_memory *memory = os_memory();
    *block = (struct os_block){memory->ring.next, &memory->ring, mapped, start};
    block->next->before = block;
    memory->ring.next = block;
    memory->count++;
    return given;
}

void *os_calloc(size_t count, size_t size) {
    errno = ENOMEM;
    if (os_no_memory())
        return NULL;
    uint8_t *start = calloc(1, count * size + HEAD);
    return start ? block_add((struct os_block *)(void *)start, start, 0, start + HEAD) : NULL;
}

void *os_aligned_alloc(size_t alignment, size_t size) {
    errno = ENOMEM;
    if (alignment > HEAD || os_no_memory())
        return NULL;
    uint8_t *start = aligned_alloc(HEAD, (size + HEAD + HEAD - 1) & ~(size_t)(HEAD - 1));
    return start ? block_add((struct os_block *)(void *)start, start, 0, start + HEAD) : NULL;
}

void os_free(void *memory) {
    if (!memory)
        return;
    struct os_block *block = (struct os_block *)(void *)((uint8_t *)memory - HEAD);
    block_free(os_memory(), block);
}

void *os_mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset) {
    errno = ENOMEM;
    struct os_block *block = os_no_memory() ? NULL : malloc(sizeof *block);
    void *start = block ? mmap(at, len, protection, flags, fd, offset) : MAP_FAILED;
    if (start == MAP_FAILED) {
        free(block);
        return MAP_FAILED;
    }
    return block_add(block, start, len, start);
}

int os_munmap(void *at, size_t len) {
    (void)len;
    for (struct os_block *block = os_memory()->ring.next; block != &os_memory()->ring; block = block->next)
        if (block->mapped && block->start == at) {
            block_free(os_memory(), block);
            return 0;
        }
    return os_fail(EINVAL);
}
