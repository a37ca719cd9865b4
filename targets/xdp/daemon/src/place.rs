// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a daemon has its things; one daemon has them alone.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::log;
use carrick_driver::{Failure, private};
use carrick_xdp_loader::machine;
use clap::Args;
use rustix::fs::{FlockOperation, flock};

/// Two folders.
#[derive(Debug, Clone, Args)]
pub struct Place {
    /// Folder of a BPF file system for the pins of programs, maps and links
    #[arg(long, global = true, value_name = "FOLDER", default_value = "/sys/fs/bpf/carrick")]
    pub pins: PathBuf,
    /// Folder for the daemon's socket and for the files that it builds
    #[arg(long, global = true, value_name = "FOLDER", default_value = "/run/carrick")]
    pub state: PathBuf,
}

/// The folders, which are this process's alone for as long as this is there.
#[derive(Debug)]
pub struct Held {
    place: Place,
    /// the BPF file system was mounted for this
    mounted: bool,
    _lock: File,
}

fn cannot_make(folder: &Path) -> impl Fn(io::Error) -> Failure {
    let shown = folder.display().to_string();
    move |e| Failure::Missing(format!("cannot make {shown}: {e}; run as root, or choose another folder"))
}

fn make(folder: &Path) -> Result<(), Failure> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(cannot_make(folder))
}

impl Place {
    /// Makes the folders where they are not there, and takes them for this process.
    ///
    /// # Errors
    /// There cannot be pins, others could replace them, or another daemon has them.
    pub fn hold(&self) -> Result<Held, Failure> {
        self.is_private()?;
        let mounted = machine::bpf_file_system(&self.pins).map_err(|refusal| refusal.failure(false))?;
        let held = self.hold_mounted(mounted);
        if held.is_err() && mounted {
            machine::unmount();
        }
        held
    }

    /// Whoever can replace a pin takes a program from the daemon that removes it.
    fn is_private(&self) -> Result<(), Failure> {
        for (option, folder) in [("--pins", &self.pins), ("--state", &self.state)] {
            private::check(folder).map_err(|why| Failure::Missing(format!("{why} ({option})")))?;
        }
        Ok(())
    }

    fn hold_mounted(&self, mounted: bool) -> Result<Held, Failure> {
        make(&self.pins)?;
        make(&self.state)?;
        // Others may have made them by now.
        self.is_private()?;
        let lock = File::open(&self.pins).map_err(cannot_make(&self.pins))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            Failure::Missing(format!(
                "another carrickd has {}; `carrickd status` shows what it does, `systemctl stop carrickd` ends it",
                self.pins.display()
            ))
        })?;
        Ok(Held { place: self.clone(), mounted, _lock: lock })
    }

    /// The socket by which a daemon is asked.
    pub fn socket(&self) -> PathBuf {
        self.state.join("control")
    }

    /// What was built of a program.
    pub fn built(&self, name: &str) -> PathBuf {
        self.state.join(name)
    }

    /// Removes what was built of a program.
    pub fn forget(&self, name: &str) {
        let built = self.built(name);
        match fs::remove_dir_all(&built) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                log::warn(&format!("cannot remove {}: {e}", built.display()));
            }
            _ => {}
        }
    }

    /// The pins of a program.
    pub fn pins_of(&self, name: &str) -> PathBuf {
        self.pins.join(name)
    }
}

impl Held {
    /// Leaves the folders; they are taken away if nothing is in there any more.
    pub fn leave(self) {
        // There may be something in there, and then it stays.
        let _ = fs::remove_dir(&self.place.state);
        if fs::remove_dir(&self.place.pins).is_ok() && self.mounted {
            machine::unmount();
        }
    }
}
