// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every table of figures says where they come from, in the comment before it:
//!
//! - `made by: NAME`: a function here makes the rows, and they are equal. `CARRICK_RECORD=1` writes them again.
//! - `measured: COMMIT, ...`: with which commit, which seeds or how many runs, and the spread.
//! - `compared by: FILE`: another test reads the table.
//! - `given by: WHERE`: nobody measured them: a standard or a source file has these numbers.

use std::path::PathBuf;
use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::command::done;
use carrick_tests::document::{Table, commented_tables};
use carrick_tests::net::skip;
use serde_json::Value;

/// Pages that a program writes, and a test compares.
const WRITTEN: [&str; 3] = ["docs/benchmarks.md", "docs/protocols.md", "docs/reference/instructions.md"];

/// A table is one of figures if it has so many numbers.
const FEW: usize = 2;

/// The rows of a table, behind its head.
type Rows = fn() -> Vec<String>;

/// What is made again: it takes seconds, in virtual time.
const MADE: [(&str, Rows); 3] =
    [("late_packets", late_packets), ("marked_streams", marked_streams), ("marked_writes", marked_writes)];

fn simulated(args: &str) -> Value {
    let args: Vec<&str> =
        ["sim"].into_iter().chain(args.split(' ')).chain(["--compiled", "--format", "json"]).collect();
    serde_json::from_str(&done(&root(), &args)).expect("JSON")
}

fn seconds(run: &Value) -> f64 {
    run["completion_ns"].as_f64().expect("a time") / 1e9
}

fn on_links(run: &Value, what: &str) -> u64 {
    let links = run["links"].as_array().expect("links");
    links.iter().filter_map(|link| link[what].as_u64()).sum()
}

/// Packets out of order, with and without loss detection by time.
fn late_packets() -> Vec<String> {
    let row = |with: &str, more: &str| {
        let run = simulated(&format!(
            "protocols/tcp/tcp.mtp --reorder 5% --delay 10ms --bytes 10MB --seed 7{more}"
        ));
        format!("| {with} | {:.1} s | {} |", seconds(&run), run["retransmitted_packets"])
    };
    vec![
        row("as built by default", ""),
        row("`--without rack`", " --without rack"),
        row("`--without sack,ecn,cubic`", " --without sack,ecn,cubic"),
    ]
}

/// A queue that marks, for senders that read marks and for others.
fn marked_streams() -> Vec<String> {
    let row = |with: &str, more: &str, why: &str| {
        let run = simulated(&format!(
            "protocols/quic-lite/quic-lite.mtp --delay 10ms --streams 5MB,8KB --queue 60 --ecn-threshold 20{more}"
        ));
        let (full, marked) = (on_links(&run, "queue_full"), on_links(&run, "marked"));
        format!("| {with} | {full} | {marked} | {:.2} s{why} |", seconds(&run))
    };
    vec![
        row("without (`--set use_ecn=false`)", " --set use_ecn=false", ""),
        row("with", "", ", as the window is halved at a third of the queue"),
    ]
}

/// A link that marks, for senders that have notifications of marks and for others.
fn marked_writes() -> Vec<String> {
    let row = |with: &str, more: &str| {
        let run = simulated(&format!(
            "protocols/rocev2/rocev2.mtp --set window=256 --bytes 20MB --rate 1Gbps --delay 20us --queue 100 \
             --ecn-threshold 20{more}"
        ));
        format!("| {with} | {} | {:.2} s |", on_links(&run, "queue_full"), seconds(&run))
    };
    vec![row("without DCQCN", ""), row("with DCQCN", " --with dcqcn")]
}

/// The pages that people write: all others are made.
fn pages() -> Vec<PathBuf> {
    let of =
        |folder: &str| std::fs::read_dir(root().join(folder)).expect("a folder").flatten().map(|e| e.path());
    let books = of("docs").chain(of("docs/reference")).filter(|p| p.extension().is_some_and(|e| e == "md"));
    let folders = of("protocols").chain(of("targets")).map(|p| p.join("README.md")).filter(|p| p.is_file());
    let written = WRITTEN.map(|page| root().join(page));
    let mut pages: Vec<PathBuf> = books.chain(folders).filter(|page| !written.contains(page)).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// Each table of figures, with its page and the page's path from the root.
fn tables() -> Vec<(PathBuf, String, Table)> {
    let mut found = Vec::new();
    for page in pages() {
        let name = page.strip_prefix(root()).expect("it is in there").display().to_string();
        let text = std::fs::read_to_string(&page).expect("readable");
        let tables = commented_tables(&text).into_iter();
        let of_figures =
            tables.filter(|t| t.rows[1..].iter().flatten().filter(|cell| is_figure(cell)).count() >= FEW);
        found.extend(of_figures.map(|table| (page.clone(), name.clone(), table)));
    }
    found
}

/// A number, perhaps with a unit or what it is of: `965.3 Mbit/s`, `37.6 (98 %)`.
fn is_figure(cell: &str) -> bool {
    let first = cell.split(' ').next().unwrap_or_default();
    let digits = first.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%' || c == ',');
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || ".,".contains(c))
}

