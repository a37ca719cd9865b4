// SPDX-License-Identifier: MIT OR Apache-2.0
//! What depends on a mistake is silent.

use carrick_sema::check;
use carrick_syntax::parse;

/// The codes reported for a processor with this body.
fn found(body: &str) -> Vec<u16> {
    let text = format!(
        "net_header ipv4 {{ uint8 protocol = 253; }}
         id flow(uint32 a);
         event segment : net_event {{ uint32 n; }}
         context conn by flow {{ uint32 count; }}
         void parse(pkt_t p, ipv4 ip) {{ segment e; set_flow_id(e, flow(1)); raise e; }}
         list<instr_t> receive(segment e, conn c) {{ list<instr_t> out; {body} return out; }}
         void make(segment e) {{ conn v; new_ctx(v, flow(e.n)); }}
         dispatch stack {{ segment -> {{ receive }} absent {{ make }}; }}
         deploy {{ register_ep_chains(stack); register_ctx_spec(conn, 1); register_ev_parser(parse); }}"
    );
    let (file, syntax) = parse(&text);
    assert_eq!(syntax, [], "{text}");
    check(&file, "t", "t.mtp", &text).1.into_iter().map(|d| d.code).collect()
}

#[test]
fn a_correct_body_has_none() {
    assert_eq!(found("c.count += e.n;"), [] as [u16; 0]);
}

#[test]
fn a_variable_of_an_unknown_type_is_reported_once() {
    assert_eq!(found("uint23 x = e.n; c.count += x; x = 4; x.f = 3;"), [carrick_sema::codes::UNKNOWN_TYPE]);
}

#[test]
fn an_instruction_that_is_none_is_reported_once() {
    assert_eq!(found("instr_t i = c.count; out.add(i);"), [carrick_sema::codes::COLLECTED]);
}

#[test]
fn a_variable_with_a_wrong_value_is_reported_once() {
    assert_eq!(found("uint32 x = missing; c.count += x;"), [carrick_sema::codes::UNKNOWN_NAME]);
}

/// The codes reported for a machine of these lines, whose processors are the chain of `segment`.
fn found_in_machine(of: &str, body: &str) -> Vec<u16> {
    let text = format!(
        "net_header ipv4 {{ uint8 protocol = 253; }}
         id flow(uint32 a);
         event segment : net_event {{ uint32 n; }}
         context conn by flow {{ uint32 count; }}
         scratchpad pad {{ uint32 x; }}
         void parse(pkt_t p, ipv4 ip) {{ segment e; set_flow_id(e, flow(1)); raise e; }}
         void use(conn c, pad p) {{ p.x = c.count; }}
         machine life for {of} {{ {body} }}
         void make(segment e) {{ conn v; new_ctx(v, flow(e.n)); }}
         dispatch stack {{ segment -> {{ use, life }} absent {{ make }}; }}
         deploy {{ register_ep_chains(stack); register_ctx_spec(conn, 1); register_ev_parser(parse); }}"
    );
    let (file, syntax) = parse(&text);
    assert_eq!(syntax, [], "{text}");
    check(&file, "t", "t.mtp", &text).1.into_iter().map(|d| d.code).collect()
}

#[test]
fn a_mistake_in_a_machine_is_reported_once() {
    use carrick_sema::codes::*;
    let of = "conn c";
    let cases: [(&str, &str, &[u16]); 12] = [
        (of, "state a { on segment { goto b; } } state b { on segment { goto a; } }", &[]),
        (of, "state a { on segment e with pad p if (e.n == p.x) { c.count = p.x; } }", &[]),
        // what leads nowhere leads nowhere; the state that is meant is not unreachable besides
        (of, "state a { on segment { goto bb; } } state b { on segment { goto a; } }", &[UNKNOWN_STATE]),
        ("con c", "state a { on segment { c.count++; goto b; } } state b { }", &[UNKNOWN_CONTEXT]),
        (of, "state a { on segmnt e { c.count = e.n; } on segment { } }", &[UNKNOWN_EVENT]),
        (of, "state a { on segment e if (e.n) { goto b; } } state b { on segment { } }", &[NOT_A_CONDITION]),
        (of, "state a { on segment e if (e.m == 1) { } }", &[UNKNOWN_FIELD]),
        (of, "state a { on segment e with pat p { c.count = p.x; } }", &[UNKNOWN_TYPE]),
        (of, "state a { on segment e with uint32 n { } }", &[NOT_A_PROCESSOR]),
        (of, "state a { on segment e { goto a; c.count++; } }", &[UNREACHABLE]),
        (of, "state a { on segment life { } }", &[LOCAL_NAME]),
        ("conn k", "state k { on segment { } on segment { } }", &[LOCAL_NAME, REACTION_SHADOWED]),
    ];
    for (of, body, codes) in cases {
        assert_eq!(found_in_machine(of, body), codes, "{body}");
    }
}

#[test]
fn a_context_that_is_made_in_a_state_enters_it() {
    let machine = "state a { on segment { del_ctx(c); } } state b { on segment { goto a; } }";
    assert_eq!(found_in_machine("conn c", machine), [carrick_sema::codes::STATE_UNREACHABLE]);
    let entered = |how: &str| {
        let made = format!("on segment e {{ conn v; v.life = {how}; new_ctx(v, flow(e.n)); }}");
        found_in_machine("conn c", &format!("{machine} state d {{ {made} }}"))
    };
    // `d` itself is not entered, and yet what it makes may be
    assert_eq!(entered("b"), [carrick_sema::codes::STATE_UNREACHABLE]);
    assert_eq!(entered("e.n == 1 ? b : (e.n == 2 ? a : d)"), [] as [u16; 0]);
    assert_eq!(entered("e.n == 1 ? b : a"), [carrick_sema::codes::STATE_UNREACHABLE]);
    assert_eq!(entered("life(uint8(e.n))"), [] as [u16; 0], "any of them");
}
