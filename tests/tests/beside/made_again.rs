// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sweeps over programs of hosts, what artefacts say of these programs, and drawings of them.

use std::fs;

use carrick_tests::command::{done, run};

use crate::setting::{BESIDE, Cell, DATAGRAMS, begun, table};

/// The program of hosts is an option like others.
#[test]
fn programs_are_a_dimension_of_a_sweep() {
    let folder = begun();
    let dir = folder.path();
    fs::copy(dir.join("datagram.mtp"), dir.join("other.mtp")).expect("writable");
    let [_, alone @ ..] = BESIDE;
    let both = ["--host-program", "h1=datagram.mtp,other.mtp", "--host-program", "h3=datagram.mtp,other.mtp"];
    let more = ["--zip", "h1,h3", "--host-set", "h1.pace=10Mbps,20Mbps", "--seeds", "2", "--compiled"];
    done(dir, &[&["sweep"][..], &alone, &both, &more, &["--rows", "flows", "-o", "flows.csv"]].concat());
    let flows = table(dir, "flows.csv");
    assert_eq!(flows.len(), 2 * 2 * 2 * 2);
    for flow in &flows {
        let own = if flow["source"] == "0" { "protocols/tcp/tcp.mtp" } else { flow["h1"].as_str() };
        assert_eq!((flow["flow_program"].as_str(), flow["h3"].as_str()), (own, flow["h1"].as_str()));
        let bps = flow.number("delivered_bytes") * 8_000_000_000 / flow.number("end_ns");
        let most = if flow["source"] == "0" { 100_000_000 } else { flow.number("h1.pace_bps") };
        assert!(bps <= most && bps > most / 2, "{flow:?}");
    }
    // Programs with the same text do the same under each name.
    let of = |name: &str| -> Vec<&str> {
        flows.iter().filter(|flow| flow["h1"] == name).map(|flow| flow["end_ns"].as_str()).collect()
    };
    assert_eq!(of("datagram.mtp"), of("other.mtp"));
    // A run is as it is alone.
    done(
        dir,
        &[
            &BESIDE[..],
            &DATAGRAMS,
            &["--host-set", "h1.pace=20Mbps", "--compiled", "--seed", "2", "--csv", "one.csv"],
        ]
        .concat(),
    );
    let one = table(dir, "one.csv");
    let in_sweep = flows.iter().filter(|flow| {
        flow["seed"] == "2" && flow["h1"] == "datagram.mtp" && flow["h1.pace_bps"] == "20000000"
    });
    let ends = |flow: &crate::setting::Row| flow["end_ns"].clone();
    assert_eq!(in_sweep.map(ends).collect::<Vec<_>>(), one.iter().map(ends).collect::<Vec<_>>());
}

/// Artefacts name the other program with its text, also what it imports.
#[test]
fn a_run_is_made_again() {
    let folder = begun();
    let dir = folder.path();
    let text = fs::read_to_string(dir.join("datagram.mtp")).expect("readable");
    let constant = "const bytes BUFFER = 64KiB;";
    let imports = text.replace(constant, "import \"sizes.mtp\";");
    assert_ne!(imports, text);
    fs::write(dir.join("datagram.mtp"), imports).expect("writable");
    fs::write(dir.join("sizes.mtp"), format!("/// as before\n{constant}\n")).expect("writable");
    let made = done(dir, &[&BESIDE[..], &DATAGRAMS, &["--csv", "a.csv", "--format", "json"]].concat());
    fs::write(dir.join("a.json"), made).expect("writable");
    done(dir, &[&BESIDE[..], &DATAGRAMS, &["--trace", "a.run", "--bytes=20KB"][..2]].concat());
    let again = done(dir, &["repro", "a.csv", "a.json", "a.run"]);
    assert_eq!(again.matches(": the same").count(), 3, "{again}");
    let manifest = fs::read_to_string(dir.join("a.csv")).expect("readable");
    assert!(manifest.contains("\n# input datagram.mtp "), "{manifest}");
    fs::write(dir.join("sizes.mtp"), format!("/// as before, but for this\n{constant}\n")).expect("writable");
    let changed = run(dir, &["repro", "a.csv"]);
    let said = String::from_utf8_lossy(&changed.stdout).into_owned();
    assert!(changed.status.code() == Some(1) && said.contains("datagram.mtp has changed"), "{said}");
    // A program elsewhere is read only if its user says so.
    let outside = manifest.replace("h1=datagram.mtp", "h1=../datagram.mtp");
    fs::write(dir.join("b.csv"), outside).expect("writable");
    let refused = run(dir, &["repro", "b.csv"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("`--host-program` names ../datagram.mtp, which is outside"), "{said}");
}

#[test]
fn drawings_have_a_curve_for_each_program() {
    let folder = begun();
    let dir = folder.path();
    let tables = ["--csv", "flows.csv", "--rates", "rates.csv", "--every", "10ms", "--trace", "a.run"];
    done(dir, &[&BESIDE[..], &DATAGRAMS, &["--host-set", "h1.pace=10Mbps"], &tables].concat());
    for (name, labels) in [
        ("flows", [">flows, program=tcp<", ">flows, program=datagram<"]),
        ("rates", [">rates, program=tcp, seed 1, flow 0<", ">rates, program=datagram, seed 1, flow 1<"]),
    ] {
        let what = if name == "flows" { "completion" } else { "rates" };
        done(dir, &["plot", &format!("{name}.csv"), "--what", what, "-o", "drawn.svg"]);
        let drawn = fs::read_to_string(dir.join("drawn.svg")).expect("readable");
        for label in labels {
            // One run has one seed, which is not said.
            let short = label.replace(", seed 1", "");
            assert!(drawn.contains(label) || drawn.contains(&short), "{label}: {drawn}");
        }
    }
    let refused = run(dir, &["report", "a.run"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("different programs"), "{said}");
}
