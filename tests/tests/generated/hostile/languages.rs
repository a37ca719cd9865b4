// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is generated of two programs that differ in their text: the same code, in each language.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use carrick_driver::{build, cc};
use carrick_ir::Program;
use carrick_tests::bare::{bare, tags};
use carrick_tests::build::root;
use carrick_tests::net::lacks;

/// The code of both programs is the same, and compiles.
pub fn same_code(hostile: &Program, harmless: &Program, dir: &Path) {
    let [hostile, harmless] = [hostile, harmless].map(|program| {
        let mut program = program.clone();
        // It changes with each comment.
        program.source_hash = 0;
        program
    });
    let same = |what: &str, of: &dyn Fn(&Program) -> Vec<String>| {
        let (found, expected) = (of(&hostile), of(&harmless));
        let differs = found.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(found.len());
        let around = |words: &[String]| {
            words
                .iter()
                .take(differs + 4)
                .skip(differs.saturating_sub(20))
                .cloned()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert!(
            found == expected,
            "{what} of {}: text became code:\n{}\n{}",
            hostile.name,
            around(&found),
            around(&expected)
        );
    };
    build::write_runtime(dir).expect("writable");
    same("C", &|program| code_of_c(program, dir));
    same("BPF C", &|program| code_for_the_kernel(program, dir));
    same("HTML", &|program| tags(&carrick_doc::page(program, &[], &[])));
    let lua = |program: &Program| {
        let params: Vec<u64> = program.params.iter().map(|param| param.default).collect();
        carrick_dissect::dissector(program, &params).ok()
    };
    same("Lua", &|program| lua(program).map_or(Vec::new(), |script| bare(&script, "--")));
    if let Some(script) = lua(&hostile) {
        starts_in_wireshark(&script, &hostile.name, dir);
    }
    let circuit =
        |program: &Program| carrick_targets::hw::chains(program).map_or(Vec::new(), |text| bare(&text, "//"));
    same("DSLX", &circuit);
}

/// The words of the core as its compiler sees them; it takes the whole of it.
fn code_of_c(program: &Program, dir: &Path) -> Vec<String> {
    let mut files = carrick_emit_c::emit(program);
    let makefile = files.iter().position(|(name, _)| name == "Makefile").expect("a Makefile");
    let mut words = vec![files.remove(makefile).1];
    for (name, text) in &files {
        fs::write(dir.join(name), text).expect("writable");
        words.extend(directives(text));
    }
    let compiler = cc::compiler();
    if lacks(&compiler) {
        return words;
    }
    let source = format!("{}.c", program.name);
    let compile = |what: &[&str]| {
        let mut command = Command::new(&compiler);
        command.current_dir(dir).args(what).args([
            "-Iruntime/include",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Werror",
            &source,
        ]);
        said(&mut command)
    };
    compile(&["-fsyntax-only", "-std=gnu11"]);
    // In this one trigraphs count.
    words.extend(bare(&compile(&["-E", "-P", "-std=c11"]), "//"));
    words
}

/// The same of the program in the kernel, if there is one.
fn code_for_the_kernel(program: &Program, dir: &Path) -> Vec<String> {
    if carrick_xdp_emitter::unsupported(program).is_some() {
        return Vec::new();
    }
    let (name, text) = carrick_xdp_emitter::emit(program);
    fs::write(dir.join(&name), &text).expect("writable");
    if lacks("clang") {
        return directives(&text);
    }
    let compile = |what: &[&str]| {
        let mut command = Command::new("clang");
        command.current_dir(dir).args(what).args([
            "-target",
            "bpf",
            "-std=gnu11",
            "-ffreestanding",
            "-nostdlibinc",
            "-fno-builtin",
        ]);
        command.arg("-I").arg(root().join("targets/xdp/include")).args([
            "-Iruntime/include",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Werror",
            &name,
        ]);
        said(&mut command)
    };
    compile(&["-fsyntax-only"]);
    [directives(&text), bare(&compile(&["-E", "-P"]), "//")].concat()
}

/// What a command prints, which succeeds.
fn said(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The directives of a file, with their strings empty. Of a line, its number depends on how long the comments before it are.
fn directives(text: &str) -> Vec<String> {
    let all = text.lines().filter(|line| line.trim_start().starts_with('#'));
    all.map(|line| match line.strip_prefix("#line ") {
        Some(rest) => bare(rest.trim_start_matches(|c: char| c.is_ascii_digit()), "//").join(" "),
        None => bare(line, "//").join(" "),
    })
    .collect()
}

/// A capture of no packet: the magic number, the version, the longest packet, Ethernet.
const EMPTY: [u8; 24] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];

/// Wireshark takes the script, and what calls the marker in it would be an error.
fn starts_in_wireshark(script: &str, name: &str, dir: &Path) {
    if lacks("tshark") {
        return;
    }
    let (script_file, capture) = (dir.join("script.lua"), dir.join("empty.pcap"));
    fs::write(&script_file, script).expect("writable");
    fs::write(&capture, EMPTY).expect("writable");
    let mut command = Command::new("tshark");
    command.arg("-X").arg(format!("lua_script:{}", script_file.display())).arg("-r").arg(&capture);
    // A filter names only what is known.
    let output = command.arg("-Y").arg(format!("mtp_{}", name.to_lowercase())).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.to_lowercase().contains("lua"), "{name}: {errors}");
}

/// No tag of a page that the same page with harmless text does not have.
pub fn no_other_tags(hostile: &str, harmless: &str) {
    // Numbers of lines differ.
    let kinds = |page: &str| -> BTreeSet<String> {
        tags(page).iter().map(|tag| tag.replace(|c: char| c.is_ascii_digit(), "")).collect()
    };
    let (hostile, harmless) = (kinds(hostile), kinds(harmless));
    let other: Vec<_> = hostile.difference(&harmless).collect();
    assert!(other.is_empty(), "{other:?}");
}
