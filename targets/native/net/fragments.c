/* SPDX-License-Identifier: MIT */
/*
 * Fragments: packets that were cut on their way become whole again (RFC 791 §3.2, RFC 8200 §4.5). Fragments that
 * overlap end their datagram (RFC 5722, RFC 8900 §3.5); one that is there already is dropped alone.
 *
 * At most NET_DATAGRAMS are under way; a fragment of one more takes the place of the oldest, so that a flood of
 * fragments that never become whole delays nobody whose fragments arrive together.
 */
#include <stdlib.h>

#include "net/fragments.h"

#define FRAGMENT_UNIT  8u     /* bytes: but for the last, fragments have a multiple of it */
#define DATAGRAM_MOST  65535u /* bytes, without the header of IPv6 */
#define DATAGRAM_UNITS ((DATAGRAM_MOST + FRAGMENT_UNIT) / FRAGMENT_UNIT)
#define HEADERS_MOST   256u /* bytes before the first fragment's data; 60 over IPv4 */
#define IP6_MORE       1u
/* where fields are: in the header of IPv6, and in that of a fragment */
#define IP6_PAYLOAD_LENGTH 4u
#define FRAGMENT_OFFSET    2u
#define WAITS_NS           UINT64_C(30000000000) /* RFC 1122 §3.3.2 leaves it open; Linux has as much */
#define WAITS6_NS          UINT64_C(60000000000) /* RFC 8200 §4.5 */
#define ECN_NONE           1u                    /* bits of `ecn`, by codepoint */
#define ECN_EXPERIENCED    8u

enum datagram_state { DATAGRAM_FREE, DATAGRAM_GATHERS, DATAGRAM_LENT };

struct datagram {
    enum datagram_state state;
    uint64_t until;
    struct carrick_ip6_address source;
    uint32_t id;
    uint8_t protocol; /* of IPv4, where it is part of the identification */
    uint8_t ecn;      /* the codepoints of all fragments */
    uint8_t mac[6];   /* who sent the first fragment */
    uint32_t first_len;
    uint8_t first[NET_QUOTED6]; /* its beginning, as it was sent */
    uint32_t headers;           /* bytes; 0: the first fragment is not there */
    uint32_t len;               /* of its data, once the last fragment is there; 0: it is not */
    uint32_t most;              /* where the data ends that is there */
    uint32_t units;             /* that are there */
    uint64_t there[(DATAGRAM_UNITS + 63) / 64];
    uint8_t memory[HEADERS_MOST + DATAGRAM_MOST + FRAGMENT_UNIT]; /* the headers end where the data begins */
};

struct net_fragments {
    uint64_t deadline; /* no datagram must be given up before */
    bool lent;         /* the caller has one */
    struct datagram all[NET_DATAGRAMS];
};

/* A fragment, as its headers describe it. */
struct fragment {
    struct carrick_ip6_address source;
    uint32_t id;
    uint8_t protocol, ecn;
    uint32_t headers; /* bytes of what the whole datagram has before its data */
    uint32_t next_at; /* over IPv6: where in them the kind of the header is that follows the last of them */
    uint8_t next;
    uint32_t begin, len; /* of its data, in the datagram */
    const uint8_t *data;
    bool last;
};

bool net_fragments_open(struct carrick_net *net) {
    net->fragments = calloc(1, sizeof *net->fragments);
    if (net->fragments)
        net->fragments->deadline = UINT64_MAX;
    return net->fragments != NULL;
}

void net_fragments_close(struct carrick_net *net) {
    free(net->fragments);
    net->fragments = NULL;
}

static void datagram_drop(struct carrick_net *net, struct datagram *datagram) {
    datagram->state = DATAGRAM_FREE;
    net->counters[CARRICK_NET_REASSEMBLY_FAILED]++;
}

/* The datagram of a fragment; a new one, perhaps in the place of another, if it is its first that arrives. NULL: all
 * places are lent. */
