/* SPDX-License-Identifier: MIT */
/* Reads what faults a wire shall have. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "carrick/port.h"

/* "2%" or "0.02". */
static bool parse_probability(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '%') {
        *out /= 100;
        end++;
    }
    return end != text && *end == 0 && *out >= 0 && *out <= 1;
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

static bool parse_one(const char *name, const char *value, struct carrick_fault_config *config) {
    if (strcmp(name, "loss") == 0)
        return parse_probability(value, &config->loss);
    if (strcmp(name, "reorder") == 0)
        return parse_probability(value, &config->reorder);
    if (strcmp(name, "dup") == 0 || strcmp(name, "duplicate") == 0)
        return parse_probability(value, &config->duplicate);
    if (strcmp(name, "corrupt") == 0)
        return parse_probability(value, &config->corrupt);
    if (strcmp(name, "mark") == 0)
        return parse_probability(value, &config->mark);
    if (strcmp(name, "delay") == 0)
        return parse_duration(value, &config->delay_ns);
    if (strcmp(name, "jitter") == 0)
        return parse_duration(value, &config->jitter_ns);
    return strcmp(name, "seed") == 0 && parse_number(value, &config->seed);
}

bool carrick_fault_parse(const char *text, struct carrick_fault_config *config, struct carrick_port_error *error) {
    char copy[256], *rest = NULL;
    *config = (struct carrick_fault_config){0};
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
        if (!equals || !parse_one(part, equals + 1, config)) {
            snprintf(error->text, sizeof error->text,
                     "The fault `%.60s` is none: write loss=1%%, reorder=2%%, dup=1%%, corrupt=0.1%%, mark=5%%, "
                     "delay=10ms, jitter=1ms or seed=7.",
                     part);
            return false;
        }
    }
    return true;
}
