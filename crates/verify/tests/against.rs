// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two versions of a program: what is written otherwise and does the same is the same; each kind of change is found.

mod common;

use std::path::Path;
use std::time::Duration;

use carrick_ir::Program;
use carrick_verify::{Bounds, Comparison, Names, PairReport, Verdict, compare};
use common::*;

fn compared(old: &Program, new: &Program, map: &[&str], bounds: &Bounds) -> Comparison {
    let map: Vec<String> = map.iter().map(|word| (*word).to_owned()).collect();
    let names = Names::of(&map).expect("names");
    compare(old, new, &names, bounds, 2, &Default::default(), &|_| {}).expect("comparable")
}

const STATE: &str = "    uint32 n;\n    uint32 m = 7;\n    list<uint32, 4> all;\n    sliding_wnd(32) seen;\n    timer_t wait -> late;";
const EVENT: &str = "uint32 a; uint32 b;";
const MORE: &str =
    "event late : timer_event { }\nevent more : flow_event { uint32 n; }\nconst uint32 LIMIT = 9;";

fn with(body: &str) -> std::sync::Arc<Program> {
    compile(&program(STATE, EVENT, MORE, body))
}

/// What differs in the one processor that is not the same.
fn unlike(old: &str, new: &str) -> Vec<String> {
    let found = compared(&with(old), &with(new), &[], &Bounds::default());
    assert!(found.declared.is_empty(), "{:#?}", found.declared);
    let differs = |pair: &&PairReport| matches!(pair.verdict, Verdict::Differs(_));
    let pairs: Vec<&PairReport> = found.pairs.iter().filter(differs).collect();
    assert_eq!(pairs.len(), 1, "{new}\n{:#?}", found.pairs);
    assert_eq!(pairs[0].name, "on_go");
    let Verdict::Differs(difference) = &pairs[0].verdict else { unreachable!() };
    difference.unlike.iter().map(|u| format!("{}: {} / {}", u.what, u.old, u.new)).collect()
}

#[test]
fn what_is_written_otherwise_is_the_same() {
    for [old, new] in [
        ["c.n = e.a + e.b;", "uint32 sum = e.b;\n    sum += e.a;\n    c.n = sum;"],
        ["if (e.a > 5) c.n = 1; else c.n = 2;", "c.n = e.a <= 5 ? 2 : 1;"],
        ["c.n = e.a * 4;", "c.n = e.a << 2;"],
        ["c.n = min(e.a, e.b);", "if (e.a < e.b) { c.n = e.a; } else { c.n = e.b; }"],
        ["c.n = e.a - e.b;", "c.n = 0 - e.b + e.a;"],
        [
            "push b;\n    b.k = e.a;\n    b.low = 3;\n    pkt_gen(b);",
            "push b;\n    b.low = 3;\n    b.k = e.a;\n    pkt_gen(b);",
        ],
        ["c.n = LIMIT;", "c.n = 9;"],
    ] {
        let found = compared(&with(old), &with(new), &[], &Bounds::default());
        assert!(found.is_same() && !found.differs(), "{new}\n{:#?}", found.pairs);
    }
}

