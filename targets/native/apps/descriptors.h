/* SPDX-License-Identifier: MIT */
#ifndef CARRICK_APPS_DESCRIPTORS_H
#define CARRICK_APPS_DESCRIPTORS_H

#include <stdint.h>

/* Raises the limit of open descriptors (RLIMIT_NOFILE) as far as `count` of `what` with one each need it. Returns for
 * how many it is enough, at least 1; prints on standard error, for `who`, where those are fewer. */
uint32_t carrick_descriptors_for(const char *who, const char *what, uint32_t count);

#endif