#[test]
fn figures_are_recognised() {
    for figure in
        ["7", "965.3 Mbit/s", "37.6 (98 %)", "38,708", "1.0x", "92%", "117, 0, 12 ms", "8.9 to 12.7 Gbit/s"]
    {
        assert!(is_figure(figure), "{figure}");
    }
    for other in ["", "`--queue 20`", "figure 13", "§3.8", "4-tuple", "CUBIC"] {
        assert!(!is_figure(other), "{other}");
    }
}

/// What is wrong with what a comment says.
fn mistake(comment: &str) -> Option<String> {
    let Some((how, what)) = comment.split_once(": ") else {
        return Some(format!(
            "`{comment}` before the table; say where its figures come from (tests/tests/book/figures.rs)"
        ));
    };
    match how {
        "made by" => (!MADE.iter().any(|(name, _)| *name == what)).then(|| format!("nothing makes `{what}`")),
        "measured" => {
            let commit = what.split([',', ' ']).next().unwrap_or_default();
            let hex = commit.len() >= 7 && commit.chars().all(|c| c.is_ascii_hexdigit());
            let told = ["seed", "run", "round", "flow"].iter().any(|word| what.contains(word));
            (!hex || !told).then(|| format!("`{what}` lacks the commit, or seeds or runs with their spread"))
        }
        "compared by" => (!root().join(what).is_file()).then(|| format!("there is no file {what}")),
        "given by" => what.is_empty().then(|| "by whom?".to_owned()),
        _ => Some(format!("`{how}` is unknown")),
    }
}

#[test]
fn every_figure_is_made_again_or_says_when_it_was_measured() {
    let tables = tables();
    let wrong: Vec<String> = tables
        .iter()
        .filter_map(|(_, name, table)| Some(format!("{name}:{}: {}", table.line, mistake(&table.comment)?)))
        .collect();
    assert_eq!(wrong, [""; 0], "{}", wrong.join("\n"));
    assert!(tables.len() > 40, "only {} tables", tables.len());
}

/// A figure of the comparison is there as the benchmarks have it: `ours, compiled: 29.36x`.
#[test]
fn figures_of_the_comparison_are_those_of_the_benchmarks() {
    let page = |name: &str| std::fs::read_to_string(root().join(name)).expect("readable");
    let (comparison, benchmarks) = (page("docs/compare.md"), page("docs/benchmarks.md"));
    let spans = comparison.split('`').skip(1).step_by(2);
    let figures: Vec<&str> =
        spans.filter(|span| span.rsplit_once(": ").is_some_and(|(_, ratio)| ratio.ends_with('x'))).collect();
    assert!(figures.len() > 10, "{figures:?}");
    for figure in figures {
        let there = [" ", ",", ".", " |"].iter().any(|end| benchmarks.contains(&format!("{figure}{end}")));
        assert!(there, "docs/compare.md says `{figure}`, and docs/benchmarks.md does not");
    }
}

#[test]
fn commits_of_measurements_are_there() {
    let git = |args: &[&str]| Command::new("git").args(args).current_dir(root()).output();
    let whole = git(&["rev-parse", "--is-shallow-repository"]);
    if !whole.is_ok_and(|said| said.stdout.starts_with(b"false")) {
        return skip("this is no clone with its history");
    }
    for (_, name, table) in tables() {
        let Some(what) = table.comment.strip_prefix("measured: ") else { continue };
        let commit = what.split([',', ' ']).next().unwrap_or_default();
        // One of another branch may be in this clone, and is in no other.
        let found = git(&["merge-base", "--is-ancestor", commit, "HEAD"]).expect("git starts");
        assert!(found.status.success(), "{name}:{}: there is no commit {commit} before this one", table.line);
    }
}

#[test]
fn tables_that_are_cheap_are_made_again() {
    let tables = tables();
    for (name, rows) in MADE {
        let comment = format!("made by: {name}");
        let table: Vec<_> = tables.iter().filter(|(.., table)| table.comment == comment).collect();
        let [(page, shown, table)] = table[..] else { panic!("{} tables are made by {name}", table.len()) };
        let text = std::fs::read_to_string(page).expect("readable");
        let lines: Vec<&str> = text.lines().collect();
        // Behind the head and the line below it.
        let from = table.line + 1;
        let (there, made) = (&lines[from..from + table.rows.len() - 1], rows());
        if std::env::var_os("CARRICK_RECORD").is_some() {
            let all = [
                &lines[..from],
                &made.iter().map(String::as_str).collect::<Vec<_>>(),
                &lines[from + there.len()..],
            ];
            std::fs::write(page, all.concat().join("\n") + "\n").expect("writable");
        } else {
            assert_eq!(there, made, "{shown}:{from}: CARRICK_RECORD=1 writes it again");
        }
    }
}
