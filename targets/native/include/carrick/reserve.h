/* SPDX-License-Identifier: MIT */
/*
 * Memory for as many of something as there can ever be. It is zero, and costs nothing until it is touched: the kernel
 * provides a page at its first use, and does not count what is reserved against the machine's memory.
 */
#ifndef CARRICK_RESERVE_H
#define CARRICK_RESERVE_H

#include <stddef.h>

/* NULL: not available. */
void *carrick_reserve(size_t count, size_t bytes_each);
/* The same count and size as above; NULL is harmless. */
void carrick_unreserve(void *memory, size_t count, size_t bytes_each);

#endif
