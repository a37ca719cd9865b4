// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick trace`: what it shows of contexts, that both engines show the same, and what it refuses.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use carrick_tests::build::{carrick, root};
use carrick_tests::command;
use carrick_tests::document::{blocks, replay, run};
use carrick_tests::net::skip;
use carrick_tests::recorded;
use serde_json::Value;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";

fn trace(args: &[&str]) -> Output {
    command::run(&root(), &[&["trace", PROGRAM], args].concat())
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The objects that a trace for programs is made of.
fn objects(args: &[&str]) -> Vec<Value> {
    let said = text(&trace(&[args, &["--format", "json"]].concat()));
    said.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

#[test]
fn the_reference_shows_what_is_said() {
    let page = std::fs::read_to_string(root().join("docs/reference/debugging.md")).expect("readable");
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "carrick new parcel");
    let commands: usize = blocks(&page)
        .iter()
        .filter(|(kind, _)| *kind == "console")
        .map(|(_, b)| replay(folder.path(), b))
        .sum();
    assert!(commands >= 5, "{commands} commands");
}

/// What follows `--run` or `carrick run FILE`: two stacks of one process, of which the second gets a file from the first.
struct Loop {
    folder: tempfile::TempDir,
    args: Vec<String>,
}

const OCTETS: usize = 200_000;

impl Loop {
    fn new() -> Loop {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("data"), vec![7; OCTETS]).expect("writable");
        let path = folder.path().display();
        let apps = format!("--app http:{path} --app get:http://10.0.0.1/data:{path}/got");
        let args = format!("--port loop --addr 10.0.0.1/24 {apps}").split(' ').map(str::to_owned).collect();
        Loop { folder, args }
    }

    fn traced(&self, args: &[&str]) -> Output {
        let run: Vec<&str> = self.args.iter().map(String::as_str).collect();
        trace(&[args, &["--run"], &run].concat())
    }

    fn arrived(&self) -> usize {
        std::fs::read(self.folder.path().join("got")).map_or(0, |got| got.len())
    }
}

#[test]
fn a_stack_that_runs_is_looked_at_as_a_simulated_one() {
    let run = Loop::new();
    let lines = |args: &[&str]| {
        let said = text(&run.traced(&[args, &["--format", "json"]].concat()));
        said.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect::<Vec<Value>>()
    };
    let segments = lines(&["--on", "segment", "--show", "state,cwnd"]);
    assert_eq!(run.arrived(), OCTETS, "nobody who looks on keeps the octets back");
    let of = |host: &str| segments.iter().filter(|line| line["host"] == host).count();
    assert!(of("stack") >= 3 && of("peer") * 1460 > OCTETS, "{} and {}", of("stack"), of("peer"));
    let first = lines(&["--when", "state == ESTABLISHED", "--show", "snd_una", "--most", "1"]);
    assert_eq!(first.len(), 1, "{first:?}");
}

#[test]
fn a_stack_that_runs_is_changed_and_keeps_its_claims() {
    let mut run = Loop::new();
    if !is_root() {
        return skip("only root changes a running stack");
    }
    // So long that a change comes while there is more to send.
    run.args.extend(["--fault".to_owned(), "delay=20ms".to_owned()]);
    let (grown, shrink, broken) = ("cwnd >= 30000", "tcb.cwnd = 2 * smss", "tcb.snd_una = snd_max + 5");
    let look = ["--when", grown, "--set", shrink, "--set", broken, "--show", "cwnd,smss,snd_una"];
    let said = text(&run.traced(&[&look[..], &["--format", "json"]].concat()));
    assert_eq!(run.arrived(), OCTETS, "changes lose nothing");
    let lines: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let of = |what: &str, set: &str| {
        let found = lines.iter().find(|line| line["what"] == what && line["set"] == set);
        found.unwrap_or_else(|| panic!("{what} {set}: {said}"))
    };
    let set = of("set", shrink);
    assert!(set["was"]["cwnd"].as_u64() >= Some(20_000), "{set}");
    assert_eq!(set["values"]["cwnd"].as_u64(), set["values"]["smss"].as_u64().map(|smss| 2 * smss), "{set}");
    assert!(set["by"].as_u64() > Some(1), "{set}");
    let refused = of("refused", broken);
    assert!(refused["why"].as_str().is_some_and(|why| why.contains("c.snd_una <= c.snd_nxt")), "{refused}");
    assert_eq!((&refused["was"], &refused["by"]), (&Value::Null, &set["by"]), "{refused}");
}

