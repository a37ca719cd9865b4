/* SPDX-License-Identifier: MIT */
/*
 * Two hosts with the relay of sockets on a simulated system, and applications between them that call at random:
 *
 *     os [--seeds FIRST-LAST] [--seconds N] [--patience MS] [--linger MS] [--set NAME=VALUE]... [--verbose]
 *        [--keep-going]
 *
 * A seed is a run. What breaks a promise ends it, with the command that repeats it.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/os/apps.h"
#include "tests/os/host.h"
#include "tests/os/library.h"
#include "tests/os/wire.h"

#define SETTINGS 32u
#define MS       UINT64_C(1000000)

static struct {
    uint64_t first, last, seconds, patience, linger;
    const char *settings[SETTINGS + 1];
    uint32_t setting_count;
    bool verbose, keep_going;
    char **words;
} options = {.first = 1, .last = 100, .patience = 200, .linger = 5000};

static uint64_t seed;
static struct host hosts[2];

void os_broken(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "seed %" PRIu64 " at %.6f s, %" PRIu64 ": ", seed, (double)os_now() / 1e9 - 1000, os_trace());
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\n  again: %s", options.words[0]);
    for (uint32_t i = 0; i < options.setting_count; i++)
        fprintf(stderr, " --set %s", options.settings[i]);
    fprintf(stderr, " --patience %" PRIu64 " --linger %" PRIu64 " --seeds %" PRIu64 "-%" PRIu64 " --verbose\n",
            options.patience / MS, options.linger / MS, seed, seed);
    fflush(stderr);
    _exit(1);
}

static struct os_pressure pressure_choose(struct carrick_pcg *rng, bool calm) {
    static const uint32_t rates[] = {0, 655, 6553, 32768}, buffers[] = {512, 4096, 65536};
    struct os_pressure pressure = {.shorts = rates[carrick_pcg_next(rng) % 4],
                                   .interrupts = rates[carrick_pcg_next(rng) % 3],
                                   .late = rates[carrick_pcg_next(rng) % 3],
                                   .late_most = 2 * MS,
                                   .preemptions = rates[carrick_pcg_next(rng) % 4],
                                   .buffer = buffers[carrick_pcg_next(rng) % 3]};
    if (!calm && carrick_pcg_next(rng) % 2)
        pressure.no_files = pressure.no_memory = 300;
    return pressure;
}

static void faults_choose(struct carrick_pcg *rng, bool calm, struct carrick_fault_config *fault) {
    *fault = (struct carrick_fault_config){.seed = seed};
    if (calm)
        return;
    double *rates[] = {&fault->loss, &fault->reorder, &fault->duplicate, &fault->corrupt};
    for (int i = 0; i < 4; i++)
        if (carrick_pcg_next(rng) % 2)
            *rates[i] = (double)(carrick_pcg_next(rng) % 100) / 1000;
}

/* What the users of a stack may have. */
static const char *rules_choose(struct carrick_pcg *rng, struct limit limits[2]) {
    static const struct {
        const char *text;
        struct limit limits[2];
    } rules[] = {{"", {{0, 0}}},
                 {"", {{0, 0}}},
                 {",1001#1", {{1001, 1}}},
                 {",1001#2,1000#16", {{1001, 2}, {1000, 16}}},
                 {",1001#3,1002#4", {{1001, 3}, {1002, 4}}},
                 {",1001#8", {{1001, 8}}}};
    uint32_t choice = carrick_pcg_next(rng) % 6;
    memcpy(limits, rules[choice].limits, sizeof rules[choice].limits);
    return rules[choice].text;
}

