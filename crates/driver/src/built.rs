// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is compiled once: executables and libraries are kept in `$XDG_CACHE_HOME/carrick/built` (`~/.cache/carrick/built`), by a
//! SHA-256 of all that they are made of: a program may come from anybody, and must not get what was built of another.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::{Failure, cc, progress};

/// Files that are kept; those go that were not used for longest, and that nobody uses now.
const KEPT: usize = 128;
/// What the compiler and `make` listen to.
const VARIABLES: [&str; 5] = ["CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS"];

/// What is built, and how.
#[derive(Debug)]
pub struct Recipe<'a> {
    /// of the file
    pub name: &'a str,
    /// one word for how it is built
    pub kind: &'a str,
    /// whose version counts, too
    pub compiler: String,
    /// whether lines of programs, which errors name, make it another file
    pub lines: bool,
}

impl<'a> Recipe<'a> {
    /// What the compiler of C builds.
    pub fn of_c(name: &'a str, kind: &'a str) -> Recipe<'a> {
        Recipe { name, kind, compiler: cc::compiler(), lines: false }
    }
}

/// A file that can be used, as long as this is there.
#[derive(Debug)]
pub struct Built {
    /// the executable, library or object
    pub path: PathBuf,
    _there: There,
}

/// Why a file stays where it is.
#[derive(Debug)]
enum There {
    /// its folder is kept for all processes, and [`sweep`] leaves it
    Kept { _folder: File },
    /// it is in a folder of its own
    Own { _dir: TempDir },
}

/// A folder that is removed when this is dropped.
///
/// # Errors
/// [`Failure::Missing`] if there is no place for files.
pub fn temporary() -> Result<TempDir, Failure> {
    tempfile::Builder::new().prefix("carrick-").tempdir().map_err(|e| {
        Failure::Missing(format!("cannot make a temporary folder: {e}; set TMPDIR to a writable one"))
    })
}

/// The file that `made` builds of what `files` writes, unless this machine has it already.
///
/// # Errors
/// Those of `files` and `made`; [`Failure::Missing`] if there is no place for files.
pub fn once(
    recipe: &Recipe<'_>,
    files: impl Fn(&Path) -> Result<(), Failure>,
    made: impl Fn(&Path) -> Result<(), Failure>,
) -> Result<Built, Failure> {
    let dir = temporary()?;
    files(dir.path())?;
    let name = recipe.name;
    let place = key(recipe, dir.path()).and_then(|key| Some(folder()?.join(key)));
    let found = || kept(place.as_ref()?, name);
    if let Some(built) = found() {
        return Ok(built);
    }
    // Another process may be compiling it.
    let _alone = place.as_ref().and_then(|place| alone(place, name).ok());
    if let Some(built) = found() {
        return Ok(built);
    }
    made(dir.path())?;
    let path = dir.path().join(name);
    // Whoever cannot keep it compiles it again.
    let there = place.and_then(|place| keep(&path, &place, name).ok());
    Ok(there.unwrap_or(Built { path, _there: There::Own { _dir: dir } }))
}

/// Waits until no other process compiles the same file; others wait until the file is dropped.
fn alone(place: &Path, name: &str) -> io::Result<Lock> {
    let path = place.with_extension("lock");
    let file = File::create(&path)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let _step = progress::step(&format!("waiting for another process that compiles {name}"));
        flock(&file, FlockOperation::LockExclusive)?;
    }
    Ok(Lock { path, _file: file })
}

struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Where it cannot be removed, the next process takes it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Of what is compiled in this folder, and by what; `None` where there is no compiler.
fn key(recipe: &Recipe<'_>, dir: &Path) -> Option<String> {
    let version = Command::new(&recipe.compiler).arg("--version").output().ok()?;
    let mut hash = Sha256::new();
    add(&mut hash, recipe.kind.as_bytes());
    add(&mut hash, &version.stdout);
    for name in VARIABLES {
        add(&mut hash, std::env::var_os(name).unwrap_or_default().as_encoded_bytes());
    }
    add_files(&mut hash, recipe.lines, dir, dir).ok()?;
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Appends a part, with its length: no other parts have the same bytes together.
fn add(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}

/// Without the lines that say where others come from.
fn code(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(b"#line ")).flatten().copied().collect()
}

fn add_files(hash: &mut Sha256, lines: bool, root: &Path, dir: &Path) -> io::Result<()> {
    let entries = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_files(hash, lines, root, &path)?;
            continue;
        }
        add(hash, path.strip_prefix(root).unwrap_or(&path).as_os_str().as_encoded_bytes());
        let text = fs::read(&path)?;
        add(hash, &if lines { text } else { code(&text) });
    }
    Ok(())
}

/// Where they are kept; `None` if this user has no such folder, or others may write there.
fn folder() -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")))?;
    let folder = cache.join("carrick/built");
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    is_ours(&fs::metadata(&folder).ok()?).then_some(folder)
}

/// What others could have written is not started: a root that keeps a user's `HOME` would be that user's.
fn is_ours(found: &Metadata) -> bool {
    let own = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == found.uid());
    own && found.mode() & 0o022 == 0
}

fn kept(place: &Path, name: &str) -> Option<Built> {
    let path = place.join(name);
    let folder = shared(place).ok()?;
    // It is looked at when nobody takes it away any more.
    let ours = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| is_ours(&found));
    if !ours(place) || !ours(&path) {
        return None;
    }
    // It was used now. If that cannot be said, it goes earlier.
    let _ = folder.set_modified(SystemTime::now());
    Some(Built { path, _there: There::Kept { _folder: folder } })
}

