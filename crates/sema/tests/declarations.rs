// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declarations that contradict themselves or each other.

use carrick_sema::{check, codes};
use carrick_syntax::diag::Severity;
use carrick_syntax::parse;

const PROGRAM: &str = "net_header ipv4 { uint32 src_ip; uint8 protocol = 253; }
opt_t small_opt { uint8 kind = 2; uint8 len = 3; uint8 size; }
opt_union option_u { small_opt }
opt_list options { bytes len = words * 4 - 8; list<option_u, 4> opts; }
pkt_bp packet over ipv4 { uint32 n; uint8 words = header_len / 4; uint8 rest; checksum16_t sum; options opts; }
id flow(uint32 a);
event segment : net_event { uint32 n; }
event request : app_event { uint32 n; }
event pause : timer_event { }
context conn by flow { uint32 count; timer_t timer -> pause; }
void parse(pkt_t p, ipv4 ip) { packet h; p.extract(h); segment e; e.n = h.n; set_flow_id(e, flow(ip.src_ip)); raise e; }
void receive(segment e, conn c) { c.count += e.n; timer_start(c.timer, 1s); }
void ask(request r, conn c) { notify(r.token, OK, c.count + r.n); }
void tick(pause t, conn c) { packet bp; bp.opts.add(small_opt(1)); pkt_gen(bp); }
dispatch stack { segment -> { receive }; request -> { ask }; pause -> { tick }; }
interface own { ask -> request on conn; }
deploy { register_ep_chains(stack); register_ctx_spec(conn, 1); register_ev_parser(parse); register_interface(own); }";

/// The codes of the program's errors when `old` is replaced by `new`.
fn errors(old: &str, new: &str) -> Vec<u16> {
    errors_of(PROGRAM, old, new)
}

fn errors_of(program: &str, old: &str, new: &str) -> Vec<u16> {
    assert!(program.contains(old), "{old}");
    let text = program.replacen(old, new, 1);
    let (file, syntax) = parse(&text);
    assert_eq!(syntax, [], "{text}");
    let (program, diagnostics) = check(&file, "t", "t.mtp", &text);
    let errors = diagnostics.into_iter().filter(|d| d.severity == Severity::Error);
    let errors: Vec<u16> = errors.map(|d| d.code).collect();
    assert_eq!(program.is_some(), errors.is_empty());
    errors
}

#[test]
fn the_program_has_none() {
    assert_eq!(errors("deploy", "deploy"), [] as [u16; 0]);
}

#[test]
fn names_are_told_apart() {
    let twins = [
        ("id flow(uint32 a)", "id flow(uint32 a, uint32 a)", codes::FIELD_TWICE),
        ("uint32 count; timer_t timer", "uint32 timer; uint32 count; timer_t timer", codes::FIELD_TWICE),
        ("uint32 count;", "uint32 count; uint32 id;", codes::RESERVED_FIELD),
        ("app_event { uint32 n;", "app_event { uint32 n; token_t token;", codes::RESERVED_FIELD),
        ("uint8 rest;", "uint8 net;", codes::RESERVED_FIELD),
        ("uint32 src_ip;", "uint32 src_ip; uint32 src_ip;", codes::FIELD_TWICE),
        ("uint8 len = 3; uint8 size;", "uint8 len = 4; uint8 size; uint8 size;", codes::FIELD_TWICE),
        ("ask -> request on conn;", "ask -> request on conn; ask -> request on conn;", codes::FIELD_TWICE),
    ];
    for (old, new, code) in twins {
        let found = errors(old, new);
        assert!(found.contains(&code), "{new}: {found:?}");
    }
}

#[test]
fn timers_are_chosen_and_their_events_are_told_what_to_say() {
    let (start, several) = ("timer_start(c.timer, 1s)", "timer_t timer[4] -> pause");
    let says = PROGRAM.replace("timer_event { }", "timer_event { uint32 n; uint32 m; }");
    let many = PROGRAM.replace("timer_t timer -> pause", several);
    let both = says.replace("timer_t timer -> pause", several);
    let right = [
        (&says, "timer_start(c.timer, 1s, { n = e.n })"),
        (&many, "timer_start(c.timer[e.n], 1s); timer_stop(c.timer[3])"),
        (&both, "if (!c.timer[1].armed()) { timer_restart(c.timer[1], 1s, { n = 1, m = 2 }); } c.count = 0"),
    ];
    for (program, new) in right {
        assert_eq!(errors_of(program, start, new), [] as [u16; 0], "{new}");
    }
    let wrong = [
        (PROGRAM, "timer_start(c.timer, 1s, { n = e.n })", codes::ARGUMENT_COUNT),
        (PROGRAM, "timer_start(c.timer[0], 1s)", codes::NOT_A_VALUE),
        (&says, "timer_start(c.timer, 1s)", codes::TIMER_FIELDS),
        (&says, "timer_start(c.timer, 1s, { k = 1 })", codes::UNKNOWN_FIELD),
        (&says, "timer_start(c.timer, 1s, e)", codes::INSTRUCTION_ARGUMENT),
        (&says, "c.timer_n__ = 1", codes::UNKNOWN_FIELD),
        (&says, "instr_t i = timer_start(c.timer, 1s, { n = 1 })", codes::COLLECTED),
        (&many, "timer_start(c.timer, 1s)", codes::NOT_A_TIMER),
        (&many, "timer_start(c.timer[4], 1s)", codes::INDEX_OUTSIDE),
        (&many, "c.count = uint32(c.timer)", codes::NOT_A_VALUE),
    ];
    for (program, new, code) in wrong {
        let found = errors_of(program, start, new);
        assert!(found.contains(&code), "{new}: {found:?}");
    }
    let declared = [
        ("timer_t timer[257] -> pause", codes::ARRAY_LENGTH),
        ("timer_t more[256] -> pause; timer_t timer -> pause", codes::ARRAY_LENGTH),
        ("timer_t timer[0] -> pause", codes::ARRAY_LENGTH),
    ];
    for (new, code) in declared {
        let found = errors("timer_t timer -> pause", new);
        assert!(found.contains(&code), "{new}: {found:?}");
    }
    let addr = errors("timer_event { }", "timer_event { addr_t data; }");
    assert!(addr.contains(&codes::FIELD_TYPE), "{addr:?}");
}

