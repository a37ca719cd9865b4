// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the kernel move the window from which options are read only if a list may end behind it.

/// Whether the window moves, of a header of 4 bytes with this field `n` and a list as long as `len` says.
fn moves(field: &str, len: &str) -> bool {
    let text = format!(
        "net_header ipv4 {{ uint8 protocol = 253; }}
event segment : net_event {{ uint32 n; }}
global context totals {{ uint32 count; }}
opt_t mark {{ uint8 kind = 9; uint8 len = 6; uint32 value; }}
opt_union marks {{ mark }}
opt_list options {{ bytes len = {len}; list<marks, 1> opts; }}
pkt_bp packet over ipv4 {{ {field} options opts; data_t payload; }}
void parse(pkt_t p, ipv4 ip) {{ packet h; p.extract(h); raise segment {{ n = h.opts[mark].value }}; }}
void receive(segment e, totals t) {{ t.count += e.n; }}
dispatch stack {{ segment -> {{ receive }}; }}
deploy {{ register_ep_chains(stack); register_ev_parser(parse); }}"
    );
    let (file, syntax) = carrick_syntax::parse(&text);
    assert_eq!(syntax, [], "{text}");
    let (program, diagnostics) = carrick_sema::check(&file, "t", "t.mtp", &text);
    let program = program.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let (_, source) = carrick_xdp_emitter::emit(&carrick_lower::lower(program));
    source.contains("#define CARRICK_LOOKS 1")
}

#[test]
fn the_window_stays_where_all_lists_end_in_it() {
    let four = "uint8 n : 4; uint8 a : 4; uint16 b; uint8 c;";
    // Below 1 the difference wraps, and is longer than any packet.
    assert!(!moves(four, "uint64(n) * 4 - 4"));
    assert!(!moves(four, "n * 4"));
    assert!(!moves("uint8 n; uint16 b; uint8 c;", "uint64(n) - header_len"));
    assert!(!moves("uint8 n : 6; uint8 a : 2; uint16 b; uint8 c;", "uint64(n) * 4"));
}

#[test]
fn the_window_moves_where_a_list_may_end_behind_it() {
    // 4 and 252 bytes are all that is seen at once.
    assert!(moves("uint8 n; uint16 b; uint8 c;", "uint64(n)"));
    // Below 4 the difference wraps in 8 bits, to 255 at most.
    assert!(moves("uint8 n; uint16 b; uint8 c;", "n - 4"));
    assert!(moves("uint16 n; uint16 b;", "uint64(n) - header_len"));
    assert!(moves("uint8 n : 7; uint8 a : 1; uint16 b; uint8 c;", "uint64(n) * 4"));
    assert!(moves("uint32 n;", "n"));
    assert!(moves("uint8 n; uint16 b; uint8 c; uint64 d;", "uint64(n) - d"));
    assert!(moves("uint8 n : 4; uint8 a : 4; uint16 b; uint8 c;", "uint64(int8(n) - 9)"));
}