static struct datagram *datagram_of(struct carrick_net *net, uint64_t now, const struct fragment *fragment) {
    struct datagram *place = NULL;
    for (uint32_t i = 0; i < NET_DATAGRAMS; i++) {
        struct datagram *one = &net->fragments->all[i];
        if (one->state == DATAGRAM_GATHERS && one->id == fragment->id && one->protocol == fragment->protocol &&
            carrick_ip6_same(one->source, fragment->source))
            return one;
        bool better = !place || one->state < place->state || (one->state == place->state && one->until < place->until);
        if (one->state != DATAGRAM_LENT && better)
            place = one;
    }
    if (!place)
        return NULL;
    if (place->state == DATAGRAM_GATHERS)
        datagram_drop(net, place);
    place->state = DATAGRAM_GATHERS;
    place->until = now + (net->config.six ? WAITS6_NS : WAITS_NS);
    if (place->until < net->fragments->deadline)
        net->fragments->deadline = place->until;
    place->source = fragment->source;
    place->id = fragment->id;
    place->protocol = fragment->protocol;
    place->ecn = 0;
    place->headers = place->len = place->most = place->units = 0;
    memset(place->there, 0, sizeof place->there);
    return place;
}

/* How many of the units from `first` are there, and then whether they are to be. */
static uint32_t units_there(struct datagram *datagram, uint32_t first, uint32_t count, bool set) {
    uint32_t there = 0;
    for (uint32_t unit = first; unit < first + count; unit++) {
        uint64_t *word = &datagram->there[unit / 64], bit = UINT64_C(1) << unit % 64;
        there += (*word & bit) != 0;
        *word |= set ? bit : 0;
    }
    return there;
}

/* Whether a fragment does not contradict those that are there. */
static bool fragment_fits(const struct datagram *datagram, const struct fragment *fragment) {
    uint32_t end = fragment->begin + fragment->len;
    if (fragment->last)
        return datagram->len ? datagram->len == end : datagram->most <= end;
    return datagram->len == 0 || end <= datagram->len;
}

static void fragment_put(struct datagram *datagram, const struct fragment *fragment,
                         const struct net_received *received) {
    uint8_t *data = datagram->memory + HEADERS_MOST;
    uint32_t end = fragment->begin + fragment->len;
    memcpy(data + fragment->begin, fragment->data, fragment->len);
    datagram->ecn |= fragment->ecn;
    datagram->most = end > datagram->most ? end : datagram->most;
    if (fragment->last)
        datagram->len = end;
    if (fragment->begin != 0)
        return;
    memcpy(data - fragment->headers, received->packet, fragment->headers);
    datagram->first_len = received->len < NET_QUOTED6 ? received->len : NET_QUOTED6;
    memcpy(datagram->first, received->packet, datagram->first_len);
    if (received->mac)
        memcpy(datagram->mac, received->mac, sizeof datagram->mac);
    datagram->headers = fragment->headers;
    if (fragment->next_at)
        data[(ptrdiff_t)fragment->next_at - (ptrdiff_t)fragment->headers] = fragment->next;
}

static bool datagram_is_whole(const struct datagram *datagram) {
    return datagram->len != 0 && datagram->units == (datagram->len + FRAGMENT_UNIT - 1) / FRAGMENT_UNIT;
}

/* Makes the headers those of the whole datagram. False: its fragments contradict each other (RFC 3168 §5.3). */
static bool datagram_finish(const struct carrick_net *net, struct datagram *datagram) {
    uint8_t *packet = datagram->memory + HEADERS_MOST - datagram->headers;
    bool six = net->config.six, marked = datagram->ecn & ECN_EXPERIENCED;
    uint32_t total = datagram->headers + datagram->len;
    if ((marked && (datagram->ecn & ECN_NONE)) || total - (six ? CARRICK_IP6_HEADER : 0) > DATAGRAM_MOST)
        return false;
    if (six) {
        packet[1] |= marked ? 0x30 : 0;
        carrick_store16(packet + 4, (uint16_t)(total - CARRICK_IP6_HEADER));
        return true;
    }
    packet[1] |= marked ? 3 : 0;
    carrick_store16(packet + 2, (uint16_t)total);
    carrick_store16(packet + 6, 0);
    carrick_store16(packet + 10, 0);
    carrick_store_sum(packet + 10, carrick_sum(packet, datagram->headers));
    return true;
}

