/* SPDX-License-Identifier: MIT */
/* What the runtime takes of the C library: claims are no part of a program in the kernel. */
#ifndef CARRICK_XDP_ASSERT_H
#define CARRICK_XDP_ASSERT_H

#define static_assert _Static_assert

#endif
