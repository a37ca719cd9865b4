// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the things under test come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the root").to_path_buf()
}

/// Copies folders of the repository into another folder, where a command that follows no link out of its folder reads them.
///
/// # Panics
/// If they cannot be copied.
#[track_caller]
pub fn copied(places: &[&str], to: &Path) {
    for place in places {
        copy(&root().join(place), &to.join(place));
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("writable");
    for path in std::fs::read_dir(from).expect("readable").flatten().map(|e| e.path()) {
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).expect("writable");
        }
    }
}

/// The `carrick` command, built from this tree.
///
/// # Panics
/// If it does not build.
pub fn carrick() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| tool("carrick"))
}

/// The `carrickd` command, built from this tree.
///
/// # Panics
/// If it does not build.
pub fn carrickd() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| tool("carrickd"))
}

/// An executable of the workspace, by its name.
///
/// # Panics
/// If it does not build.
pub fn tool(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Not by its package (`-p`): cargo would choose other features of the libraries than for the whole workspace, and replace
    // the executable under whoever runs it.
    let built = Command::new(cargo).args(["build", "-q", "--bin", name]).current_dir(root()).status();
    assert!(built.is_ok_and(|s| s.success()), "{name} does not build");
    target_dir().join("debug").join(name)
}

/// The host executable of a program, by the path of its source below the root; built once a run.
///
/// # Panics
/// If it does not build.
pub fn host(program: &str) -> PathBuf {
    host_with(program, &[])
}

/// As [`host`], of a program with features: `["--with", "reliable"]`.
///
/// # Panics
/// If it does not build.
pub fn host_with(program: &str, features: &[&str]) -> PathBuf {
    static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    // A build that failed in another test fails here as well: there is nothing half-made to be wary of.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let key = format!("{program} {}", features.join(" "));
    made.entry(key).or_insert_with(|| build_host(program, features)).clone()
}

fn build_host(program: &str, features: &[&str]) -> PathBuf {
    let name = Path::new(program).file_stem().expect("a program has a name").to_string_lossy().into_owned();
    let dir = target_dir().join(format!("tests-{name}{}", features.join("").replace([',', '='], "-")));
    let built = Command::new(carrick())
        .args(["build", program, "--target", "native"])
        .args(features)
        .arg("-o")
        .arg(&dir)
        .current_dir(root())
        .output()
        .expect("carrick runs");
    assert!(built.status.success(), "{program}: {}", String::from_utf8_lossy(&built.stderr));
    // As identifiers of C are: a program's name is one.
    dir.join(format!("{}-host", name.replace('-', "_")))
}

/// Where cargo puts what it builds.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
