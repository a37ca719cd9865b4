/* SPDX-License-Identifier: MIT */
/* Parameters by name, with the units of the language. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carrick/base.h"
#include "host/stack.h"

/* The units of a kind of value, from the smallest on. */
struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit times[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}, {NULL, 0}};
static const struct unit rates[] = {{"bps", 1}, {"Kbps", 1000}, {"Mbps", 1000000}, {"Gbps", 1000000000}, {NULL, 0}};
static const struct unit sizes[] = {{"B", 1},     {"KiB", 1024},   {"MiB", 1048576},   {"GiB", 1073741824},
                                    {"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000}, {"", 1},
                                    {NULL, 0}};
#define SHOWN_SIZES 4u /* the others only read */

static bool is_of(const char *unit, const char *kind) {
    return strcmp(unit, kind) == 0;
}

/* Plain numbers are often of bytes, too. */
static const struct unit *units_of(const char *unit) {
    return is_of(unit, "ns") ? times : is_of(unit, "bps") ? rates : sizes;
}

const char *carrick_param_wanted(const char *unit) {
    return is_of(unit, "ns")     ? "a time with its unit (ns, us, ms, s, min, h), as in 200ms"
           : is_of(unit, "bps")  ? "a rate with its unit (bps, Kbps, Mbps, Gbps), as in 100Mbps"
           : is_of(unit, "bool") ? "true or false"
           : is_of(unit, "B")    ? "a number of bytes, as in 1500 or 64KiB"
                                 : "a number, as in 5, 64KiB or 10.0.0.1";
}

static bool parse_truth(const char *text, uint64_t *value) {
    *value = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    return *value || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

/* Dotted: a plain number may be one. */
static bool parse_ipv4(const char *text, uint64_t *value) {
    uint8_t octets[4];
    if (inet_pton(AF_INET, text, octets) != 1)
        return false;
    *value = carrick_load32(octets);
    return true;
}

bool carrick_param_parse(const char *unit, const char *text, uint64_t *value) {
    if (is_of(unit, "bool"))
        return parse_truth(text, value);
    if (is_of(unit, "") && parse_ipv4(text, value))
        return true;
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (errno != 0)
        return false;
    *value = 0;
    if (number == 0 && *end == 0)
        return true;
    const struct unit *of = units_of(unit);
    while (of->name && strcmp(end, of->name) != 0)
        of++;
    *value = of->name ? number * of->factor : 0;
    return of->name && number <= UINT64_MAX / of->factor;
}

void carrick_param_show(const struct carrick_param_info *info, uint64_t value, char *text, size_t size) {
    bool negative = info->is_signed && (int64_t)value < 0;
    uint64_t number = negative ? (uint64_t)0 - value : value;
    const struct unit *of = units_of(info->unit), *best = of;
    for (uint32_t i = 0; of[i].name && (of != sizes || i < SHOWN_SIZES); i++)
        if (number != 0 && number % of[i].factor == 0)
            best = &of[i]; /* the largest that leaves nothing over */
    if (is_of(info->unit, "bool"))
        snprintf(text, size, "%s", value ? "true" : "false");
    else if (is_of(info->unit, ""))
        snprintf(text, size, "%s%llu", negative ? "-" : "", (unsigned long long)number);
    else
        snprintf(text, size, "%s%llu%s", negative ? "-" : "", (unsigned long long)(number / best->factor), best->name);
}

/* Only a signed parameter may have a sign. */
static bool param_read(const struct carrick_param_info *info, const char *text, uint64_t *value) {
    bool negative = info->is_signed && *text == '-';
    if (!carrick_param_parse(info->unit, text + negative, value))
        return false;
    bool fits = !info->is_signed || *value <= (uint64_t)INT64_MAX + negative;
    *value = negative ? (uint64_t)0 - *value : *value;
    return fits;
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
        if (!equals || !param_read(info, equals + 1, &values[i])) {
            snprintf(error->text, sizeof error->text, "The setting `%.60s` has no value of its parameter: write %s.",
                     setting, carrick_param_wanted(info->unit));
            return false;
        }
        if (param_in_range(info, values[i]))
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

/* A setting before this one that is of the same parameter, or NULL. */
static const char *set_before(const char *const *settings, const char *const *setting) {
    size_t len = strcspn(*setting, "=");
    for (; settings < setting; settings++)
        if (strcspn(*settings, "=") == len && memcmp(*settings, *setting, len) == 0)
            return *settings;
    return NULL;
}

bool carrick_params_apply(const struct carrick_program *program, const char *const *settings, uint64_t *values,
                          struct carrick_port_error *error) {
    for (uint32_t i = 0; i < program->param_count; i++)
        values[i] = program->params[i].initial;
    for (const char *const *setting = settings; setting && *setting; setting++) {
        const char *before = set_before(settings, setting);
        if (before) {
            snprintf(error->text, sizeof error->text, "%.60s and %.60s set one parameter: leave one of them out.",
                     before, *setting);
            return false;
        }
        if (!param_set(program, *setting, values, error))
            return false;
    }
    const char *unmet = program->unmet ? program->unmet(&(struct carrick_config){.params = values}) : NULL;
    if (unmet)
        snprintf(error->text, sizeof error->text, "The settings do not meet what the program requires: `%.120s`.",
                 unmet);
    return !unmet;
}
