/* SPDX-License-Identifier: MIT */
/* The command line of a host executable. */
#ifndef CARRICK_APPS_OPTIONS_H
#define CARRICK_APPS_OPTIONS_H

#include "apps/apps.h"
#include "apps/program_table.h"

#define CARRICK_SETTINGS 64

struct carrick_options {
    const struct carrick_program_table *here;
    const struct carrick_program *program; /* the one there */
    const char *ports[CARRICK_INTERFACES]; /* as given */
    uint32_t port_count;
    bool middlebox;      /* the program is one in the network */
    const char *apps[2]; /* as given; the second one only for the memory port */
    const struct carrick_application *applications[2];
    uint32_t app_count;
    const char *pcap;    /* NULL: none */
    const char *records; /* NULL: none */
    const char *settings[CARRICK_SETTINGS + 1];
    uint32_t setting_count;
    struct carrick_ip6_address address, peer, gateway; /* all 0: not given */
    uint32_t prefix, requests, user;
    struct carrick_fault_config fault;
    uint64_t seed;
    int changes; /* a descriptor; -1: none */
    bool loop, faulty, seeded, spin, has_user;
};

enum carrick_options_result { CARRICK_OPTIONS_RUN, CARRICK_OPTIONS_HELP, CARRICK_OPTIONS_WRONG };

enum carrick_options_result carrick_options_read(struct carrick_options *options,
                                                 const struct carrick_program_table *here, int argc, char **argv,
                                                 struct carrick_port_error *error);

/* Whether a host can have these addresses. Sets the second application's where it is not given. */
bool carrick_options_addresses(struct carrick_options *options, struct carrick_port_error *error);

void carrick_options_help(const struct carrick_options *options, const char *executable);

#endif
