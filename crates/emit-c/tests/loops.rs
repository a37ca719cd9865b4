// SPDX-License-Identifier: MIT OR Apache-2.0
//! No loop turns more often than its `max`, whatever its bounds are.

/// The C of a processor with this loop over `i`.
fn emitted(bounds: &str) -> String {
    let text = format!(
        "net_header ipv4 {{ uint8 protocol = 253; }}
id flow(uint32 a);
event segment : net_event {{ uint32 n; }}
context conn by flow {{ uint32 count; }}
void parse(pkt_t p, ipv4 ip) {{ segment e; set_flow_id(e, flow(1)); raise e; }}
void receive(segment e, conn c) {{ for (uint32 i in {bounds}) {{ c.count += e.n; }} }}
dispatch stack {{ segment -> {{ receive }}; }}
deploy {{ register_ep_chains(stack); register_ctx_spec(conn, 1); register_ev_parser(parse); }}"
    );
    let (file, syntax) = carrick_syntax::parse(&text);
    assert_eq!(syntax, [], "{text}");
    let (program, diagnostics) = carrick_sema::check(&file, "t", "t.mtp", &text);
    let program = program.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let files = carrick_emit_c::emit(&carrick_lower::lower(program));
    files.into_iter().find(|(name, _)| name == "t.c").expect("the source").1
}

#[test]
fn constant_bounds_are_compared_with_alone() {
    assert!(emitted("1..5").contains("for (uint32_t i = 1u; i < 5u; i++) {"));
    assert!(emitted("1..5 max 4").contains("for (uint32_t i = 1u; i < 5u; i++) {"));
}

#[test]
fn other_turns_are_counted() {
    for bounds in ["1..5 max 3", "0..1000000000 max 3", "e.n..4 max 3", "0..e.n max 3"] {
        assert!(emitted(bounds).contains("i < i__end && i__turn != 3u; i++, i__turn++"), "{bounds}");
    }
}
