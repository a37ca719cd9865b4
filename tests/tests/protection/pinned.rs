// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is pinned is root's.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use carrick_driver::cc::Tracing;
use carrick_driver::compile_file;
use carrick_targets::xdp::build;
use carrick_tests::build::root;
use carrick_tests::in_kernel::Pins;
use carrick_tests::net::{lacks, skip};
use carrick_xdp_loader::{Object, machine};

use super::setting::{here, printed};

#[test]
fn what_is_pinned_opens_for_root_alone() {
    if let Err(missing) = machine::suits() {
        return skip(&missing.to_string());
    }
    if ["python3", "clang"].iter().any(|program| lacks(program)) {
        return;
    }
    let program = compile_file(&root().join("tests/programs/least.mtp")).expect("readable").program;
    let program = program.expect("it is right");
    let compiled = build::cached_object(&program, Tracing::Off).expect("it compiles");
    let object = Object::load(&compiled.program.path, &program, 1, 1, 1500, &[]).expect("it is taken");
    let dir = tempfile::tempdir().expect("a folder");
    // Whoever may look into the folders still may not open what is in them.
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let pins = Pins::new(dir.path().join("bpf"));
    let folder = pins.path().join("least");
    object.pin(&folder).expect("it is pinned");
    let said = printed(Command::new("python3").arg(here("pinned.py")).arg(&folder));
    let expected = format!("ok by root EACCES by others of {}\n", object.descriptors().count());
    assert_eq!(said, expected);
}