#[test]
fn only_root_changes_a_stack_that_runs() {
    let run = Loop::new();
    let mut command = Command::new(carrick());
    command.args(["trace", PROGRAM, "--on", "segment", "--set", "tcb.cwnd = 1", "--run"]).args(&run.args);
    if is_root() {
        command.uid(65534);
    }
    match command.current_dir(root()).output() {
        Ok(output) => {
            assert_eq!(output.status.code(), Some(3));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("only root changes contexts of a running stack"), "{said}");
        }
        Err(error) => skip(&format!("another user cannot start carrick here: {error}")),
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[test]
fn a_run_on_a_device_becomes_a_page() {
    let run = Loop::new();
    let file = run.folder.path().join("run");
    let mut command = Command::new(carrick());
    command
        .args(["run", PROGRAM, "--trace-format", "json", "--trace"])
        .arg(&file)
        .args(&run.args)
        .current_dir(root());
    text(&command.output().expect("carrick runs"));
    let lines = std::fs::read_to_string(&file).expect("a trace");
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let packets = |what: &str, host: u32| {
        let own = lines.iter().filter(|line| line["what"] == what && line["host"] == host);
        own.map(|line| line["detail"]["bytes"].as_u64().expect("a length")).collect::<Vec<_>>()
    };
    assert_eq!(packets("sent", 0), packets("arrived", 1), "memory loses and reorders nothing");
    assert!(packets("sent", 0).iter().sum::<u64>() > OCTETS as u64);
    let recorded = file.to_str().expect("UTF-8");
    let look = ["trace", recorded, "--when", "state == ESTABLISHED", "--show", "state", "--host", "stack"];
    let shown = text(&command::run(&root(), &look));
    assert!(shown.contains(" stack when state == ESTABLISHED tcb#0"), "{shown}");
    let page = run.folder.path().join("page.html");
    let drawn =
        Command::new(carrick()).arg("report").arg(&file).arg("-o").arg(&page).current_dir(root()).output();
    text(&drawn.expect("carrick runs"));
    assert!(
        std::fs::read_to_string(&page).expect("a page").contains("short: its other end was not looked at")
    );
}

#[test]
fn what_no_device_can_do_is_refused() {
    let run = Loop::new();
    let refused = |args: &[&str]| {
        let output = run.traced(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["--on", "segment", "--set", "tcb.cwnd = true"]).contains("--> --set:1:12"));
    assert!(refused(&["--on", "segment", "--set", "tcb.id = none"]).contains("the id of an instance"));
    assert!(refused(&["--set", "tcb.cwnd = 1"]).contains("--at TIME"));
    assert!(refused(&["--on", "segment", "--loss", "1%"]).contains("cannot be used with"));
    assert!(refused(&["--break", "segment"]).contains("cannot be used with"));
    let host = carrick_tests::build::host(PROGRAM);
    let silent =
        Command::new(host).args(["--records", "/dev/null"]).args(&run.args).output().expect("it runs");
    assert_eq!(silent.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&silent.stderr).contains("CARRICK_TRACE"), "{silent:?}");
}

#[test]
fn interpreter_and_compiled_core_show_the_same() {
    let looks: [&[&str]; 6] = [
        &["--sample", "cwnd,snd_una,state", "--every", "2ms", "--loss", "2%"],
        &["--on", "retransmit", "--loss", "5%"],
        &["--on", "segment", "--app", "random", "--seed", "3"],
        &["--when", "state == CLOSE_WAIT || now() - heard_at > 5s"],
        &["--list", "--at", "3ms", "--app", "idle", "--count", "20"],
        &["--on", "conn_lost", "--on", "linger", "--app", "random", "--seed", "5"],
    ];
    for look in looks {
        let interpreted = text(&trace(look));
        assert!(!interpreted.is_empty(), "{look:?}");
        assert_eq!(interpreted, text(&trace(&[look, &["--compiled"]].concat())), "{look:?}");
    }
}

#[test]
fn an_event_shows_what_it_changed() {
    let all = objects(&[
        "--on",
        "segment",
        "--when",
        "segment.syn && state == SYN_SENT",
        "--show",
        "state, snd_una",
    ]);
    let [only] = &all[..] else { panic!("{all:?}") };
    assert_eq!((&only["what"], &only["host"]), (&"event".into(), &"client".into()));
    assert_eq!(only["event"]["fields"]["has_ack"], true);
    assert_eq!(
        (&only["was"]["state"], &only["values"]["state"]),
        (&"SYN_SENT".into(), &"ESTABLISHED".into())
    );
    let [was, is] = ["was", "values"].map(|key| only[key]["snd_una"].as_u64().expect("a number"));
    assert_eq!(is, (was + 1) % (1 << 32), "the SYN was acknowledged");
    assert_eq!(only["context"]["id"]["remote_port"], 5001);
}

#[test]
fn a_context_is_known_from_its_making() {
    let all = objects(&["--when", "state == SYN_RECEIVED", "--show", "passive", "--host", "server"]);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["values"]["passive"], true);
}

