/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/options.h"

static const struct carrick_application *const applications[] = {
    &carrick_echo_application,   &carrick_http_application,   &carrick_get_application,
    &carrick_memory_application, &carrick_load_application,   &carrick_messages_application,
    &carrick_perf_application,   &carrick_script_application, &carrick_sockets_application,
    &carrick_kv_application,     &carrick_kvload_application, &carrick_offload_application};
#define APPLICATIONS (sizeof applications / sizeof applications[0])

static bool wrong(struct carrick_port_error *error, const char *option, const char *value, const char *want) {
    snprintf(error->text, sizeof error->text, "`%.20s %.80s`: write %s. --help shows an example.", option, value, want);
    return false;
}

/* An address of the program's version. */
static bool read_one(const struct carrick_options *options, const char *text, size_t len,
                     struct carrick_ip6_address *address) {
    bool six = options->program->network == CARRICK_NETWORK_IPV6;
    return carrick_parse_address(text, len, address) && carrick_address_is_ipv4(*address) != six;
}

/* An address, and perhaps `/` and the length of the prefix. */
static bool read_address(struct carrick_options *options, const char *text) {
    size_t len = strcspn(text, "/");
    char *end;
    uint32_t most = options->program->network == CARRICK_NETWORK_IPV6 ? 128 : 32;
    options->prefix = most;
    if (text[len] == '/') {
        unsigned long prefix = strtoul(text + len + 1, &end, 10);
        if (text[len + 1] < '0' || text[len + 1] > '9' || *end || prefix > most)
            return false;
        options->prefix = (uint32_t)prefix;
    }
    return read_one(options, text, len, &options->address);
}

static bool read_app(struct carrick_options *options, const char *text) {
    size_t len = strcspn(text, ":");
    for (size_t i = 0; i < APPLICATIONS && options->app_count < 2; i++) {
        if (strlen(applications[i]->name) != len || memcmp(applications[i]->name, text, len) != 0)
            continue;
        options->applications[options->app_count] = applications[i];
        options->apps[options->app_count++] = text;
        return true;
    }
    return false;
}

static bool read_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0 && errno == 0;
}

static bool read_port(struct carrick_options *options, const char *text) {
    const char *kind = options->here->kind;
    if (options->port_count == CARRICK_INTERFACES)
        return false;
    options->ports[options->port_count++] = text;
    if (kind)
        return strncmp(text, kind, strlen(kind)) == 0 && text[strlen(kind)] == ':';
    bool loop = strcmp(text, "loop") == 0;
    options->loop |= loop;
    return loop || strncmp(text, "tun:", 4) == 0 || strncmp(text, "packet:", 7) == 0 || strncmp(text, "xdp:", 4) == 0 ||
           strncmp(text, "udp:", 4) == 0 || strncmp(text, "unix:", 5) == 0;
}

/* The options that say where and what. False: `error` says what is wrong; `*known` becomes false if it is none of
 * these. */
static bool read_main_option(struct carrick_options *options, const char *name, const char *value, bool *known,
                             struct carrick_port_error *error) {
    if (strcmp(name, "--port") == 0)
        return read_port(options, value) ||
               wrong(error, name, value,
                     options->here->kind
                         ? options->here->usage
                         : "tun:NAME, packet:DEV, xdp:DEV, udp:LOCALPORT:PEERPORT, unix:LOCALPATH:PEERPATH or loop, "
                           "of at most 8 ports");
    if (strcmp(name, "--addr") == 0)
        return read_address(options, value) || wrong(error, name, value,
                                                     options->program->network == CARRICK_NETWORK_IPV6
                                                         ? "an address of IPv6 with its prefix, as in fd00::2/64"
                                                         : "an address with its prefix, as in 10.0.0.2/24");
    if (strcmp(name, "--gateway") == 0)
        return read_one(options, value, strlen(value), &options->gateway) || wrong(error, name, value, "an address");
    if (strcmp(name, "--peer") == 0)
        return read_one(options, value, strlen(value), &options->peer) || wrong(error, name, value, "an address");
    if (strcmp(name, "--app") == 0)
        return read_app(options, value) ||
               wrong(error, name, value, "an application that --help lists, as in echo or http:DIR");
    *known = false;
    return true;
}

