//! Programs in the network, between two ends that know nothing of them.

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

#[track_caller]
fn simulated(dir: &Path, args: &[&str]) -> Value {
    let always = ["sim", "parcel/parcel.mtp", "--delay", "2ms", "--format", "json"];
    serde_json::from_str(&done(dir, &[&always[..], args].concat())).expect("JSON")
}

/// A folder with the two programs that `carrick new` begins with.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    done(dir, &["new", "parcel"]);
    let said = done(dir, &["new", "lane", "--template", "in-network"]);
    assert!(said.contains("--via lane/lane.mtp"), "{said}");
    folder
}

#[test]
fn a_shaper_of_ones_own_works_at_once() {
    let folder = begun();
    let dir = folder.path();
    let checked: Value =
        serde_json::from_str(&done(dir, &["check", "--format", "json", "lane/lane.mtp"])).expect("JSON");
    assert!(checked.to_string().contains("\"warnings\":0"), "{checked}");
    done(dir, &["fmt", "--check", "lane/lane.mtp"]);
    let shaped = ["--via", "lane/lane.mtp", "--bytes", "2MB"];
    let free = simulated(dir, &["--bytes", "2MB"]);
    let slow = simulated(dir, &shaped);
    let rate = |said: &Value| said["goodput_bps"].as_f64().expect("a rate");
    assert!(rate(&free) > 50e6, "{free}");
    assert!((9e6..10.2e6).contains(&rate(&slow)), "ten megabits are let through: {slow}");
    assert_eq!(slow["server"][0]["received_octets"], 2_000_000, "{slow}");
    assert_eq!(slow["between"]["counters"]["store_full"], 0, "{slow}");
    let compiled = simulated(dir, &[&shaped[..], &["--compiled"]].concat());
    for what in ["completion_ns", "between", "packets", "client", "server"] {
        assert_eq!(slow[what], compiled[what], "{what}");
    }
}

#[test]
fn every_octet_arrives_through_a_bad_network() {
    let folder = begun();
    let bad = ["--loss", "2%", "--reorder", "2%", "--duplicate", "2%", "--corrupt", "1%"];
    for seed in ["1", "2", "3"] {
        let through = ["--via", "lane/lane.mtp", "--bytes", "300KB", "--seed", seed];
        let said = simulated(folder.path(), &[&through[..], &bad].concat());
        assert_eq!(said["server"][0]["received_octets"], 300_000, "{said}");
        assert_eq!(said["server"][0]["end"], "closed", "{said}");
    }
}

#[test]
fn each_role_has_its_place() {
    let folder = begun();
    let dir = folder.path();
    let refused = |args: &[&str]| {
        let output = run(dir, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["sim", "lane/lane.mtp"]).contains("in the network"));
    let said = refused(&["sim", "parcel/parcel.mtp", "--via", "parcel/parcel.mtp"]);
    assert!(said.contains("says no `register_role`"), "{said}");
    let output = run(dir, &["build", "lane/lane.mtp", "--target", "native", "-o", "out"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("no role `in_network`"), "{said}");
}
