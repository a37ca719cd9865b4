/* SPDX-License-Identifier: MIT */
/* The simulated system has no network namespaces. */
#include "apps/space.h"

bool os_carrick_space_open(struct space *space, const char *name, struct carrick_ip6_address own,
                           struct carrick_port_error *error);
void os_carrick_space_close(struct space *space);

bool os_carrick_space_open(struct space *space, const char *name, struct carrick_ip6_address own,
                           struct carrick_port_error *error) {
    (void)space, (void)own;
    snprintf(error->text, sizeof error->text, "There is no network namespace `%.60s`.", name);
    return false;
}

void os_carrick_space_close(struct space *space) {
    (void)space;
}
