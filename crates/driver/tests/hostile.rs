// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that are written to hurt the compiler: each is answered in time that its length explains.
//!
//! The bound is generous. What grows with the square of these lengths, or faster, takes minutes.

use std::fmt::Write as _;
use std::sync::mpsc::channel;
use std::time::Duration;

use carrick_driver::compile::{compile_file, compile_text, compile_texts};
use carrick_driver::parts::program_of;
use carrick_driver::render::{Colour, json, pretty};
use carrick_driver::{Compiled, Failure};
use rustix::time::{ClockId, clock_gettime};

/// Of processor time: other work on the machine does not count.
const BOUND: Duration = Duration::from_secs(60);
/// What never ends is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(600);

/// Runs this on a thread with an ordinary stack; fails if it takes too long.
fn bounded<T: Send + 'static>(what: &'static str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = channel();
    let thread = std::thread::spawn(move || done.send((run(), clock_gettime(ClockId::ThreadCPUTime))));
    let answer = result.recv_timeout(PATIENCE);
    let (result, took) = answer.unwrap_or_else(|_| panic!("{what}: no answer in {PATIENCE:?}"));
    thread.join().expect("it ends").expect("it was received");
    assert!(took.tv_sec < BOUND.as_secs().cast_signed(), "{what}: {} s of processor time", took.tv_sec);
    result
}

/// Compiles, and renders all that is wrong.
fn answered(what: &'static str, text: String) -> (usize, usize, String) {
    bounded(what, move || {
        let compiled = compile_text("hostile.mtp", text);
        let said = pretty(&compiled, Colour::No);
        assert!(json(&compiled)["diagnostics"].as_array().is_some_and(|all| all.len() <= 202), "{what}");
        (compiled.errors(), compiled.warnings(), said)
    })
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}", line(n));
        text
    })
}

#[test]
fn constants_that_depend_on_each_other() {
    let chain = lines(20_000, |n| format!("const uint32 C{n} = C{};", n + 1)) + "const uint32 C20000 = 7;";
    let (errors, _, said) = answered("a chain of constants", chain);
    assert_eq!(errors, 2, "no parser and no deploy: {said}");
    let circle = lines(20_000, |n| format!("const uint32 C{n} = C{};", (n + 1) % 20_000));
    let (_, _, said) = answered("a circle of constants", circle);
    assert_eq!(said.matches("depends on itself").count(), 1, "{said}");
}

#[test]
fn many_mistakes_are_counted() {
    let text = lines(20_000, |n| format!("const uint32 NAME{n} = OTHER{n};"));
    let (errors, _, said) = answered("unknown names", text);
    assert!(errors >= 20_000 && said.contains(" more errors"), "{errors}");
    // What an error hides looks unused: only a program without errors is warned of that.
    let right = include_str!("../../../tests/programs/least.mtp");
    let text = lines(20_000, |n| format!("const uint32 NAME{n} = {n};")) + right;
    let (_, warnings, said) = answered("unused names", text);
    assert!(warnings == 20_000 && said.contains("and 19900 more warnings"), "{warnings}");
}

#[test]
fn one_character_many_times() {
    for (what, text) in [
        (";", ";"),
        ("\"", "\""),
        ("' and \"", "'\""),
        ("{", "{"),
        ("}", "}"),
        ("(", "("),
        ("#", "#"),
        ("line of #", "#\n"),
        ("strange", "\u{a7} "),
        ("words", "a "),
        ("const", "const "),
        ("doc", "/// a\n"),
        ("comment", "/*"),
        ("if", "if("),
        ("name", "a"),
        ("digit", "9"),
        ("mark", "\u{feff}"),
        ("carriage return", "\r"),
        ("list", "list<"),
        ("void f()", "void f(){"),
    ] {
        let (errors, _, _) = answered(what, text.repeat(1_000_000 / text.len()));
        assert!(errors > 0, "{what}");
    }
}

#[test]
fn structs_and_functions_within_each_other() {
    let doubled = "struct S0 { uint32 a; }\n".to_owned()
        + &lines(80, |n| format!("struct S{} {{ S{n} a; S{n} b; }}", n + 1));
    let (_, _, said) = answered("structs that double", doubled);
    assert_eq!(said.matches("error[MTP0482]").count(), 1, "{said}");
    let chain = "struct S0 { uint32 a; }\n".to_owned()
        + &lines(20_000, |n| format!("struct S{} {{ S{n} a; }}", n + 1));
    let (_, _, said) = answered("a chain of structs", chain);
    assert_eq!(said.matches("error[MTP0482]").count(), 1, "{said}");
    let calls = "uint32 f0(uint32 n) { return n; }\n".to_owned()
        + &lines(20_000, |n| format!("uint32 f{}(uint32 n) {{ return f{n}(n); }}", n + 1));
    let (_, _, said) = answered("a chain of calls", calls);
    assert_eq!(said.matches("error[MTP0483]").count(), 1, "{said}");
}

