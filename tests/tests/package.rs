// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Debian package installs, works without this repository, and can be removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_tests::build::{carrick, carrickd, root, target_dir};
use carrick_tests::net::{lacks, skip};

/// How `fresh-root` ends where this machine cannot have one.
const NO_FRESH_ROOT: i32 = 77;

/// Makes the package of the executables that the tests have; returns the folder with it and the demo.
fn given(folder: &Path) -> PathBuf {
    let bin = carrick().parent().expect("it is in a folder");
    assert_eq!(bin, carrickd().parent().expect("it is in a folder"));
    let given = folder.join("given");
    fs::create_dir_all(given.join("demo")).expect("writable");
    for part in ["lib.sh", "plain.sh"] {
        fs::copy(root().join("demo").join(part), given.join("demo").join(part)).expect("it is there");
    }
    let mut dist = Command::new(root().join("scripts/dist"));
    let made = dist.arg(&given).env("BIN", bin).env("PROFILE", "dev").output().expect("it starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    given
}

#[test]
fn the_package_works_in_a_fresh_root() {
    if ["dpkg-deb", "objdump", "unshare", "clang"].into_iter().any(lacks) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let scripts = folder.path().join("install");
    fs::create_dir(&scripts).expect("writable");
    for script in ["fresh-root", "use"] {
        fs::copy(root().join("tests/install").join(script), scripts.join(script)).expect("it is there");
    }
    let given = given(folder.path());
    fs::rename(scripts.join("use"), given.join("use")).expect("one file system");
    let mut fresh = Command::new(scripts.join("fresh-root"));
    fresh.arg(&given).args([&root(), &target_dir()]).args(["--", "/given/use"]);
    let used = fresh.output().expect("it starts");
    let (said, wrong) = (String::from_utf8_lossy(&used.stdout), String::from_utf8_lossy(&used.stderr));
    if used.status.code() == Some(NO_FRESH_ROOT) {
        return skip(wrong.trim());
    }
    assert!(used.status.success(), "{said}{wrong}");
    let rows: Vec<_> = said.lines().filter(|line| line.starts_with("simulated, ")).collect();
    assert!(rows.len() == 2 && rows.iter().all(|row| row.ends_with(" ok")), "{said}{wrong}");
    assert!(said.ends_with("removed\n"), "{said}{wrong}");
}
