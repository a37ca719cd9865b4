// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which features a build has: those that it names, and the defaults that go together with them.

use carrick_syntax::assemble::features::{Choice, check_choice, configure};
use carrick_syntax::ast::File;

const PROGRAM: &str = "
feature congestion(cubic, newreno, dctcp, bbr) always;
feature congestion = dctcp { requires ecn = exact; }
feature congestion = bbr { excludes ecn; excludes prr; }
feature ecn(classic, exact) default;
feature ecn = exact { requires congestion = dctcp; }
feature sack default;
feature by_time(rack, timers) default { requires sack; }
feature by_time = timers { requires congestion = newreno; excludes prr; }
feature prr default { requires sack; }
feature frto;
";

fn parsed(text: &str) -> File {
    let (tree, diagnostics) = carrick_syntax::parse(text);
    assert_eq!(diagnostics, [], "{text}");
    tree
}

fn choice(with: &str, without: &str) -> Choice {
    let mut choice = Choice::default();
    with.split_whitespace().for_each(|word| choice.add(word));
    choice.without.extend(without.split_whitespace().map(str::to_owned));
    choice
}

/// The features of a build, and the numbers of its diagnostics.
fn chosen(text: &str, with: &str, without: &str) -> (String, Vec<u16>) {
    let tree = parsed(text);
    let choice = choice(with, without);
    assert_eq!(check_choice(&tree, &choice), Ok(()), "--with {with} --without {without}");
    let configured = configure(&tree, &choice);
    let names: Vec<String> = configured.chosen.iter().map(ToString::to_string).collect();
    (names.join(" "), configured.diagnostics.iter().map(|d| d.code).collect())
}

#[test]
fn defaults_give_way_to_what_a_build_names() {
    let builds = [
        ("", "", "congestion=cubic ecn=classic sack by_time=rack prr"),
        ("frto", "", "congestion=cubic ecn=classic sack by_time=rack prr frto"),
        ("", "sack", "congestion=cubic ecn=classic"),
        ("", "sack ecn cubic", "congestion=newreno"),
        ("", "congestion=cubic", "congestion=newreno ecn=classic sack by_time=rack prr"),
        ("", "rack", "congestion=cubic ecn=classic sack prr"),
        ("", "by_time", "congestion=cubic ecn=classic sack prr"),
        ("by_time", "rack", "congestion=newreno ecn=classic sack by_time=timers"),
        ("timers", "", "congestion=newreno ecn=classic sack by_time=timers"),
        ("dctcp", "", "congestion=dctcp ecn=exact sack by_time=rack prr"),
        ("exact", "", "congestion=dctcp ecn=exact sack by_time=rack prr"),
        ("bbr", "", "congestion=bbr sack by_time=rack"),
        ("newreno", "cubic", "congestion=newreno ecn=classic sack by_time=rack prr"),
    ];
    for (with, without, wanted) in builds {
        assert_eq!(chosen(PROGRAM, with, without), (wanted.to_owned(), vec![]), "{with}, not {without}");
    }
}

#[test]
fn what_a_build_names_brings_what_it_requires() {
    let program = "
        feature samples;
        feature pacing(even, bursts) { requires samples; excludes checks; }
        feature checks default;
        feature model { requires pacing = bursts; }
        feature late default { requires other; } feature other default;
    ";
    let builds = [
        ("", "", "checks late other", vec![]),
        ("pacing", "", "samples pacing=even late other", vec![]),
        ("model", "", "samples pacing=bursts model late other", vec![]),
        ("model pacing=bursts", "", "samples pacing=bursts model late other", vec![]),
        // What it names, one way or the other, stays as it is.
        ("model pacing=even", "", "samples pacing=even model late other", vec![505]),
        ("model", "samples", "pacing=bursts model late other", vec![505]),
        ("model", "bursts", "checks model late other", vec![505]),
        ("model checks", "", "samples pacing=bursts checks model late other", vec![506]),
        // Of a default nothing is brought.
        ("", "other", "checks", vec![]),
    ];
    for (with, without, wanted, wrong) in builds {
        assert_eq!(chosen(program, with, without), (wanted.to_owned(), wrong), "{with}, not {without}");
    }
}

#[test]
fn what_a_build_names_does_not_give_way() {
    let code = |with, without| chosen(PROGRAM, with, without).1;
    assert_eq!(code("prr", "sack"), [505]);
    assert_eq!(code("dctcp", "ecn"), [505]);
    assert_eq!(code("bbr ecn", ""), [506]);
    assert_eq!(code("timers cubic", ""), [505]);
}

#[test]
fn defaults_that_contradict_each_other_are_wrong() {
    let alone = |text| chosen(text, "", "").1;
    assert_eq!(alone("feature a default { excludes b; } feature b default;"), [506]);
    assert_eq!(alone("feature a default { requires b; } feature b;"), [505]);
    assert_eq!(alone("feature a(x, y) default { } feature b default { requires a = y; }"), [505]);
    // Two features that each want another option of a third one are not settled for ever.
    let both = "feature c(x, y, z) always; feature a { requires c = y; } feature b { requires c = z; }";
    assert_eq!(chosen(both, "a b", "").1, [505]);
}

#[test]
fn choices_that_cannot_be() {
    let tree = parsed(PROGRAM);
    let refused = |with, without| check_choice(&tree, &choice(with, without)).expect_err("it is wrong");
    assert!(refused("cubic", "cubic").contains("`cubic` is both chosen and left out"));
    assert!(refused("rack", "by_time").contains("`by_time` is both"));
    assert!(refused("", "congestion").contains("cannot be left out"));
    assert!(refused("", "cubic newreno dctcp bbr").contains("cannot be left out"));
    assert!(refused("", "cubik").contains("no feature or option `cubik`; did you mean `cubic`?"));
    assert!(
        refused("other", "").contains("congestion(cubic, newreno, dctcp, bbr), ecn(classic, exact), sack")
    );
    assert!(refused("", "ecn=exakt").contains("no option `exakt`"));
}
