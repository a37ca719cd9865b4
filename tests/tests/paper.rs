//! The programs of the papers: they check, and do what the text says.

use std::process::Command;

use carrick_tests::build::{carrick, root};
use carrick_tests::net::skip;
use serde_json::Value;

const APPENDIX_E: &str = "tests/paper/appendix_e.mtp";
const OCTETS: u64 = 200_000;

/// What a run with every fault prints; `None` where a C compiler is wanted and missing.
fn simulate(seed: u64, more: &[&str]) -> Option<Value> {
    let seed = seed.to_string();
    let done = Command::new(carrick())
        .args(["sim", APPENDIX_E, "--bytes", "200KB", "--delay", "3ms", "--rate", "50Mbps", "--seed", &seed])
        .args(["--loss", "3%", "--reorder", "3%", "--duplicate", "3%", "--corrupt", "2%", "--format", "json"])
        .args(more)
        .current_dir(root())
        .output()
        .expect("carrick runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.code() == Some(3) {
        skip(&said);
        return None;
    }
    assert!(done.status.success(), "seed {seed}: {said}");
    let mut result: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    result["wall_seconds"] = Value::Null;
    Some(result)
}

#[test]
fn appendix_e_brings_every_octet_through_every_fault() {
    for seed in 1..=30 {
        let Some(result) = simulate(seed, &[]) else { return };
        assert_eq!(result["server"][0]["received_octets"], OCTETS, "seed {seed}: {result}");
        assert_eq!(result["server"][0]["end"], "closed", "seed {seed}: {result}");
        assert_eq!(result["client"][0]["end"], "closed", "seed {seed}: {result}");
    }
}

#[test]
fn appendix_e_compiled_does_the_same() {
    for seed in [2, 15] {
        let (Some(compiled), Some(interpreted)) = (simulate(seed, &["--compiled"]), simulate(seed, &[]))
        else {
            return;
        };
        assert_eq!(compiled, interpreted, "seed {seed}");
    }
}
