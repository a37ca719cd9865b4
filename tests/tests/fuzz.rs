// SPDX-License-Identifier: MIT OR Apache-2.0
//! A brief attack on the compiled core of each protocol; `make fuzz` goes on for longer.

use std::process::Command;

use carrick_tests::build;
use carrick_tests::net::skip;

/// For all protocols together. Cores without optimisation are compiled in a fifth of the time, and run half as fast: this is as many
/// inputs as with it in half of the time.
const SECONDS: &str = "40";

#[test]
fn compiled_cores_keep_their_promises_under_attack() {
    if !Command::new("clang").arg("--version").output().is_ok_and(|o| o.status.success()) {
        skip("clang is missing");
        return;
    }
    let fuzzed = Command::new("make")
        .args(["-s", "-C", "fuzz", "generated", &format!("SECONDS={SECONDS}"), "OPTIMISE=-O0"])
        .arg(format!("-j{}", std::thread::available_parallelism().map_or(1, usize::from)))
        .arg(format!("TRAFFIC={}", build::tool("carrick-fuzz-traffic").display()))
        .arg(format!("TARGET_DIR={}", build::target_dir().display()))
        .current_dir(build::root())
        .output()
        .expect("make runs");
    let said = String::from_utf8_lossy(&fuzzed.stderr);
    assert!(fuzzed.status.success(), "replay it with what fuzz/findings holds:\n{said}");
    let attacked = said.matches("stat::number_of_executed_units: ").count();
    let protocols = std::fs::read_dir(build::root().join("protocols")).expect("a folder").count();
    assert_eq!(attacked, protocols, "{said}");
}