#[test]
fn each_kind_of_change_is_found() {
    for (old, new, told) in [
        ("c.n = e.a + 1;", "c.n = e.a + 2;", "state.n: 1 / 2"),
        ("c.n = e.a / 3;", "c.n = (e.a + 1) / 3;", "state.n: 0 / 1"),
        ("c.all.add(e.a);", "c.all.insert(0, e.a);", "state.all[0]: 0 / 1"),
        ("c.all.add(e.a);", "", "state.all: 1 element / 0 elements"),
        (
            "timer_start(c.wait, 1ms);",
            "timer_restart(c.wait, 1ms);",
            "instructions: timer_start state.wait, notify / timer_restart state.wait, notify",
        ),
        (
            "timer_start(c.wait, 1ms);",
            "timer_start(c.wait, 2ms);",
            "timer_start state.wait: after: 1ms / 2ms",
        ),
        (
            "push b;\n    b.k = e.a;\n    pkt_gen(b);",
            "push b;\n    b.k = e.b;\n    pkt_gen(b);",
            "pkt_gen push: bp.k: ",
        ),
        (
            "push b;\n    pkt_gen(b);",
            "push b;\n    b.net.dst_ip = 1;\n    pkt_gen(b);",
            "pkt_gen push: bp.dst_ip: 0 / 1",
        ),
        (
            "push b;\n    pkt_gen(b);",
            "push b;\n    pkt_gen(b);\n    pkt_gen(b);",
            "instructions: pkt_gen push, notify / pkt_gen push, pkt_gen push, notify",
        ),
        ("", "del_ctx(c);", "state: stays / deleted"),
        ("notify(e.token, OK);", "notify(e.token, BUSY);", "notify: status: OK / BUSY"),
        ("c.n = random();", "c.n = random() & 1;", "state.n: "),
        ("if (e.a == 77777) c.n = 1;", "if (e.a == 77777) c.n = 2;", "state.n: 1 / 2"),
        (
            "state v;\n    new_ctx(v, key(e.a));",
            "state v;\n    v.m = 8;\n    new_ctx(v, key(e.a));",
            "new_ctx state state: value.m: 7 / 8",
        ),
        ("c.seen.set(0, 1);", "c.seen.set(0, 2);", "state.seen"),
    ] {
        let all = unlike(old, new);
        assert!(all.iter().any(|one| one.starts_with(told)), "{new}\n{all:#?}");
    }
}

/// Values of the example are those with which the two really differ, and lists have their lengths.
#[test]
fn an_example_has_what_it_depends_on() {
    let old = with("if (e.a == 77777 && c.all.len() == 1 && c.all[0] == 5) c.n = e.b;");
    let new = with("if (e.a == 77777 && c.all.len() == 1 && c.all[0] == 5) c.n = e.b + 1;");
    let found = compared(&old, &new, &[], &Bounds::default());
    let example = found.pairs.iter().find_map(|pair| match &pair.verdict {
        Verdict::Differs(difference) => Some(difference),
        _ => None,
    });
    let before = &example.expect("it differs").before;
    for (name, value) in [("e.a", "77777"), ("c.all.len", "1"), ("c.all[0]", "5")] {
        assert!(before.contains(&(name.to_owned(), value.to_owned())), "{name}: {before:#?}");
    }
}

#[test]
fn what_is_declared_otherwise_is_told() {
    let base = program(STATE, EVENT, MORE, "    c.n = LIMIT;");
    let old = compile(&base);
    for (from, to, head, outside) in [
        ("protocol = 205", "protocol = 206", "net_header ipv4", true),
        ("uint8 low : 4; uint8 high : 4;", "uint8 high : 4; uint8 low : 4;", "blueprint push", true),
        ("register_ctx_spec(state, 4)", "register_ctx_spec(state, 5)", "context state", true),
        ("    uint32 n;\n", "    uint32 n;\n    uint32 extra;\n", "context state", false),
        ("uint32 a; uint32 b;", "uint32 a; uint32 b; uint32 d;", "event go", true),
        ("    go -> go on state;\n", "", "interface test", true),
    ] {
        assert_eq!(base.matches(from).count(), 1, "{from}");
        let found = compared(&old, &compile(&base.replace(from, to)), &[], &Bounds::default());
        let declared: Vec<(&str, bool)> =
            found.declared.iter().map(|d| (d.head.as_str(), d.outside)).collect();
        assert_eq!(declared, [(head, outside)], "{to}");
        assert_eq!((found.is_same(), found.differs()), (false, outside), "{to}");
        assert!(found.declared[0].lines().iter().any(|lines| !lines.is_empty()));
    }
    // A constant has no effect of its own: the processor that uses it differs.
    let found = compared(&old, &compile(&base.replace("LIMIT = 9", "LIMIT = 10")), &[], &Bounds::default());
    assert!(found.declared.is_empty() && found.differs(), "{found:#?}");
}

