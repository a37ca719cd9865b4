// SPDX-License-Identifier: MIT OR Apache-2.0
//! The extensions of editors, by their own tests: `editors/*/package.json` with `npm test`.

use std::process::Command;

use carrick_tests::build::{carrick, root};
use carrick_tests::net::skip;

#[test]
fn the_extension_of_vscode_speaks_with_the_server() {
    if Command::new("npm").arg("--version").output().is_err() {
        return skip("npm is not installed: the extension's own tests need it");
    }
    let npm = |args: &[&str]| {
        let mut command = Command::new("npm");
        command.args(args).current_dir(root().join("editors/vscode")).env("CARRICK", carrick());
        command.output().expect("npm runs")
    };
    let steps: [&[&str]; 3] =
        [&["ci", "--no-audit", "--no-fund", "--ignore-scripts"], &["test"], &["run", "bundle"]];
    for step in steps {
        let done = npm(step);
        let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
        if ["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT"].iter().any(|why| said.contains(why)) {
            return skip("npm reaches no registry for what the extension's tests need");
        }
        assert!(done.status.success(), "npm {step:?}:\n{said}");
    }
}
