// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Python package: its wheel installs in a fresh environment, and its tests pass there (`tests/python`).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use carrick_tests::build::{carrick, root};
use carrick_tests::document::blocks;
use carrick_tests::net::{lacks, skip};
use tempfile::TempDir;

/// Where `scripts/setup` puts libraries of Python that tests use.
const LIBRARIES: &str = "/usr/local/lib/carrick/python";

/// An environment of Python with nothing but the package; `None` where none can be made.
static ENVIRONMENT: LazyLock<Option<TempDir>> = LazyLock::new(|| {
    if ["python3", "maturin", "strip"].into_iter().any(lacks) {
        return None;
    }
    if !Command::new("python3").args(["-c", "import ensurepip"]).status().is_ok_and(|it| it.success()) {
        skip("python3 cannot make environments: apt-get install python3-venv");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let mut wheel = Command::new(root().join("scripts/wheel"));
    well(wheel.arg(&out).env("PROFILE", "dev").env("BIN", carrick()));
    let wheels: Vec<PathBuf> =
        out.read_dir().expect("it is there").map(|it| it.expect("readable").path()).collect();
    assert_eq!(wheels.len(), 1, "{wheels:?}");
    assert!(wheels[0].to_string_lossy().contains("-cp310-abi3-"), "{wheels:?}");
    well(Command::new("python3").args(["-m", "venv"]).arg(folder.path().join("venv")));
    let install = ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"];
    well(Command::new(python(folder.path())).args(install).args(&wheels));
    Some(folder)
});

fn python(folder: &Path) -> PathBuf {
    folder.join("venv/bin/python")
}

/// What a command printed that must end well.
#[track_caller]
fn well(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let (said, wrong) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}\n{said}{wrong}");
    format!("{said}{wrong}")
}

/// A command of Python in the environment, in a folder that is not this repository.
fn in_environment() -> Option<Command> {
    let folder = ENVIRONMENT.as_ref()?.path();
    let mut command = Command::new(python(folder));
    command.current_dir(folder).env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
    Some(command)
}

/// The same, with libraries beside the package.
fn with_libraries() -> Option<Command> {
    if !Path::new(LIBRARIES).exists() {
        skip(&format!("there are no libraries of Python in {LIBRARIES}: run scripts/setup as root"));
        return None;
    }
    let mut command = in_environment()?;
    command.env("PYTHONPATH", LIBRARIES);
    Some(command)
}

fn test(name: &str) -> PathBuf {
    root().join("tests/python").join(name)
}

#[test]
fn the_wheel_has_the_command() {
    let Some(folder) = ENVIRONMENT.as_ref() else { return };
    let there = well(Command::new(folder.path().join("venv/bin/carrick")).arg("--version"));
    assert_eq!(there, well(Command::new(carrick()).arg("--version")));
    assert!(folder.path().join("venv/share/doc/carrick/LICENSE-MIT").exists());
}

#[test]
fn programs_run() {
    let Some(mut python) = in_environment() else { return };
    well(python.arg(test("test_runs.py")));
}

#[test]
fn sweeps_run_anywhere() {
    let Some(mut python) = in_environment() else { return };
    well(python.arg(test("test_sweeps.py")));
}

#[test]
fn libraries_read_tables() {
    let Some(mut python) = with_libraries() else { return };
    well(python.arg(test("test_libraries.py")));
}

#[test]
fn programs_are_stepped() {
    let Some(mut python) = with_libraries() else { return };
    // The same packets in every run: a failure is then one of the change that is tested.
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1"];
    well(python.args(pytest).arg(test("test_cores.py")));
}

/// A notebook has a process of its own, which leaves nothing at home.
#[test]
fn notebooks_show_what_happens() {
    let Some(mut python) = with_libraries() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for place in
        ["IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "MPLCONFIGDIR"]
    {
        python.env(place, folder.path().join(place));
    }
    let commands = Path::new(python.get_program()).parent().expect("it is in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::join_paths(std::iter::once(commands).chain(std::env::split_paths(&path)));
    python.env("PATH", all.expect("paths without colons"));
    well(python.arg(test("test_notebooks.py")).arg(root().join("examples/notebooks")));
}

#[test]
fn the_chapter_shows_what_happens() {
    let Some(mut python) = with_libraries() else { return };
    let page = std::fs::read_to_string(root().join("docs/python.md")).expect("readable");
    let shown: Vec<&str> =
        blocks(&page).into_iter().filter(|(kind, _)| *kind == "python").map(|(_, text)| text).collect();
    assert!(!shown.is_empty(), "where is the Python?");
    let folder = tempfile::tempdir().expect("a folder");
    let session = folder.path().join("python.txt");
    std::fs::write(&session, shown.join("\n")).expect("writable");
    well(python.args(["-m", "doctest"]).arg(session));
}

#[test]
fn the_package_has_types() {
    let Some(mut python) = with_libraries() else { return };
    let mypy = [
        "-m",
        "mypy",
        "--strict",
        "--ignore-missing-imports",
        "--allow-untyped-calls",
        "--cache-dir=/dev/null",
    ];
    well(python.args(mypy).arg(root().join("crates/python/python/carrick")));
}