/// What is called otherwise is paired by a map, and a chain whose processors were parted or renamed is compared as a whole.
#[test]
fn names_and_processors_may_change() {
    let base = program(STATE, EVENT, MORE, "    c.n = e.a;\n    c.m = e.b;");
    let old = compile(&base);
    let renamed = base
        .replace("on_go", "go_on")
        .replace("c.m = e.b", "c.rest = e.b")
        .replace("uint32 m = 7", "uint32 rest = 7");
    let new = compile(&renamed);
    assert!(!compared(&old, &new, &[], &Bounds::default()).is_same());
    assert!(compared(&old, &new, &["on_go=go_on", "m=rest"], &Bounds::default()).is_same());
    let parted = base
        .replace("    c.n = e.a;\n    c.m = e.b;\n", "    c.m = e.b;\n")
        .replace("void on_go(", "void first(go e, state c) { c.n = e.a; }\nvoid on_go(")
        .replace("go -> { on_go };", "go -> { first, on_go };");
    let found = compared(&old, &compile(&parted), &[], &Bounds::default());
    assert!(found.is_same(), "{found:#?}");
    assert!(found.pairs.iter().any(|pair| pair.name == "the chain of go" && pair.verdict == Verdict::Same));
    let broken = parted.replace("{ c.n = e.a; }", "{ c.n = e.b; }");
    assert!(compared(&old, &compile(&broken), &[], &Bounds::default()).differs());
    for (map, part) in [
        ("gone=x", "the old version has no name `gone`"),
        ("n=gone", "the new version has no name `gone`"),
        ("n=m", "the old version has `n` and `m`"),
        ("BUSY=OK", "`BUSY` is a word of the language"),
        ("n=timer_start", "`timer_start` is a word of the language"),
        ("min=max", "`min` is a word of the language"),
        ("uint32=uint64", "`uint32` is a word of the language"),
        ("n", "write OLD=NEW"),
        ("=n", "write OLD=NEW"),
    ] {
        let names = Names::of(&[map.to_owned()]);
        let why = names.and_then(|names| {
            compare(&old, &old, &names, &Bounds::default(), 1, &Default::default(), &|_| {}).map(|_| ())
        });
        assert!(why.as_ref().is_err_and(|why| why.contains(part)), "{map}: {why:?}");
    }
}

/// Claims of both versions are assumed: what differs only where they do not hold is no difference.
#[test]
fn claims_exclude_states() {
    let [old, new] = ["c.n = c.m;", "c.n = c.m > 9 ? 0 : c.m;"];
    assert_eq!(unlike(old, new).len(), 1);
    let more = format!("{MORE}\ninvariant low(state c) {{ assert(c.m <= 9); }}");
    let [old, new] = [old, new].map(|body| compile(&program(STATE, EVENT, &more, body)));
    assert!(compared(&old, &new, &[], &Bounds::default()).is_same());
}

/// Both versions get `base` edits of the program; the new one also `edit`.
fn edited(base: &[[&str; 2]], edit: &[[&str; 2]]) -> [std::sync::Arc<Program>; 2] {
    let apply = |text: String, edits: &[[&str; 2]]| {
        edits.iter().fold(text, |text, [from, to]| {
            assert_eq!(text.matches(from).count(), 1, "{from}\n{text}");
            text.replace(from, to)
        })
    };
    let old = apply(program(STATE, EVENT, MORE, "    c.n = e.a;"), base);
    let new = apply(old.clone(), edit);
    [compile(&old), compile(&new)]
}

/// What it is, the edits of both versions, and those of the new one.
type Case<'a> = (&'a str, Vec<[&'a str; 2]>, Vec<[&'a str; 2]>);

const BODY: &str = "    c.n = e.a;";