/// A folder that nobody takes away as long as this is open.
fn shared(folder: &Path) -> io::Result<File> {
    let opened = File::open(folder)?;
    flock(&opened, FlockOperation::LockShared)?;
    // While it waited, it may have been taken away, and another one put in its place.
    let (held, there) = (opened.metadata()?, fs::symlink_metadata(folder)?);
    match (held.dev(), held.ino()) == (there.dev(), there.ino()) {
        true => Ok(opened),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Whoever looks for it finds the whole of it.
fn keep(built: &Path, place: &Path, name: &str) -> io::Result<Built> {
    let folder = place.parent().ok_or(io::ErrorKind::NotFound)?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(folder)?;
    fs::copy(built, new.path().join(name))?;
    let held = shared(new.path())?;
    let built = match fs::rename(new.path(), place) {
        Ok(()) => {
            drop(new.keep());
            Built { path: place.join(name), _there: There::Kept { _folder: held } }
        }
        // Somebody else was faster.
        Err(e) => kept(place, name).ok_or(e)?,
    };
    sweep(folder)?;
    Ok(built)
}

/// Takes away what was not used for longest, and is not in use. What is being written is.
fn sweep(folder: &Path) -> io::Result<()> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|ext| ext == "lock") {
            continue;
        }
        // Another process may have taken it away by now.
        if let Ok(found_at) = entry.metadata().and_then(|found| found.modified()) {
            found.push((found_at, entry.path()));
        }
    }
    found.sort();
    let mut over = found.len().saturating_sub(KEPT);
    for (_, path) in found {
        if over == 0 {
            break;
        }
        let Ok(folder) = File::open(&path) else { continue };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
            // Another process may have done so.
            over -= usize::from(fs::remove_dir_all(&path).is_ok() || !path.exists());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn built(dir: &Path, text: &str) -> PathBuf {
        let built = dir.join("built");
        fs::write(&built, text).expect("writable");
        built
    }

    #[test]
    fn what_is_kept_is_found_unless_others_may_write_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = dir.path().join("kept/1");
        fs::create_dir(dir.path().join("kept")).expect("writable");
        let found = || kept(&place, "a-host").map(|built| built.path);
        assert_eq!(found(), None);
        let path = keep(&built(dir.path(), "one"), &place, "a-host").expect("kept").path;
        assert_eq!(found(), Some(path.clone()));
        keep(&built(dir.path(), "other"), &place, "a-host").expect("it is there");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "one", "the first one stays");
        assert_eq!(fs::read_dir(dir.path().join("kept")).expect("readable").count(), 1, "and nothing else");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o777)).expect("ours");
        assert_eq!(found(), None);
    }

    #[test]
    fn the_oldest_go_unless_they_are_in_use() {
        let dir = tempfile::tempdir().expect("a folder");
        let (folder, long_ago) = (dir.path().join("kept"), SystemTime::UNIX_EPOCH);
        fs::create_dir(&folder).expect("writable");
        for number in 0..KEPT {
            keep(&built(dir.path(), ""), &folder.join(number.to_string()), "a-host").expect("kept");
        }
        let age = |name: &str| File::open(folder.join(name)).and_then(|of| of.set_modified(long_ago));
        let _used = kept(&folder.join("1"), "a-host").expect("it is there");
        ["1", "3"].iter().for_each(|name| age(name).expect("ours"));
        keep(&built(dir.path(), ""), &folder.join("new"), "a-host").expect("kept");
        let there = |name: &str| kept(&folder.join(name), "a-host").is_some();
        assert!(there("1") && !there("3") && there("2") && there("4") && there("new"));
    }

    #[test]
    fn one_process_compiles_a_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = dir.path().join("1");
        let first = alone(&place, "a-host").expect("nobody compiles it");
        let other = File::open(place.with_extension("lock")).expect("it is there");
        assert!(flock(&other, FlockOperation::NonBlockingLockExclusive).is_err());
        drop(first);
        flock(&other, FlockOperation::NonBlockingLockExclusive).expect("the first one is done");
        assert!(!place.with_extension("lock").exists());
    }

    #[test]
    fn another_file_or_another_text_is_built_anew() {
        let dir = tempfile::tempdir().expect("a folder");
        let of = |name: &str, text: &str| {
            fs::write(dir.path().join(name), text).expect("writable");
            let recipe = Recipe::of_c("a-host", "native");
            let exact = Recipe { lines: true, ..Recipe::of_c("a-host", "native") };
            [recipe, exact].map(|recipe| key(&recipe, dir.path()).expect("there is a compiler"))
        };
        let first = of("a.c", "#line 1 \"x\"\nint a;");
        let moved = of("a.c", "#line 2 \"y\"\nint a;");
        assert_eq!(first[0].len(), 64, "of SHA-256, of which nobody makes two with one value");
        assert_eq!(moved[0], first[0]);
        assert_ne!(moved[1], first[1]);
        assert_ne!(of("a.c", "int b;")[0], first[0]);
        assert_ne!(of("b.c", "int a;")[0], first[0]);
        // A comment ends with its line.
        assert_ne!(of("a.c", "//\nint a;")[0], of("a.c", "//int a;")[0]);
        // Two files are not one with the bytes of both.
        let one = of("a.c", "int a;\0z.c");
        fs::write(dir.path().join("z.c"), "").expect("writable");
        assert_ne!(of("a.c", "int a;")[1], one[1]);
    }
}
