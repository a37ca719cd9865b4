// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rules of this repository that a program can check.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use carrick_tests::build::root;

/// Packages, in the order in which data flows: each may use only those before it. All but those under `targets/` are crates.
const ORDER: [&str; 21] = [
    "syntax",
    "ir",
    "solve",
    "sema",
    "lower",
    "interp",
    "sim",
    "peers",
    "emit-c",
    "doc",
    "dissect",
    "report",
    "verify",
    "driver",
    "lsp",
    "xdp-emitter",
    "xdp-loader",
    "targets",
    "daemon",
    "cli",
    "python",
];

/// Lines of the longest function there may be.
const FUNCTION_LINES_MAX: usize = 70;

/// Targets whose names are English words that a protocol's prose needs.
const ALSO_ENGLISH: [&str; 2] = ["native", "sim"];

/// Where the system's sockets are spoken, or its engines of segmentation, and the names in which it does so: they are asked of
/// whatever stack answers.
const SOCKETS: [&str; 6] = [
    "targets/native/preload/",
    "targets/native/tests/os/",
    "targets/native/apps/space",
    "targets/native/tests/test_space.c",
    "targets/native/ports/segments",
    "targets/native/tests/test_segments.c",
];
const NAMES_OF_SOCKETS: [&str; 16] = [
    "IPPROTO_TCP",
    "TCP_NODELAY",
    "TCP_CORK",
    "TCP_MAXSEG",
    "TCP_INFO",
    "TCP_USER_TIMEOUT",
    "TCP_LINGER2",
    "TCP_KEEPIDLE",
    "TCP_LISTEN",
    "TCP_NOTSENT_LOWAT",
    "SKNLGRP_INET_TCP_DESTROY",
    "SKNLGRP_INET6_TCP_DESTROY",
    "struct tcp_info",
    "<netinet/tcp.h>",
    "VIRTIO_NET_HDR_GSO_TCPV4",
    "VIRTIO_NET_HDR_GSO_TCPV6",
];

#[test]
fn no_protocol_is_named_outside_its_folder() {
    let names = folders("protocols");
    let mut found = Vec::new();
    for place in ["crates", "runtime", "targets"] {
        for file in text_files(&root().join(place)) {
            found.extend(mentions(&file, &names));
        }
    }
    assert!(found.is_empty(), "protocols are named:\n{}", found.join("\n"));
}

#[test]
fn no_target_is_named_in_a_program() {
    let names = folders("targets");
    let words = names.into_iter().filter(|n| !ALSO_ENGLISH.contains(&n.as_str())).collect();
    let mut found = Vec::new();
    for file in text_files(&root().join("protocols")) {
        if file.extension().is_some_and(|e| e == "mtp") {
            found.extend(mentions(&file, &words));
        }
    }
    assert!(found.is_empty(), "targets are named:\n{}", found.join("\n"));
}