static void begin(struct carrick_pcg *rng) {
    world = (struct world){.calm = carrick_pcg_next(rng) % 3 != 0};
    struct os_pressure pressure = pressure_choose(rng, world.calm);
    world.scarce = pressure.no_memory != 0;
    world.patience = world.calm ? options.patience : OS_NEVER;
    library_begin();
    os_begin(seed, &pressure);
    os_verbose(options.verbose);
    wire_begin(10000 + carrick_pcg_next(rng) % 1000000, carrick_pcg_next(rng) % 2);
    model_begin(world.patience);
    hosts_begin();
    struct carrick_fault_config fault;
    faults_choose(rng, world.calm, &fault);
    for (uint32_t i = 0; i < 2; i++) {
        hosts[i] = (struct host){.node = i, .settings = options.settings, .rules = rules_choose(rng, world.limits[i])};
        os_say("host%u%s", i, hosts[i].rules);
        hosts[i].faulty = !world.calm && i == 0;
        hosts[i].fault = fault;
        hosts[i].process = os_spawn(i ? "host1" : "host0", 0, host_main, &hosts[i]);
        /* A server that answers with cookies resets a connection whose data overtook the handshake's last segment. */
        if (fault.reorder > 0)
            model_excuse();
        if (world.scarce) {
            os_press(hosts[i].process);
            model_excuse();
        }
    }
}

static bool hosts_run(void) {
    return hosts[0].relay && hosts[1].relay;
}

/* Whoever waits for what is there is found. */
static void check(void) {
    model_check();
    for (uint32_t i = 0; i < world.app_count; i++) {
        struct app *app = &world.apps[i];
        if (app->accepting_since != OS_NEVER && !app_may_accept(app))
            app->accepting_since = os_now(); /* it has to wait until it has fewer */
        model_check_accept((struct model_name){node_address(app->node), app->port}, app->accepting_since);
    }
}

static void run_until(uint64_t until) {
    uint64_t checked = os_now();
    while (os_now() < until) {
        if (!os_step())
            os_idle(until);
        if (os_now() > checked + 10 * MS) {
            checked = os_now();
            check();
        }
    }
}

static bool someone_lives(void) {
    for (uint32_t i = 0; i < world.app_count; i++)
        if (os_lives(world.apps[i].process))
            return true;
    return false;
}

static void app_kill(struct app *app) {
    if (!os_lives(app->process))
        return;
    app_gone(app);
    os_kill(app->process);
}

static void applications(struct carrick_pcg *rng) {
    for (uint32_t node = 0; node < 2; node++)
        for (uint16_t i = 0; i < PORTS; i++) {
            if (carrick_pcg_next(rng) % 3 == 0)
                continue;
            struct app *app = app_begin("server", node, 1000 + carrick_pcg_next(rng) % 3, server_main);
            app->port = (uint16_t)(PORT_FIRST + i);
            app->until = os_now() + carrick_pcg_next(rng) % 4000 * MS;
        }
    for (uint32_t i = 0; i < 2 + carrick_pcg_next(rng) % 6; i++) {
        struct app *app = app_begin("client", carrick_pcg_next(rng) % 2, 1000 + carrick_pcg_next(rng) % 3, client_main);
        app->sessions = 1 + carrick_pcg_next(rng) % 4;
    }
}

/* Those of other users who are up to no good. */
static void rogues(struct carrick_pcg *rng) {
    if (carrick_pcg_next(rng) % 4)
        return;
    struct app *service = app_begin("service", 0, 1002, service_main);
    service->until = OS_NEVER;
    for (uint32_t i = 0; i < 1 + carrick_pcg_next(rng) % 2; i++)
        app_begin("rogue", carrick_pcg_next(rng) % 2, 1003, rogue_main)->sessions = 1 + carrick_pcg_next(rng) % 8;
}

/* Lets the applications be, kills some of them, and in the end all. */
static void live(struct carrick_pcg *rng) {
    bool kills = carrick_pcg_next(rng) % 3 == 0;
    uint64_t end = os_now() + (world.calm ? 12000 : 60000) * MS;
    while (os_now() < end && someone_lives()) {
        uint64_t next = os_now() + (1 + carrick_pcg_next(rng) % 500) * MS;
        run_until(next < end ? next : end);
        if (kills && carrick_pcg_next(rng) % 4 == 0)
            app_kill(&world.apps[carrick_pcg_next(rng) % world.app_count]);
    }
    for (uint32_t i = 0; i < world.app_count; i++)
        app_kill(&world.apps[i]);
}