#[test]
fn samples_come_at_their_times_until_the_end() {
    let all = objects(&[
        "--sample",
        "snd_una, cwnd / smss",
        "--every",
        "3ms",
        "--bytes",
        "300KB",
        "--host",
        "client",
    ]);
    let times: Vec<u64> = all.iter().map(|o| o["at_ns"].as_u64().expect("a number")).collect();
    let wanted: Vec<u64> = (1..=times.len() as u64).map(|k| k * 3_000_000).collect();
    assert_eq!(times, wanted);
    let una = |o: &Value| o["values"]["snd_una"].as_u64().expect("a number") as u32;
    assert!(all.windows(2).all(|w| (una(&w[1]).wrapping_sub(una(&w[0])) as i32) >= 0), "{all:?}");
    assert!(all.last().is_some_and(|o| o["values"]["cwnd / smss"].as_u64() > Some(10)));
}

#[test]
fn a_list_counts_what_it_shows() {
    let idle = ["--app", "idle", "--count", "30", "--host", "server"];
    let all = objects(&[&["--list", "--context", "tcb", "--show", "state"], &idle[..]].concat());
    let (count, listed) = all.split_last().expect("at least the count");
    assert_eq!((count["count"].as_u64(), listed.len()), (Some(30), 30));
    let picked =
        objects(&[&["--list", "--when", "id.remote_port == 1030", "--context", "tcb"], &idle[..]].concat());
    assert_eq!(picked.len(), 2, "{picked:?}");
    assert_eq!(picked[0]["context"]["id"]["remote_port"], 1030);
}

#[test]
fn a_change_takes_effect() {
    let sample = |set: &[&str]| {
        let look = ["--when", "cwnd >= 50000", "--show", "cwnd", "--host", "client", "--bytes", "2MB"];
        objects(&[&look[..], set].concat())
    };
    assert_eq!(sample(&[]).len(), 1, "it only grows");
    let changed = sample(&["--set", "tcb.cwnd = 2 * smss", "--most", "5"]);
    let whats: Vec<&str> = changed.iter().filter_map(|o| o["what"].as_str()).collect();
    assert_eq!(whats, ["condition", "set", "condition", "set", "condition"], "and grows anew");
    assert_eq!(changed[1]["values"]["cwnd"], 2 * 1448);
    assert!(changed[1]["was"]["cwnd"].as_u64() >= Some(50_000));
    // A parameter of the program stands beside it.
    let both = objects(&[
        "--set",
        "rto_initial=500ms",
        "--set",
        "tcb.nodelay_on = true",
        "--at",
        "1ms",
        "--show",
        "rto",
    ]);
    assert!(!both.is_empty() && both.iter().all(|o| o["what"] == "set"), "{both:?}");
    assert_eq!(both[0]["values"]["rto"], 500_000_000);
}

#[test]
fn what_is_asked_wrongly_is_pointed_at() {
    let cases: [(&[&str], &str); 15] = [
        (&["--when", "cwnds < 10"], "did you mean `cwnd`?"),
        (&["--when", "cwnd"], "--> --when:1:1"),
        (&["--when", "cwnd < 10, cwnd > 2"], "join them with `&&`"),
        (&["--sample", "cwnd, snd_una +", "--every", "1ms"], "--> --sample:1:15"),
        (&["--sample", "cwnd", "--every", "0ms"], "--every 1ms"),
        (&["--when", "tx_room(tcb.id) > 0"], "traces do not contain"),
        (&["--on", "tcp_send", "--show", "tcp_send.token"], "uses a token, which traces do not contain"),
        (&["--on", "segmet"], "did you mean segment?"),
        (&["--on", "segment", "--show", "id", "--context", "tcbs"], "did you mean tcb?"),
        (&["--at", "1ms", "--set", "tcb.cwnd = true"], "--> --set:1:12"),
        (&["--at", "1ms", "--set", "tcb.id = none"], "the id of an instance"),
        (&["--at", "1ms", "--set", "tcb.ooo.reset(snd_una)"], "does not assign"),
        (&["--at", "1ms", "--set", "tcb.cwnd = 1", "--compiled"], "leave out --compiled"),
        (&["--set", "tcb.cwnd = 1"], "--at TIME"),
        (&[], "--on EVENT"),
    ];
    for (args, word) in cases {
        let output = trace(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(word), "{args:?}: {said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {said}");
    }
}

#[test]
fn a_program_that_is_wrong_is_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("wrong.mtp"), "event e : net_event { uint32 x = ; }")
        .expect("writable");
    let output = command::run(folder.path(), &["trace", "wrong.mtp", "--on", "e"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("MTP0010"));
}

