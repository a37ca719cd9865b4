/* SPDX-License-Identifier: MIT */
/* Reads what faults a wire shall have. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "carrick/port.h"

/* What a fault is, and where it goes. */
struct fault {
    const char *name;
    size_t at;
    enum { SHARE, TIME, NUMBER } kind;
};

static const struct fault faults[] = {
    {"loss", offsetof(struct carrick_fault_config, loss), SHARE},
    {"reorder", offsetof(struct carrick_fault_config, reorder), SHARE},
    {"dup", offsetof(struct carrick_fault_config, duplicate), SHARE},
    {"duplicate", offsetof(struct carrick_fault_config, duplicate), SHARE},
    {"corrupt", offsetof(struct carrick_fault_config, corrupt), SHARE},
    {"mark", offsetof(struct carrick_fault_config, mark), SHARE},
    {"delay", offsetof(struct carrick_fault_config, delay_ns), TIME},
    {"jitter", offsetof(struct carrick_fault_config, jitter_ns), TIME},
    {"seed", offsetof(struct carrick_fault_config, seed), NUMBER},
};
#define FAULTS (sizeof faults / sizeof faults[0])

/* A decimal number without a sign. Returns its end; NULL: it is none. */
static const char *parse_decimal(const char *text, double *number) {
    char *end;
    if (*text < '0' || *text > '9' || strpbrk(text, "xX"))
        return NULL; /* strtod() also reads 0x10 and nan */
    *number = strtod(text, &end);
    return end;
}

/* "2%" or "0.02". Returns how to write it; NULL: it is that. `error`: a number from 1 on needs a `%`, since others
 * write 1 for one percent. */
static const char *parse_share(const char *text, double *out, struct carrick_port_error *error) {
    static const char wanted[] = "a share from 0% to 100%, as in 1% or 0.01";
    const char *end = parse_decimal(text, out);
    bool percent = end && *end == '%';
    if (!end || end[percent] != 0)
        return wanted;
    if (!percent && *out == 1)
        snprintf(error->text, sizeof error->text, "`%.40s` is not clear as a share: write 1%% or 100%%.", text);
    else if (!percent && *out > 1 && *out <= 100)
        snprintf(error->text, sizeof error->text, "`%.40s` is not clear as a share: write %g%%.", text, *out);
    if (percent)
        *out /= 100;
    return *out <= 1 && !*error->text ? NULL : wanted;
}

static const char *parse_duration(const char *text, uint64_t *out) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double number = 0;
    const char *end = parse_decimal(text, &number);
    for (size_t i = 0; end && i < sizeof units / sizeof units[0]; i++) {
        double ns = number * units[i].ns;
        if (strcmp(end, units[i].unit) == 0 && ns <= 1e11) {
            *out = (uint64_t)ns;
            return NULL;
        }
    }
    return "a time up to 100s with its unit (ns, us, ms, s), as in 10ms";
}

static const char *parse_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0 && errno == 0 ? NULL : "a number, as in 7";
}

/* Returns what to write instead of this value; NULL: nothing. */
static const char *parse_value(const struct fault *fault, const char *value, struct carrick_fault_config *config,
                               struct carrick_port_error *error) {
    void *out = (char *)config + fault->at;
    return fault->kind == SHARE  ? parse_share(value, out, error)
           : fault->kind == TIME ? parse_duration(value, out)
                                 : parse_number(value, out);
}

static const struct fault *find_fault(const char *name) {
    for (size_t i = 0; i < FAULTS; i++)
        if (strcmp(faults[i].name, name) == 0)
            return &faults[i];
    return NULL;
}

/* One of the list, whose value is behind its name. `given`: a bit for each place of `config` that has its value. */
static bool parse_one(const char *name, const char *value, struct carrick_fault_config *config, uint32_t *given,
                      struct carrick_port_error *error) {
    const struct fault *fault = find_fault(name);
    if (!fault || !value) {
        snprintf(error->text, sizeof error->text,
                 "The fault `%.60s` is none: write loss=1%%, reorder=2%%, dup=1%%, corrupt=0.1%%, mark=5%%, "
                 "delay=10ms, jitter=1ms or seed=7.",
                 name);
        return false;
    }
    uint32_t place = 1u << fault->at / sizeof(uint64_t);
    if (*given & place) {
        snprintf(error->text, sizeof error->text, "The fault `%.60s` is given twice: write it once.", name);
        return false;
    }
    *given |= place;
    const char *wanted = parse_value(fault, value, config, error);
    if (wanted && !*error->text)
        snprintf(error->text, sizeof error->text, "The fault `%.40s=%.60s`: write %s.", name, value, wanted);
    return !wanted;
}

bool carrick_fault_parse(const char *text, struct carrick_fault_config *config, struct carrick_port_error *error) {
    char copy[256], *rest = copy;
    uint32_t given = 0;
    *config = (struct carrick_fault_config){0};
    *error->text = 0;
    if (strlen(text) >= sizeof copy) {
        snprintf(error->text, sizeof error->text, "The list of faults is too long: take at most %zu letters.",
                 sizeof copy - 1);
        return false;
    }
    strcpy(copy, text);
    for (char *part; (part = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(part, '=');
        if (value)
            *value++ = 0;
        if (!parse_one(part, value, config, &given, error))
            return false;
    }
    return true;
}
