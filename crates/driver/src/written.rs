// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that commands write: all of one or none of it, and why one could not be written.

use std::fmt::Display;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Failure;

/// Replaces a file by one with this content. If that fails (a full disk), the file is as it was before.
///
/// # Errors
/// [`Failure::Usage`] with the path, the reason and what helps.
pub fn replace(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    try_replace(path, contents).map_err(|error| Failure::Usage(unwritten(path, &error)))
}

/// The same, with the system's error.
///
/// # Errors
/// Why it is not written.
pub fn try_replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    // The file that a symbolic link leads to is replaced, not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = match fs::metadata(path) {
        Ok(old) if old.is_file() => Some(old.permissions()),
        // Devices and pipes have no old content.
        Ok(_) => return fs::write(path, contents),
        Err(_) => None,
    };
    match beside(path, contents, old) {
        // Who may change a file may not always make another one next to it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => fs::write(path, contents),
        done => done,
    }
}

/// Writes a file next to this one, which then takes its place.
fn beside(path: &Path, contents: &[u8], old: Option<Permissions>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    if old.is_none() {
        return made(path, contents);
    }
    let mut file = NamedTempFile::new_in(folder)?;
    file.as_file_mut().write_all(contents)?;
    old.map_or(Ok(()), |permissions| file.as_file().set_permissions(permissions))?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// A file that was not there before; it is not there either, if its content cannot be written.
fn made(path: &Path, contents: &[u8]) -> io::Result<()> {
    let written = File::create(path)?.write_all(contents);
    written.inspect_err(|_| _ = fs::remove_file(path))
}

/// A line on standard error. What goes on for long goes on also when the disk of its log is full.
pub fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Why a file could not be written, and what helps. Options are not named: commands have different ones.
pub fn unwritten(path: &Path, error: &io::Error) -> String {
    let help = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; free space on its disk, or use another folder"
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "; use a folder that you may write to",
        ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::AlreadyExists => {
            "; something else is in the way: use another folder"
        }
        _ => "",
    };
    format!("cannot write {}: {error}{help}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn who_cannot_write_learns_what_helps_there() {
        let said = |kind| unwritten(Path::new("/run/x/a.c"), &io::Error::from(kind));
        assert!(said(ErrorKind::StorageFull).ends_with("free space on its disk, or use another folder"));
        assert!(said(ErrorKind::PermissionDenied).ends_with("use a folder that you may write to"));
        for kind in [ErrorKind::StorageFull, ErrorKind::NotADirectory, ErrorKind::Other] {
            assert!(
                said(kind).starts_with("cannot write /run/x/a.c: ") && !said(kind).contains(" -"),
                "{}",
                said(kind)
            );
        }
    }

    #[test]
    fn a_file_keeps_its_mode_and_its_links() {
        let dir = tempfile::tempdir().expect("a folder");
        let [file, link] = ["file", "link"].map(|name| dir.path().join(name));
        replace(&file, b"one").expect("writable");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("it is ours");
        symlink("file", &link).expect("writable");
        replace(&link, b"two").expect("writable");
        assert_eq!(fs::read(&file).expect("readable"), b"two");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 2, "nothing else is left");
        replace(Path::new("/dev/null"), b"three").expect("a device is written");
        assert!(replace(Path::new("/dev/full"), b"three").is_err());
    }
}
