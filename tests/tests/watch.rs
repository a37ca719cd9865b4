// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--watch`: what changes in a program is seen, and only that.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use carrick_tests::build::carrick;
use carrick_tests::command::done;

/// Longer than anything here takes on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that watches; it ends with the value.
struct Watched {
    child: Child,
    lines: Receiver<String>,
}

impl Watched {
    fn start(dir: &Path, args: &[&str]) -> Watched {
        let mut child = Command::new(carrick())
            .args(args)
            .arg("--watch")
            .current_dir(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("carrick runs");
        let said = BufReader::new(child.stderr.take().expect("a pipe"));
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || said.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Watched { child, lines }
    }

    /// What is said until it waits for the next change, that line included.
    #[track_caller]
    fn next(&self) -> String {
        let mut said = String::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("{e} after: {said}"));
            said += &line;
            said.push('\n');
            if line.starts_with("watching ") {
                return said;
            }
        }
    }

    /// All that went to standard output.
    fn end(mut self) -> String {
        self.child.kill().expect("it still watches");
        let mut said = String::new();
        self.child.stdout.take().expect("a pipe").read_to_string(&mut said).expect("UTF-8");
        said
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Puts a file in its place whole, as editors do: a new one is renamed.
fn put(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).expect("writable");
    fs::rename(new, file).expect("renamed");
}

/// A folder with the protocol that `carrick new` begins.
fn begun() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    done(folder.path(), &["new", "parcel"]);
    folder
}

#[test]
fn a_program_is_checked_again_when_it_or_an_import_changes() {
    let folder = begun();
    let dir = folder.path();
    let program = dir.join("parcel/parcel.mtp");
    let right = fs::read_to_string(&program).expect("readable");
    let watched = Watched::start(dir, &["check", "parcel/parcel.mtp"]);
    assert_eq!(watched.next(), "parcel/parcel.mtp: 0 errors, 0 warnings\nwatching 1 file, Ctrl-C ends\n");

    // What is no file of the program is nobody's business: what is said next is of the change behind it.
    put(&dir.join("parcel/other.mtp"), "nonsense");
    put(&program, &format!("import \"parts/more.mtp\";\n{right}"));
    let said = watched.next();
    assert!(said.contains("there is no such file") && said.contains("watching 2 files"), "{said}");

    fs::create_dir(dir.join("parcel/parts")).expect("a folder");
    put(&dir.join("parcel/parts/more.mtp"), "const uint8 MORE = 300;\n");
    let said = watched.next();
    assert!(said.contains("parts/more.mtp:1:") && said.contains("1 error,"), "{said}");
    put(&dir.join("parcel/parts/more.mtp"), "const uint8 MORE = 30;\n");
    let said = watched.next();
    assert!(said.contains("0 errors") && said.contains("watching 2 files"), "{said}");

    fs::remove_file(&program).expect("removed");
    assert!(watched.next().contains("cannot read parcel/parcel.mtp"));
    put(&program, &right);
    assert!(watched.next().contains("0 errors"));
}

#[test]
fn runs_drawings_and_pages_are_made_again() {
    let folder = begun();
    let dir = folder.path();
    let program = dir.join("parcel/parcel.mtp");
    let right = fs::read_to_string(&program).expect("readable");
    let commands: [&[&str]; 3] = [
        &["sim", "parcel/parcel.mtp", "--bytes", "100KB"],
        &["layout", "parcel/parcel.mtp"],
        &["doc", "parcel/parcel.mtp", "-o", "page.html"],
    ];
    let all = commands.map(|args| Watched::start(dir, args));
    for watched in &all {
        watched.next();
    }
    assert!(!fs::read_to_string(dir.join("page.html")).expect("a page").contains("spare_bits"));
    let renamed = right.replace("reserved_too", "spare_bits");
    put(&program, &renamed.replace("buffer = 256KiB", "buffer = 4KiB"));
    for watched in &all {
        watched.next();
    }
    assert!(fs::read_to_string(dir.join("page.html")).expect("a page").contains("spare_bits"));
    let [runs, drawings, pages] = all.map(Watched::end);
    let times: Vec<&str> = runs.lines().filter(|l| l.starts_with("completion time")).collect();
    assert!(times.len() == 2 && times[0] != times[1], "another buffer takes another time: {runs}");
    assert!(drawings.contains("reserved_too") && drawings.contains("spare_bits"), "{drawings}");
    assert_eq!(pages, "page.html\npage.html\n");
}