#[test]
fn crates_depend_in_one_direction() {
    let mut wrong = Vec::new();
    for manifest in manifests() {
        let name = name(&manifest);
        let place = ORDER.iter().position(|&n| n == name);
        let place = place.unwrap_or_else(|| panic!("say where {name} stands in ORDER"));
        for dependency in dependencies(&manifest) {
            if !ORDER[..place].contains(&dependency.as_str()) {
                wrong.push(format!("{name} uses {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_fit_a_screen() {
    let mut long = Vec::new();
    for place in ["crates", "runtime", "targets", "tests", "bench", "fuzz"] {
        for file in text_files(&root().join(place)) {
            let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
            if ["rs", "c", "h", "cc"].contains(&extension) {
                long.extend(long_functions(&file));
            }
        }
    }
    assert!(long.is_empty(), "longer than {FUNCTION_LINES_MAX} lines:\n{}", long.join("\n"));
}

/// Emitters, and in each the module that text of a program passes.
const EMITTERS: [(&str, &str); 5] = [
    ("crates/emit-c/src", "text.rs"),
    ("crates/dissect/src", "text.rs"),
    ("crates/doc/src", "html.rs"),
    ("targets/hw/dslx", "text.rs"),
    ("targets/xdp/emitter/src", "none: it uses that of emit-c"),
];

#[test]
fn text_of_programs_passes_one_module_of_each_emitter() {
    let mut found = Vec::new();
    for (place, module) in EMITTERS {
        let files = text_files(&root().join(place));
        assert!(!files.is_empty(), "{place} has no files");
        for file in files.iter().filter(|file| !file.ends_with(module)) {
            let text = fs::read_to_string(file).expect("readable");
            found.extend(unescaped(&text).map(|n| format!("{}:{n}", file.display())));
        }
    }
    assert!(
        found.is_empty(),
        "text of a program that nothing escapes, or a string as Rust writes it:\n{}",
        found.join("\n")
    );
}

/// The lines that have text as it is, or a string as Rust writes it, up to the tests of a module.
fn unescaped(text: &str) -> impl Iterator<Item = usize> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let lines = (1..).zip(code.lines());
    lines
        .filter(|(_, line)| line.contains(".raw()") || line.contains("Text::raw") || line.contains(":?}"))
        .map(|(n, _)| n)
}

#[test]
fn the_checks_find_what_they_look_for() {
    let written =
        "a(text.raw());\nformat!(\"{name:?}\");\nmap(Text::raw)\nb(&text);\n#[cfg(test)]\nc(text.raw());";
    assert_eq!(unescaped(written).collect::<Vec<_>>(), [1, 2, 3]);
    let names = BTreeSet::from(["tcp".to_owned(), "quic-lite".to_owned()]);
    assert!(names_in("is it Tcp?", &names).eq(["tcp"]));
    assert!(names_in("TCP_NODELAY", &names).eq(["tcp"]));
    assert!(names_in("a quic-lite packet", &names).eq(["quic-lite"]));
    assert_eq!(names_in("ntcpd and quic", &names).count(), 0);
    assert_eq!(names_in(r"\tcp host/program .", &names).count(), 0);
    let body = "    x += 1;\n".repeat(FUNCTION_LINES_MAX);
    assert_eq!(function_lengths(&format!("fn long() {{\n{body}}}\n")), [(1, FUNCTION_LINES_MAX + 2)]);
    assert_eq!(function_lengths(&format!("int\nf(void)\n{{\n{body}}}\n")), [(3, FUNCTION_LINES_MAX + 2)]);
    assert_eq!(function_lengths("fn f() {\n    let s = \"{\";\n    // }\n}\nfn g() {}\n"), [(1, 4), (5, 1)]);
    let before = [
        "pub ",
        "pub(crate) ",
        "pub(super) ",
        "pub(in crate::a) ",
        "pub(crate) const ",
        "pub(super) async ",
        "pub(crate) unsafe ",
        "unsafe extern \"C\" ",
        "pub(crate) unsafe extern \"C\" ",
        "const unsafe ",
    ];
    for before in before {
        let text = format!("{before}fn long<T>() {{\n{body}}}\n");
        assert_eq!(function_lengths(&text), [(1, FUNCTION_LINES_MAX + 2)], "{before}");
    }
    assert_eq!(function_lengths("mod a {\n    fn f() {\n    }\n}\n"), [(2, 2)]);
}

/// The folders in a folder of the root; none if it is missing.
fn folders(place: &str) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(root().join(place)) else { return BTreeSet::new() };
    let folders = entries.flatten().filter(|e| e.path().is_dir());
    folders.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

/// Every file below a folder that is text, build products excepted.
fn text_files(place: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut places = vec![place.to_path_buf()];
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                places.push(path);
            } else if path.is_file() && is_text(&path).unwrap_or(false) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn is_text(path: &Path) -> io::Result<bool> {
    Ok(std::str::from_utf8(&fs::read(path)?).is_ok())
}

fn mentions(file: &Path, names: &BTreeSet<String>) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let shown = file.strip_prefix(root()).unwrap_or(file).display().to_string();
    let text = match SOCKETS.iter().any(|place| shown.starts_with(place)) {
        true => NAMES_OF_SOCKETS.iter().fold(text, |text, name| text.replace(name, "")),
        false => text,
    };
    let lines = (1..).zip(text.lines());
    let in_text = lines.flat_map(|(n, line)| {
        let shown = &shown;
        names_in(line, names).map(move |name| format!("{shown}:{n}: {name}"))
    });
    let in_path = names_in(&shown, names).map(|name| format!("{shown}: {name}, in its path"));
    in_text.chain(in_path).collect()
}

/// The names that stand in a line as words. An underscore separates words: `TCP_NODELAY` names a protocol.
fn names_in<'a>(line: &str, names: &'a BTreeSet<String>) -> impl Iterator<Item = &'a str> {
    let line = line.to_lowercase();
    names.iter().map(String::as_str).filter(move |name| {
        line.match_indices(name).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + name.len()..].chars().next();
            let escape = before == Some('\\'); // of a tab, say
            !escape && !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
        })
    })
}