static bool read_more_option(struct carrick_options *options, const char *name, const char *value,
                             struct carrick_port_error *error) {
    uint64_t number = 0;
    if (strcmp(name, "--fault") == 0) {
        options->faulty = true;
        return carrick_fault_parse(value, &options->fault, error);
    }
    if (strcmp(name, "--pcap") == 0) {
        options->pcap = value;
        return true;
    }
    if (strcmp(name, "--records") == 0) {
        options->records = value;
        return options->program->traced ||
               wrong(error, name, value,
                     "it for a program that was built with CFLAGS=-DCARRICK_TRACE=1, as `carrick run --trace` does");
    }
    if (strcmp(name, "--changes") == 0) {
        bool fits = read_number(value, &number) && number < INT32_MAX;
        options->changes = (int)number;
        return fits || wrong(error, name, value, "the number of a descriptor");
    }
    if (strcmp(name, "--seed") == 0) {
        options->seeded = true;
        return read_number(value, &options->seed) || wrong(error, name, value, "a number");
    }
    if (strcmp(name, "--requests") == 0) {
        bool fits = read_number(value, &number) && number >= 1 && number <= 4194304 && (number & (number - 1)) == 0;
        options->requests = (uint32_t)number;
        return fits || wrong(error, name, value, "a power of two, at most 4194304");
    }
    if (strcmp(name, "--user") == 0) {
        options->has_user = read_number(value, &number) && number < UINT32_MAX;
        options->user = (uint32_t)number;
        return options->has_user || wrong(error, name, value, "a user's number, as in 65534");
    }
    if (strcmp(name, "--set") == 0 && options->setting_count < CARRICK_SETTINGS) {
        options->settings[options->setting_count++] = value;
        return true;
    }
    snprintf(error->text, sizeof error->text, "`%.60s` is no option: --help lists them.", name);
    return false;
}

static bool refuse(struct carrick_port_error *error, const char *why) {
    snprintf(error->text, sizeof error->text, "%s", why);
    return false;
}

/* The application of a program in the network: only one with the interface `offload` has one. Messages that nobody
 * takes would end here, so that there always is one. */
static bool fits_offload(struct carrick_options *options, struct carrick_port_error *error) {
    const char *interface = options->program->interface_name;
    bool offloads = interface && strcmp(interface, "offload") == 0;
    if (offloads && options->app_count == 0)
        return read_app(options, "offload");
    if (options->app_count == 0 ||
        (offloads && options->app_count == 1 && options->applications[0] == &carrick_offload_application))
        return true;
    return refuse(error, offloads ? "A program with the interface `offload` has one application, `offload`: give --app "
                                    "offload once, or leave out --app."
                                  : "A program in the network has no application, unless its interface is `offload`: "
                                    "leave out --app.");
}

/* Of a program in the network: two interfaces or more, and no end of a connection. */
static bool fits_middlebox(struct carrick_options *options, struct carrick_port_error *error) {
    if (options->port_count < 2 && !options->here->middlebox)
        return refuse(error, "The program is one in the network: give --port for each of its interfaces, two or more "
                             "times.");
    if (options->loop)
        return refuse(error, "The memory port joins two applications, and a program in the network has none: take "
                             "other ports.");
    if (!carrick_address_is_any(options->address) || !carrick_address_is_any(options->gateway) ||
        !carrick_address_is_any(options->peer))
        return refuse(error, "A program in the network has no address: leave out --addr, --gateway and --peer.");
    return fits_offload(options, error);
}

static bool fits_endpoint(struct carrick_options *options, struct carrick_port_error *error) {
    const char *missing = !options->port_count                       ? "--port"
                          : carrick_address_is_any(options->address) ? "--addr"
                          : !options->app_count                      ? "--app"
                                                                     : NULL;
    if (missing) {
        snprintf(error->text, sizeof error->text, "`%s` is missing: --help shows an example.", missing);
        return false;
    }
    if (options->port_count > 1)
        return refuse(error, "Only a program in the network (`register_role`) has several ports: give --port once.");
    if (options->app_count != (options->loop ? 2u : 1u)) {
        snprintf(error->text, sizeof error->text, "%s",
                 options->loop ? "The memory port joins two applications: give --app twice."
                               : "Only the memory port takes a second --app.");
        return false;
    }
    if (strncmp(options->ports[0], "xdp:", 4) == 0 && options->program->network == CARRICK_NETWORK_LINK)
        return refuse(error, "AF_XDP is given what is for an address, and the packets of this program have none: take "
                             "packet:DEV.");
    return true;
}

static bool is_complete(struct carrick_options *options, struct carrick_port_error *error) {
    if (!(options->middlebox ? fits_middlebox : fits_endpoint)(options, error))
        return false;
    if (options->here->kind && (options->faulty || options->pcap || options->setting_count)) {
        snprintf(error->text, sizeof error->text, "%s",
                 "The core is not in this process: --fault, --pcap and --set are for whoever has its packets.");
        return false;
    }
    if (!options->middlebox && !carrick_options_addresses(options, error))
        return false;
    if (options->faulty && options->seeded && !options->fault.seed)
        options->fault.seed = options->seed;
    return true;
}

/* Whether an option that has one value has another one already. */
static bool is_repeated(char **argv, int at) {
    static const char *const several[] = {"--port", "--app", "--set"};
    for (size_t i = 0; i < sizeof several / sizeof several[0]; i++)
        if (strcmp(argv[at], several[i]) == 0)
            return false;
    for (int i = 1; i < at; i += strcmp(argv[i], "--spin") == 0 ? 1 : 2)
        if (strcmp(argv[i], argv[at]) == 0)
            return true;
    return false;
}

