/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "apps/offload.h"

#define SETTINGS   "service, ratio, intercept, workers, buffer, longest, socket and within"
#define RATIO_MOST 16.0
#define HOUR       UINT64_C(3600000000000)

/* A decimal number, least..most, with `unit` behind it. */
static bool read_decimal(const char *text, const char *unit, double least, double most, double *number) {
    char *end;
    if (strspn(text, "0123456789.") + strlen(unit) != strlen(text))
        return false; /* strtod() also reads 0x10 and 1e9 */
    *number = strtod(text, &end);
    return *text >= '0' && *text <= '9' && strcmp(end, unit) == 0 && *number >= least && *number <= most;
}

/* `0.7..1.3`, or one number for both. */
static bool read_ratio(const char *text, double ratio[2]) {
    char least[32];
    const char *dots = strstr(text, "..");
    size_t len = dots ? (size_t)(dots - text) : strlen(text);
    if (len >= sizeof least)
        return false;
    memcpy(least, text, len);
    least[len] = 0;
    return read_decimal(least, "", 0, RATIO_MOST, &ratio[0]) &&
           read_decimal(dots ? dots + 2 : least, "", ratio[0], RATIO_MOST, &ratio[1]);
}

/* A value of a kind (carrick_param_parse), least..most. */
static bool read_quantity(const char *unit, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    return carrick_param_parse(unit, text, value) && *value >= least && *value <= most;
}

static bool read_bytes(const char *text, uint32_t most, uint32_t *number) {
    uint64_t value;
    bool fits = read_quantity("B", text, 1, most, &value);
    *number = (uint32_t)value;
    return fits;
}

static bool read_service(const char *text, struct offload_settings *settings) {
    static const char exponential[] = "exponential:";
    settings->exponential = strncmp(text, exponential, sizeof exponential - 1) == 0;
    return read_quantity("ns", text + (settings->exponential ? sizeof exponential - 1 : 0), 0, HOUR,
                         &settings->service);
}

/* What a setting has to be; NULL: it is that. */
static const char *read_setting(const char *name, const char *value, struct offload_settings *settings) {
    if (strcmp(name, "service") == 0)
        return read_service(value, settings) ? NULL : "a time, as in 12us or exponential:12us";
    if (strcmp(name, "ratio") == 0)
        return read_ratio(value, settings->ratio) ? NULL : "multiples of the length up to 16, as in 0.7..1.3";
    if (strcmp(name, "intercept") == 0) {
        bool fits = read_decimal(value, "%", 0, 100, &settings->intercept);
        settings->intercept /= 100;
        return fits ? NULL : "a share, as in 50%";
    }
    if (strcmp(name, "workers") == 0)
        return carrick_parse_number(value, 1, OFFLOAD_WORKERS, &settings->workers) ? NULL : "a number from 1 to 256";
    if (strcmp(name, "buffer") == 0)
        return read_bytes(value, UINT32_MAX, &settings->buffer) ? NULL : "a number of bytes, as in 32KiB";
    if (strcmp(name, "longest") == 0)
        return read_bytes(value, OFFLOAD_LONGEST, &settings->longest) ? NULL : "a number of bytes up to 1MiB";
    if (strcmp(name, "within") == 0)
        return read_quantity("ns", value, 1, HOUR, &settings->within) ? NULL : "a time up to 1h, as in 50ms";
    if (strcmp(name, "socket") == 0) {
        size_t len = strlen(value);
        if (len == 0 || len >= sizeof settings->path)
            return "a path of 1 to 107 letters";
        memcpy(settings->path, value, len + 1);
        return NULL;
    }
    return "one of the settings " SETTINGS;
}

/* A process decides alone. */
static const char *check(const struct offload_settings *settings) {
    bool models = settings->service || settings->ratio[0] != 1 || settings->ratio[1] != 1 || settings->intercept > 0;
    if (!settings->path[0])
        return NULL;
    if (models)
        return "service, ratio and intercept describe the built-in function: leave them out, or leave out socket";
    if (settings->longest > CARRICK_OFFLOAD_LONGEST)
        return "a message for a process has at most 192 KiB: lower longest";
    return NULL;
}

bool offload_settings_read(const char *text, struct offload_settings *settings, struct carrick_port_error *error) {
    char copy[512], *rest = NULL;
    *settings =
        (struct offload_settings){.ratio = {1, 1}, .workers = 1, .buffer = 65536, .longest = 65536, .within = 50000000};
    if (strlen(text) >= sizeof copy) {
        snprintf(error->text, sizeof error->text, "offload: the settings have more than 511 letters.");
        return false;
    }
    strcpy(copy, text);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, '=');
        if (value)
            *value++ = 0;
        const char *want = read_setting(word, value ? value : "", settings);
        if (want) {
            snprintf(error->text, sizeof error->text, "offload: `%.40s=%.60s`: write %s.", word, value ? value : "",
                     want);
            return false;
        }
    }
    const char *wrong = check(settings);
    if (wrong)
        snprintf(error->text, sizeof error->text, "offload: %s.", wrong);
    return wrong == NULL;
}
