// SPDX-License-Identifier: MIT OR Apache-2.0
//! An echo server and its client in several languages.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use carrick_tests::build::{root, target_dir};
use carrick_tests::net::End;

use super::{address, other, output};
use crate::programs::Place;

fn source(name: &str) -> PathBuf {
    root().join("tests/tests/sockets").join(name)
}

/// Echoes three megabytes between two processes of this program.
fn echoes(place: &Place, server: End, program: &str, arguments: &[&OsStr]) {
    let command = |end: End, what: &str| {
        let mut command = place.command(end, program);
        command.args(arguments).args([what, address(server), "7200"]);
        command
    };
    let _server = place.serve(server, &mut command(server, "serve"), 7200);
    assert_eq!(output(&mut command(other(server), "ask")), b"3000000 the same\n");
}

pub fn python_echoes_with_asyncio(place: &Place, server: End) {
    echoes(place, server, "python3", &[source("echo.py").as_os_str()]);
}

pub fn node_echoes(place: &Place, server: End) {
    echoes(place, server, "node", &[source("echo.js").as_os_str()]);
}

/// Where programs of this run are compiled.
fn built() -> PathBuf {
    let dir = target_dir().join("tests-programs");
    std::fs::create_dir_all(&dir).expect("writable");
    dir
}

pub fn java_echoes(place: &Place, server: End) {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    let classes = CLASSES.get_or_init(|| {
        let dir = built();
        output(
            Command::new("javac").args(["-Xlint:all", "-Werror", "-d"]).arg(&dir).arg(source("Echo.java")),
        );
        dir
    });
    let arguments = ["-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp"].map(OsStr::new);
    echoes(place, server, "java", &[&arguments[..], &[classes.as_os_str(), OsStr::new("Echo")]].concat());
}

pub fn boost_asio_echoes(place: &Place, server: End) {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let program = built().join("echo_asio");
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]);
        output(compiler.arg(&program).arg(source("echo_asio.cpp")));
        program
    });
    echoes(place, server, &program.to_string_lossy(), &[]);
}
