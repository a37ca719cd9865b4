// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of hosts, with features and parameters that can differ by host and by run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use carrick_driver::{Choice, Failure, params};
use carrick_ir::Program;
use carrick_sim::Way;
use carrick_sim::fabric::HostPrograms;
use carrick_sim::fabric::topology::Topology;
use carrick_sim::scenario::Engine;

use super::args::FabricArgs;
use super::at_hosts::{Files, Named, settings, with};
use super::runs::Asked;
use crate::args::Source;
use crate::load::{Build, Builds};

/// A program with some features.
struct Variant {
    /// its place among the programs
    program: usize,
    /// the features, as tables name them
    features: String,
    build: Build,
}

/// What all hosts run, in each run.
pub struct Hosts {
    files: Files,
    /// of the program of the command: those of --with, then one for each --or-with
    variants: Vec<Variant>,
    /// other programs, and other features
    others: Vec<Variant>,
    /// by host, the place among these
    at: BTreeMap<u32, usize>,
    /// those of --host-with
    with: Vec<Named<Vec<String>>>,
    settings: Vec<Named<String>>,
    count: u32,
}

/// Features as a cell of a table: it has no comma.
pub fn cell(with: &[String]) -> String {
    if with.is_empty() { "default".to_owned() } else { with.join("+") }
}

impl Hosts {
    /// Of the command line.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there are no such hosts, [`Failure::Failed`] if a build has errors.
    pub fn of(
        usual: &Source,
        fabric: &FabricArgs,
        topology: &Topology,
        builds: &Builds,
    ) -> Result<Hosts, Failure> {
        let files = Files::of(&usual.file, fabric, topology)?;
        let choice = usual.features.choice();
        let variant = |program: usize, with: &[String], choice: &Choice| {
            let build = builds.get(&files.all[program], choice)?;
            Ok::<_, Failure>(Variant { program, features: cell(with), build })
        };
        let with_others = |program: usize, with: &[String]| {
            // What the command leaves out is of its own program.
            let without = if program == 0 { choice.without.clone() } else { Vec::new() };
            let mut choice = Choice { with: Vec::new(), without, ..choice.clone() };
            with.iter().for_each(|text| choice.add(text));
            variant(program, with, &choice)
        };
        let mut variants = vec![variant(0, &usual.features.with, &choice)?];
        for features in &fabric.or_with {
            let features: Vec<String> = features.split(',').map(str::to_owned).collect();
            variants.push(with_others(0, &features)?);
        }
        let with = with(fabric, topology)?;
        let (mut others, mut known, mut at) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let named = with.iter().flat_map(|named| named.hosts.clone());
        for host in files.at.keys().copied().chain(named).collect::<BTreeSet<u32>>() {
            let program = files.at.get(&host).copied().unwrap_or(0);
            let own = with.iter().rev().find(|named| named.hosts.contains(&host));
            let features = own.map_or(&[][..], |named| &named.what);
            let place = match known.get(&(program, features)) {
                Some(place) => *place,
                None => {
                    others.push(with_others(program, features)?);
                    known.insert((program, features), others.len() - 1);
                    others.len() - 1
                }
            };
            at.insert(host, place);
        }
        let settings = settings(fabric, topology)?;
        Ok(Hosts { variants, others, at, with, settings, count: topology.hosts, files })
    }

    /// The names of the variants, where there are several.
    pub fn variants(&self) -> Vec<&str> {
        self.variants.iter().map(|variant| &*variant.features).collect()
    }

    fn variant(&self, host: u32, variant: usize) -> &Variant {
        self.at.get(&host).map_or(&self.variants[variant], |place| &self.others[*place])
    }

    /// The program of a host.
    pub fn program(&self, host: u32, variant: usize) -> &Arc<Program> {
        &self.variant(host, variant).build.program
    }

    /// By host, its program.
    pub fn programs(&self, variant: usize) -> Vec<Arc<Program>> {
        (0..self.count).map(|host| self.program(host, variant).clone()).collect()
    }

    /// The programs beside that of the command, each once.
    pub fn other_programs(&self) -> impl Iterator<Item = &Program> {
        let first = |place: usize| self.others.iter().find(move |other| other.program == place);
        (1..self.files.all.len()).filter_map(first).map(|other| &*other.build.program)
    }