/// The manifests of all packages under `crates/` and `targets/`.
fn manifests() -> Vec<toml::Table> {
    let files = ["crates", "targets"].into_iter().flat_map(|place| text_files(&root().join(place)));
    let files = files.filter(|file| file.file_name().is_some_and(|name| name == "Cargo.toml"));
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        text.parse().unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    };
    files.map(read).collect()
}

/// What a package of this house is called, without the name of the house.
fn name(manifest: &toml::Table) -> String {
    let name = manifest["package"]["name"].as_str().expect("a package has a name");
    name.trim_start_matches("carrick-").to_owned()
}

/// The packages of this house that a package uses, tests included.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let keys = tables.iter().filter_map(|t| manifest.get(*t)?.as_table()).flat_map(toml::Table::keys);
    keys.filter_map(|k| k.strip_prefix("carrick-")).map(str::to_owned).collect()
}

fn long_functions(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let shown = file.strip_prefix(root()).unwrap_or(file).display().to_string();
    let long = function_lengths(&text).into_iter().filter(|&(_, lines)| lines > FUNCTION_LINES_MAX);
    long.map(|(at, lines)| format!("{shown}:{at}: {lines} lines")).collect()
}

/// Line and number of lines of each function, of Rust or C as formatters leave them: a body begins with a line that
/// ends in `{` (or `{}`) and ends with the first `}` at the same indentation.
fn function_lengths(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut header = None;
    for (at, line) in lines.iter().enumerate() {
        if begins_function(line) {
            header = Some(at);
        }
        let Some(first) = header else { continue };
        let code = line.trim_end();
        if code.ends_with(';') && !code.contains('{') {
            header = None; // a declaration
        } else if code.ends_with('}') && code.contains('{') {
            found.push((first + 1, at + 1 - first));
            header = None;
        } else if code.ends_with('{') {
            let indent = line.len() - line.trim_start().len();
            let close = format!("{}}}", " ".repeat(indent));
            let end = lines[at..].iter().position(|l| l.trim_end() == close).unwrap_or(0);
            found.push((first + 1, at + end + 1 - first));
            header = None;
        }
    }
    found
}

/// A Rust `fn`, or a line at the left margin that opens a C function.
fn begins_function(line: &str) -> bool {
    let code = line.trim_start();
    let rust =
        without_visibility(code).split(['(', '<']).next().unwrap_or("").split(' ').any(|word| word == "fn");
    let c = !line.starts_with(char::is_whitespace)
        && (line == "{" || (line.ends_with('{') && line.contains('(') && !line.contains(" = ")));
    let comment = code.starts_with("//") || code.starts_with('*');
    !comment && (rust || (c && !line.starts_with("extern")))
}

/// A line without the `pub`, `pub(crate)` or `pub(in path)` with which it begins.
fn without_visibility(code: &str) -> &str {
    let Some(rest) = code.strip_prefix("pub") else { return code };
    rest.strip_prefix('(').and_then(|places| places.split_once(')')).map_or(rest, |(_, rest)| rest)
}

/// The names in a text, as whole words.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect()
}

/// The texts of all files with this ending below a folder.
fn texts(folder: &Path, ending: &str) -> String {
    let files = text_files(folder).into_iter().filter(|f| f.extension().is_some_and(|e| e == ending));
    files.map(|f| fs::read_to_string(f).unwrap_or_default()).collect()
}

