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
         dispatch stack {{ segment -> {{ receive }}; }}
         deploy {{ register_ep_chains(stack); register_ctx_spec(conn, 1); register_ev_parser(parse); }}"
    );
    let (file, syntax) = parse(&text);
    assert_eq!(syntax, [], "{text}");
    check(&file, "t", "t.mtp", &text).1.into_iter().map(|d| d.code).collect()
}

#[test]
fn a_correct_body_has_none() {
    assert_eq!(found("c.count += e.n;"), []);
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
