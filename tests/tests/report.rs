// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick report`: from a recorded run to a page, and the page in a browser.

use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::command::{done, run};
use carrick_tests::net::skip;
use serde_json::Value;

/// Records a run of this program and makes its page.
fn page(folder: &Path, name: &str, program: &str, sim: &[&str]) -> PathBuf {
    let (record, page) = (folder.join(name), folder.join(format!("{name}.html")));
    let (record, shown) = (record.to_str().expect("UTF-8"), page.to_str().expect("UTF-8"));
    for args in [[&["sim", program, "--trace", record], sim].concat(), vec!["report", record, "-o", shown]] {
        done(&root(), &args);
    }
    page
}

/// The records of a trace in a folder, as lines.
fn lines_of(folder: &Path, name: &str) -> String {
    done(folder, &["report", name, "-o", "lines.jsonl"]);
    std::fs::read_to_string(folder.join("lines.jsonl")).expect("UTF-8")
}

/// What `carrick report` says when it refuses.
fn refusal(args: &[&str]) -> String {
    let done = run(&root(), &[&["report"], args].concat());
    assert_eq!(done.status.code(), Some(2), "{args:?}");
    String::from_utf8(done.stderr).expect("UTF-8")
}

const LOSSY: [&str; 10] =
    ["--loss", "1%", "--delay", "10ms", "--rate", "10Mbps", "--bytes", "500KB", "--seed", "7"];

#[test]
fn a_page_needs_nothing_else_and_has_the_text_of_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page(folder.path(), "lossy", "protocols/tcp/tcp.mtp", &LOSSY);
    let html = std::fs::read_to_string(page).expect("UTF-8");
    for fetched in ["src=", "href=\"http", "url(", "import "] {
        let code = html.split("<script type=\"application/json\"").next().expect("a beginning");
        let head = code.split("<div id=\"sources\">").next().expect("a beginning");
        assert!(!head.contains(fetched), "it fetches something: {fetched}");
    }
    assert!(html.contains("id=\"l0-1\""), "the first line of the program");
    assert!(html.contains("carrick sim protocols/tcp/tcp.mtp"), "what makes the run again");
}

#[test]
fn what_is_no_run_of_the_program_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("p.mtp");
    std::fs::copy(root().join("tests/programs/machine.mtp"), &program).expect("a copy");
    assert!(refusal(&["protocols/tcp/tcp.mtp"]).contains("not that of a trace"));
    assert!(refusal(&["no/such/run"]).contains("carrick sim FILE.mtp --trace RUN"));

    let tcp = folder.path().join("tcp");
    page(folder.path(), "tcp", "protocols/tcp/tcp.mtp", &["--bytes", "1KB"]);
    let tcp = tcp.to_str().expect("UTF-8");
    let said = refusal(&[tcp, "--program", program.to_str().expect("UTF-8")]);
    assert!(said.contains("is not as it was in the run"), "{said}");
    let said = refusal(&[tcp, "--plot", "cwmd"]);
    assert!(said.contains("cwmd"), "{said}");
    let text = lines_of(folder.path(), "tcp").replace(r#""what":"sent""#, r#""what":"sent"#);
    std::fs::write(tcp, text).expect("writable");
    let said = refusal(&[tcp, "-o", folder.path().join("cut.html").to_str().expect("UTF-8")]);
    assert!(said.contains("line "), "{said}");
    assert!(!folder.path().join("cut.html").exists());
}

/// The page of what the server alone recorded, as a stack does that is traced at the receiver.
fn receivers_page(folder: &Path) -> PathBuf {
    page(folder, "both", "protocols/tcp/tcp.mtp", &LOSSY);
    let trace = lines_of(folder, "both");
    let own = trace.lines().enumerate().filter(|(n, line)| *n == 0 || line.contains("\"host\":1"));
    let own: String = own.flat_map(|(_, line)| [line, "\n"]).collect();
    let (record, page) = (folder.join("receiver"), folder.join("receiver.html"));
    std::fs::write(&record, own).expect("writable");
    done(&root(), &["report", record.to_str().expect("UTF-8"), "-o", page.to_str().expect("UTF-8")]);
    page
}

