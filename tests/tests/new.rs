//! `carrick new`: what it makes is right, works under every fault, and is nobody's loss.

use std::path::Path;
use std::process::{Command, Output};

use carrick_tests::build::carrick;
use serde_json::Value;

fn run(dir: &Path, args: &[&str]) -> Output {
    Command::new(carrick()).args(args).current_dir(dir).output().expect("carrick runs")
}

#[track_caller]
fn done(dir: &Path, args: &[&str]) -> String {
    let output = run(dir, args);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{args:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn a_stream_of_ones_own_works_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "my-parcel", "--template", "stream"]);
    let program = "my-parcel/my-parcel.mtp";
    let checked: Value =
        serde_json::from_str(&done(dir, &["check", "--format", "json", program])).expect("JSON");
    assert!(checked.to_string().contains("\"warnings\":0"), "{checked}");
    done(dir, &["fmt", "--check", program]);
    let bad = ["--loss", "2%", "--reorder", "2%", "--duplicate", "2%", "--corrupt", "2%"];
    for faults in [&[][..], &bad[..]] {
        let sim =
            ["sim", program, "--bytes", "2MB", "--delay", "5ms", "--rate", "100Mbps", "--format", "json"];
        let said: Value = serde_json::from_str(&done(dir, &[&sim[..], faults].concat())).expect("JSON");
        assert_eq!(said["server"][0]["received_octets"], 2_000_000, "{said}");
        assert_eq!(said["server"][0]["end"], "closed", "{said}");
        assert_eq!(said["retransmitted_packets"].as_u64() > Some(0), !faults.is_empty(), "{said}");
    }
    assert!(done(dir, &["diff", program, "--seeds", "20"]).contains("0 differences"));
    done(dir, &["build", program, "--target", "native", "-o", "out"]);
    let bench =
        Command::new(dir.join("out/my_parcel-bench")).args(["bulk", "20"]).output().expect("it starts");
    let figures: Value = serde_json::from_slice(&bench.stdout).expect("JSON");
    assert_eq!(figures["octets"], 20 << 20, "{figures}");
}

#[test]
fn what_is_there_stays_and_odd_names_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel"]);
    std::fs::write(dir.join("parcel/parcel.mtp"), "mine").expect("writable");
    let again = run(dir, &["new", "parcel"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already"));
    assert_eq!(std::fs::read_to_string(dir.join("parcel/parcel.mtp")).expect("readable"), "mine");
    for name in ["9lives", "a b", "..", "x/é"] {
        let refused = run(dir, &["new", name]);
        assert_eq!(refused.status.code(), Some(2), "{name}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("no name of a protocol"), "{name}");
    }
}
