/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "apps/apps.h"

bool carrick_parse_port(const char *text, uint16_t *port) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long n = strtoul(text, &end, 10);
    *port = (uint16_t)n;
    return *end == 0 && n >= 1 && n <= 65535;
}

bool carrick_parse_address(const char *text, size_t len, uint32_t *address) {
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
