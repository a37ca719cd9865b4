/* SPDX-License-Identifier: MIT */
/* The program of packets that come, and how packets leave. */
#ifndef CARRICK_XDP_INGRESS_H
#define CARRICK_XDP_INGRESS_H

#include "carrick/units.h"

/* Where the octets of the frame are. */
CARRICK_INLINE void *CARRICK_OWN(frame)(struct xdp_md *ctx) {
    uint64_t at;
    __asm__ volatile("%0 = *(u32 *)(%1 + 0)" : "=r"(at) : "r"(ctx));
    return (void *)(uintptr_t)at;
}

/* Where they end. */
CARRICK_INLINE void *CARRICK_OWN(frame_end)(struct xdp_md *ctx) {
    uint64_t at;
    __asm__ volatile("%0 = *(u32 *)(%1 + 4)" : "=r"(at) : "r"(ctx));
    return (void *)(uintptr_t)at;
}

#if CARRICK_WHOLE_SUM
/* Adds up so many octets of the frame. 0: they are not there. */
CARRICK_APART int CARRICK_OWN(add_up_piece)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t begin,
                                            uint32_t piece) {
    if (!core || piece > CARRICK_SUMMED)
        return 0;
    CARRICK_OPAQUE(begin);
    if (piece == CARRICK_SUMMED && begin < CARRICK_FRAME_MAX) {
        uint8_t *octets = (uint8_t *)CARRICK_OWN(frame)(ctx) + begin;
        if (octets + CARRICK_SUMMED <= (uint8_t *)CARRICK_OWN(frame_end)(ctx)) {
            core->sum += (uint32_t)bpf_csum_diff(NULL, 0, octets, CARRICK_SUMMED, 0);
            return 1;
        }
    }
    CARRICK_OPAQUE(piece);
    if (piece == 0 || bpf_xdp_load_bytes(ctx, begin, core->piece, piece) != 0)
        return 0;
    core->sum += carrick_sum_piece(core->piece, piece);
    return 1;
}

/* The sum of all octets behind the network header. 0: they are not there. */
CARRICK_APART int CARRICK_OWN(add_up)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    if (!core)
        return 0;
    uint32_t len = core->packet.len, begin = core->begin;
    core->sum = 0;
    for (uint32_t at = 0; at < CARRICK_FRAME_MAX && at < len; at += CARRICK_SUMMED)
        if (!CARRICK_OWN(add_up_piece)(ctx, core, begin + at, (uint32_t)carrick_min64(len - at, CARRICK_SUMMED)))
            return 0;
    return 1;
}
#endif

/* Copies the beginning of what is parsed, which is `packet.len` octets from `begin` on, to where the parser reads. */
CARRICK_INLINE int CARRICK_OWN(see)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
#if CARRICK_LOOKS
    core->looked = 0;
#endif
#if CARRICK_FRAMES
    core->packet.rest[0] = 0;
    core->packet.rest[1] = core->packet.len;
#endif
    core->frame = (uint64_t)(uintptr_t)CARRICK_OWN(frame)(ctx);
    uint32_t seen = core->packet.len;
    CARRICK_OPAQUE(seen);
    if (seen > CARRICK_SEEN)
        seen = CARRICK_SEEN;
    if (seen > 0 && bpf_xdp_load_bytes(ctx, core->begin, core->in, seen) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
    return 1;
}

#ifdef CARRICK_REPORT_PARSER
#include "carrick/reports.h"
#endif

/* The frame, if it is a packet for this program: its network header is checked as everywhere, and what follows it is
 * copied to where the parser reads. 0: it is none. */
CARRICK_APART int CARRICK_OWN(arrive)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    if (!core)
        return 0;
    uint8_t *out = core->out;
    if (bpf_xdp_load_bytes(ctx, 0, out, CARRICK_ETHERNET) != 0 || carrick_load16(out + 12) != 0x0800)
        return 0;
    core->room = (uint32_t)bpf_xdp_get_buff_len(ctx);
    uint32_t len = core->room - CARRICK_ETHERNET;
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, CARRICK_IP_HEADER) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
    const uint8_t *p = core->in;
    int known = carrick_ip_begin(p, len);
    if (known < 0)
        return CARRICK_OWN(refuse)(core, (uint32_t)(-1 - known));
    uint32_t header = (uint32_t)known;
    CARRICK_OPAQUE(header);
    if (header < CARRICK_IP_HEADER || header > 60)
        return 0;
    if (bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->in, header) != 0)
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
    uint8_t protocol = CARRICK_PROTOCOL;
#ifdef CARRICK_REPORT_PARSER
    if (p[9] == CARRICK_ICMP)
        protocol = CARRICK_ICMP;
#endif
    uint64_t sum = carrick_sum_piece(p, header);
    known = carrick_ip_read(p, header, sum, core->address, protocol, &core->ip);
    if (known < 0)
        return CARRICK_OWN(refuse)(core, (uint32_t)(-1 - known));
    core->packet.len = core->ip.payload_len;
    core->begin = CARRICK_ETHERNET + header;
    core->frame_len = core->begin + core->packet.len;
