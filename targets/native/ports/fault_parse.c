/* SPDX-License-Identifier: MIT */
/* Reads what faults a wire shall have. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "carrick/port.h"

/* "2%" or "0.02". `error`: a number from 1 on needs a `%`, since others write 1 for one percent. */
static bool parse_probability(const char *text, double *out, struct carrick_port_error *error) {
    char *end;
    *out = strtod(text, &end);
    bool percent = end != text && *end == '%';
    if (end == text || end[percent] != 0)
        return false;
    if (!percent && *out == 1)
        snprintf(error->text, sizeof error->text, "`%.40s` is not clear as a share: write 1%% or 100%%.", text);
    else if (!percent && *out > 1 && *out <= 100)
        snprintf(error->text, sizeof error->text, "`%.40s` is not clear as a share: write %g%%.", text, *out);
    if (percent)
        *out /= 100;
    return *out >= 0 && *out <= 1 && !*error->text;
}

/* "10ms": a number and ns, us, ms or s; at most 100 s. */
static bool parse_duration(const char *text, uint64_t *out) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double ns = number * units[i].ns;
        if (end != text && strcmp(end, units[i].unit) == 0 && ns >= 0 && ns <= 1e11) {
            *out = (uint64_t)ns;
            return true;
        }
    }
    return false;
}

static bool parse_number(const char *text, uint64_t *out) {
    char *end;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0;
}

static bool parse_one(const char *name, const char *value, struct carrick_fault_config *config,
                      struct carrick_port_error *error) {
    if (strcmp(name, "loss") == 0)
        return parse_probability(value, &config->loss, error);
    if (strcmp(name, "reorder") == 0)
        return parse_probability(value, &config->reorder, error);
    if (strcmp(name, "dup") == 0 || strcmp(name, "duplicate") == 0)
        return parse_probability(value, &config->duplicate, error);
    if (strcmp(name, "corrupt") == 0)
        return parse_probability(value, &config->corrupt, error);
    if (strcmp(name, "mark") == 0)
        return parse_probability(value, &config->mark, error);
    if (strcmp(name, "delay") == 0)
        return parse_duration(value, &config->delay_ns);
    if (strcmp(name, "jitter") == 0)
        return parse_duration(value, &config->jitter_ns);
    return strcmp(name, "seed") == 0 && parse_number(value, &config->seed);
}

bool carrick_fault_parse(const char *text, struct carrick_fault_config *config, struct carrick_port_error *error) {
    char copy[256], *rest = NULL;
    *config = (struct carrick_fault_config){0};
    *error->text = 0;
    if (strlen(text) >= sizeof copy) {
        snprintf(error->text, sizeof error->text, "The list of faults is too long: take at most %zu letters.",
                 sizeof copy - 1);
        return false;
    }
    strcpy(copy, text);
    for (char *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(part, '=');
        if (equals)
            *equals = 0;
        if (equals && parse_one(part, equals + 1, config, error))
            continue;
        if (!*error->text)
            snprintf(error->text, sizeof error->text,
                     "The fault `%.60s` is none: write loss=1%%, reorder=2%%, dup=1%%, corrupt=0.1%%, mark=5%%, "
                     "delay=10ms, jitter=1ms or seed=7.",
                     part);
        return false;
    }
    return true;
}
