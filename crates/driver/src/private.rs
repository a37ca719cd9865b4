// SPDX-License-Identifier: MIT OR Apache-2.0
//! Folders in which only this user and root can change anything.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, absolute};

const STICKY: u32 = 0o1000;
/// Permission to write, for the group and all others.
const OTHERS_WRITE: u32 = 0o022;

/// Checks that no user but this one and root can replace a folder, or what is in it: each folder on the path to it, and where
/// symbolic links lead, belongs to one of them and is not writable by others. A folder on the path may be, if only owners
/// remove entries there (`/tmp`). A path of which the end does not exist yet is checked as far as it does.
///
/// # Errors
/// A sentence that names the folder, and what helps.
pub fn check(folder: &Path) -> Result<(), String> {
    let path = absolute(folder).map_err(|e| cannot(folder, &e))?;
    check_path(&path)?;
    match path.canonicalize() {
        Ok(real) if real != path => check_path(&real),
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(cannot(&path, &e)),
        _ => Ok(()),
    }
}

fn cannot(path: &Path, error: &io::Error) -> String {
    format!("cannot look at {}: {error}", path.display())
}

fn check_path(path: &Path) -> Result<(), String> {
    let mut folders: Vec<&Path> = path.ancestors().collect();
    folders.reverse();
    for folder in folders {
        let found = match fs::symlink_metadata(folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(|e| cannot(folder, &e))?,
        };
        let shown = folder.display();
        if found.uid() != 0 && found.uid() != rustix::process::geteuid().as_raw() {
            return Err(format!(
                "{shown} belongs to user {}, who can replace what is in it; choose a folder of your own",
                found.uid()
            ));
        }
        let is_sticky = found.mode() & STICKY != 0 && folder != path;
        if found.is_dir() && found.mode() & OTHERS_WRITE != 0 && !is_sticky {
            return Err(format!(
                "others can write to {shown} (mode {:04o}), and replace what is in it; `chmod go-w {shown}`, or choose a folder of your own",
                found.mode() & 0o7777
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn a_folder_is_ours_alone_with_all_that_leads_to_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let (parent, inner) = (dir.path().join("parent"), dir.path().join("parent/inner"));
        fs::create_dir_all(&inner).expect("writable");
        for (of_parent, of_inner, right) in [
            (0o755, 0o700, true),
            (0o755, 0o755, true),
            (0o1777, 0o700, true),
            (0o777, 0o700, false),
            (0o775, 0o700, false),
            (0o755, 0o1777, false),
            (0o755, 0o770, false),
        ] {
            mode(&parent, of_parent);
            mode(&inner, of_inner);
            let found = check(&inner);
            assert_eq!(found.is_ok(), right, "{of_parent:o} {of_inner:o}: {found:?}");
        }
        mode(&inner, 0o700);
        assert_eq!(check(&inner.join("not/yet")), Ok(()), "its end is to be made");
    }

    #[test]
    fn a_link_leads_to_no_folder_of_others() {
        let dir = tempfile::tempdir().expect("a folder");
        let (open, link) = (dir.path().join("open"), dir.path().join("link"));
        fs::create_dir_all(open.join("in")).expect("writable");
        symlink(open.join("in"), &link).expect("writable");
        assert_eq!(check(&link), Ok(()));
        mode(&open, 0o777);
        assert!(check(&link).is_err_and(|why| why.contains("open (mode 0777)")));
        mode(&open, 0o755);
        // Only root gives a folder away.
        if chown(&open, Some(1001), None).is_ok() {
            assert!(check(&link).is_err_and(|why| why.contains("open belongs to user 1001")));
        }
    }
}
