// SPDX-License-Identifier: MIT OR Apache-2.0
//! A debugger stops in the program, not in the C that was made of it.

use std::path::PathBuf;
use std::process::Command;

use carrick_tests::build::{carrick, root, target_dir};
use carrick_tests::net::{lacks, skip};

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
/// A file that it imports, in which the debugger stops.
const FILE: &str = "protocols/tcp/sending.mtp";

/// The line of the file with this statement, which must be there once.
fn line_of(statement: &str) -> usize {
    let text = std::fs::read_to_string(root().join(FILE)).expect("readable");
    let mut lines = text.lines().zip(1..).filter(|(line, _)| line.trim() == statement);
    let (_, number) = lines.next().expect("the statement is there");
    assert!(lines.next().is_none(), "`{statement}` is there twice");
    number
}

/// Both ends in one process, with debug information of variables, whatever other tests compile with.
fn bench() -> PathBuf {
    let dir = target_dir().join("tests-debugger");
    let built = Command::new(carrick())
        .args(["build", PROGRAM, "--target", "native", "-o"])
        .arg(&dir)
        .env("CFLAGS", "-O2 -g")
        .current_dir(root())
        .output()
        .expect("carrick runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    dir.join("tcp-bench")
}

#[test]
fn gdb_stops_on_a_line_of_the_program() {
    if lacks("gdb") {
        return;
    }
    let bench = bench();
    let line = line_of("if (n == 0) return;");
    let said = Command::new("gdb")
        .args([
            "-nx",
            "-batch",
            "-ex",
            "set breakpoint pending off",
            "-ex",
            &format!("break sending.mtp:{line}"),
        ])
        // Debug information names files from the folder that was built, so that it is the same in every folder.
        .arg("-d")
        .arg(bench.parent().expect("a folder"))
        .args(["-ex", "run", "-ex", "print c->state", "-ex", "next", "-ex", "frame", "-ex", "kill"])
        .arg("--args")
        .arg(&bench)
        .args(["bulk", "1"])
        .current_dir(root())
        .output()
        .expect("gdb runs");
    let said = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    if said.contains("ptrace: Operation not permitted") {
        return skip("this machine lets nobody trace a process");
    }
    assert!(said.contains(&format!("{FILE}:{line}\n{line}\t    if (n == 0) return;")), "{said}");
    assert!(said.contains("$1 = tcp_ESTABLISHED") || said.contains("$1 = 3"), "{said}");
    let after = said.rsplit(&format!("{FILE}:")).next().and_then(|at| at.split_once('\n'));
    let stepped = after.and_then(|(number, _)| number.parse::<usize>().ok());
    assert!(stepped.is_some_and(|at| at > line && at < line + 30), "it steps on in the program: {said}");
}