fn each_differs(cases: &[Case<'_>]) {
    for (what, base, edit) in cases {
        let [old, new] = edited(base, edit);
        let found = compared(&old, &new, &[], &Bounds::default());
        assert!(found.differs(), "{what}: {found:#?}");
    }
}

/// What is easily taken for the same.
#[test]
fn what_only_one_version_is_given_is_found() {
    let second = ["go -> { on_go };", "go -> { on_go, then };"];
    let then =
        |params: &'static str, body: &'static str| format!("void then({params}) {{ {body} }}\nvoid on_go(");
    let (counts, rests) = (then("go e, state c", "c.m += 1;"), then("go e", ""));
    each_differs(&[
        (
            "a processor without its context",
            vec![second, ["void on_go(", &counts]],
            vec![["void then(go e, state c) { c.m += 1; }", "void then(go e) {  }"]],
        ),
        (
            "a processor with a context",
            vec![second, ["void on_go(", &rests]],
            vec![["void then(go e) {  }", "void then(go e, state c) { c.m += 1; }"]],
        ),
    ]);
}

#[test]
fn what_hides_in_operands_is_found() {
    let body = BODY;
    let other =
        ["pkt_bp push", "pkt_bp pull over ipv4 { uint8 low : 4; uint8 high : 4; uint32 k; }\npkt_bp push"];
    let two = "    push x;\n    push y;\n    x.k = 1;\n    y.k = 2;\n    pkt_gen(x);\n    pkt_gen(y);";
    each_differs(&[
        (
            "another packet",
            vec![other, [body, "    push b;\n    pkt_gen(b);"]],
            vec![["    push b;", "    pull b;"]],
        ),
        (
            "another header of a packet",
            vec![
                other,
                ["event go", "event came : net_event { uint32 k; }\nevent go"],
                ["    p.extract(h);", "    p.extract(h);\n    raise came at key(1) { k = h.k };"],
                ["void make(", "void on_came(came e, state c) { c.n = e.k; }\nvoid make("],
                ["    go -> {", "    came -> { on_came };\n    go -> {"],
            ],
            vec![["    push h;", "    pull h;"]],
        ),
        (
            "packets in another order",
            vec![[body, two]],
            vec![["    pkt_gen(x);\n    pkt_gen(y);", "    pkt_gen(y);\n    pkt_gen(x);"]],
        ),
        (
            "an answer that is not there",
            vec![[body, "    notify(e.token, OK, e.a);"]],
            vec![["notify(e.token, OK, e.a)", "notify(e.token, OK)"]],
        ),
        (
            "the type of a literal",
            vec![[body, "    if ((uint32(1) << e.a) == 0) c.n = 1;"]],
            vec![["uint32(1) << e.a", "uint64(1) << e.a"]],
        ),
        (
            "variants of an enum",
            vec![
                ["event go", "enum kk : uint8 { AA, BB }\nevent go"],
                [body, "    c.n = uint32(e.a > 3 ? AA : BB);"],
            ],
            vec![["{ AA, BB }", "{ BB, AA }"]],
        ),
        (
            "what is hashed",
            vec![[body, "    c.n = keyed_hash(e.a);"]],
            vec![["keyed_hash(e.a)", "keyed_hash(int32(e.a))"]],
        ),
        (
            "the first value in a struct",
            vec![["event go", "struct st { uint32 v = 1; }\nevent go"], [body, "    st s;\n    c.n = s.v;"]],
            vec![["uint32 v = 1;", "uint32 v = 2;"]],
        ),
    ]);
}

/// What another version cannot be compared in is not called the same: arrays of other lengths, claims that only the new version makes.
#[test]
fn nothing_is_taken_on_trust() {
    let array = ["event go", "struct st { uint32 x[4]; }\nevent go"];
    let field = ["    uint32 m = 7;", "    uint32 m = 7;\n    st s;"];
    let [old, new] = edited(&[array, field], &[["x[4]", "x[8]"], ["c.n = e.a", "c.n = e.a + 0"]]);
    assert!(!compared(&old, &new, &[], &Bounds::default()).is_same());
    let claim = ["event late", "invariant none(state c) { assert(c.m == 7); }\nevent late"];
    let [old, new] = edited(&[], &[claim, ["c.n = e.a;", "if (c.m == 7) c.n = e.a;"]]);
    assert!(compared(&old, &new, &[], &Bounds::default()).differs());
    let never = ["event late", "invariant never(state c) { assert(c.m > 7); assert(c.m < 7); }\nevent late"];
    let [old, new] = edited(&[never], &[["c.n = e.a;", "c.n = e.b;"]]);
    let found = compared(&old, &new, &[], &Bounds::default());
    let undecided = |pair: &&PairReport| matches!(&pair.verdict, Verdict::Undecided(why) if why.contains("no values satisfy"));
    assert_eq!((found.is_same(), found.pairs.iter().filter(undecided).count()), (false, 1), "{found:#?}");
    // A type that only the new version has.
    let enumeration = ["event late", "enum kk : uint8 { AA, BB }\nevent late"];
    let [old, new] = edited(
        &[],
        &[
            enumeration,
            ["    uint32 m = 7;", "    uint32 m = 7;\n    kk k;"],
            ["c.n = e.a;", "if (c.k == BB) c.n = e.a;"],
        ],
    );
    let found = compared(&old, &new, &[], &Bounds::default());
    let shown = found.pairs.iter().find_map(|pair| match &pair.verdict {
        Verdict::Differs(difference) => {
            Some(difference.before.iter().any(|(name, value)| name.ends_with(".k") && value == "AA"))
        }
        _ => None,
    });
    assert_eq!(shown, Some(true), "{found:#?}");
}

const PAD: [&str; 2] = ["event go", "scratchpad pad { uint16 v = 1; }\nevent go"];
const SECOND: [&str; 2] = ["go -> { on_go };", "go -> { first, on_go };"];

/// What the first processor of a chain begins with, and what is between two of them.
#[test]
fn what_a_chain_begins_with_is_compared() {
    let first = |params: &str, body: &str| format!("void first({params}) {{ {body} }}\nvoid on_go(");
    let counts = first("go e, state c", "c.m += 1;");
    let reads =
        [["void on_go(go e, state c)", "void on_go(go e, state c, pad s)"], ["c.n = e.a;", "c.n = s.v;"]];
    let value = ["uint16 v = 1;", "uint16 v = 2;"];
    // A processor before it does not take the scratchpad.
    let base = [PAD, reads[0], reads[1], SECOND, ["void on_go(", &counts]];
    let [old, new] = edited(&base, &[value]);
    assert!(compared(&old, &new, &[], &Bounds::default()).differs());
    // Fields that only one version has are nobody's business.
    let [old, new] = edited(&base, &[["uint16 v = 1;", "uint16 v = 1; uint32 more;"]]);
    assert!(compared(&old, &new, &[], &Bounds::default()).is_same());
    // A claim that holds after each chain may be broken between two processors.
    let breaks = first("go e, state c", "c.m += e.b;");
    let claim = ["event late", "invariant low(state c) { assert(c.m <= 9); }\nevent late"];
    let base = [SECOND, ["void on_go(", &breaks], claim, ["c.n = e.a;", "if (c.m > 9) c.m = 9;"]];
    let [old, new] = edited(&base, &[["c.m = 9;", "c.m = 0;"]]);
    assert!(compared(&old, &new, &[], &Bounds::default()).differs());
    // Numbers of another type are the same if their values are.
    let sets = first("go e, pad s", "s.v = -1;");
    let signed = ["uint16 v = 1;", "int16 v = 1;"];
    let base =
        [PAD, signed, reads[0], ["c.n = e.a;", "if (s.v < 0) c.n = 1;"], SECOND, ["void on_go(", &sets]];
    let [old, new] = edited(&base, &[["int16 v = 1;", "int32 v = 1;"]]);
    let found = compared(&old, &new, &[], &Bounds::default());
    assert!(found.pairs.iter().all(|pair| !matches!(pair.verdict, Verdict::Differs(_))), "{found:#?}");
    let other =
        [["int16 v = 1;", "uint32 v = 1;"], ["s.v = -1;", "s.v = 0xffff;"], ["s.v < 0", "s.v == 0xffffffff"]];
    let [old, new] = edited(&base, &other);
    assert!(compared(&old, &new, &[], &Bounds::default()).differs());
}

/// Names that a map gives are those of what is read of a packet, too; words of the language cannot be mapped.
#[test]
fn maps_rename_only_what_is_declared() {
    let base = [
        ["uint32 k; uint8 low", "uint32 ma; uint32 left; uint8 low"],
        ["event go", "event came : net_event { uint32 k; }\nevent go"],
        ["    p.extract(h);", "    p.extract(h);\n    raise came at key(1) { k = h.ma };"],
        ["void make(", "void on_came(came e, state c) { c.n = e.k; }\nvoid make("],
        ["    go -> {", "    came -> { on_came };\n    go -> {"],
    ];
    let renamed = ["uint32 ma; uint32 left;", "uint32 right; uint32 ma;"];
    let map = ["ma=right", "left=ma"];
    let [old, new] = edited(&base, &[renamed, ["k = h.ma", "k = h.right"]]);
    assert!(compared(&old, &new, &["ma=right"], &Bounds::default()).differs());
    let why = |map: &[&str]| {
        let map: Vec<String> = map.iter().map(|word| (*word).to_owned()).collect();
        let names = Names::of(&map).expect("names");
        compare(&old, &new, &names, &Bounds::default(), 1, &Default::default(), &|_| {}).map(|_| ())
    };
    // `left` is a word of the language.
    assert!(why(&map).is_err_and(|why| why.contains("`left` is a word of the language")));
    let other = base.map(|[from, to]| {
        [from, if from == "uint32 k; uint8 low" { "uint32 ma; uint32 mb; uint8 low" } else { to }]
    });
    let renamed = ["uint32 ma; uint32 mb;", "uint32 mx; uint32 ma;"];
    let [old, new] = edited(&other, &[renamed, ["k = h.ma", "k = h.mx"]]);
    assert!(compared(&old, &new, &["ma=mx", "mb=ma"], &Bounds::default()).is_same());
    let [old, new] = edited(&other, &[renamed, ["k = h.ma", "k = h.ma + 0"]]);
    assert!(compared(&old, &new, &["ma=mx", "mb=ma"], &Bounds::default()).differs());
}

/// A long array whose elements have another type is not compared.
#[test]
fn arrays_of_another_type_are_undecided() {
    let field = ["    uint32 m = 7;", "    uint32 m = 7;\n    uint16 v[40];"];
    let [old, new] =
        edited(&[field, ["c.n = e.a;", "c.n = uint32(c.v[e.a % 40]);"]], &[["uint16 v[40]", "uint32 v[40]"]]);
    let found = compared(&old, &new, &[], &Bounds::default());
    assert!(
        !found.is_same() && found.pairs.iter().any(|pair| matches!(pair.verdict, Verdict::Undecided(_))),
        "{found:#?}"
    );
}

/// A chain that ends anyhow may stop; a scratchpad begins as it is declared; fields may change places.
#[test]
fn what_nobody_sees_is_no_difference() {
    let pad = ["event go", "scratchpad pad { uint32 n; }\nevent go"];
    let adds = [
        "    c.n = e.a;\n    notify(e.token, OK);",
        "    s.n = e.a;\n    c.n = s.n;\n    notify(e.token, OK);",
    ];
    for (base, edit) in [
        (
            vec![],
            vec![
                ["    c.n = e.a;", "    c.n = e.a;\n    notify(e.token, OK);\n    stop;"],
                ["    stop;\n    notify(e.token, OK);", "    stop;"],
            ],
        ),
        (
            vec![pad, ["void on_go(go e, state c)", "void on_go(go e, state c, pad s)"], adds],
            vec![["s.n = e.a;", "s.n += e.a;"]],
        ),
        (vec![], vec![["    uint32 n;\n    uint32 m = 7;", "    uint32 m = 7;\n    uint32 n;"]]),
    ] {
        let [old, new] = edited(&base, &edit);
        let found = compared(&old, &new, &[], &Bounds::default());
        assert!(found.is_same(), "{found:#?}");
    }
}

/// Without looking at texts: no program differs from itself.
#[test]
fn a_program_does_what_it_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let bounds = Bounds { texts: false, paths: 30, time: Duration::from_millis(200), ..Bounds::default() };
    let (mut proved, mut programs) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        if !text.contains("\ndeploy {") || text.contains("import \"") || text.contains(" over inet") {
            continue;
        }
        let (file, errors) = carrick_syntax::parse(&text);
        let (program, _) = carrick_sema::check(&file, "test", "test.mtp", &text);
        let Some(program) = program.filter(|_| errors.is_empty()) else { continue };
        let program = carrick_lower::lower(program);
        let found = compared(&program, &program, &[], &bounds);
        assert!(!found.differs(), "{}: {found:#?}", entry.path().display());
        proved += found.pairs.iter().filter(|pair| pair.verdict == Verdict::Same).count();
        programs += 1;
    }
    assert!(programs >= 20 && proved >= 150, "{programs} programs, {proved} processors");
}
