/* SPDX-License-Identifier: MIT */
/* Which addresses a stack cannot work with: those that the network has for something else. */
#include "apps/options.h"
#include "carrick/ipv6.h"

/* The bits behind the prefix. */
static struct carrick_ip6_address host_part(const struct carrick_options *options, struct carrick_ip6_address a) {
    uint32_t bits = options->program->network == CARRICK_NETWORK_IPV6 ? 128 - options->prefix : 32 - options->prefix;
    uint64_t high = bits >= 128 ? UINT64_MAX : bits > 64 ? (UINT64_C(1) << (bits - 64)) - 1 : 0;
    uint64_t low = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return (struct carrick_ip6_address){a.high & high, a.low & low};
}

/* Whether it is in the network of --addr. Link-local addresses of IPv6 are on every link. */
static bool is_near(const struct carrick_options *options, struct carrick_ip6_address a) {
    struct carrick_ip6_address differs = {a.high ^ options->address.high, a.low ^ options->address.low};
    return a.high >> 54 == 0xfe80 >> 6 || carrick_ip6_same(host_part(options, differs), differs);
}

/* What an address is instead of one host's; NULL: it can be that. */
static const char *reserved_ipv4(uint32_t a) {
    return a >> 24 == 127          ? "a loopback address"
           : a >> 28 == 0xe        ? "a multicast address"
           : a == UINT32_MAX       ? "the broadcast address"
           : a >> 24 == 0 && a > 0 ? "an address of \"this network\" (0.0.0.0/8)"
                                   : NULL;
}

static const char *reserved_ipv6(struct carrick_ip6_address a) {
    return a.high >> 56 == 0xff ? "a multicast address" : a.high == 0 && a.low == 1 ? "the loopback address" : NULL;
}

/* A network of one or two addresses has all of them for hosts (RFC 3021, RFC 6164). */
static const char *reserved(const struct carrick_options *options, struct carrick_ip6_address a) {
    bool four = carrick_address_is_ipv4(a);
    const char *is = four ? reserved_ipv4((uint32_t)a.low) : reserved_ipv6(a);
    uint32_t bits = (four ? 32 : 128) - options->prefix;
    if (is || bits < 2)
        return is;
    struct carrick_ip6_address host = host_part(options, a);
    if ((host.high | host.low) == 0)
        return four ? "the address of the network itself" : "the address of the network's routers";
    return four && host.low == (UINT64_C(1) << bits) - 1 ? "the broadcast address of its network" : NULL;
}

static bool refuse(struct carrick_port_error *error, const char *option, struct carrick_ip6_address a, const char *is,
                   const char *mend) {
    char text[CARRICK_ADDRESS_TEXT];
    carrick_show_address(a, text);
    snprintf(error->text, sizeof error->text, "`%s %s` is %s: write %s.", option, text, is, mend);
    return false;
}

static bool own_fits(const struct carrick_options *options, struct carrick_port_error *error) {
    bool four = carrick_address_is_ipv4(options->address);
    const char *mend = four ? "one host's with its prefix, as in 10.0.0.2/24"
                            : "one host's with its prefix, as in "
                              "fd00::2/64";
    const char *is =
        options->prefix == 0 ? "an address in a network of all addresses (/0)" : reserved(options, options->address);
    return !is || refuse(error, "--addr", options->address, is, mend);
}

/* The next hop is on the link. All hosts of it are, if the address has no prefix, and link-local ones always. */
static bool gateway_fits(const struct carrick_options *options, struct carrick_port_error *error) {
    struct carrick_ip6_address gateway = options->gateway, own = options->address;
    if (carrick_address_is_any(gateway))
        return true;
    bool alone = options->prefix == (carrick_address_is_ipv4(own) ? 32u : 128u);
    const char *is = carrick_ip6_same(gateway, own)         ? "the stack's own address"
                     : !alone && !is_near(options, gateway) ? "outside the network of --addr"
                                                            : reserved(options, gateway);
    return !is || refuse(error, "--gateway", gateway, is, "the address of a router in the network of --addr");
}

/* The second application's. Each stack has to reach the other one. */
static bool peer_fits(const struct carrick_options *options, struct carrick_port_error *error) {
    const char *mend = "--addr with a prefix and --peer with another host of it, as in 10.0.0.1/24 and 10.0.0.2";
    if (!options->loop)
        return true;
    bool near = is_near(options, options->peer) || !carrick_address_is_any(options->gateway);
    const char *is = carrick_ip6_same(options->peer, options->address) ? "the first application's address"
                     : !near                                           ? "outside the network of --addr"
                                                                       : reserved(options, options->peer);
    return !is || refuse(error, "--peer", options->peer, is, mend);
}

bool carrick_options_addresses(struct carrick_options *options, struct carrick_port_error *error) {
    bool given = !carrick_address_is_any(options->peer);
    if (given && !options->loop) {
        snprintf(error->text, sizeof error->text,
                 "`--peer` is the address of the second application of `--port loop`: leave it out, and name the peer "
                 "in --app.");
        return false;
    }
    if (!given)
        options->peer = (struct carrick_ip6_address){options->address.high, options->address.low + 1};
    return own_fits(options, error) && gateway_fits(options, error) && peer_fits(options, error);
}
