// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command itself: help, completions, manual pages, and what goes wrong.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use carrick_tests::build::{carrick, root};
use carrick_tests::command;
use carrick_tests::net::{lacks, skip};

fn run(args: &[&str]) -> Output {
    command::run(&root(), args)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The names of all subcommands, as the help lists them.
fn subcommands() -> Vec<String> {
    let help = said(&run(&["--help"]));
    let listed = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    listed.filter_map(|l| l.split_whitespace().next()).filter(|n| *n != "help").map(str::to_owned).collect()
}

#[test]
fn help_begins_with_an_example() {
    let all = subcommands();
    assert!(all.len() >= 10, "{all:?}");
    for name in all {
        let help = said(&run(&[&name, "--help"]));
        assert!(help.starts_with(&format!("Example: carrick {name}")), "{name}: {help}");
    }
    assert!(said(&run(&["--help"])).starts_with("Example: carrick "));
}

#[test]
fn the_version_names_the_commit_of_a_checkout() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let is_checkout = git(&["rev-parse", "--show-prefix"]).is_some_and(|prefix| prefix.is_empty());
    let commit = is_checkout.then(|| git(&["rev-parse", "HEAD"]).expect("a commit"));
    let shown = commit.map_or_else(String::new, |commit| format!(" ({})", &commit[..12]));
    let wanted = format!("carrick {}{shown}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(said(&run(&["--version"])), wanted);
}

/// A run without what was asked for would look like one with it.
#[test]
fn an_option_that_a_run_cannot_use_is_refused() {
    for (options, named) in [
        (&["--topology", "pair", "--streams", "1KB,2KB"][..], ["--streams", "--topology"]),
        (&["--app", "idle", "--bytes", "1KB"], ["--bytes", "--app idle"]),
    ] {
        let refused = run(&[&["sim", "protocols/stop-and-wait/stop-and-wait.mtp"], options].concat());
        let text = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(named.iter().all(|name| text.contains(name)), "{text}");
    }
}

#[test]
fn whoever_reads_may_have_seen_enough() {
    let command = format!("'{}' explain | head -n 1", carrick().display());
    let shell = Command::new("bash").args(["-o", "pipefail", "-c", &command]).current_dir(root()).output();
    let output = shell.expect("bash runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
}

#[test]
fn shells_can_read_their_completions() {
    for shell in ["bash", "zsh"] {
        let made = run(&["completions", shell]);
        assert!(made.status.success());
        let text = said(&made);
        assert!(subcommands().iter().all(|name| text.contains(name)), "{shell} misses a command");
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("completions");
        std::fs::write(&file, text).expect("writable");
        match Command::new(shell).arg("-n").arg(&file).output() {
            Ok(read) => assert!(read.status.success(), "{shell}: {}", said(&read)),
            Err(_) => skip(&format!("{shell} is not installed")),
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let temporary = tempfile::tempdir().expect("a folder");
    let dir = temporary.path().join("man1");
    assert!(run(&["man", dir.to_str().expect("UTF-8")]).status.success());
    for name in subcommands() {
        let page = std::fs::read_to_string(dir.join(format!("carrick-{name}.1"))).expect("a page");
        assert!(page.contains(".SH NAME") && page.contains("Example: carrick"), "{name}: {page}");
    }
}

#[test]
fn what_is_missing_is_said_with_its_mend_and_its_code() {
    let cases: [(&[&str], i32, &str); 13] = [
        (&["check", "nowhere.mtp"], 2, "nowhere.mtp"),
        (&["sim", "protocols/tcp/tcp.mtp", "--loss", "lots"], 2, "lots"),
        (&["sim", "protocols/tcp/tcp.mtp", "--loss", "1"], 2, "write 1% or 100%"),
        (&["sim", "protocols/tcp/tcp.mtp", "--reorder", "2"], 2, "write 2%"),
        (&["check", "protocols/tcp/tcp.mtp", "--with", "cubik"], 2, "no feature or option `cubik`"),
        (
            &["check", "protocols/tcp/tcp.mtp", "--with", "htcp"],
            2,
            "no feature or option `htcp`; it has congestion(cubic, ",
        ),
        (&["check", "protocols/tcp/tcp.mtp", "--without", "congestion"], 2, "cannot be left out"),
        (&["check", "protocols/tcp/tcp.mtp", "--with", "dctcp", "--without", "ecn"], 1, "--with ecn=exact"),
        (&["sim", "protocols/netblocks/netblocks.mtp", "--ecn-threshold", "5"], 2, "whole frames"),
        (&["sim", "protocols/tcp/tcp.mtp", "--set", "rcv_bufs=1"], 2, "rcv_buf"),
        (&["sim", "protocols/netblocks/netblocks.mtp", "--message", "1MB"], 2, "64KiB"),
        (&["build", "protocols/tcp/tcp.mtp", "--target", "moon", "-o", "out"], 2, "native"),
        (&["fly"], 2, "--help"),
    ];
    for (args, code, word) in cases {
        let output = run(args);
        assert!(said(&output).contains(word), "{args:?}: {}", said(&output));
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", said(&output));
    }
}

#[test]
fn what_a_target_lacks_is_a_diagnostic_with_its_place() {
    let program = "tests/ui/MTP0600_target_instruction.mtp";
    let target = "tests/ui/targets/small.toml";
    let output = run(&["check", program, "--target", target, "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = report[0]["diagnostics"].as_array().expect("diagnostics");
    let places: Vec<(&str, u64)> = found
        .iter()
        .filter_map(|d| Some((d["code"].as_str()?, d["span"]["start"]["line"].as_u64()?)))
        .collect();
    assert_eq!(places, [("MTP0600", 28), ("MTP0600", 33)]);
    assert_eq!(run(&["check", program, "--target", "native"]).status.code(), Some(0));
    let output = run(&["check", program, "--target", target, "--combinations", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let errors: Vec<_> =
        report[0]["combinations"].as_array().expect("a list").iter().map(|c| c["errors"].as_u64()).collect();
    assert_eq!(errors, [Some(2), Some(3)], "a feature needs one more");
    let output =
        run(&["build", "tests/ui/MTP0606_target_role.mtp", "--target", "ns3", "-o", "/dev/null/none"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("error[MTP0606]"), "{}", said(&output));
    let output = run(&["diff", "protocols/tcp/tcp.mtp", "--target", target]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("target `small` has no"), "{}", said(&output));
}

#[test]
fn a_part_of_a_program_names_its_program() {
    let output = run(&["check", "protocols/homa/parts/grants.mtp"]);
    let said = said(&output);
    assert!(said.ends_with("is a part of protocols/homa/homa.mtp: check that\n"), "{said}");
}

#[test]
fn a_run_whose_transfer_fails_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    command::done(dir, &["new", "parcel"]);
    let lost = command::run(dir, &["sim", "parcel/parcel.mtp", "--loss", "100%"]);
    let said = String::from_utf8_lossy(&lost.stdout);
    assert_eq!(lost.status.code(), Some(1), "{said}");
    assert!(
        said.contains("FAILED: connection 1: the client got TIMED_OUT after 0 bytes of 1000000"),
        "{said}"
    );
    let text = std::fs::read_to_string(dir.join("parcel/parcel.mtp")).expect("UTF-8");
    let notify = "notify(c.send_token, OK, n);";
    std::fs::write(dir.join("twice.mtp"), text.replace(notify, &format!("{notify} {notify}")))
        .expect("writable");
    let twice = command::run(dir, &["sim", "twice.mtp"]);
    let said = String::from_utf8_lossy(&twice.stdout);
    assert!(
        said.contains("completed requests that were complete") && twice.status.code() == Some(1),
        "{said}"
    );
}

#[test]
fn a_report_builds_the_program_as_the_run_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let program = root().join("protocols/netblocks/netblocks.mtp").display().to_string();
    command::done(dir, &["sim", &program, "--bytes", "10KB", "--with", "checksum", "--trace", "a.run"]);
    assert_eq!(command::done(dir, &["report", "a.run"]), "report.html\n");
}

/// Stop-and-wait with a change, in a folder.
fn changed(dir: &std::path::Path, from: &str, to: &str) -> String {
    let text =
        std::fs::read_to_string(root().join("protocols/stop-and-wait/stop-and-wait.mtp")).expect("UTF-8");
    assert!(text.contains(from), "{from}");
    let file = dir.join("changed.mtp");
    std::fs::write(&file, text.replace(from, to)).expect("writable");
    file.display().to_string()
}

#[test]
fn messages_are_as_long_as_the_program_takes_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let buffer = "const bytes BUFFER = ";
    let program = changed(dir.path(), buffer, "const bytes BUFFER = 64B; const bytes OLD = ");
    for topology in [&[][..], &["--topology", "pair", "--workload", "closed:1@h0:h1", "--flows", "2"]] {
        let fits = run(&[&["sim", &program, "--bytes", "3KB"], topology].concat());
        assert!(fits.status.success(), "{}", said(&fits));
        let refused = run(&[&["sim", &program, "--bytes", "3KB", "--message", "100B"], topology].concat());
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        let wanted = "`send` of 100 bytes got BUSY: this program takes messages of at most 64 bytes here; say --message 64B\n";
        assert!(said(&refused).ends_with(wanted), "{}", said(&refused));
    }
}

/// The program never has space: the run ends, and says which call was refused.
#[test]
fn a_program_that_never_has_space_ends_the_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let space = "c.out.full() || bytes(e.len) > tx_room(c.id)";
    let program = changed(dir.path(), space, "e.len > 0");
    let topology = ["--topology", "pair", "--workload", "closed:1@h0:h1", "--flows", "1", "--message", "1KB"];
    for more in [&[][..], &["--compiled"], &topology] {
        let output = run(&[&["sim", &program, "--bytes", "3KB"], more].concat());
        let said = said(&output);
        assert!(
            output.status.code() == Some(1) && said.contains("(`send` of 1000 bytes got BUSY)"),
            "{said}"
        );
    }
}

#[test]
fn a_program_in_the_network_shows_what_it_counts() {
    let args = ["sim", "protocols/tcp/tcp.mtp", "--via", "protocols/snoop/snoop.mtp", "--bytes", "50KB"];
    assert!(said(&run(&args)).contains("\nstate on the way  totals: flows 2, "), "{}", said(&run(&args)));
    let json = run(&[&args[..], &["--format", "json"]].concat());
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(report["between"]["state"]["totals"]["flows"], 2, "{report}");
}

/// What a command says on standard error, with nothing kept from before in this folder.
fn steps(cache: &Path, words: &[&str], variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(carrick());
    command.args(words).env("XDG_CACHE_HOME", cache).envs(variables.iter().copied()).current_dir(root());
    String::from_utf8_lossy(&command.output().expect("carrick runs").stderr).into_owned()
}

#[test]
fn a_command_says_what_it_compiles_unless_that_is_kept() {
    const LEAST: &str = "tests/programs/least.mtp";
    const STEP: &str = "carrick: compiling the core of least ...\n";
    let dir = tempfile::tempdir().expect("a folder");
    let said = |words: &[&str]| steps(dir.path(), words, &[]);
    assert_eq!(said(&["diff", LEAST, "--seeds", "1", "--quiet"]), "");
    assert_eq!(said(&["diff", LEAST, "--seeds", "1"]), "", "it is kept");
    let out = dir.path().join("out");
    assert_eq!(said(&["build", LEAST, "--target", "sim", "-o", &out.to_string_lossy()]), STEP);
}

/// With a compiler that does not get far.
#[test]
fn every_target_that_compiles_says_so() {
    const PROGRAM: &str = "protocols/stop-and-wait/stop-and-wait.mtp";
    let dir = tempfile::tempdir().expect("a folder");
    let compiler = dir.path().join("compiler");
    std::fs::write(&compiler, "#!/bin/sh\n[ \"$1\" = --version ] && echo 1 || exit 1\n").expect("writable");
    std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).expect("ours");
    let out = dir.path().join("out");
    let out = out.to_string_lossy();
    let loop_ =
        ["run", PROGRAM, "--port", "loop", "--addr", "10.0.0.1/24", "--app", "messages:10.0.0.2:8:64:1"];
    for (words, variable, step) in [
        (&["sim", PROGRAM, "--compiled", "--bytes", "1KB"][..], "CC", "compiling the core of stop_and_wait"),
        (&["diff", PROGRAM, "--seeds", "1"], "CC", "compiling the core of stop_and_wait"),
        (&["diff", PROGRAM, "--target", "xdp"], "CLANG", "compiling stop_and_wait for the kernel"),
        (
            &["build", PROGRAM, "--target", "xdp", "-o", &out],
            "CLANG",
            "compiling stop_and_wait for the kernel",
        ),
        (&["build", PROGRAM, "--target", "native", "-o", &out], "CC", "compiling the core of stop_and_wait"),
        (&loop_, "CC", "compiling the core of stop_and_wait"),
    ] {
        let said = steps(dir.path(), words, &[(variable, &compiler)]);
        let wanted = format!("carrick: {step} ...\ncarrick: {step} failed: ");
        assert!(said.starts_with(&wanted), "{words:?}: {said}");
    }
}

#[test]
fn a_terminal_has_a_live_line_of_what_is_compiled() {
    if lacks("script") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let line = format!("'{}' diff tests/programs/least.mtp --seeds 1", carrick().display());
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).env("XDG_CACHE_HOME", dir.path()).env("TERM", "xterm");
    let said = terminal.current_dir(root()).stdin(Stdio::null()).output().expect("script runs");
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("compiling the core of least") && !said.contains("least ..."), "{said}");
    assert!(
        said.trim_end().ends_with("0 differences or failures"),
        "it is gone when the result is there: {said}"
    );
}
