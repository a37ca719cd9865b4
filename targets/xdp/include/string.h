/* SPDX-License-Identifier: MIT */
/* What the runtime takes of the C library, of which a program in the kernel has nothing. */
#ifndef CARRICK_XDP_STRING_H
#define CARRICK_XDP_STRING_H

#define memcpy(to, from, n)  __builtin_memcpy(to, from, n)
#define memset(to, octet, n) __builtin_memset(to, octet, n)

#endif