/// What a session says to these commands; the first line is the command line.
fn session(dir: &Path, command: &str, said: &[&str]) -> String {
    let args: Vec<&str> = command.split_whitespace().skip(1).collect();
    let mut child = Command::new(carrick())
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("carrick runs");
    let mut input = child.stdin.take().expect("a pipe");
    let lines = said.join("\n") + "\n";
    // All of it fits into a pipe: nobody waits for anybody.
    input.write_all(lines.as_bytes()).expect("it listens");
    drop(input);
    text(&child.wait_with_output().expect("it ends"))
}

#[test]
fn recorded_sessions_go_as_they_went() {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "carrick new parcel");
    let files = std::fs::read_dir(root().join("tests/sessions")).expect("readable");
    let mut count = 0;
    for file in files.map(|f| f.expect("a file").path()) {
        let session_before = std::fs::read_to_string(&file).expect("readable");
        let (command, rest) = session_before.split_once('\n').expect("the command line");
        let said: Vec<&str> = rest.lines().filter_map(|line| line.strip_prefix("(carrick) ")).collect();
        let went = format!("{command}\n{}", session(folder.path(), command.trim_start_matches("$ "), &said));
        recorded::file(&file, &went);
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn stepping_changes_nothing_of_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "carrick new parcel");
    let command =
        "carrick trace parcel/parcel.mtp --loss 2% --bytes 30KB --break on_ack --when c.resends>1000";
    let stepped = session(folder.path(), command, &[]);
    let ended = stepped.split_whitespace().next().expect("when it ended").to_owned();
    let all =
        run(folder.path(), "carrick trace parcel/parcel.mtp --loss 2% --bytes 30KB --list --format json");
    let last: Value = serde_json::from_str(all.lines().last().expect("a count")).expect("an object");
    let ns = last["at_ns"].as_u64().expect("a number");
    assert_eq!(ended, format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000));
    assert!(stepped.contains("no breakpoint was reached"), "{stepped}");
}

#[test]
fn a_breakpoint_is_where_a_statement_is() {
    let cases: [(&[&str], &str); 7] = [
        (&["--break", "1"], "no statement begins on line 1"),
        (&["--break", "tcp.mtp:999999"], "the nearest one is on line"),
        (&["--break", "other.mtp:5"], "is no file of the program"),
        (&["--break", "check_akc"], "did you mean check_ack?"),
        (&["--break", "check_ack", "--when", "snd_una > 3"], "--> --when:1:1"),
        (&["--break", "check_ack", "--set", "tcb.cwnd = 1"], "leave out --set"),
        (&["--break", "check_ack", "--compiled"], "cannot be used with"),
    ];
    for (args, word) in cases {
        let output = trace(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(word), "{args:?}: {said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {said}");
    }
}

#[test]
fn a_program_of_several_files_with_global_state() {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "carrick new parcel");
    let text = std::fs::read_to_string(folder.path().join("parcel/parcel.mtp")).expect("readable");
    let (declared, done) = text.split_once("pkt_bp ").expect("a blueprint");
    let counted = "void on_ack(segment e, totals t, conn c) {\n    t.acks++;";
    let done = format!("pkt_bp {}", done.replacen("void on_ack(segment e, conn c) {", counted, 1));
    let line = done.lines().position(|l| l == "    t.acks++;").expect("it was put there") + 1;
    let main = format!("import \"done.mtp\";\n{declared}\nglobal context totals {{ uint64 acks = 7; }}\n");
    std::fs::write(folder.path().join("main.mtp"), main).expect("writable");
    std::fs::write(folder.path().join("done.mtp"), done).expect("writable");

    let list = run(folder.path(), "carrick trace main.mtp --list --at 1ms --context totals --host client");
    assert_eq!(
        list, "0.001000000 client totals\n    acks=7\n0.001000000 client 1 context\n",
        "nothing came yet"
    );
    let when = "carrick trace main.mtp --when 'totals.acks == 9' --host client --show acks";
    let set = run(folder.path(), &format!("{when} --set 'totals.acks = 100'"));
    assert!(set.ends_with("set totals.acks = 100 totals\n    acks=100 (was 9)\n"), "{set}");
    assert!(set.starts_with(&run(folder.path(), &format!("{when} --compiled --quiet"))), "{set}");

    let said = [
        "print t.acks",
        "set t.acks = 50",
        "next",
        "print t",
        &format!("break {line} if t.acks > 60"),
        "delete 1",
        "continue",
        "print t.acks",
    ];
    let went = session(folder.path(), &format!("carrick trace main.mtp --break done.mtp:{line}"), &said);
    let found = went.lines().filter(|l| l.starts_with("t = ") || l.starts_with("t.acks = "));
    assert_eq!(found.collect::<Vec<_>>(), ["t.acks = 7", "t = totals {acks=51} {}", "t.acks = 61"], "{went}");
    assert!(went.contains(&format!("breakpoint 2: on_ack at done.mtp:{line}")), "{went}");
}
