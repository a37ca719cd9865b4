/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"
#include "carrick/base.h"

bool carrick_parse_number(const char *text, uint32_t least, uint32_t most, uint32_t *number) {
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *number = (uint32_t)n;
    return *text >= '0' && *text <= '9' && *end == 0 && n >= least && n <= most;
}

bool carrick_parse_port(const char *text, uint16_t *port) {
    uint32_t number;
    bool known = carrick_parse_number(text, 1, 65535, &number);
    *port = (uint16_t)number;
    return known;
}

bool carrick_parse_port_and(const char *argument, uint16_t *port, uint32_t most, uint32_t *number) {
    char text[32], *words[2];
    if (!strchr(argument, ':'))
        return carrick_parse_port(argument, port);
    return carrick_parse_words(argument, text, sizeof text, words, 2) && carrick_parse_port(words[0], port) &&
           carrick_parse_number(words[1], 1, most, number);
}

/* The first colon that is not within the brackets of an IPv6 address; NULL: there is none. */
static char *carrick_find_colon(char *text) {
    return strchr(text + (text[0] == '[' ? strcspn(text, "]") : 0), ':');
}

bool carrick_parse_words(const char *argument, char *text, size_t size, char **words, uint32_t count) {
    uint32_t found = 1;
    if (strlen(argument) >= size)
        return false;
    strcpy(text, argument);
    words[0] = text;
    for (char *colon; (colon = carrick_find_colon(words[found - 1])) != NULL; found++) {
        if (found == count)
            return false;
        *colon = 0;
        words[found] = colon + 1;
    }
    return found == count;
}

bool carrick_parse_ipv4(const char *text, size_t len, uint32_t *address) {
    uint32_t parts = 0, value = 0;
    size_t i = 0;
    while (parts < 4) {
        uint32_t part = 0, digits = 0;
        for (; i < len && text[i] >= '0' && text[i] <= '9' && digits < 4; i++, digits++)
            part = part * 10 + (uint32_t)(text[i] - '0');
        if (digits == 0 || part > 255)
            return false;
        value = value << 8 | part;
        if (++parts < 4 && (i >= len || text[i++] != '.'))
            return false;
    }
    *address = value;
    return i == len;
}

bool carrick_parse_address(const char *text, size_t len, struct carrick_ip6_address *address) {
    char six[INET6_ADDRSTRLEN];
    struct in6_addr octets;
    uint32_t four;
    if (carrick_parse_ipv4(text, len, &four)) {
        *address = carrick_address_of_ipv4(four);
        return true;
    }
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    if (len >= sizeof six)
        return false;
    memcpy(six, text, len);
    six[len] = 0;
    if (inet_pton(AF_INET6, six, &octets) != 1)
        return false;
    *address = (struct carrick_ip6_address){carrick_load64(octets.s6_addr), carrick_load64(octets.s6_addr + 8)};
    return !carrick_address_is_ipv4(*address);
}

void carrick_show_address(struct carrick_ip6_address address, char text[CARRICK_ADDRESS_TEXT]) {
    uint8_t octets[16];
    carrick_store64(octets, address.high);
    carrick_store64(octets + 8, address.low);
    bool four = carrick_address_is_ipv4(address);
    (void)inet_ntop(four ? AF_INET : AF_INET6, four ? octets + 12 : octets, text, CARRICK_ADDRESS_TEXT);
}