#if CARRICK_WHOLE_SUM
    if (!CARRICK_OWN(add_up)(ctx, core))
        return CARRICK_OWN(refuse)(core, CARRICK_COUNT_IP_SHORT);
#endif
#ifdef CARRICK_REPORT_PARSER
    core->reported = core->ip.protocol == CARRICK_ICMP;
    if (core->reported)
        return CARRICK_OWN(arrive_report)(ctx, core);
#endif
    return CARRICK_OWN(see)(ctx, core);
}

/* Whether the host has found that the device may lose what goes back by it (XDP_TX). */
CARRICK_INLINE bool CARRICK_OWN(address_one_way)(void) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    return shared && CARRICK_READ(shared->one_way) != 0;
}

/* Whether the program knows the next hop of the packet in `core->out`, and puts it there. An answer to whoever sent the
 * frame goes back to where that came from, any other packet by the way that the host has found. */
CARRICK_APART int CARRICK_OWN(address)(struct CARRICK_OWN(core) * core) {
    if (!core)
        return 0;
    uint8_t *out = core->out, address[6];
    uint32_t to = carrick_load32(out + CARRICK_ETHERNET + 16);
    carrick_store16(out + 12, 0x0800);
    bool answer = core->device == 0 || to == core->back,
         sure = core->device == 0 || (answer && !CARRICK_OWN(address_one_way)());
    if (answer)
        to = CARRICK_WAY_BACK;
    struct carrick_way *way = sure ? NULL : bpf_map_lookup_elem(&carrick_ways, &to);
    if (!sure && !way)
        return 0;
    if (answer) {
        memcpy(address, out, 6);
        memcpy(out, out + 6, 6);
        memcpy(out + 6, address, 6);
    } else if (way) {
        memcpy(out, way->to, 6);
        memcpy(out + 6, way->from, 6);
    }
    if (!way)
        return 1;
    uint64_t until = CARRICK_READ(way->until);
    if (until < core->now && __sync_val_compare_and_swap(&way->until, until, core->now + CARRICK_WAY_LASTS) == until) {
        core->report.kind = CARRICK_REPORT_WAY;
        core->report.number = 0;
        core->report.count = 1;
        core->report.words[0] = to;
        (void)CARRICK_OWN(send_report)(core);
    }
    return 1;
}

/* The packet in the frame is the kernel's own stack's to send, which asks for a neighbour that nobody knows yet. One
 * that the frame has no room for is in `core->out`. Only so many bytes wait for the host: what strangers have it send
 * delays no completion, and takes no place of one. */
CARRICK_APART int CARRICK_OWN(hand)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t len,
                                    uint32_t outside) {
    if (!core)
        return 0;
    CARRICK_OPAQUE(len);
    if (len < CARRICK_IP_HEADER || len > sizeof core->report.words)
        return 0;
    if (outside && len > sizeof core->out - CARRICK_ETHERNET)
        return 0;
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    if (!shared || (int64_t)(CARRICK_READ(shared->handed) - CARRICK_READ(shared->handed_sent)) >= CARRICK_HANDED_MOST) {
        core->counters[CARRICK_COUNT_TX_QUEUE_FULL]++;
        return 0;
    }
    long lost = outside ? bpf_probe_read_kernel(core->report.words, len, core->out + CARRICK_ETHERNET)
                        : bpf_xdp_load_bytes(ctx, CARRICK_ETHERNET, core->report.words, len);
    if (lost)
        return 0;
    __sync_fetch_and_add(&shared->handed, len);
    core->report.kind = CARRICK_REPORT_SEND;
    core->report.number = len;
    core->report.count = (len + 7) / 8;
    int there = CARRICK_OWN(send_report)(core);
    if (!there)
        __sync_fetch_and_add(&shared->handed, -(uint64_t)len);
    return there;
}

/* The packet that was made, in the frame that is there. */
CARRICK_INLINE int CARRICK_OWN(fill)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core, uint32_t len) {
    CARRICK_OPAQUE(len);
    if (len < CARRICK_IP_HEADER || len > sizeof core->out - CARRICK_ETHERNET)
        return CARRICK_XDP_DROP;
    int known = CARRICK_OWN(address)(core);
    uint32_t frame = CARRICK_ETHERNET + len, more = (uint32_t)core->payload.len;
    if (bpf_xdp_adjust_tail(ctx, (int)(frame + more - core->room)) != 0) {
        if (!more && core->device)
            (void)CARRICK_OWN(hand)(ctx, core, len, 1);
        else
            core->counters[CARRICK_COUNT_TX_TOO_LONG]++;
        return CARRICK_XDP_DROP;
    }
    if (bpf_xdp_store_bytes(ctx, 0, core->out, frame) != 0) {
        core->counters[CARRICK_COUNT_TX_TOO_LONG]++;
        return CARRICK_XDP_DROP;
    }
#if CARRICK_PAYLOADS
    if (more && !CARRICK_OWN(payload_show)(ctx, core, frame))
        return CARRICK_XDP_DROP;
#endif
    if (known)
        return CARRICK_XDP_TX;
    (void)CARRICK_OWN(hand)(ctx, core, len + more, 0);
    return CARRICK_XDP_DROP;
}

