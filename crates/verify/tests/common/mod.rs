// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tests of proofs share.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::sync::Arc;

use carrick_ir::Program;
use carrick_verify::{Bounds, CheckReport, Report, Status, Wanted, verify};

/// Compiles a program's text.
pub fn compile(text: &str) -> Arc<Program> {
    let (file, diagnostics) = carrick_syntax::parse(text);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let (program, diagnostics) = carrick_sema::check(&file, "test", "test.mtp", text);
    let program = program.unwrap_or_else(|| panic!("{diagnostics:#?}\n{text}"));
    Arc::new(carrick_lower::lower(program))
}

/// Explores all units.
pub fn explore(program: &Program, bounds: &Bounds) -> Report {
    verify(program, bounds, &Wanted::default(), 2, &Arc::default(), &|_| {}).expect("units")
}

/// The check of a kind on the one line with these words.
pub fn check<'r>(program: &Program, report: &'r Report, kind: &str, words: &str) -> &'r CheckReport {
    let lines: Vec<&str> = program.texts[0].raw().lines().collect();
    let of_kind = report.checks.iter().filter(|c| c.site.kind.word() == kind);
    let found: Vec<_> = of_kind.filter(|c| lines[c.site.loc.line as usize - 1].contains(words)).collect();
    assert_eq!(found.len(), 1, "{kind} {words}: {:#?}", report.checks);
    found[0]
}

/// A program with a context `c` by the key of its events. `body` is what is done for `go e`, and `more` declares.
pub fn program(state: &str, event: &str, more: &str, body: &str) -> String {
    format!(
        "net_header ipv4 {{ uint32 src_ip; uint32 dst_ip; uint8 protocol = 205; }}
id key(uint32 k);
event make_req : app_event {{ uint32 k; }}
event go : app_event {{ {event} }}
context state by key {{
{state}
}}
pkt_bp push over ipv4 {{ uint32 k; uint8 low : 4; uint8 high : 4; }}
{more}
void parse(pkt_t p, ipv4 ip) {{
    push h;
    p.extract(h);
}}
void make(make_req e) {{
    state v;
    new_ctx(v, key(e.k));
    notify(e.token, OK);
}}
void there(make_req e, state c) {{
    notify(e.token, OK, handle(c));
}}
void on_go(go e, state c) {{
{body}
    notify(e.token, OK);
}}
dispatch stack {{
    make_req -> {{ there }} absent {{ make }};
    go -> {{ on_go }};
}}
interface test {{
    make -> make_req at key(k);
    go -> go on state;
}}
deploy {{
    register_ep_chains(stack);
    register_ctx_spec(state, 4);
    register_ev_parser(parse);
    register_interface(test);
}}
"
    )
}

/// Whether it is proved. An undecided check fails the test: here all are easy.
pub fn is_proved(check: &CheckReport) -> bool {
    match &check.status {
        Status::Proved => true,
        Status::NotInductive(_) => false,
        Status::Undecided(why) => panic!("{}: {why}", check.text),
    }
}