#[test]
fn options_are_told_apart_by_their_kind() {
    let two = "opt_t other_opt { uint8 kind = 2; } opt_union option_u { small_opt, other_opt }";
    assert_eq!(errors("opt_union option_u { small_opt }", two), [codes::OPTION_KIND_TWICE]);
}

#[test]
fn an_option_may_end_with_a_list() {
    let listed = "uint8 len; uint8 size; list<uint32, 4> values in 1..4; }";
    let program = PROGRAM.replace("uint8 len = 3; uint8 size; }", listed);
    let add = "bp.opts.add(small_opt(1));";
    let right = "list<uint32, 4> l; l.add(7); bp.opts.add(small_opt(1, l)); c.count = bp.opts[small_opt].values.len();";
    assert_eq!(errors_of(&program, add, right), [] as [u16; 0]);
    let read = "for (uint32 v in bp.opts[small_opt].values) { c.count += v; } c.count += bp.opts[small_opt].values[3];";
    assert_eq!(errors_of(&program, add, read), [] as [u16; 0]);
    let wrong = [
        (add, codes::ARGUMENT_COUNT),
        ("list<uint32, 3> l; bp.opts.add(small_opt(1, l));", codes::TYPE_MISMATCH),
        ("c.count = bp.opts[small_opt].values[4];", codes::INDEX_OUTSIDE),
        ("bp.opts[small_opt].values.add(1);", codes::OPTION_ASSIGNED),
    ];
    for (new, code) in wrong {
        assert_eq!(errors_of(&program, add, new), [code], "{new}");
    }
}

#[test]
fn padding_is_an_octet() {
    assert_eq!(errors("list<option_u", "uint8 pad = 256; list<option_u"), [codes::LITERAL_RANGE]);
}

#[test]
fn a_checksum_can_be_verified() {
    assert_eq!(errors("checksum16_t sum;", "checksum16_t sum : 8;"), [codes::BIT_WIDTH]);
    assert_eq!(errors("uint8 rest;", ""), [codes::BIT_ALIGNMENT]);
    assert_eq!(errors("checksum16_t sum;", "checksum16_t sum; checksum16_t more;"), [codes::CHECKSUM_TWICE]);
}

#[test]
fn everything_is_deployed_once() {
    let twice = "register_ctx_spec(conn, 1); register_ctx_spec(conn, 2);";
    assert_eq!(errors("register_ctx_spec(conn, 1);", twice), [codes::REGISTERED_TWICE]);
    assert_eq!(errors("register_ev_parser(parse);", "register_ev_parser(ask);"), [codes::DEPLOY_CALL]);
}

#[test]
fn a_parameter_of_an_unknown_type_is_reported_once() {
    assert_eq!(errors("ipv4 ip)", "ipv6 ip)"), [codes::UNKNOWN_TYPE]);
    let more = "void more(uint23 x, uint32 y) { uint32 z = x + y; } void receive(segment e, conn c) { more(1, c.count);";
    assert_eq!(errors("void receive(segment e, conn c) {", more), [codes::UNKNOWN_TYPE]);
}

#[test]
fn declarations_call_no_function() {
    let called = "uint32 count = twice(4); timer_t";
    let twice = "uint32 twice(uint32 n) { return 2 * n; } dispatch";
    let program = PROGRAM.replace("dispatch", twice);
    assert_eq!(errors_of(&program, "uint32 count; timer_t", called), [codes::NOT_CONSTANT]);
    let before = "const uint32 N = parse(7, 10); context conn";
    assert_eq!(errors("context conn", before), [codes::NOT_CONSTANT]);
}

#[test]
fn one_event_causes_only_so_much() {
    let body = |turns: u32| {
        format!(
            "event more : flow_event {{ }} void receive(segment e, conn c) {{
             c.count = e.n; more m; for (uint32 i in 0..{turns}) {{ raise m; }}"
        )
    };
    let receive = "void receive(segment e, conn c) { c.count += e.n;";
    assert_eq!(errors(receive, &body(256)), [] as [u16; 0]);
    assert_eq!(errors(receive, &body(257)), [codes::TOO_MUCH]);
    let tick = |turns: u32| format!("for (uint32 i in 0..{turns}) {{ pkt_gen(bp); }}");
    assert_eq!(errors("pkt_gen(bp);", &tick(1024)), [] as [u16; 0]);
    assert_eq!(errors("pkt_gen(bp);", &tick(1025)), [codes::TOO_MUCH]);
}

#[test]
fn a_constant_index_is_inside() {
    let body =
        |statement: &str| format!("list<uint32, 4> l; uint32 a[4]; a[0] = e.n; l.add(a[0]); {statement}");
    for (statement, wrong) in [
        ("l[3] = 1; l.set(3, 1); l.remove(3); c.count = l.get(3); a[3] = 1;", 0),
        ("l[4] = 1; l.set(4, 1); l.remove(4); c.count = l.get(4); a[4] = 1;", 5),
    ] {
        assert_eq!(errors("c.count += e.n;", &body(statement)), vec![codes::INDEX_OUTSIDE; wrong]);
    }
}
