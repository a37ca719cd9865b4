/* SPDX-License-Identifier: MIT */
/*
 * Who has how many of the relay's places. Where nothing else is said, nobody but root has more than are left: whoever
 * takes what there is gets half of it, the next one half of the rest, and whoever comes finds some.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#include "apps/sockets.h"

static struct relay_user *user_of(struct relay *relay, uint32_t uid) {
    for (uint32_t i = 0; i < relay->user_count; i++)
        if (relay->users[i].uid == uid)
            return &relay->users[i];
    return NULL;
}

static struct relay_user *user_begin(struct relay *relay, uint32_t uid) {
    struct relay_user *user = user_of(relay, uid);
    if (user || relay->user_count == RELAY_USERS)
        return user;
    user = &relay->users[relay->user_count++];
    *user = (struct relay_user){.uid = uid};
    return user;
}

/* As many as a user may have in any case. */
static uint32_t share_most(const struct relay *relay, enum relay_share share, uint32_t uid) {
    for (uint32_t i = 0; i < relay->user_limit_count && share == RELAY_CONNECTIONS; i++)
        if (relay->user_limits[i].uid == uid)
            return relay->user_limits[i].most;
    return uid == 0 ? UINT32_MAX : 0;
}

int relay_may_take(struct relay *relay, enum relay_share share, uint32_t uid, uint32_t count) {
    const struct relay_user *user = user_of(relay, uid);
    uint32_t left = relay->left[share], most = share_most(relay, share, uid);
    uint64_t wanted = (uint64_t)(user ? user->held[share] : 0) + count;
    if (count > left)
        return ENOBUFS;
    return wanted <= (most ? most : left) ? 0 : EMFILE;
}

int relay_take(struct relay *relay, enum relay_share share, uint32_t uid, uint32_t count) {
    int error = relay_may_take(relay, share, uid, count);
    struct relay_user *user = error ? NULL : user_begin(relay, uid);
    if (!user) {
        relay->refused[error == EMFILE ? RELAY_REFUSED_SHARE : RELAY_REFUSED_FULL]++;
        return error ? error : ENOBUFS;
    }
    user->held[share] += count;
    relay->left[share] -= count;
    return 0;
}

void relay_give(struct relay *relay, enum relay_share share, uint32_t uid, uint32_t count) {
    struct relay_user *user = user_of(relay, uid);
    if (!user)
        return;
    user->held[share] -= count;
    relay->left[share] += count;
    if (user->held[RELAY_CONNECTIONS] == 0 && user->held[RELAY_LISTENERS] == 0 && user->held[RELAY_DATAGRAMS] == 0)
        *user = relay->users[--relay->user_count];
}

uint32_t relay_backlog(struct relay *relay, uint32_t uid, uint32_t wanted) {
    /* What root lets wait is counted when it is accepted, as ever. */
    if (uid == 0)
        return 0;
    uint32_t most = relay->left[RELAY_CONNECTIONS] / RELAY_BACKLOG_PART;
    wanted = wanted < most ? wanted : most;
    /* At most half of what the user may still have: the other half is for connections that it opens. */
    while (wanted > 1 && relay_may_take(relay, RELAY_CONNECTIONS, uid, 2 * wanted))
        wanted /= 2;
    return wanted ? wanted : 1;
}

void relay_print_refused(const struct relay *relay, FILE *out) {
    static const char *const names[RELAY_REFUSALS] = {"sockets_refused_share", "sockets_refused_full",
                                                      "sockets_refused_port", "sockets_refused_owner"};
    for (int why = 0; why < RELAY_REFUSALS; why++)
        if (relay->refused[why])
            fprintf(out, "%-20s %llu\n", names[why], (unsigned long long)relay->refused[why]);
}
