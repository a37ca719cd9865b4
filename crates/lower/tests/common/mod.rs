// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs for the tests: a small whole one, into which a test puts what it is about.
#![allow(dead_code, reason = "each test uses what it needs")]

use carrick_ir::Program;
use carrick_ir::print::print;
use carrick_ir::validate::validate;
use carrick_syntax::diag::Severity;

/// Parses, checks and completes a program without mistakes, and validates what comes out.
pub fn lowered(text: &str) -> Program {
    let (file, syntax) = carrick_syntax::parse(text);
    assert_eq!(syntax, [], "{text}");
    let (program, diagnostics) = carrick_sema::check(&file, "t", "t.mtp", text);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    let program = program.unwrap_or_else(|| panic!("{errors:#?}\n{text}"));
    let program = carrick_lower::lower(program);
    if let Err(violations) = validate(&program) {
        panic!("{}\n{}", violations.join("\n"), print(&program));
    }
    program
}

/// A program that counts messages and echoes them. `declarations` come first, `body` is what is done for a message `m`
/// on the context `c` with the scratchpad `s`, and `arms` are further chains.
pub fn program(declarations: &str, body: &str, arms: &str) -> String {
    format!(
        "{declarations}
net_header ipv4 {{ uint32 src_ip; uint32 dst_ip; uint8 protocol = 253; uint8 tos; uint16 payload_len; }}
opt_t end_opt {{ uint8 kind = 0; }}
opt_t size_opt {{ uint8 kind = 2; uint8 len = 4; uint16 size; }}
opt_union option_u {{ end_opt, size_opt }}
opt_list options {{ bytes len = words * 4 - 8; uint32 align = 4; list<option_u, 4> opts; }}
pkt_bp packet over ipv4 {{
    seq32 seq; uint8 words : 4 = header_len / 4; uint8 rest : 3; bool last : 1; uint8 kind;
    checksum16_t sum = internet(pseudo, header, payload); options opts; data_t payload;
}}
id flow(uint32 remote_ip, uint32 local_ip);
struct sample {{ time at; uint32 n; }}
enum phase : uint8 {{ IDLE, BUSY_NOW = 4 }}
event message : net_event {{ seq32 seq; uint32 n; addr_t payload; }}
event request : app_event {{ addr_t data; uint32 len; }}
event pause : timer_event {{ }}
event done : sent_event {{ seq32 end; }}
event next : flow_event {{ uint32 n; }}
context conn by flow {{
    uint32 count; int16 small; seq32 seq; duration wait; time last; bytes octets; rate speed; bool on;
    phase state; list<uint32, 4> numbers; list<sample, 2> samples; uint32 table[4]; sample one;
    sliding_wnd(1024, 4) window; token_t token; handle_t peer; uint64 long;
    timer_t timer -> pause;
}}
scratchpad scratch {{ uint32 seen = 1; bool fresh; }}
seg_rule by_seq [packet::seq, bp.seq, prev.seq + prev.payload.len];
void parse(pkt_t p, ipv4 ip) {{
    packet h; p.extract(h);
    message e; e.seq = h.seq; e.n = h.kind; e.payload = h.payload.addr;
    set_flow_id(e, flow(ip.src_ip, ip.dst_ip));
    raise e;
}}
uint32 twice(uint32 x) {{ return x * 2; }}
uint32 bump(conn c) {{ c.count++; return c.count; }}
void receive(message m, conn c, scratch s) {{
{body}
}}
dispatch stack {{ message -> {{ receive }}; {arms} }}
deploy {{
    register_ep_chains(stack); register_ctx_spec(conn, 4); register_data_spec(conn, 4KiB, 4KiB);
    register_ev_parser(parse);
}}
"
    )
}

/// The text of one function of a printed program.
pub fn function(program: &Program, name: &str) -> String {
    let text = print(program);
    let from = text.find(&format!("fn {name}(")).expect("the function");
    let to = text[from..].find("\n}\n").expect("its end");
    text[from..from + to + 3].to_owned()
}
