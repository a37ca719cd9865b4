// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that somebody else may have written or named: programs, and what runs are made of.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustix::fs::OFlags;

/// The longest file of numbers that is read, in bytes: a table, a recording, a topology.
pub const DATA_MAX: u64 = 1 << 30;

/// A variable of the environment that names a folder: a process that has it reads no such file elsewhere, wherever links lead.
pub const WITHIN: &str = "CARRICK_FILES_WITHIN";

/// The folder in which files must be; `None`: everywhere. One that is not there holds no file.
static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    std::env::var_os(WITHIN).map(|folder| Path::new(&folder).canonicalize().unwrap_or_else(|_| folder.into()))
});

/// The text of a file of at most so many bytes: no device, no pipe, nothing endless, whoever named it. Files of the kernel that say
/// that they have no bytes are empty here: to read one can wait for ever. Its path is one line, and so is that of the file that it
/// leads to.
///
/// # Errors
/// Why there is none; the kind is [`ErrorKind::NotFound`] only if there is no such file.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(octets(path, most)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        refused(format!("it is not UTF-8 text: the byte at offset {at} is invalid"))
    })
}

/// The text of a file of numbers, as [`text`]; without the byte order mark that spreadsheets write before a table.
///
/// # Errors
/// As there.
pub fn data(path: &Path) -> io::Result<String> {
    let text = text(path, DATA_MAX)?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// As [`text`], the bytes.
///
/// # Errors
/// As there.
pub fn octets(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let no_file = || refused("it is no regular file");
    // Before it is opened: that alone can do something to a device. And afterwards: it may be another file by then.
    let there = fs::metadata(path).map_err(plain)?;
    if !there.is_file() {
        return Err(no_file());
    }
    let led_to = path.canonicalize().map_err(plain)?;
    if [path, &led_to].iter().any(|path| path.to_string_lossy().contains(char::is_control)) {
        return Err(refused("its path has control characters (shown as `?`), rename the file or folder"));
    }
    if FOLDER.as_ref().is_some_and(|folder| !led_to.starts_with(folder)) {
        return Err(refused(
            "it is outside the current folder; say `carrick repro --outside` if it may be read",
        ));
    }
    if there.len() == 0 {
        return Ok(Vec::new());
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let open = File::options().read(true).custom_flags(flags.cast_signed()).open(path);
    let file = open.map_err(plain)?;
    let len = file.metadata().ok().filter(Metadata::is_file).ok_or_else(no_file)?.len();
    if len > most {
        return Err(refused(format!("it has more than {most} bytes")));
    }
    let mut octets = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
    file.take(len).read_to_end(&mut octets).map_err(plain)?;
    Ok(octets)
}

fn refused(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

fn plain(e: io::Error) -> io::Error {
    match e.kind() {
        ErrorKind::NotFound => io::Error::new(ErrorKind::NotFound, "there is no such file"),
        _ => e,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_length_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.csv"), "\u{feff}time,rate\n").expect("writable");
        fs::write(at("none.csv"), "").expect("writable");
        fs::write(at("bad.csv"), b"ab\xff").expect("writable");
        fs::write(at("a\nb.csv"), "x").expect("writable");
        assert_eq!(data(&at("a.csv")).expect("there"), "time,rate\n");
        assert_eq!(text(&at("a.csv"), 100).expect("there"), "\u{feff}time,rate\n");
        assert_eq!(data(&at("none.csv")).expect("there"), "");
        for (name, most, wanted) in [
            ("a.csv", 12, "it has more than 12 bytes"),
            ("bad.csv", 100, "the byte at offset 2 is invalid"),
            ("a\nb.csv", 100, "its path has control characters"),
            (".", 100, "it is no regular file"),
            ("nothing.csv", 100, "there is no such file"),
        ] {
            let said = text(&at(name), most).expect_err(name);
            assert!(said.to_string().contains(wanted), "{name}: {said}");
            assert_eq!(said.kind() == ErrorKind::NotFound, name == "nothing.csv");
        }
        let endless = text(Path::new("/dev/zero"), 100).expect_err("endless").to_string();
        assert_eq!(endless, "it is no regular file");
    }
}
