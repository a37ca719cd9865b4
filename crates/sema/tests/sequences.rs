// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which plain integers are taken for sequence numbers, by how a program uses them.

use carrick_sema::{check, codes};
use carrick_syntax::parse;

/// How often `add`, with this body, compares sequence numbers as plain ones. `at` is a field of a header without a telling name.
fn found(body: &str) -> usize {
    let text = format!(
        "net_header ipv4 {{ uint32 src_ip; uint32 dst_ip; uint8 protocol = 253; }}
         opt_t pad {{ uint8 kind = 1; }}
         opt_t mark {{ uint8 kind = 5; uint8 len = 6; uint32 of; }}
         opt_union marks {{ pad, mark }}
         opt_list options {{ bytes len = size - 28; uint32 align = 4; uint8 pad = 1; list<marks, 1> opts; }}
         pkt_bp message over ipv4 {{
             uint32 at; uint16 round; uint32 limit; uint64 wide; uint32 psn; uint32 short : 24;
             uint8 size = header_len; options opts; data_t payload;
         }}
         id flow(uint32 remote_ip, uint32 local_ip);
         event number : net_event {{
             uint32 at; uint16 round; uint32 limit; uint64 wide; uint32 psn; uint32 short; uint32 of; uint32 len;
         }}
         context peer by flow {{
             uint32 next; uint16 round; uint32 limit; uint64 wide; uint32 most; uint32 count; uint32 list[4];
         }}
         void parse(pkt_t p, ipv4 ip) {{
             message m;
             p.extract(m);
             number e;
             e.at = m.at; e.round = m.round; e.limit = m.limit; e.wide = m.wide; e.psn = m.psn; e.short = m.short;
             e.of = m.opts[mark].of;
             e.len = uint32(m.payload.len);
             set_flow_id(e, flow(ip.src_ip, ip.dst_ip));
             raise e;
         }}
         void meet(number e) {{ peer c; new_ctx(c, get_flow_id(e)); }}
         bool before(uint32 a, uint32 b) {{ return a < b; }}
         void add(number e, peer c) {{ {body} }}
         dispatch stack {{ number -> {{ add }} absent {{ meet }}; }}
         deploy {{ register_ep_chains(stack); register_ctx_spec(peer, 1000); register_ev_parser(parse); }}"
    );
    let (file, syntax) = parse(&text);
    assert_eq!(syntax, [], "{text}");
    let (program, diagnostics) = check(&file, "t", "t.mtp", &text);
    assert!(program.is_some(), "{body}: {diagnostics:?}");
    diagnostics.iter().filter(|d| d.code == codes::SEQ_BY_USE).count()
}

#[test]
fn numbers_that_count_up_and_are_only_compared_are() {
    for (body, times) in [
        ("c.next = e.at; if (e.at < c.next) return; c.next += e.len;", 1),
        ("c.next = e.at; if (e.at + e.len <= c.next) return; c.next = c.next + e.len;", 1),
        ("c.next = e.at; c.next++; uint32 at = c.next; if (at - 1 > e.at) c.count++;", 1),
        ("c.next = e.at; c.next++; c.most = e.at; c.most = max(c.most, c.next);", 1),
        ("c.next = e.at; c.next++; if (e.at < c.next && c.next >= e.at) c.count++;", 2),
        ("c.round = e.round; c.round++; if (e.round >= c.round) c.count++;", 1),
        ("c.next = e.short; c.next++; if (e.short < c.next) c.count++;", 1),
        ("c.next = e.of; c.next++; if (e.of > c.next) c.count++;", 1),
        ("c.list[e.at % 4] = e.at; c.next = e.at; c.next++; if (c.list[0] < c.next) c.count++;", 1),
        // Its name says it, where nothing is counted.
        ("if (e.psn > c.most) c.most = e.psn;", 1),
        // In a function, whose parameters are these numbers.
        ("c.next = e.at; c.next++; if (before(e.at, c.next)) c.count++;", 1),
    ] {
        assert_eq!(found(body), times, "{body}");
    }
}

#[test]
fn quantities_are_not() {
    for body in [
        // The greatest of what was seen: a window, a load.
        "if (e.at > c.most) c.most = e.at;",
        "c.most = max(c.most, e.at);",
        // It has a limit, which is no such number.
        "c.next = e.at; c.next += e.len; if (c.next >= c.limit) return; if (e.at < c.next) c.count++;",
        "c.next = e.at; c.next++; if (c.next > 100) return; if (e.at < c.next) c.count++;",
        "c.next = e.at; c.next++; c.next = min(c.next, e.len); if (e.at < c.next) c.count++;",
        "c.next = e.at; c.next++; for (uint32 i in 0..c.next max 4) c.count++; if (e.at < c.next) c.count++;",
        // It is widened, or computed with.
        "c.next = e.at; c.next += e.len; c.wide = uint64(c.next); if (e.at < c.next) c.count++;",
        "c.next = e.at; c.next++; c.count = c.next / 4; if (e.at < c.next) c.count++;",
        // It does not wrap in any life of a connection.
        "c.wide++; if (e.wide < c.wide) c.wide = e.wide;",
        // No packet has it.
        "c.next++; c.most = c.next; if (c.count < c.most) c.count = c.most;",
        // Distances, and equality.
        "c.next = e.at; c.next += e.len; if (e.at - c.next > c.limit || e.at == c.next) c.count++;",
    ] {
        assert_eq!(found(body), 0, "{body}");
    }
}
