/* SPDX-License-Identifier: MIT */
/* What a loader gives becomes a port with what belongs to it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel.h"

#define PATH_OCTETS 512

/* With this a turn of the host begins: it looks at reports by itself until it is about to sleep. */
static uint32_t kernel_receive(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now, (void)frames, (void)count;
    kernel_awake((const struct carrick_kernel *)port, true);
    return 0;
}

/* Whoever asks this may sleep. If there are reports by then, waiting for the ring's descriptor ends at once. */
static uint64_t kernel_deadline(const struct carrick_port *port) {
    kernel_awake((const struct carrick_kernel *)port, false);
    return UINT64_MAX;
}

/* There is always room, of which nobody makes use. */
static uint32_t kernel_reserve(struct carrick_port *port, uint64_t now, struct carrick_frame *frames, uint32_t count) {
    (void)now;
    struct carrick_kernel *kernel = (struct carrick_kernel *)port;
    for (uint32_t i = 0; i < count; i++)
        frames[i] = (struct carrick_frame){.data = kernel->frame, .len = 0};
    return count;
}

static void kernel_commit(struct carrick_port *port, uint64_t now, const struct carrick_frame *frames, uint32_t count) {
    (void)port, (void)now, (void)frames, (void)count;
}

static void map_close(struct kernel_map *map) {
    if (map->memory)
        munmap(map->memory, map->octets);
    if (map->fd >= 0)
        close(map->fd);
}

static void ring_close(struct kernel_ring *ring, size_t page) {
    if (ring->produced)
        munmap((void *)(uintptr_t)ring->produced, page + 2 * ring->octets);
    if (ring->consumed)
        munmap(ring->consumed, page);
    if (ring->fd >= 0)
        close(ring->fd);
}

static void kernel_close(struct carrick_port *port) {
    struct carrick_kernel *kernel = (struct carrick_kernel *)port;
    if (kernel->shared.memory) {
        __atomic_store_n(&kernel_shared(kernel)->watched, 0, __ATOMIC_SEQ_CST); /* nobody is to be called */
        kernel_awake(kernel, false);
        __atomic_store_n(&kernel_shared(kernel)->one_way, 0, __ATOMIC_SEQ_CST); /* nor sends for the program */
    }
    tap_close(&kernel->tap);
    map_close(&kernel->cores);
    map_close(&kernel->bridge);
    map_close(&kernel->shared);
    map_close(&kernel->requests);
    for (uint32_t n = 0; n < KERNEL_CONTEXTS; n++)
        map_close(&kernel->contexts[n]);
    ring_close(&kernel->reports, (size_t)sysconf(_SC_PAGESIZE));
    if (kernel->egress >= 0)
        close(kernel->egress);
    if (kernel->raw >= 0)
        close(kernel->raw);
    if (kernel->next_hops >= 0)
        close(kernel->next_hops);
    free(kernel->places);
    free(kernel->all_cores);
    free(kernel->all_bridge);
    free(kernel);
}

static const struct carrick_port_ops kernel_ops = {.receive = kernel_receive,
                                                   .reserve = kernel_reserve,
                                                   .commit = kernel_commit,
                                                   .deadline = kernel_deadline,
                                                   .close = kernel_close};

/* The descriptor that `spec` has for this name; -1: none. */
static int listed(const char *spec, const char *name) {
    size_t len = strlen(name);
    for (const char *at = spec; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, len) != 0 || at[len] != '=')
            continue;
        int fd = atoi(at + len + 1);
        return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
    }
    return -1;
}

static int find(const char *spec, const char *kind, const char *name) {
    char path[PATH_OCTETS];
    if (!strchr(spec, '/'))
        return listed(spec, name);
    int len = snprintf(path, sizeof path, "%s/%s/%s", spec, kind, name);
    return len > 0 && (size_t)len < sizeof path ? kernel_bpf_get(path) : -1;
}

static bool refused(struct carrick_port_error *error, const char *what) {
    snprintf(error->text, sizeof error->text, "The program in the kernel cannot be used: %.80s (%s).", what,
             strerror(errno));
    return false;
}