/// The data of a page.
fn data(page: &Path) -> Value {
    let html = std::fs::read_to_string(page).expect("UTF-8");
    let (_, rest) = html.split_once("<script type=\"application/json\" id=\"run\">").expect("data");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

#[test]
fn what_a_receiver_got_is_on_its_own_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = data(&receivers_page(folder.path()));
    assert_eq!(run["segments"].as_array().map(Vec::len), Some(0), "the server sends nothing");
    let received = &run["received"][0];
    let numbers = |name: &str| -> Vec<u64> {
        received[name].as_array().expect("numbers").iter().filter_map(Value::as_u64).collect()
    };
    let (offsets, lengths, again) = (numbers("offset"), numbers("len"), numbers("again"));
    let mut next = 0;
    let mut ranges: Vec<_> = offsets.iter().zip(&lengths).map(|(at, len)| (*at, at + len)).collect();
    assert!(ranges.windows(2).any(|two| two[1].0 > two[0].1), "losses leave gaps");
    ranges.sort_unstable();
    for (begin, end) in ranges {
        assert!(begin <= next, "bytes from {next} to {begin} never arrived");
        next = next.max(end);
    }
    assert_eq!(next, 500_000);
    let first: u64 = lengths.iter().zip(&again).filter(|(_, again)| **again == 0).map(|(len, _)| len).sum();
    assert!(first <= 500_000 && first + 1460 * again.iter().sum::<u64>() >= 500_000, "{first}");
    let taken = run["taken"][0]["v"].as_array().and_then(|v| v.last()?.as_u64());
    assert_eq!(taken, Some(500_000));
    let html = std::fs::read_to_string(folder.path().join("receiver.html")).expect("UTF-8");
    assert!(html.contains("<th>bytes received</th>"));
}

#[test]
fn pages_in_a_browser() {
    let Some(chromium) =
        ["/usr/bin/chromium", "/usr/bin/google-chrome"].into_iter().find(|p| Path::new(p).exists())
    else {
        return skip("there is no chromium: pages are not looked at in a browser");
    };
    if Command::new("npm").arg("--version").output().is_err() {
        return skip("npm is not installed: the browser is led by a package of it");
    }
    let folder = tempfile::tempdir().expect("a folder");
    page(folder.path(), "lossy", "protocols/tcp/tcp.mtp", &LOSSY);
    receivers_page(folder.path());
    // Many events of a small program, whose contexts are recorded sooner than those of a large one.
    let small = folder.path().join("small");
    done(&root(), &["new", small.to_str().expect("UTF-8"), "--template", "stream"]);
    let small = small.join("small.mtp");
    page(
        folder.path(),
        "long",
        small.to_str().expect("UTF-8"),
        &["--bytes", "42MB", "--rate", "10Gbps", "--delay", "100us"],
    );
    for step in [&["ci", "--no-audit", "--no-fund", "--ignore-scripts"][..], &["test"]] {
        let mut npm = Command::new("npm");
        npm.args(step).current_dir(root().join("tests/browser"));
        let done = npm.env("PAGES", folder.path()).env("CHROMIUM", chromium).output().expect("npm runs");
        let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
        if ["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT"].iter().any(|why| said.contains(why)) {
            return skip("npm reaches no registry for what leads the browser");
        }
        assert!(done.status.success(), "npm {step:?}:\n{said}");
    }
    // To look at: `CARRICK_SHOTS=FOLDER` keeps them.
    if let Ok(kept) = std::env::var("CARRICK_SHOTS") {
        for shot in ["lossy-light.png", "lossy-dark.png", "long.png"] {
            std::fs::copy(folder.path().join(shot), Path::new(&kept).join(shot))
                .expect("the folder is there");
        }
    }
}
