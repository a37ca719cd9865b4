// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `carrick` command with another list of targets: linked anew, of the libraries that are built anyway.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::build::{root, target_dir};
use crate::cargo::{cargo, metadata};

/// Builds `carrick` in a folder, with the targets in another one, which is like `targets/`.
///
/// # Panics
/// With what the compiler says, if it does not build.
pub fn carrick_with(targets: &Path, folder: &Path) -> PathBuf {
    let built = Built::read();
    let list = folder.join("libcarrick_targets.rlib");
    let mut library = rustc("carrick_targets", "rlib", &targets.join("lib.rs"), &list);
    // Where what is embedded is found.
    library.env("CARGO_MANIFEST_DIR", targets).args(built.options("carrick-targets"));
    run(&mut library);
    let command = folder.join("carrick");
    let mut linked = rustc("carrick", "bin", &root().join("crates/cli/src/main.rs"), &command);
    linked.args(built.own("carrick-cli")).arg("--extern").arg(named("carrick_targets", &list));
    run(&mut linked);
    command
}

fn rustc(name: &str, kind: &str, source: &Path, output: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition", "2024", "--crate-name", name, "--crate-type", kind, "--cap-lints", "warn"]);
    command.arg(source).arg("-o").arg(output);
    command
}

fn run(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn named(name: &str, library: &Path) -> OsString {
    let mut named = OsString::from(format!("{name}="));
    named.push(library);
    named
}

/// What cargo built for `carrick`.
struct Built {
    /// the packages, as `cargo metadata` says
    metadata: Value,
    /// the library of each package
    libraries: BTreeMap<String, PathBuf>,
}

impl Built {
    fn read() -> Built {
        let said = cargo(&["build", "-q", "--bin", "carrick", "--message-format", "json"]);
        let mut libraries = BTreeMap::new();
        for message in said.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
            let mut files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let library = files.find(|file| file.ends_with(".rlib") || file.ends_with(".so"));
            if let (Some(package), Some(library)) = (message["package_id"].as_str(), library) {
                libraries.insert(package.to_owned(), PathBuf::from(library));
            }
        }
        Built { metadata: metadata(), libraries }
    }

    /// The entry of a package of this repository in a list, which names it by `key`.
    fn package<'v>(&self, list: &'v Value, name: &str) -> &'v Value {
        let packages = self.metadata["packages"].as_array().expect("a list");
        let own = packages.iter().find(|package| package["name"] == name).expect("a package");
        let mut all = list.as_array().expect("a list").iter();
        all.find(|entry| entry["id"] == own["id"]).expect("each package has an entry")
    }

    /// The compiler's options for what a package uses.
    fn options(&self, package: &str) -> Vec<OsString> {
        let uses = self.package(&self.metadata["resolve"]["nodes"], package)["deps"].as_array();
        let mut options = vec!["-L".into(), named("dependency", &self.dependencies())];
        for used in uses.expect("a list") {
            let (name, id) = (used["name"].as_str(), used["pkg"].as_str());
            let library = id.and_then(|id| self.libraries.get(id));
            if let (Some(name), Some(library)) = (name, library) {
                options.extend(["--extern".into(), named(name, library)]);
            }
        }
        options
    }

    /// The compiler's options for the command of a package that has a library too.
    fn own(&self, package: &str) -> Vec<OsString> {
        let id = self.package(&self.metadata["packages"], package)["id"].as_str().expect("an id");
        let library = &self.libraries[id];
        let name = package.replace('-', "_");
        vec!["-L".into(), named("dependency", &self.dependencies()), "--extern".into(), named(&name, library)]
    }

    /// Where cargo has the libraries of all packages.
    fn dependencies(&self) -> PathBuf {
        target_dir().join("debug/deps")
    }
}
