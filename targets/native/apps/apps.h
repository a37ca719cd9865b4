/* SPDX-License-Identifier: MIT */
/*
 * The applications of a host executable. Each stands on carrick/app.h alone, takes all its memory when it starts, and
 * ends the run with carrick_stack_stop when it is done.
 */
#ifndef CARRICK_APPS_APPS_H
#define CARRICK_APPS_APPS_H

#include "carrick/app.h"

struct carrick_application {
    const char *name;
    const char *usage; /* "echo[:PORT]" */
    /* NULL: `error` says why. `argument` is what follows the name and a colon, "" if nothing does. */
    void *(*start)(struct carrick_stack *stack, const char *argument, struct carrick_port_error *error);
    void (*finish)(void *state);
    bool files;    /* opens files while it runs */
    bool removes;  /* removes a file that it made, when it finishes */
    bool connects; /* connects sockets that it is given */
    bool ends;     /* ends by itself: a signal before that is a failure */
};

extern const struct carrick_application carrick_echo_application;
extern const struct carrick_application carrick_http_application;
extern const struct carrick_application carrick_get_application;
extern const struct carrick_application carrick_memory_application;
extern const struct carrick_application carrick_load_application;
extern const struct carrick_application carrick_messages_application;
extern const struct carrick_application carrick_kv_application;
extern const struct carrick_application carrick_kvload_application;
extern const struct carrick_application carrick_perf_application;
extern const struct carrick_application carrick_script_application;
extern const struct carrick_application carrick_sockets_application;
extern const struct carrick_application carrick_offload_application;

/* Exit codes of an executable. */
enum carrick_exit { CARRICK_EXIT_OK = 0, CARRICK_EXIT_FAILED = 1, CARRICK_EXIT_USAGE = 2, CARRICK_EXIT_MISSING = 3 };

/* Reads a decimal port, 1..65535. */
bool carrick_parse_port(const char *text, uint16_t *port);
/* Reads a dotted IPv4 address of `len` letters. */
bool carrick_parse_ipv4(const char *text, size_t len, uint32_t *address);

/* Reads an address of either version of `len` letters. One of IPv6 may be in brackets, as in `[fd00::1]`. */
bool carrick_parse_address(const char *text, size_t len, struct carrick_ip6_address *address);

#define CARRICK_ADDRESS_TEXT 46

void carrick_show_address(struct carrick_ip6_address address, char text[CARRICK_ADDRESS_TEXT]);
/* Reads a decimal number, least..most. */
bool carrick_parse_number(const char *text, uint32_t least, uint32_t most, uint32_t *number);
/* PORT, or PORT:NUMBER with a number up to `most`, which stays what it is otherwise. */
bool carrick_parse_port_and(const char *argument, uint16_t *port, uint32_t most, uint32_t *number);
/* The words between colons, of which there must be so many; they lie in `text`. */
bool carrick_parse_words(const char *argument, char *text, size_t size, char **words, uint32_t count);

#endif