/* Opens and maps an array; one that is not mapped is looked into by system calls. */
static bool open_map(struct kernel_map *map, const char *spec, const char *name, bool mapped,
                     struct carrick_port_error *error) {
    int fd = find(spec, "maps", name);
    if (fd < 0 || !kernel_bpf_info(fd, map))
        return refused(error, name);
    if (!mapped)
        return true;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), octets = (size_t)map->stride * map->entries;
    map->octets = (octets + page - 1) / page * page;
    void *memory = mmap(NULL, map->octets, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return refused(error, name);
    map->memory = memory;
    return true;
}

/* The memory of requests, which programs without any have not. */
static bool open_requests(struct carrick_kernel *kernel, const char *spec, struct carrick_port_error *error) {
    int fd = find(spec, "maps", "carrick_requests");
    if (fd < 0)
        return true;
    if (strchr(spec, '/'))
        close(fd);
    return open_map(&kernel->requests, spec, "carrick_requests", true, error) &&
           (kernel->requests.value > CARRICK_PIECE || refused(error, "carrick_requests"));
}

static bool open_ring(struct kernel_ring *ring, const char *spec, struct carrick_port_error *error) {
    struct kernel_map info;
    ring->fd = find(spec, "maps", "carrick_reports");
    if (ring->fd < 0 || !kernel_bpf_info(ring->fd, &info))
        return refused(error, "carrick_reports");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ring->octets = info.entries;
    void *consumed = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (consumed == MAP_FAILED)
        return refused(error, "carrick_reports");
    ring->consumed = consumed;
    void *produced = mmap(NULL, page + 2 * ring->octets, PROT_READ, MAP_SHARED, ring->fd, (off_t)page);
    if (produced == MAP_FAILED)
        return refused(error, "carrick_reports");
    ring->produced = produced;
    ring->data = (const uint8_t *)produced + page;
    return true;
}

/* Where what is in instances: of a map that is only read. It says first whether the program is of this version: all
 * else that it says is only then to be understood. */
static bool open_places(struct carrick_kernel *kernel, const char *spec, struct carrick_port_error *error) {
    struct kernel_map map;
    if (!open_map(&map, spec, "carrick_places", false, error))
        return false;
    kernel->places = malloc(map.value);
    bool sound = kernel->places && map.value >= sizeof *kernel->places && kernel_bpf_lookup(map.fd, 0, kernel->places);
    close(map.fd);
    if (!sound)
        return refused(error, "carrick_places");
    if (kernel->places->layout != CARRICK_LAYOUT) {
        snprintf(error->text, sizeof error->text,
                 "Another version of Carrick has built the program in the kernel: build it and this host with the same "
                 "one.");
        return false;
    }
    uint32_t count = kernel->places->context_count;
    bool whole =
        count <= KERNEL_CONTEXTS && map.value >= sizeof *kernel->places + count * sizeof kernel->places->contexts[0];
    return whole || refused(error, "it has too many contexts");
}

static bool open_contexts(struct carrick_kernel *kernel, const char *spec, struct carrick_port_error *error) {
    for (uint32_t n = 0; n < kernel->places->context_count; n++) {
        const struct carrick_context_place *place = &kernel->places->contexts[n];
        char name[32];
        for (uint32_t part = 0; part < place->part_count && part < CARRICK_ID_PARTS; part++)
            kernel->part_names[n][part] = place->parts[part].name;
        snprintf(name, sizeof name, "slots_%u", n);
        if (!open_map(&kernel->contexts[n], spec, name, true, error))
            return false;
    }
    return true;
}

bool carrick_kernel_read_cores(struct carrick_kernel *kernel) {
    return kernel_bpf_lookup(kernel->cores.fd, 0, kernel->all_cores);
}

const struct carrick_kernel_head *carrick_kernel_head(const struct carrick_kernel *kernel, uint32_t processor) {
    const uint8_t *core = kernel->all_cores + (size_t)kernel->cores.stride * processor;
    return (const struct carrick_kernel_head *)(const void *)core;
}

static bool open_cores(struct carrick_kernel *kernel, const char *spec, struct carrick_port_error *error) {
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    if (!open_map(&kernel->cores, spec, "carrick_cores", false, error))
        return false;
    kernel->processors = processors > 0 ? (uint32_t)processors : 1;
    kernel->all_cores = calloc(kernel->processors, kernel->cores.stride);
    if (!kernel->all_cores || !carrick_kernel_read_cores(kernel))
        return refused(error, "carrick_cores");
    kernel->device = carrick_kernel_head(kernel, 0)->device;
    kernel->port.mtu = carrick_kernel_head(kernel, 0)->mtu;
    return true;
}