/* Whether the frame that came can take any packet. Devices hand over some that have no room behind them. */
CARRICK_INLINE bool CARRICK_OWN(roomy)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    uint32_t whole = CARRICK_ETHERNET + core->mtu;
    if (CARRICK_PAYLOADS == 0 || core->room >= whole)
        return true;
    if (bpf_xdp_adjust_tail(ctx, (int)(whole - core->room)) != 0)
        return false;
    core->room = whole;
    return true;
}

/* The frame that is there takes the oldest packet, if there is one. */
CARRICK_INLINE int CARRICK_OWN(leave)(struct xdp_md *ctx, struct CARRICK_OWN(core) * core) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    uint64_t place = 0;
    bool alone = core->alone;
    core->vacant = core->alone = false;
    if (!shared)
        return CARRICK_XDP_DROP;
    struct CARRICK_OWN(entry) *e = alone ? &core->entry : CARRICK_OWN(oldest)(core, shared, &place);
    if (!e)
        return CARRICK_XDP_DROP;
    uint32_t len = (uint32_t)CARRICK_OWN(packet)(core, e);
    uint32_t sent = core->last ? e->sent : 0;
    core->sent = sent;
    if (sent) {
        core->sent_handle = e->handle;
        core->brought = e->brought;
    }
    if (!alone)
        CARRICK_OWN(taken)(core, shared, e, place, len);
    CARRICK_UNUSED bool out = core->last && core->whole;
    int verdict = CARRICK_OWN(fill)(ctx, core, len);
#if CARRICK_PAYLOADS
    if (out)
        (void)CARRICK_OWN(payload_sent)(core, &core->payload);
#endif
    if (sent) {
        (void)CARRICK_OWN(sent)(core);
        CARRICK_OWN(run_sent)(core);
    }
    return verdict;
}

/* The host may sleep, and what has to be done would come too late. */
CARRICK_INLINE void CARRICK_OWN(call_host)(struct CARRICK_OWN(core) * core) {
    struct carrick_shared *shared = CARRICK_OWN(shared)();
    if (!core->device || !shared || !carrick_calls(shared))
        return;
    core->report.kind = CARRICK_REPORT_CALL;
    core->report.number = 0;
    core->report.count = 0;
    (void)CARRICK_OWN(send_report)(core);
}

/* Packets of the program are its own: what it issues for one leaves in its frame. All others go on to the kernel. */
CARRICK_SECTION("xdp") int ingress(struct xdp_md *ctx) {
    struct CARRICK_OWN(core) *core = CARRICK_OWN(here)();
    if (!core)
        return CARRICK_XDP_PASS;
    core->now = core->clock ? core->clock - 1 : bpf_ktime_get_ns();
    core->wanted = 0;
    if (!CARRICK_OWN(arrive)(ctx, core))
        return CARRICK_XDP_PASS;
    core->counters[CARRICK_COUNT_RX_PACKETS]++;
    core->chain.handle = 0;
#if CARRICK_CLAIMED
    core->chain.event = 0;
#endif
#ifdef CARRICK_OWNERS
    core->owner = core->chain.owner = 0;
#endif
    core->chain.raised_count = core->waiting_count = core->level_count = 0;
    core->chain.stopped = core->chain.deleted = core->chain.dropped = false;
#ifdef CARRICK_REPORT_PARSER
    CARRICK_OWN(parse_any)(core);
#else
    (void)CARRICK_PARSER(core, &core->packet, &core->ip);
#endif
    if (core->chain.raised_count == 0) {
        if (!core->chain.dropped)
            (void)CARRICK_OWN(refuse)(core, CARRICK_COUNT_UNPARSED);
        return CARRICK_XDP_DROP;
    }
    core->taken++;
#ifdef CARRICK_REPORT_PARSER
    core->back = core->reported ? core->quoted.from : core->ip.src;
#else
    core->back = core->ip.src;
#endif
    core->vacant = !core->paced;
    core->alone = false;
    core->roomy = CARRICK_OWN(roomy)(ctx, core);
    CARRICK_OWN(run_parsed)(core);
    int verdict = core->paced ? CARRICK_XDP_DROP : CARRICK_OWN(leave)(ctx, core);
    CARRICK_OWN(call_host)(core);
    bool back = verdict != CARRICK_XDP_TX || !CARRICK_OWN(address_one_way)();
    return back ? verdict : (int)bpf_redirect(core->device, 0);
}

#endif
