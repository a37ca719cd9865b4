// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick doc`: the pages of all programs in the tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use carrick_doc::{Requirement, page};
use carrick_driver::compile_file;
use carrick_tests::build::root;

/// Programs that check, with their pages; made once for all tests.
fn pages() -> &'static [(PathBuf, String)] {
    static MADE: OnceLock<Vec<(PathBuf, String)>> = OnceLock::new();
    MADE.get_or_init(make_pages)
}

/// The page of the program in the file of this name.
fn page_of(name: &str) -> &'static (PathBuf, String) {
    pages().iter().find(|(path, _)| path.ends_with(name)).expect("it is there")
}

fn make_pages() -> Vec<(PathBuf, String)> {
    let mut places = vec![root().join("protocols"), root().join("tests/programs")];
    let mut found = Vec::new();
    while let Some(place) = places.pop() {
        for path in fs::read_dir(&place).expect("a folder").flatten().map(|e| e.path()) {
            if path.is_dir() {
                places.push(path);
            } else if path.extension().is_some_and(|e| e == "mtp")
                && let Some(program) = compile_file(&path).expect("readable").program
            {
                let made = page(&program, &[], &[]);
                assert_eq!(made, page(&program, &[], &[]), "{}: each time the same", path.display());
                found.push((path, made));
            }
        }
    }
    assert!(found.len() > 5, "where are the programs?");
    found
}

/// The names of the tags that are open at the end; whatever closes must have been opened last.
fn left_open(html: &str) -> Vec<&str> {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let end = rest[at..].find('>').expect("every tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> before {:.60}", rest);
        } else if !tag.ends_with('/') && !tag.starts_with('!') && name != "meta" {
            open.push(name);
        }
    }
    open
}

/// The values of an attribute.
fn values<'a>(html: &'a str, attribute: &str) -> BTreeSet<&'a str> {
    let begin = format!(" {attribute}=\"");
    html.split(&begin).skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect()
}

#[test]
fn tags_close_and_links_lead_somewhere() {
    for (path, html) in pages() {
        assert_eq!(left_open(html), Vec::<&str>::new(), "{}", path.display());
        let anchors = values(html, "id");
        for link in values(html, "href") {
            let anchor = link.strip_prefix('#').expect("nothing is outside of the page");
            assert!(anchors.contains(anchor), "{}: {link} leads nowhere", path.display());
        }
        assert!(!html.contains("<script") && values(html, "src").is_empty(), "it needs nothing else");
    }
}

#[test]
fn all_that_a_program_declares_is_there() {
    let (path, html) = page_of("headers.mtp");
    let program = compile_file(path).expect("readable").program.expect("right");
    let ids = values(html, "id");
    for name in program.blueprints.iter().map(|b| format!("packet-{}", b.name)) {
        assert!(ids.contains(name.as_str()), "{name}");
    }
    for name in program.events.iter().map(|e| format!("event-{}", e.name)) {
        assert!(ids.contains(name.as_str()), "{name}");
    }
    for field in program.blueprints.iter().flat_map(|b| &b.fields) {
        let bits = format!("<title>{}: {} bit", field.name, field.bits);
        assert!(html.contains(&bits) || html.contains(&format!("{} (1 to 8 bytes)", field.name)), "{bits}");
    }
    assert!(html.contains("if bp.longer &amp;&amp; (bp.lo != 100)"), "conditions stand at what they are for");
}

#[test]
fn machines_are_drawn_with_all_their_ways() {
    let (path, html) = page_of("machine.mtp");
    let program = compile_file(path).expect("readable").program.expect("right");
    assert_eq!(program.machines.len(), 2);
    for machine in &program.machines {
        assert!(html.contains(&format!("aria-label=\"the states of {}\"", machine.name)));
        for (state, doc) in &machine.states {
            assert!(
                html.contains(&format!("<title>{state} {}</title><rect class=\"state\"", doc.raw())),
                "{state}"
            );
        }
    }
    // In the first state, and in those in which a context is made.
    assert_eq!(html.matches("<circle class=\"begin\" cx=\"8\"").count(), 3 + 2);
    assert!(html.contains("<title>any state </title><rect class=\"state optional\""));
    assert!(html.contains("<title>segment?</title><path class=\"arrow\""), "a way with a condition");
    let after = html.split("<title>say_req, end_req</title>");
    assert_eq!(after.count(), 1, "ways from different states are not joined");
    assert!(html.contains("the end of the context") && html.contains("(s.flags &amp; SYN) != 0"));
}

#[test]
fn where_a_program_runs_is_told() {
    let (_, html) = page_of("in_network.mtp");
    assert!(html.contains(
        "a transport program in the network, between the interfaces of a node; it keeps at most uint64(kept) packets"
    ));
    assert!(html.contains("pkt_release") && html.contains("the states of talking"));
}

#[test]
fn requirements_are_told_and_nothing_in_them_is_taken_for_a_tag() {
    let (path, _) = page_of("least.mtp");
    let program = compile_file(path).expect("readable").program.expect("right");
    let requirement = |id: &str, status: &str| Requirement {
        id: id.to_owned(),
        status: status.to_owned(),
        text: "a < b & \"c\"".to_owned(),
        ..Requirement::default()
    };
    let html = page(&program, &[], &[requirement("MUST-1", "met"), requirement("MUST-2", "not yet")]);
    assert!(html.contains("1 met, 1 not yet, 0 n/a."));
    assert!(html.contains("a &lt; b &amp; &quot;c&quot;"));
    assert_eq!(left_open(&html), Vec::<&str>::new());
}

#[test]
fn schedules_are_trees_of_blocks_with_what_waits_in_them() {
    let page = |name: &str| {
        let path = root().join("tests/programs").join(name);
        page(&compile_file(&path).expect("readable").program.expect("it is right"), &[], &[])
    };
    let packets = page("scheduling.mtp");
    for part in ["<h3>Packets</h3>", "queue 2, for each flow <small><code>1Mbps</code></small>"] {
        assert!(packets.contains(part), "no {part}");
    }
    let events = page("waiting.mtp");
    for part in ["<h3>Events</h3>", "timers that are due <small><code>1</code></small>"] {
        assert!(events.contains(part), "no {part}");
    }
    assert!(!page("least.mtp").contains("What goes first"), "of a single queue there is nothing to say");
}
