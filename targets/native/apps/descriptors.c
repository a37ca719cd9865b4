/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "apps/descriptors.h"

#include <stdio.h>
#include <sys/resource.h>

#define OTHER_DESCRIPTORS 256u /* of ports, listeners, those that ask, and pairs whose other end is passed on */

uint32_t carrick_descriptors_for(const char *who, const char *what, uint32_t count) {
    struct rlimit limit;
    rlim_t wanted = (rlim_t)count + OTHER_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return count;
    /* Only a privileged process may raise the second of the two limits. */
    struct rlimit raised = {wanted, limit.rlim_max > wanted ? limit.rlim_max : wanted};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
        return count;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur == wanted)
        return count;
    uint32_t enough = limit.rlim_cur > OTHER_DESCRIPTORS ? (uint32_t)limit.rlim_cur - OTHER_DESCRIPTORS : 1;
    fprintf(stderr,
            "%s: the descriptors of this process are enough for %u of %u %s, and more are refused. Raise their "
            "limit (ulimit -n, LimitNOFILE=) to %llu.\n",
            who, enough, count, what, (unsigned long long)wanted);
    return enough;
}