#[test]
fn long_lists_of_everything() {
    let fields = lines(40_000, |n| format!("uint32 field{n};"));
    let body = lines(20_000, |n| format!("uint32 local{n} = local{} + 1;", n.saturating_sub(1)));
    for (what, text) in [
        ("fields", format!("struct s {{ {fields} }}")),
        ("fields of a header", format!("pkt_bp s over ipv4 {{ {fields} }}")),
        ("fields of an option", format!("opt_t s {{ uint8 kind = 2; uint8 len = 4; {fields} }}")),
        ("variants", format!("enum e : uint32 {{ {} }}", lines(40_000, |n| format!("V{n},")))),
        ("parts", format!("id k({} uint32 last);", lines(40_000, |n| format!("uint32 part{n},")))),
        (
            "timers",
            format!(
                "event t : timer_event {{ }} context c {{ {} }}",
                lines(20_000, |n| format!("timer_t timer{n} -> t;"))
            ),
        ),
        ("one line", format!("void f() {{ {} }}", body.replace('\n', " "))),
        (
            "else if",
            format!("void f() {{ if (true) {{ }} {} }}", lines(20_000, |_| "else if (false) { }".into())),
        ),
        ("contexts", lines(10_000, |n| format!("id k{n}(uint32 a); context c{n} by k{n} {{ uint32 a; }}"))),
        ("events", lines(10_000, |n| format!("event e{n} : net_event {{ uint32 a; }}"))),
        (
            "features",
            lines(10_000, |n| format!("feature f{n} default {{ requires f{}; }}", (n + 1) % 10_000)),
        ),
        ("twins", lines(40_000, |_| "const uint32 A = 1;".into())),
        (
            "interface",
            format!("interface stream {{ {} }}", lines(10_000, |n| format!("call{n} -> event{n};"))),
        ),
    ] {
        answered(what, text);
    }
}

/// Gives the text of an imported file.
type Reader = fn(&str) -> String;

#[test]
fn imports_are_bounded() {
    let cases: [(&str, String, Reader); 3] = [
        ("a circle", "import \"0.mtp\";".into(), |name| {
            let number: usize = name.trim_end_matches(".mtp").parse().unwrap_or_default();
            format!("import \"{}.mtp\"; import \"{}.mtp\";", (number + 1) % 10_000, number / 2)
        }),
        ("long files", lines(50_000, |n| format!("import \"{n}.mtp\";")), |_| "/* */ ".repeat(500_000)),
        ("no programs", lines(20_000, |n| format!("import \"{n}.mtp\";")), |_| "root:x:0:0:secret".into()),
    ];
    for (what, text, read) in cases {
        let said = bounded(what, move || {
            let compiled = compile_texts("hostile.mtp", &text, &mut |name| Ok(read(name)));
            pretty(&compiled, Colour::No)
        });
        assert!(said.contains("error") && !said.contains("secret"), "{what}: {said}");
    }
}

#[test]
fn only_files_are_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name);
    std::os::unix::fs::symlink("/dev/zero", at("zero.mtp")).expect("a link");
    assert!(std::process::Command::new("mkfifo").arg(at("pipe.mtp")).status().expect("mkfifo").success());
    std::fs::File::create(at("long.mtp")).and_then(|f| f.set_len(1 << 40)).expect("a sparse file");
    std::fs::write(at("mark.mtp"), "\u{feff}const uint32 A = 1;\n").expect("writable");
    for name in ["zero.mtp", "pipe.mtp", "long.mtp"] {
        let path = at(name);
        let failed = bounded("a file that is none", move || compile_file(&path).map(drop));
        assert!(matches!(failed, Err(Failure::Usage(_))), "{name}: {failed:?}");
        let importing = format!("import \"{}\";", at(name).display());
        let (errors, _, said) = answered("an import of it", importing);
        assert!(errors == 1 && said.contains("MTP0500"), "{name}: {said}");
    }
    let part = at("mark.mtp");
    assert_eq!(bounded("a search among them", move || program_of(&part)), None);
    let right: Compiled = compile_file(&at("mark.mtp")).expect("readable");
    assert!(!pretty(&right, Colour::No).contains("MTP0001"), "{}", pretty(&right, Colour::No));
}

#[test]
fn a_long_program_without_mistakes() {
    const LONG: usize = 20_000;
    let fields = lines(LONG, |n| format!("uint32 field{n};"));
    let used = lines(LONG, |n| format!("c.field{n} += e.n; c.count -= c.field{n};"));
    let text = format!(
        "net_header ipv4 {{ uint32 src_ip; uint32 dst_ip; uint8 protocol = 253; }}
         id flow(uint32 remote_ip, uint32 local_ip);
         event segment : net_event {{ uint32 n; }}
         context conn by flow {{ uint32 count; {fields} }}
         pkt_bp hdr over ipv4 {{ uint32 n; }}
         void parse(pkt_t p, ipv4 ip) {{
             hdr h; p.extract(h); segment e; e.n = h.n; set_flow_id(e, flow(ip.src_ip, ip.dst_ip)); raise e;
         }}
         void receive(segment e, conn c) {{ {used} }}
         void made(segment e) {{ conn v; new_ctx(v, get_flow_id(e)); }}
         dispatch stack {{ segment -> {{ receive }} absent {{ made }}; }}
         deploy {{ register_ep_chains(stack); register_ctx_spec(conn, 16); register_ev_parser(parse); }}"
    );
    let (errors, _, said) = answered("many fields and statements", text);
    assert_eq!(errors, 0, "{said}");
}
