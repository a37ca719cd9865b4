/* SPDX-License-Identifier: MIT */
/* Parameters by name, with the units of the language. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/stack.h"

static const struct {
    const char *unit;
    uint64_t factor;
} units[] = {
    {"", 1},
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"min", 60000000000},
    {"h", 3600000000000},
    {"B", 1},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"KiB", 1024},
    {"MiB", 1048576},
    {"GiB", 1073741824},
    {"bps", 1},
    {"Kbps", 1000},
    {"Mbps", 1000000},
    {"Gbps", 1000000000},
};

bool carrick_param_parse(const char *text, uint64_t *value) {
    bool yes = strcmp(text, "true") == 0;
    if (yes || strcmp(text, "false") == 0) {
        *value = yes;
        return true;
    }
    bool negative = *text == '-';
    text += negative;
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 0);
    for (size_t i = 0; errno == 0 && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) != 0)
            continue;
        if (number > UINT64_MAX / units[i].factor)
            return false;
        number *= units[i].factor;
        *value = negative ? (uint64_t)0 - number : number;
        return true;
    }
    return false;
}

/* Which of the units a kind of parameter is shown in, the largest that leaves nothing over. */
static bool unit_measures(const char *kind, size_t at) {
    const char *unit = units[at].unit;
    if (strcmp(kind, "ns") == 0)
        return at >= 1 && at <= 6;
    if (strcmp(kind, "B") == 0)
        return strcmp(unit, "B") == 0 || strstr(unit, "iB") != NULL;
    return strcmp(kind, "bps") == 0 && strstr(unit, "bps") != NULL;
}

void carrick_param_show(const struct carrick_param_info *info, uint64_t value, char *text, size_t size) {
    bool negative = info->is_signed && (int64_t)value < 0;
    uint64_t number = negative ? (uint64_t)0 - value : value;
    size_t best = 0;
    for (size_t i = 1; i < sizeof units / sizeof units[0]; i++)
        if (unit_measures(info->unit, i) && (best == 0 || (number != 0 && number % units[i].factor == 0)))
            best = i;
    if (strcmp(info->unit, "bool") == 0)
        snprintf(text, size, "%s", value ? "true" : "false");
    else
        snprintf(text, size, "%s%llu%s", negative ? "-" : "", (unsigned long long)(number / units[best].factor),
                 units[best].unit);
}

static bool param_in_range(const struct carrick_param_info *info, uint64_t value) {
    if (info->is_signed)
        return (int64_t)value >= (int64_t)info->lo && (int64_t)value <= (int64_t)info->hi;
    return value >= info->lo && value <= info->hi;
}

static bool param_set(const struct carrick_program *program, const char *setting, uint64_t *values,
                      struct carrick_port_error *error) {
    const char *equals = strchr(setting, '=');
    size_t len = equals ? (size_t)(equals - setting) : strlen(setting);
    for (uint32_t i = 0; i < program->param_count; i++) {
        const struct carrick_param_info *info = &program->params[i];
        if (strlen(info->name) != len || memcmp(info->name, setting, len) != 0)
            continue;
        if (equals && carrick_param_parse(equals + 1, &values[i]) && param_in_range(info, values[i]))
            return true;
        char lo[32], hi[32];
        carrick_param_show(info, info->lo, lo, sizeof lo);
        carrick_param_show(info, info->hi, hi, sizeof hi);
        snprintf(error->text, sizeof error->text, "The setting `%.60s` is outside the parameter's range %s..%s.",
                 setting, lo, hi);
        return false;
    }
    snprintf(error->text, sizeof error->text, "The program has no parameter `%.*s`: --help lists those that it has.",
             (int)len, setting);
    return false;
}

bool carrick_params_apply(const struct carrick_program *program, const char *const *settings, uint64_t *values,
                          struct carrick_port_error *error) {
    for (uint32_t i = 0; i < program->param_count; i++)
        values[i] = program->params[i].initial;
    for (; settings && *settings; settings++)
        if (!param_set(program, *settings, values, error))
            return false;
    const char *unmet = program->unmet ? program->unmet(&(struct carrick_config){.params = values}) : NULL;
    if (unmet)
        snprintf(error->text, sizeof error->text, "The settings do not meet what the program requires: `%.120s`.",
                 unmet);
    return !unmet;
}