    /// By host, its features; empty if all hosts have the same.
    pub fn features(&self, variant: usize) -> Vec<String> {
        let all = (0..self.count).map(|host| self.variant(host, variant).features.clone());
        if self.with.is_empty() { Vec::new() } else { all.collect() }
    }

    /// The hosts that an option names with their features, for people.
    pub fn named(&self) -> impl Iterator<Item = (&str, &RangeInclusive<u32>, String)> {
        self.with.iter().map(|it| (&*it.shown, &it.hosts, cell(&it.what)))
    }

    /// The values of the parameters of a host's program.
    fn params(&self, host: Option<u32>, asked: &Asked) -> Result<Vec<u64>, Failure> {
        let variant = host.map_or(&self.variants[asked.variant], |host| self.variant(host, asked.variant));
        let program = &variant.build.program;
        let all = self.variants.iter().chain(&self.others).filter(|other| other.program == 0);
        let has = |program: &Program, name: &str| program.params.iter().any(|param| param.name == name);
        // A parameter of a feature is set where the feature is. One that no build has is an error.
        let fits = |setting: &&String| {
            let name = setting.split('=').next().unwrap_or_default();
            variant.program == 0
                && (has(program, name) || !all.clone().any(|variant| has(&variant.build.program, name)))
        };
        if let Some(wrong) = asked.settings.iter().find_map(|setting| self.elsewhere(setting)) {
            return Err(wrong);
        }
        params::said_once(&asked.settings)?;
        let mut settings: Vec<String> = asked.settings.iter().filter(fits).cloned().collect();
        let own = self.settings.iter().filter(|it| host.is_some_and(|host| it.hosts.contains(&host)));
        settings.extend(own.map(|it| it.what.clone()));
        params::layered(program, &settings)
    }

    /// Says where a parameter is set that only the program of some hosts has.
    fn elsewhere(&self, setting: &str) -> Option<Failure> {
        let name = setting.split('=').next().unwrap_or_default();
        let has = |it: &&Variant| it.build.program.params.iter().any(|param| param.name == name);
        let mut all = self.variants.iter().chain(&self.others);
        let other = all.clone().find(has).filter(|other| other.program > 0)?;
        if all.any(|it| it.program == 0 && has(&it)) {
            return None;
        }
        let (host, _) = self.files.at.iter().find(|(_, program)| **program == other.program)?;
        let file = other.build.program.file.raw();
        Some(Failure::Usage(format!(
            "--set {setting}: {name} is a parameter of {file}; say --host-set h{host}.{setting}"
        )))
    }

    /// The hosts that do not run what the others do.
    fn exceptions(&self) -> BTreeSet<u32> {
        let set = self.settings.iter().flat_map(|it| it.hosts.clone());
        self.at.keys().copied().chain(set).collect()
    }

    /// Checks the parameters of a run.
    ///
    /// # Errors
    /// [`Failure::Usage`] if one is none of its program, or has a wrong value.
    pub fn check(&self, asked: &Asked) -> Result<(), Failure> {
        self.params(None, asked)?;
        self.exceptions().into_iter().try_for_each(|host| self.params(Some(host), asked).map(drop))
    }

    /// The interpreter or the compiled core of each build that a variant uses: that of --with, then those of hosts.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a compiled core cannot be loaded.
    pub fn engines(&self, variant: usize) -> Result<Vec<Engine>, Failure> {
        let builds = [&self.variants[variant]].into_iter().chain(&self.others);
        builds.map(|variant| variant.build.engine()).collect()
    }

    /// What hosts run, with these engines.
    ///
    /// # Errors
    /// As [`Hosts::check`].
    pub fn at<'a>(&'a self, asked: &Asked, engines: &'a [Engine]) -> Result<HostPrograms<'a>, Failure> {
        let way = |host: Option<u32>| {
            let other = host.and_then(|host| self.at.get(&host).copied());
            let variant = other.map_or(&self.variants[asked.variant], |place| &self.others[place]);
            let engine = &engines[other.map_or(0, |place| place + 1)];
            Ok::<_, Failure>(Way {
                program: &variant.build.program,
                engine,
                params: self.params(host, asked)?,
            })
        };
        let others = self.exceptions().into_iter().map(|host| Ok((host, way(Some(host))?)));
        let others = others.collect::<Result<BTreeMap<_, _>, Failure>>()?;
        Ok(HostPrograms::new(way(None)?, others, self.files.names(), self.files.at.clone()))
    }
}
