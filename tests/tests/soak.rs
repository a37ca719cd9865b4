//! A soak of TCP in the kernel, as short as it can be: `scripts/soak --quick`.

use std::process::Command;

use carrick_kernel::machine;
use carrick_tests::build::{carrickd, root};
use carrick_tests::net::{Net, lacks, skip};

#[test]
fn what_is_held_after_each_round_is_what_was_held_before() {
    if ["clang", "python3", "tc"].iter().any(|program| lacks(program)) {
        return;
    }
    if let Err(missing) = machine::suits() {
        return skip(&missing.to_string());
    }
    // Whether there can be namespaces.
    if Net::new().is_none() {
        return;
    }
    let mut soak = Command::new(root().join("scripts/soak"));
    let done = soak.arg("--quick").env("CARRICKD", carrickd()).output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.ends_with("nothing is lost\n"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}
