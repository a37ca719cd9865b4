// SPDX-License-Identifier: MIT OR Apache-2.0
use carrick_ir::{EventKind, Program};

use super::{Site, place};

const PROGRAM: &str = "net_header ipv4 { uint32 src_ip; uint32 dst_ip; uint8 protocol = 253; }
id flow(uint32 remote_ip, uint32 local_ip);
event segment : net_event { uint32 n; }
event ready : flow_event { uint32 n; }
event late : timer_event { }
context conn by flow { uint32 count; uint32 unread; timer_t t -> late; }
pkt_bp hdr over ipv4 { uint32 n; data_t payload; }
void parse(pkt_t p, ipv4 ip) {
    hdr h;
    p.extract(h);
    segment e;
    e.n = h.n;
    set_flow_id(e, flow(ip.src_ip, ip.dst_ip));
    raise e;
}
void answer(conn c, uint32 n) {
    hdr a;
    a.net.dst_ip = c.id.remote_ip;
    a.n = n;
    pkt_gen(a);
}
void receive(segment e, conn c) {
    c.count += e.n;
    answer(c, c.count);
    ready r;
    r.n = e.n;
    set_flow_id(r, c.id);
    raise r;
}
void made(segment e) {
    conn v;
    new_ctx(v, get_flow_id(e));
}
void open(ready e, conn c) {
    c.unread = e.n;
    new_tx_ordered_data(INF, c.id);
}
void again(late e, conn c) {
    hdr a;
    a.net.dst_ip = c.id.remote_ip;
    a.payload = data(c.id, 0, 1);
    pkt_gen(a);
}
dispatch stack { segment -> { receive } absent { made }; ready -> { open }; late -> { again }; }
deploy {
    register_ep_chains(stack);
    register_ctx_spec(conn, 16);
    register_data_spec(conn, 64KiB, 0B);
    register_ev_parser(parse);
}
";

fn program(text: &str) -> Program {
    let (file, diagnostics) = carrick_syntax::parse(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let (program, diagnostics) = carrick_sema::check(&file, "test", "test.mtp", text);
    crate::lower(program.unwrap_or_else(|| panic!("{diagnostics:?}")))
}

fn sites() -> [Site; 3] {
    let site = |name: &str, begins: Vec<EventKind>, memory: bool, payload: bool| Site {
        name: name.into(),
        description: String::new(),
        begins,
        instructions: None,
        memory,
        payload,
        waits: true,
        blueprints: None,
        statements: None,
    };
    [
        site("in", vec![EventKind::Net], false, false),
        site("out", vec![EventKind::App, EventKind::Timer, EventKind::Sent], false, true),
        site("rest", vec![], true, false),
    ]
}

/// `event[ absent]@site`, with how many obstacles.
fn shown(program: &Program, sites: &[Site]) -> Vec<String> {
    let placement = place(program, sites);
    let one = |p: &super::Placed| {
        let case = if p.absent { " absent" } else { "" };
        let event = &program.events[p.event.index()].name;
        format!("{event}{case}: {} to {} for {}", sites[p.origin].name, sites[p.site].name, p.obstacles.len())
    };
    placement.chains.iter().map(one).collect()
}

#[test]
fn chains_run_where_their_events_arise_unless_something_keeps_them() {
    let program = program(PROGRAM);
    let found = shown(&program, &sites());
    let expected = [
        "segment: in to in for 0",
        "segment absent: in to rest for 1",
        "ready: in to rest for 1",
        "late: out to out for 0",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_a_site_cannot_do_is_told_with_its_place() {
    let program = program(PROGRAM);
    let mut sites = sites();
    sites[0].instructions = Some(vec!["raise".into()]);
    sites[0].blueprints = Some(0);
    sites[0].statements = Some(1);
    let placement = place(&program, &sites);
    let first = &placement.chains[0];
    let texts: Vec<(&str, u32)> = first.obstacles.iter().map(|w| (w.text.as_str(), w.loc.line)).collect();
    assert_eq!(
        texts,
        [
            ("`pkt_gen` is not supported there", 20),
            ("up to 1 packets issued for one event, but the site allows 0", 22),
            ("up to 10 statements in one run, but the site allows 1", 22),
        ]
    );
    assert_eq!(sites[first.site].name, "rest");
}

#[test]
fn packets_are_made_where_their_payload_is() {
    let program = program(PROGRAM);
    let placement = place(&program, &sites());
    let packets: Vec<(bool, usize)> =
        placement.chains.iter().flat_map(|p| &p.packets).map(|m| (m.payload, m.site)).collect();
    assert_eq!(packets, [(false, 0), (true, 1)]);
}

#[test]
fn state_lies_where_it_is_used() {
    let program = program(PROGRAM);
    let placement = place(&program, &sites());
    let used: Vec<(usize, Vec<u32>)> = placement.contexts[0].sites.clone().into_iter().collect();
    assert_eq!(used, [(0, vec![0]), (1, vec![]), (2, vec![1])]);
}
