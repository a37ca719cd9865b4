/* SPDX-License-Identifier: MIT */
/* The simulated system has no network namespaces and no cgroups. */
#include "apps/space.h"

bool os_carrick_space_open(struct space *space, enum space_kind kind, const char *name, struct carrick_ip6_address own,
                           struct carrick_port_error *error);
void os_carrick_space_close(struct space *space);

bool os_carrick_space_open(struct space *space, enum space_kind kind, const char *name, struct carrick_ip6_address own,
                           struct carrick_port_error *error) {
    (void)space, (void)kind, (void)own;
    snprintf(error->text, sizeof error->text, "There is no `%.60s`.", name);
    return false;
}

void os_carrick_space_close(struct space *space) {
    (void)space;
}