/* Takes a fragment into its datagram. True: that is whole now, and is in `received`. */
static bool fragment_take(struct carrick_net *net, uint64_t now, const struct fragment *fragment,
                          struct net_received *received) {
    struct datagram *datagram = datagram_of(net, now, fragment);
    net->counters[CARRICK_NET_FRAGMENTS]++;
    if (!datagram) {
        net->counters[CARRICK_NET_REASSEMBLY_FAILED]++;
        return false;
    }
    uint32_t first = fragment->begin / FRAGMENT_UNIT, count = (fragment->len + FRAGMENT_UNIT - 1) / FRAGMENT_UNIT;
    uint32_t there = units_there(datagram, first, count, false);
    if (there == count && count > 0 && fragment_fits(datagram, fragment))
        return false; /* the network has duplicated it */
    if (there != 0 || !fragment_fits(datagram, fragment)) {
        datagram_drop(net, datagram);
        return false;
    }
    datagram->units += count;
    (void)units_there(datagram, first, count, true);
    fragment_put(datagram, fragment, received);
    if (!datagram_is_whole(datagram))
        return false;
    if (!datagram_finish(net, datagram)) {
        datagram_drop(net, datagram);
        return false;
    }
    datagram->state = DATAGRAM_LENT;
    net->fragments->lent = received->reassembled = true;
    received->packet = datagram->memory + HEADERS_MOST - datagram->headers;
    received->len = datagram->headers + datagram->len;
    net->counters[CARRICK_NET_REASSEMBLED]++;
    return true;
}

/* Whether all extension headers of a packet of IPv6 end in its first fragment (RFC 7112). */
static bool headers_are_whole(const struct fragment *fragment) {
    uint8_t kind = fragment->next;
    uint32_t at = 0;
    while (carrick_ip6_extends(kind, fragment->headers)) {
        if (fragment->len - at < CARRICK_IP6_UNIT)
            return false;
        uint32_t size = carrick_ip6_extension_len(kind, fragment->data + at);
        if (fragment->len - at <= size)
            return false;
        kind = fragment->data[at];
        at += size;
    }
    return true;
}

enum fragment_fault { FRAGMENT_RIGHT, FRAGMENT_WRONG, FRAGMENT_NO_UNITS, FRAGMENT_TOO_LONG, FRAGMENT_HEADERS_CUT };

static enum fragment_fault fragment_fault(const struct fragment *fragment, bool six) {
    uint32_t before = fragment->headers - (six ? CARRICK_IP6_HEADER : 0);
    if (fragment->len == 0 || fragment->headers > HEADERS_MOST)
        return FRAGMENT_WRONG;
    if (!fragment->last && fragment->len % FRAGMENT_UNIT != 0)
        return FRAGMENT_NO_UNITS;
    if (before + fragment->begin + fragment->len > DATAGRAM_MOST)
        return FRAGMENT_TOO_LONG;
    return six && fragment->begin == 0 && !headers_are_whole(fragment) ? FRAGMENT_HEADERS_CUT : FRAGMENT_RIGHT;
}

/* Over IPv6 the sender of a fragment that is dropped for itself is told (RFC 8200 §4.5). */
static bool take_valid(struct carrick_net *net, uint64_t now, const struct fragment *fragment,
                       struct net_received *received) {
    enum fragment_fault fault = fragment_fault(fragment, net->config.six);
    if (fault == FRAGMENT_RIGHT)
        return fragment_take(net, now, fragment, received);
    net->counters[CARRICK_NET_FRAGMENTS]++;
    net->counters[CARRICK_NET_REASSEMBLY_FAILED]++;
    if (net->config.six && fault == FRAGMENT_NO_UNITS)
        net_refuse_fragment6(net, now, received, NET_BAD_FIELD, IP6_PAYLOAD_LENGTH);
    else if (net->config.six && fault == FRAGMENT_TOO_LONG)
        net_refuse_fragment6(net, now, received, NET_BAD_FIELD, fragment->headers + FRAGMENT_OFFSET);
    else if (fault == FRAGMENT_HEADERS_CUT)
        net_refuse_fragment6(net, now, received, NET_BAD_CHAIN, 0);
    return false;
}