/* Of a program in the network: what it counts. */
static bool open_bridge(struct carrick_kernel *kernel, const char *spec, struct carrick_port_error *error) {
    int fd = find(spec, "maps", "carrick_bridge");
    if (fd < 0)
        return true;
    if (strchr(spec, '/'))
        close(fd);
    if (!open_map(&kernel->bridge, spec, "carrick_bridge", false, error))
        return false;
    kernel->all_bridge = calloc(kernel->processors, kernel->bridge.stride);
    bool fits = kernel->bridge.stride == CARRICK_MIDDLEBOX_COUNTERS * sizeof(uint64_t);
    return (kernel->all_bridge && fits) || refused(error, "carrick_bridge");
}

/* Of a program in the network: a packet by an interface that takes none is lost. */
static bool check_interfaces(const char *spec, struct carrick_port_error *error) {
    struct carrick_middlebox middlebox = {.count = 0};
    char name[IF_NAMESIZE];
    int fd = find(spec, "maps", "carrick_middlebox");
    if (fd < 0)
        return true;
    bool known = kernel_bpf_lookup(fd, 0, &middlebox);
    close(fd);
    for (uint32_t i = 0; known && i < middlebox.count && i < CARRICK_INTERFACES_MOST; i++) {
        if (kernel_device_takes(middlebox.devices[i]) || !if_indextoname(middlebox.devices[i], name))
            continue;
        snprintf(error->text, sizeof error->text,
                 "%s takes no packets from XDP programs: its driver lacks XDP_REDIRECT. If it is one of a pair of "
                 "virtual devices: `ethtool -K PEER gro on` at the other end.",
                 name);
        return false;
    }
    return known || refused(error, "carrick_middlebox");
}

static bool open_raw(struct carrick_kernel *kernel, struct carrick_port_error *error) {
    const char *lacking = kernel_open_raw(kernel);
    return !lacking || refused(error, lacking);
}

static bool open_gate(struct carrick_kernel *kernel, struct carrick_port_error *error) {
    const char *lacking = tap_open(&kernel->tap, kernel->egress, kernel->port.mtu + CARRICK_ETHER_HEADER);
    return !lacking || refused(error, lacking);
}

struct carrick_kernel *carrick_kernel_open(const char *spec, bool six, struct carrick_port_error *error) {
    struct carrick_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        snprintf(error->text, sizeof error->text, "There is not enough memory for a port.");
        return NULL;
    }
    kernel->six = six;
    kernel->port = (struct carrick_port){.ops = &kernel_ops, .kind = "kernel", .fd = -1};
    kernel->egress = kernel->raw = kernel->next_hops = kernel->reports.fd = -1;
    kernel->tap.fd = kernel->tap.link = -1;
    kernel->bridge.fd = kernel->cores.fd = kernel->shared.fd = kernel->requests.fd = -1;
    for (uint32_t n = 0; n < KERNEL_CONTEXTS; n++)
        kernel->contexts[n].fd = -1;
    kernel->egress = find(spec, "programs", "egress");
    kernel->next_hops = find(spec, "maps", "carrick_next_hops");
    bool open = open_places(kernel, spec, error) && (kernel->egress >= 0 || refused(error, "egress")) &&
                (kernel->next_hops >= 0 || refused(error, "carrick_next_hops"));
    open = open && open_cores(kernel, spec, error) && open_bridge(kernel, spec, error) &&
           open_map(&kernel->shared, spec, "carrick_shared", true, error) && open_requests(kernel, spec, error) &&
           open_ring(&kernel->reports, spec, error) && open_contexts(kernel, spec, error) && open_raw(kernel, error) &&
           open_gate(kernel, error) && check_interfaces(spec, error);
    if (open) {
        carrick_kernel_look_at_device(kernel);
        kernel->port.fd = kernel->reports.fd;
        return kernel;
    }
    kernel_close(&kernel->port);
    return NULL;
}
