// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `carrick build` makes is the same in every folder, byte for byte.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use carrick_tests::build::carrick;
use carrick_tests::command::done;
use carrick_tests::net::lacks;

/// A longer name, of which a shell or `make` would do what it says.
const STRANGE: &str =
    "another/it's a \"folder\" (1) $(touch marker) `touch marker`; touch marker & $$HOME ${HOME} # \\ 100%";

/// Builds in a new folder of this name, with little optimisation, as that takes less time.
fn build(dir: &Path, target: &str) -> BTreeMap<String, Vec<u8>> {
    std::fs::create_dir_all(dir).expect("a folder");
    done(dir, &["new", "parcel"]);
    let mut command = Command::new(carrick());
    command.args(["build", "parcel/parcel.mtp", "--target", target, "-o", "out"]).current_dir(dir);
    command.env("CFLAGS", "-O0 -g").env("CCACHE_DISABLE", "1"); // nothing of the other folder's
    let built = command.output().expect("carrick runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut files = BTreeMap::new();
    collect(&dir.join("out"), &mut files);
    files
}

/// All files of a folder; what `make` notes for itself is nothing that was made.
fn collect(dir: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).expect("readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_none_or(|e| e != "d") {
            files.insert(path.to_string_lossy().into_owned(), std::fs::read(&path).expect("readable"));
        }
    }
}

/// Builds in two folders; the files that must be there are, and all are alike.
fn builds_alike(target: &str, wanted: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let places = ["a", STRANGE].map(|name| folder.path().join(name));
    let [first, second] = places.each_ref().map(|place| {
        let files = build(place, target);
        let inside = |name: &String| name.trim_start_matches(&*place.to_string_lossy()).to_owned();
        files.into_iter().map(|(name, bytes)| (inside(&name), bytes)).collect::<BTreeMap<_, _>>()
    });
    for name in wanted {
        assert!(first.contains_key(*name), "{name} is not among {:?}", first.keys());
    }
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    let differ: Vec<_> =
        first.iter().filter(|(name, bytes)| second[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(differ.is_empty(), "they differ: {differ:?}");
    let mut made = BTreeMap::new();
    collect(folder.path(), &mut made);
    assert!(!made.keys().any(|path| path.ends_with("/marker")), "a shell has read the name of a folder");
}

#[test]
fn a_native_build_is_the_same_in_every_folder() {
    builds_alike("native", &["/out/libparcel.a", "/out/libparcel.so", "/out/parcel-host"]);
}

#[test]
fn a_build_for_the_kernel_is_the_same_in_every_folder() {
    if lacks("clang") {
        return;
    }
    builds_alike("xdp", &["/out/parcel.bpf.o", "/out/parcel-host"]);
}