/* The headers are checked as a core checks them: one that is damaged is left to it, which counts it. */
static bool whole4(struct carrick_net *net, uint64_t now, struct net_received *received) {
    const uint8_t *packet = received->packet;
    uint32_t field = carrick_load16(packet + 6);
    int header = field & (IP_OFFSET | IP_MORE) ? carrick_ip_begin(packet, received->len) : -1;
    if (header < 0 || carrick_load32(packet + 16) != net->config.address ||
        carrick_sum_fold(carrick_sum(packet, (uint32_t)header)) != 0)
        return true;
    struct fragment fragment = {.source = carrick_address_of_ipv4(carrick_load32(packet + 12)),
                                .id = carrick_load16(packet + 4),
                                .protocol = packet[9],
                                .ecn = (uint8_t)(1u << (packet[1] & 3)),
                                .headers = (uint32_t)header,
                                .begin = (field & IP_OFFSET) * FRAGMENT_UNIT,
                                .len = carrick_load16(packet + 2) - (uint32_t)header,
                                .data = packet + header,
                                .last = !(field & IP_MORE)};
    return take_valid(net, now, &fragment, received);
}

/* Finds the fragment header of a packet that is complete; false: there is none, or one of a whole packet (RFC 6946). */
static bool fragment6_read(const uint8_t *packet, uint32_t total, struct fragment *fragment) {
    uint32_t at = CARRICK_IP6_HEADER, next_at = 6;
    for (uint32_t n = 0; n < CARRICK_IP6_EXTENSIONS && carrick_ip6_extends(packet[next_at], at); n++) {
        if (total - at < CARRICK_IP6_UNIT)
            return false;
        uint32_t size = carrick_ip6_extension_len(packet[next_at], packet + at);
        if (total - at < size)
            return false;
        if (packet[next_at] == CARRICK_IP6_FRAGMENT) {
            uint32_t field = carrick_load16(packet + at + 2);
            *fragment = (struct fragment){.source = carrick_ip6_load(packet + 8),
                                          .id = carrick_load32(packet + at + 4),
                                          .ecn = (uint8_t)(1u << (packet[1] >> 4 & 3)),
                                          .headers = at,
                                          .next_at = next_at,
                                          .next = packet[at],
                                          .begin = field & ~(FRAGMENT_UNIT - 1),
                                          .len = total - at - size,
                                          .data = packet + at + size,
                                          .last = !(field & IP6_MORE)};
            return fragment->begin != 0 || !fragment->last;
        }
        next_at = at;
        at += size;
    }
    return false;
}

static bool whole6(struct carrick_net *net, uint64_t now, struct net_received *received) {
    const uint8_t *packet = received->packet;
    struct fragment fragment;
    uint32_t total = carrick_ip6_total(packet);
    if (packet[0] >> 4 != 6 || total > received->len ||
        !carrick_ip6_same(carrick_ip6_load(packet + 24), net->config.address6) ||
        !fragment6_read(packet, total, &fragment))
        return true;
    return take_valid(net, now, &fragment, received);
}

bool net_reassemble(struct carrick_net *net, uint64_t now, struct net_received *received) {
    return net->config.six ? whole6(net, now, received) : whole4(net, now, received);
}

void net_fragments_release(struct carrick_net *net) {
    struct net_fragments *fragments = net->fragments;
    for (uint32_t i = 0; fragments->lent && i < NET_DATAGRAMS; i++)
        if (fragments->all[i].state == DATAGRAM_LENT)
            fragments->all[i].state = DATAGRAM_FREE;
    fragments->lent = false;
}

/* Its sender is told, if the first fragment has arrived (RFC 1122 §3.3.2, RFC 8200 §4.5). */
static void datagram_expire(struct carrick_net *net, uint64_t now, struct datagram *datagram) {
    const struct net_received first = {.packet = datagram->first, .len = datagram->first_len, .mac = datagram->mac};
    if (datagram->headers)
        net_refuse_late(net, now, &first);
    datagram_drop(net, datagram);
}

void net_fragments_advance(struct carrick_net *net, uint64_t now) {
    struct net_fragments *fragments = net->fragments;
    uint64_t first = UINT64_MAX;
    if (CARRICK_LIKELY(now < fragments->deadline))
        return;
    for (uint32_t i = 0; i < NET_DATAGRAMS; i++) {
        struct datagram *one = &fragments->all[i];
        if (one->state == DATAGRAM_GATHERS && one->until <= now)
            datagram_expire(net, now, one);
        else if (one->state == DATAGRAM_GATHERS && one->until < first)
            first = one->until;
    }
    fragments->deadline = first;
}

uint64_t net_fragments_deadline(const struct carrick_net *net) {
    return net->fragments ? net->fragments->deadline : UINT64_MAX; /* without an endpoint's layer there are none */
}