static void run(void) {
    struct carrick_pcg rng = carrick_pcg_make(seed, 7000);
    begin(&rng);
    run_until(os_now() + 10 * MS);
    if (hosts_run()) {
        applications(&rng);
        rogues(&rng);
        live(&rng);
        run_until(os_now() + (world.calm ? 1 : 60) * options.linger);
        for (uint32_t i = 0; i < 2; i++) {
            char text[200];
            if (!host_is_empty(&hosts[i], text, sizeof text))
                os_broken("host%u has not given all back: %s", i, text);
        }
    }
    for (uint32_t i = 0; i < 2; i++)
        if (hosts[i].stack)
            os_event_at(hosts[i].stop, os_now());
    run_until(os_now() + 1000 * MS);
    for (uint32_t i = 0; i < 2; i++)
        if (!hosts[i].ended || hosts[i].memory)
            os_broken("host%u ends with %u blocks of memory%s", i, hosts[i].memory, hosts[i].ended ? "" : ", or not");
    os_end();
}

static bool read_options(int argc, char **argv) {
    options.words = argv;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        bool alone = true;
        if (strcmp(name, "--verbose") == 0)
            options.verbose = true;
        else if (strcmp(name, "--keep-going") == 0)
            options.keep_going = true;
        else
            alone = false;
        if (alone)
            continue;
        i++;
        if (strcmp(name, "--seeds") == 0 && sscanf(value, "%" SCNu64 "-%" SCNu64, &options.first, &options.last) == 2)
            continue;
        if (strcmp(name, "--patience") == 0)
            options.patience = strtoull(value, NULL, 10);
        else if (strcmp(name, "--seconds") == 0)
            options.seconds = strtoull(value, NULL, 10);
        else if (strcmp(name, "--linger") == 0)
            options.linger = strtoull(value, NULL, 10);
        else if (strcmp(name, "--set") == 0 && options.setting_count < SETTINGS)
            options.settings[options.setting_count++] = value;
        else
            return false;
    }
    options.patience *= MS;
    options.linger *= MS;
    return true;
}

/* Each run that fails ends a child; the next one goes on behind it. */
static int keep_going(void) {
    uint64_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t broken = 0;
    if (shared == MAP_FAILED)
        return 1;
    for (*shared = options.first; *shared <= options.last; ++*shared) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            for (; *shared <= options.last; ++*shared) {
                seed = *shared;
                run();
            }
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
        broken += status != 0;
    }
    printf("%" PRIu64 " of %" PRIu64 " seeds broke a promise\n", broken, options.last - options.first + 1);
    return broken != 0;
}

/* All seeds, or those for which there is time. */
static int run_all(void) {
    uint64_t trace = 0, count = 0;
    time_t end = time(NULL) + (time_t)options.seconds;
    for (seed = options.first;; seed++) {
        run();
        trace = carrick_mix(trace, os_trace());
        count++;
        if (seed == options.last || (options.seconds && time(NULL) >= end))
            break;
    }
    printf("os: ok, %" PRIu64 " seeds from %" PRIu64 ", trace %016" PRIx64 "\n", count, options.first, trace);
    return 0;
}

int main(int argc, char **argv) {
    if (!read_options(argc, argv)) {
        fprintf(stderr,
                "usage: %s [--seeds FIRST-LAST] [--seconds N] [--patience MS] [--linger MS] [--set NAME=VALUE]... "
                "[--verbose] [--keep-going]\n",
                argv[0]);
        return 2;
    }
    if (!carrick_program_entry()->interface_name || strcmp(carrick_program_entry()->interface_name, "stream") != 0) {
        printf("os: %s has no streams\n", carrick_program_entry()->name);
        return 0;
    }
    if (options.keep_going)
        return keep_going();
    return run_all();
}