enum carrick_options_result carrick_options_read(struct carrick_options *options,
                                                 const struct carrick_program_table *here, int argc, char **argv,
                                                 struct carrick_port_error *error) {
    const struct carrick_program *program = &here->program;
    *options = (struct carrick_options){.here = here, .program = program, .changes = -1};
    options->middlebox = here->middlebox || program->rx_on;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        bool known = true;
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
            return CARRICK_OPTIONS_HELP;
        if (strcmp(name, "--spin") == 0) {
            options->spin = true;
            continue;
        }
        if (i + 1 == argc) {
            snprintf(error->text, sizeof error->text,
                     "`%.60s` is no option, or its value is missing: --help lists them.", name);
            return CARRICK_OPTIONS_WRONG;
        }
        if (strcmp(name, "--port") == 0 && strcmp(argv[i + 1], "help") == 0)
            return CARRICK_OPTIONS_HELP;
        if (is_repeated(argv, i)) {
            snprintf(error->text, sizeof error->text, "`%.20s %.80s` is given after another `%.20s`: write one.%s",
                     name, argv[i + 1], name, strcmp(name, "--addr") == 0 ? " A stack has one address." : "");
            return CARRICK_OPTIONS_WRONG;
        }
        if (!read_main_option(options, name, argv[++i], &known, error))
            return CARRICK_OPTIONS_WRONG;
        if (!known && !read_more_option(options, name, argv[i], error))
            return CARRICK_OPTIONS_WRONG;
    }
    if (!is_complete(options, error))
        return CARRICK_OPTIONS_WRONG;
    uint64_t values[CARRICK_SETTINGS * 4];
    if (program->param_count > CARRICK_SETTINGS * 4 || !carrick_params_apply(program, options->settings, values, error))
        return CARRICK_OPTIONS_WRONG;
    return CARRICK_OPTIONS_RUN;
}

void carrick_options_help(const struct carrick_options *options, const char *executable) {
    if (options->middlebox)
        printf("Example: run between two network devices\n    %s --port packet:eth0 --port packet:eth1\n\n",
               executable);
    else
        printf("Example: serve a directory to the other end of a network device\n"
               "    %s --port packet:veth0 --addr 10.0.0.2/24 --app http:/srv/www\n\n",
               executable);
    printf("  --port PORT       tun:NAME, packet:DEV, xdp:DEV, udp:LOCALPORT:PEERPORT (or LOCALIP:PORT:PEERIP:PORT),\n"
           "                    unix:LOCALPATH:PEERPATH, or loop, which joins two applications in this process;\n"
           "                    a program in the network: one for each interface, and no --addr\n"
           "  --addr A/LEN      address of the stack, with its prefix\n"
           "  --gateway G       next hop to other networks\n"
           "  --peer A          loop: address of the second application (default: the next address)\n");
    printf("  --app APP        ");
    for (size_t i = 0; i < APPLICATIONS; i++)
        printf(" %s", applications[i]->usage);
    printf("\n"
           "                    (idle: time without progress until a connection is closed; full: the same,\n"
           "                    while few more can be accepted; default 60s, 0s: never)\n"
           "  --fault FAULTS    faults of the wire (of each port), in both directions: "
           "loss=1%%,reorder=2%%,dup=1%%,corrupt=0.1%%,mark=5%%,delay=10ms,jitter=1ms,seed=7\n"
           "  --pcap FILE       capture of the packets sent and received (pcapng)\n"
           "  --records FILE    trace records, for `carrick run --trace` (which builds the program with tracing)\n"
           "  --changes FD      socket from which root changes contexts, for `carrick trace --set --run`\n"
           "  --set NAME=VALUE  value of a parameter; repeat for several\n"
           "  --seed N          seed of all random numbers (default: from the system)\n"
           "  --user UID        user once the devices are open (default: the same user, without capabilities)\n"
           "  --requests N      largest number of open requests (default: four for each connection)\n"
           "  --spin            poll the device, and never sleep (default: sleep after 64 us of polling without work,\n"
           "                    and at once where polling did not help, or with a real-time priority)\n\n"
           "Exit codes: 0 ok, 1 failed, 2 usage, 3 a device or a privilege is missing.\n");
    if (options->program->param_count)
        printf("\nParameters, their defaults and ranges:\n");
    for (uint32_t i = 0; i < options->program->param_count; i++) {
        const struct carrick_param_info *p = &options->program->params[i];
        char initial[32], lo[32], hi[32];
        carrick_param_show(p, p->initial, initial, sizeof initial);
        carrick_param_show(p, p->lo, lo, sizeof lo);
        carrick_param_show(p, p->hi, hi, sizeof hi);
        printf("  %-24s %12s  %s..%s\n", p->name, initial, lo, hi);
    }
}