/// What is wrong with a requirement, if something is.
fn wrong_requirement(
    requirement: &toml::Table,
    folder: &Path,
    program: &BTreeSet<&str>,
    tests: &BTreeSet<&str>,
) -> Option<String> {
    let field = |name: &str| requirement.get(name).and_then(|v| v.as_str()).unwrap_or_default();
    let (place, test) = (field("where"), field("test"));
    let is_script = folder.join("tests").join(test).with_extension("script").is_file();
    let is_test = test.split("::").all(|part| tests.contains(part));
    if field("section").is_empty() || field("text").is_empty() {
        Some("it lacks its section or text".into())
    } else if !["met", "not yet", "not applicable"].contains(&field("status")) {
        Some("its status is none".into())
    } else if field("status") != "met" {
        (!place.is_empty() || !test.is_empty()).then(|| "it is not met, and names what meets it".into())
    } else if !program.contains(place) {
        Some(format!("nothing of the program is called `{place}`"))
    } else {
        (!is_script && !is_test).then(|| format!("there is no test `{test}`"))
    }
}

#[test]
fn requirements_name_what_meets_them() {
    let tests = texts(&root().join("tests/tests"), "rs");
    let tests = words(&tests);
    let mut wrong = Vec::new();
    for folder in fs::read_dir(root().join("protocols")).expect("protocols/").flatten() {
        let folder = folder.path();
        let Ok(text) = fs::read_to_string(folder.join("requirements.toml")) else { continue };
        let table: toml::Table = text.parse().expect("well-formed TOML");
        let program = texts(&folder, "mtp");
        let program = words(&program);
        let requirements = table["requirement"].as_array().expect("a list");
        let ids: Vec<&str> = requirements.iter().map(|r| r["id"].as_str().expect("a string")).collect();
        for (at, requirement) in requirements.iter().enumerate() {
            let requirement = requirement.as_table().expect("a table");
            let twice = ids[..at].contains(&ids[at]).then(|| "it is there twice".to_owned());
            let what = twice.or_else(|| wrong_requirement(requirement, &folder, &program, &tests));
            wrong.extend(what.map(|what| format!("{}: {}: {what}", folder.display(), ids[at])));
        }
        for (kind, count) in table.get("appendix").and_then(|a| a.as_table()).into_iter().flatten() {
            let all = (1..=count.as_integer().expect("a number")).map(|n| format!("{kind}-{n}"));
            wrong.extend(all.filter(|id| !ids.contains(&id.as_str())).map(|id| format!("{id} is missing")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The endings of files whose licence `REUSE.toml` names, as `**/*.ENDING`.
fn annotated() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("REUSE.toml")).expect("it is there");
    let table: toml::Table = text.parse().expect("well-formed TOML");
    let annotations = table["annotations"].as_array().expect("a list");
    assert!(annotations.iter().all(|a| a["SPDX-License-Identifier"].as_str().is_some_and(|l| !l.is_empty())));
    let paths = annotations.iter().flat_map(|a| a["path"].as_array().expect("a list"));
    let ending = |path: &str| path.strip_prefix("**/*.").map(str::to_owned);
    paths.filter_map(|path| ending(path.as_str()?)).collect()
}

#[test]
fn each_source_file_names_its_licence() {
    let annotated = annotated();
    let mut without = Vec::new();
    for place in
        ["crates", "runtime", "targets", "protocols", "examples", "tests", "bench", "fuzz", "demo", "scripts"]
    {
        for file in text_files(&root().join(place)) {
            let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
            let is_source = ["rs", "c", "h", "cc", "py", "mtp"].contains(&extension);
            if !is_source || annotated.contains(extension) {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap_or_default();
            let mut head = text.lines().take(3);
            if !head.any(|line| line.contains("SPDX-License-Identifier: ")) {
                without.push(file.strip_prefix(root()).unwrap_or(&file).display().to_string());
            }
        }
    }
    assert!(without.is_empty(), "these files name no licence:\n{}", without.join("\n"));
}
