/* SPDX-License-Identifier: MIT */
/* Who of those that ask the relay may have which port. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/socket.h>

#include "apps/sockets.h"

/* The number at *text, which goes behind it. */
static bool access_number(const char **text, unsigned long most, unsigned long *number) {
    if (**text < '0' || **text > '9')
        return false;
    char *end;
    *number = strtoul(*text, &end, 10); /* ULONG_MAX for one that is too large */
    *text = end;
    return *number <= most;
}

static bool access_ports(struct relay *relay, const char **text, uint32_t uid) {
    unsigned long first, last;
    if (relay->rule_count == RELAY_RULES || !access_number(text, UINT16_MAX, &first))
        return false;
    last = first;
    if (**text == '-' && ((*text)++, !access_number(text, UINT16_MAX, &last)))
        return false;
    relay->rules[relay->rule_count++] = (struct relay_rule){uid, (uint16_t)first, (uint16_t)last};
    return first > 0 && last >= first;
}

static bool access_limit(struct relay *relay, const char **text, uint32_t uid) {
    unsigned long most;
    if (relay->user_limit_count == RELAY_RULES || !access_number(text, RELAY_LINKS, &most))
        return false;
    relay->user_limits[relay->user_limit_count++] = (struct relay_limit){uid, (uint32_t)most};
    return most > 0;
}

static bool access_owner(struct relay *relay, const char **text, uint32_t uid) {
    unsigned long owner;
    if (relay->owner_count == RELAY_RULES || !access_number(text, UINT16_MAX, &owner))
        return false;
    relay->owners[relay->owner_count++] = (struct relay_owner){uid, (uint32_t)owner};
    return true;
}

bool relay_rules(struct relay *relay, const char *text) {
    for (;; text++) {
        unsigned long uid;
        if (!access_number(&text, UINT32_MAX, &uid))
            return false;
        char what = *text;
        text += what != 0;
        bool read = what == ':'   ? access_ports(relay, &text, (uint32_t)uid)
                    : what == '#' ? access_limit(relay, &text, (uint32_t)uid)
                    : what == '=' ? access_owner(relay, &text, (uint32_t)uid)
                                  : false;
        if (!read || *text != ',')
            return read && *text == 0;
    }
}

uint32_t relay_owner(const struct relay *relay, uint32_t uid) {
    for (uint32_t i = 0; i < relay->owner_count; i++)
        if (relay->owners[i].uid == uid)
            return relay->owners[i].owner;
    return 0;
}

bool relay_may(const struct relay *relay, uint64_t asker, uint16_t port) {
    return relay_user_may(relay, relay_uid(relay, asker), port);
}

bool relay_user_may(const struct relay *relay, uint32_t uid, uint16_t port) {
    bool may = relay->rule_count == 0 || uid == 0 || port == 0;
    for (uint32_t i = 0; i < relay->rule_count && !may; i++) {
        const struct relay_rule *rule = &relay->rules[i];
        may = rule->uid == uid && rule->first <= port && port <= rule->last;
    }
    return may;
}

static bool is_link_local(struct carrick_ip6_address address) { /* fe80::/10, RFC 4291 section 2.5.6 */
    return address.high >> 54 == 0xfe80 >> 6;
}

bool relay_speaks(const struct relay *relay, const struct carrick_ask *ask) {
    struct carrick_ip6_address own = carrick_stack_address(relay->stack);
    if (carrick_address_is_ipv4(own))
        return !ask->only6 && (carrick_address_is_unspecified(ask->address) || carrick_address_is_ipv4(ask->address));
    /* Links other than the stack's have link-local addresses, too. The kernel reaches all of them. */
    return !carrick_address_is_ipv4(ask->address) && (!is_link_local(ask->address) || is_link_local(own));
}

bool relay_who(int fd, uint32_t *uid) {
    struct ucred who;
    socklen_t len = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0)
        return false;
    *uid = who.uid;
    return true;
}
