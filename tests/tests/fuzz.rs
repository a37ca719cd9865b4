//! A brief run of the fuzz targets of generated code; `make fuzz` runs them for longer.

use std::process::Command;

use carrick_tests::build;
use carrick_tests::net::skip;

/// For all of the targets together.
const SECONDS: &str = "12";

#[test]
fn generated_code_keeps_its_promises_under_sanitizers() {
    if !Command::new("clang").arg("--version").output().is_ok_and(|o| o.status.success()) {
        skip("clang is missing");
        return;
    }
    let fuzzed = Command::new("make")
        .args(["-s", "-C", "fuzz", "generated", &format!("SECONDS={SECONDS}")])
        .arg(format!("CARRICK={}", build::carrick().display()))
        .arg(format!("TARGET_DIR={}", build::target_dir().display()))
        .current_dir(build::root())
        .output()
        .expect("make runs");
    let said = String::from_utf8_lossy(&fuzzed.stderr);
    assert!(fuzzed.status.success(), "replay it with what fuzz/findings holds:\n{said}");
}
