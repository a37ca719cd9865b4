// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options about some hosts, as the command line says them: `h0..h1=FEATURES`, `h0..h1.name=value`, `h0..h1=mine.mtp`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use carrick_driver::{Failure, params};
use carrick_sim::fabric::topology::Topology;

use super::args::FabricArgs;
use super::file::nodes;
use crate::commands::plot::label;

/// Hosts that an option names, as it names them.
pub struct Named<T> {
    pub shown: String,
    pub hosts: RangeInclusive<u32>,
    pub what: T,
}

/// `h0`, or several: `h0..h3`.
fn hosts(text: &str, topology: &Topology) -> Result<RangeInclusive<u32>, Failure> {
    let known = nodes(text, topology).ok().filter(|hosts| *hosts.end() < topology.hosts && !hosts.is_empty());
    known.ok_or_else(|| {
        let last = topology.hosts.saturating_sub(1);
        Failure::Usage(format!("{text:?} names no host of this topology: it has h0 to h{last}"))
    })
}

/// `h0..h1=WHAT`
fn with_value<'t>(
    text: &'t str,
    topology: &Topology,
    wrong: impl Fn() -> Failure,
) -> Result<Named<&'t str>, Failure> {
    let (shown, what) = text.split_once('=').filter(|(_, what)| !what.is_empty()).ok_or_else(wrong)?;
    Ok(Named { shown: shown.to_owned(), hosts: hosts(shown, topology)?, what })
}

/// Those of `--host-with`.
///
/// # Errors
/// [`Failure::Usage`] if it is written in another way, or there are no such hosts.
pub fn with(args: &FabricArgs, topology: &Topology) -> Result<Vec<Named<Vec<String>>>, Failure> {
    let of = |text: &String| {
        let wrong = || {
            Failure::Usage(format!("--host-with {text}: expected HOSTS=FEATURES, such as h0..h1=reliable"))
        };
        let Named { shown, hosts, what } = with_value(text, topology, wrong)?;
        Ok(Named { shown, hosts, what: what.split(',').map(str::to_owned).collect() })
    };
    args.host_with.iter().map(of).collect()
}

/// Those of `--host-set`, each `name=value`.
///
/// # Errors
/// As [`with`].
pub fn settings(args: &FabricArgs, topology: &Topology) -> Result<Vec<Named<String>>, Failure> {
    let of = |text: &String| {
        let parts = text.split_once('=').and_then(|(left, value)| Some((left.rsplit_once('.')?, value)));
        let ((shown, name), value) = parts.ok_or_else(|| {
            Failure::Usage(format!(
                "--host-set {text}: expected HOSTS.name=value, such as h0..h1.window=64KiB"
            ))
        })?;
        let hosts = hosts(shown, topology)?;
        Ok(Named { shown: shown.to_owned(), hosts, what: format!("{name}={value}") })
    };
    params::said_once(&args.host_set)?;
    args.host_set.iter().map(of).collect()
}

/// The files that the options name.
pub fn files(args: &FabricArgs) -> impl Iterator<Item = PathBuf> {
    args.host_program.iter().filter_map(|text| Some(text.split_once('=')?.1.into()))
}

/// The programs of `--host-program`.
pub struct Files {
    /// the program of the command, then the others in the order in which they are named first
    pub all: Vec<PathBuf>,
    /// by host that does not run the first, the place of its program
    pub at: BTreeMap<u32, usize>,
}

impl Files {
    /// Of the command line; `usual` is the program of the command.
    ///
    /// # Errors
    /// [`Failure::Usage`] if an option is written in another way, there are no such hosts, a host has two programs, or no host is left
    /// for that of the command.
    pub fn of(usual: &Path, args: &FabricArgs, topology: &Topology) -> Result<Files, Failure> {
        let mut files = Files { all: vec![usual.to_path_buf()], at: BTreeMap::new() };
        let mut said: Vec<Named<&str>> = Vec::new();
        for text in &args.host_program {
            let wrong = || {
                Failure::Usage(format!(
                    "--host-program {text}: expected HOSTS=PROGRAM, such as h0..h1=mine.mtp"
                ))
            };
            let named = with_value(text, topology, wrong)?;
            let both = |it: &&Named<&str>| {
                it.hosts.start() <= named.hosts.end() && named.hosts.start() <= it.hosts.end()
            };
            if let Some(other) = said.iter().find(both) {
                return Err(Failure::Usage(format!(
                    "--host-program {text}: h{} has a program already, by {}={}",
                    named.hosts.start().max(other.hosts.start()),
                    other.shown,
                    other.what
                )));
            }
            let place = files.place(Path::new(named.what));
            files.at.extend(named.hosts.clone().filter(|_| place > 0).map(|host| (host, place)));
            said.push(named);
        }
        if files.at.len() as u64 == u64::from(topology.hosts) {
            return Err(Failure::Usage(format!(
                "no host is left for {}: --host-program names all of them",
                usual.display()
            )));
        }
        Ok(files)
    }

    /// The place of a file, which becomes the last one if it is new.
    fn place(&mut self, file: &Path) -> usize {
        let real = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
        let known = self.all.iter().position(|known| real(known) == real(file));
        known.unwrap_or_else(|| {
            self.all.push(file.to_path_buf());
            self.all.len() - 1
        })
    }

    /// What tables call the programs: by the name of the file, or by its path where two have the same. It has no comma.
    pub fn names(&self) -> Vec<String> {
        let stems: Vec<String> = self.all.iter().map(|file| label(file)).collect();
        let name = |(place, stem): (usize, &String)| {
            let twice = stems.iter().filter(|other| *other == stem).count() > 1;
            let name = if twice { self.all[place].display().to_string() } else { stem.clone() };
            name.replace([',', '"', '\n', '\r'], "_")
        };
        stems.iter().enumerate().map(name).collect()
    }
}
